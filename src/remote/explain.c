/* Errors as sentences that say what to do.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "remote/remote_internal.h"

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
		return arena_printf(a, "there is no %s%.*s at %s: `thorpe deploy` makes the tables of a design",
				    table.n ? "table " : "such table", SLICE_ARG(table), r->database.url);
	return arena_printf(
		a,
		"there is no %s%.*s in %s: if it is in another region, name that (AWS_REGION, or aws:REGION); if it is in another "
		"account, choose its profile (AWS_PROFILE); `thorpe deploy` makes the tables of a design",
		table.n ? "table " : "such table", SLICE_ARG(table), r->region);
}

struct slice remote_explain(const struct remote *r, struct arena *a, const struct backend_reply *reply)
{
	struct slice e = reply->error, m = reply->message;

	if (slice_is(e, "ResourceNotFoundException") && !slice_contains(m, SLICE("Stream")))
		return no_table(r, a, m);
	if (slice_is(e, "InvalidSignatureException") && slice_contains(m, SLICE("valid region")))
		return arena_printf(
			a, "the database at %s is not in %s, the region that requests are signed for: set AWS_REGION",
			r->database.host, r->region);
	if (slice_is(e, "UnrecognizedClientException"))
		return arena_printf(
			a, "%s does not know the access key: %s", r->database.host,
			r->amazon ? "it is wrong, or has been withdrawn; `aws sts get-caller-identity` says whose it is"
				  : "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key that it has");
	if (slice_is(e, "InvalidSignatureException"))
		return arena_printf(
			a,
			"%s rejects the signature: the secret is not that of the access key, or this machine's clock is wrong",
			r->database.host);
	if (slice_is(e, "ExpiredTokenException"))
		return arena_printf(
			a,
			"the credentials have expired: renew them (`aws sso login`, or new values of AWS_SESSION_TOKEN and the keys)");
	if (slice_is(e, "AccessDeniedException"))
		return arena_printf(a, "the credentials may not do this: %.*s", SLICE_ARG(m));
	if (slice_is(e, REMOTE_NO_CREDENTIALS) || slice_is(e, "UnexpectedAnswer"))
		return m;
	if (slice_is(e, REMOTE_UNAVAILABLE))
		return arena_printf(a, "the database does not answer: %.*s%s", SLICE_ARG(m),
				    slice_contains(m, SLICE("certificate"))
					    ? " (AWS_CA_BUNDLE names a file of certificates to trust)"
					    : "");
	return arena_printf(a, "%.*s: %.*s", SLICE_ARG(e), SLICE_ARG(m));
}

bool remote_has_table(struct backend *b, struct slice table, char *why, size_t n)
{
	volatile bool ok = false;
	struct backend_reply reply;
	struct arena arena;
	struct buf body;

	arena_init(&arena);
	snprintf(why, n, "out of memory");
	ARENA_TRY(&arena, {
		buf_init(&body, &arena);
		json_open(&body, '{');
		json_member_string(&body, "TableName", table);
		json_close(&body, '}');
		backend_call(b, &arena, "DescribeTable", buf_slice(&body), &reply);
		ok = reply.status == 200;
		if (slice_is(reply.error, "ResourceNotFoundException")) /* not every service names it */
			reply.message = arena_printf(&arena, "Table: %.*s not found", SLICE_ARG(table));
		if (!ok)
			snprintf(why, n, "%.*s", SLICE_ARG(remote_explain(((struct remote_backend *)b)->remote, &arena, &reply)));
	}, { });
	arena_release(&arena);
	return ok;
}
