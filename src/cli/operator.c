/* The server's address and an operator's token.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/operator.h"

#include <string.h>

#include "app/caller.h"
#include "base/clock.h"
#include "cli/secret.h"

#define OPERATOR_STRING(field)                                                                    \
	bool operator_set_##field(void *options, const char *value, char *why, size_t n)          \
	{                                                                                         \
		(void)why, (void)n;                                                               \
		((struct operator_options *)options)->field = value;                              \
		return true;                                                                      \
	}
OPERATOR_STRING(endpoint)
OPERATOR_STRING(data)
OPERATOR_STRING(secret_file)
OPERATOR_STRING(token)

bool operator_token(const struct operator_options *o, struct arena *a, const char *design, const char *subject, int64_t seconds,
		    struct slice *token, char *why, size_t n)
{
	uint8_t secret[CALLER_SECRET_BYTES];

	if (o->token) {
		*token = slice_str(o->token);
		return true;
	}
	if (!secret_load(o->data ? o->data : "./thorpe-data", o->secret_file, false, secret, why, n))
		return false;
	*token = caller_token(a, slice_str(design), secret,
			      &(struct token_request){ .subject = slice_str(subject), .operator_ = true,
						       .now_ms = clock_now_ms(&clock_system), .seconds = seconds });
	return true;
}

struct slice operator_base(const struct operator_options *o, struct arena *a)
{
	const char *end = o->endpoint ? o->endpoint : "http://127.0.0.1:8000";
	size_t n = strlen(end);

	while (n && end[n - 1] == '/')
		n--;
	return arena_printf(a, "%.*s/api", (int)n, end);
}

const char *operator_proof(const struct operator_options *o)
{
	return o->token ? "--token" : o->secret_file ? "--secret-file" : "--data";
}
