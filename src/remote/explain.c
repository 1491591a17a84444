/* Errors as sentences that say what to do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/remote_internal.h"

static bool has(struct slice s, const char *part)
{
	return s.p && s.n && memmem(s.p, s.n, part, strlen(part));
}

/* "Requested resource not found: Table: X not found" */
static struct slice table_in(struct slice message)
{
	static const char before[] = "Table: ";
	const char *at = message.p && message.n ? memmem(message.p, message.n, before, sizeof(before) - 1) : NULL;
	const char *end = message.p + message.n, *from;

	if (!at)
		return (struct slice){ 0 };
	for (from = at += sizeof(before) - 1; at < end && *at != ' ' && *at != ','; at++)
		;
	return slice_make(from, (size_t)(at - from));
}

static struct slice no_table(const struct remote *r, struct arena *a, struct slice message)
{
	struct slice table = table_in(message);

	if (!r->amazon)
		return arena_printf(a, "there is no such table%s%.*s at %s", table.n ? " as " : "", SLICE_ARG(table), r->database.url);
	return arena_printf(a, "there is no %s%.*s in %s: if it is in another region, name that (AWS_REGION, or aws:REGION); if it is in another "
			       "account, choose its profile (AWS_PROFILE)", table.n ? "table " : "such table", SLICE_ARG(table), r->region);
}

struct slice remote_explain(const struct remote *r, struct arena *a, const struct backend_reply *reply)
{
	struct slice e = reply->error, m = reply->message;

	if (slice_is(e, "ResourceNotFoundException") && !has(m, "Stream"))
		return no_table(r, a, m);
	if (slice_is(e, "UnrecognizedClientException"))
		return arena_printf(a, "%s does not know the access key: it is wrong, has been withdrawn, or is another account's or region's (%s). "
				       "`aws sts get-caller-identity` says whose it is", r->database.host, r->region);
	if (slice_is(e, "InvalidSignatureException"))
		return arena_printf(a, "%s does not take the signature: the secret is not that of the access key, or this machine's clock is wrong",
				    r->database.host);
	if (slice_is(e, "ExpiredTokenException"))
		return arena_printf(a, "the credentials have expired: renew them (`aws sso login`, or new values of AWS_SESSION_TOKEN and the keys)");
	if (slice_is(e, "AccessDeniedException"))
		return arena_printf(a, "the credentials may not do this: %.*s", SLICE_ARG(m));
	if (slice_is(e, REMOTE_NO_CREDENTIALS) || slice_is(e, "UnexpectedAnswer"))
		return m;
	if (slice_is(e, REMOTE_UNAVAILABLE))
		return arena_printf(a, "the database does not answer: %.*s", SLICE_ARG(m));
	return arena_printf(a, "%.*s: %.*s", SLICE_ARG(e), SLICE_ARG(m));
}
