/* Audit events of signed requests, and of those that lack a signature.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/audit_http.h"
#include "http/loop.h"
#include "http/door/sigv4.h"
#include "json/json.h"

/* The access key that the request claims; empty: none. */
static struct slice claimed_key(struct exchange *ex)
{
	struct sigv4 s = { 0 };
	struct error e;
	struct slice key;

	if (!sigv4_is_present(&ex->req) || !sigv4_parse(&ex->req, &s, &e) || !s.credential.n)
		return (struct slice){ 0 };
	slice_next(&s.credential, '/', &key);
	return key;
}

/* The operation of an x-amz-target; empty: none. */
static struct slice operation(const struct exchange *ex)
{
	struct slice target = request_header(&ex->req, SLICE("x-amz-target"));
	const char *dot = target.n ? memchr(target.p, '.', target.n) : NULL;

	return dot ? slice_make(dot + 1, (size_t)(target.p + target.n - dot) - 1) : (struct slice){ 0 };
}

/* Without the query, which may hold a presigned signature. */
static struct slice action(struct exchange *ex)
{
	struct slice of_api = operation(ex);

	return of_api.n ? of_api
			: arena_printf(&ex->arena, "%s %.*s", http_method_str(ex->req.method), SLICE_ARG(ex->req.path));
}

void audit_refused_request(struct exchange *ex, int status, struct slice why)
{
	if (!audit_is_on())
		return;
	audit_write(&(struct audit_event){ .kind = "refused",
					   .outcome = "refused",
					   .access_key = claimed_key(ex),
					   .address = exchange_client(ex),
					   .action = action(ex),
					   .status = status,
					   .why = why });
}

void audit_console_session(struct exchange *ex)
{
	if (!audit_is_on())
		return;
	audit_write(&(struct audit_event){ .kind = "console",
					   .outcome = "ok",
					   .access_key = ex->loop->keys ? claimed_key(ex) : (struct slice){ 0 },
					   .address = exchange_client(ex) });
}

void audit_operator_request(struct exchange *ex, int status)
{
	if (!audit_is_on())
		return;
	audit_write(&(struct audit_event){ .kind = "operator",
					   .outcome = status < 400 ? "ok" : "failed",
					   .access_key = ex->loop->keys ? claimed_key(ex) : (struct slice){ 0 },
					   .address = exchange_client(ex),
					   .action = action(ex),
					   .status = status });
}

void audit_api_call(struct exchange *ex)
{
	struct slice target, type = { 0 };
	const struct json *body;

	if (!audit_is_on() || !api_changes_tables(api_operation(ex->call.target)))
		return;
	body = json_parse(&ex->arena, ex->call.body);
	target = json_get_text(body, "TableName");
	if (!target.n)
		target = json_get_text(body, "ResourceArn");
	if (ex->call.status >= 400)
		type = json_get_text(json_parse(&ex->arena, ex->call.reply), "__type");
	audit_write(&(struct audit_event){ .kind = "operator",
					   .outcome = ex->call.status < 400 ? "ok" : "failed",
					   .access_key = ex->loop->keys ? claimed_key(ex) : (struct slice){ 0 },
					   .address = exchange_client(ex),
					   .action = operation(ex),
					   .target = target,
					   .status = ex->call.status,
					   .why = type });
}
