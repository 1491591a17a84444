/* SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/web_file.h"

#include "http/connection/admit.h"
#include "http/connection/connection.h"
#include "http/loop.h"

bool web_file_is_known(const struct exchange *ex, struct slice etag)
{
	struct slice list = request_header(&ex->req, SLICE("if-none-match"));

	return list.n && (slice_is(list, "*") || memmem(list.p, list.n, etag.p, etag.n));
}

/* From the budget of all requests: the client may read slowly. */
static bool unpack(struct exchange *ex, const struct web_file *f, struct slice *body)
{
	struct slice packed = slice_make((const char *)f->data, f->stored);
	bool ok;

	if (!admit_memory(ex))
		arena_out_of_memory(&ex->arena);
	ex->arena.strict = true;
	ok = gunzip(&ex->loop->gzip, &ex->arena, packed, f->bytes + 1, body) == GUNZIP_OK;
	ex->arena.strict = false;
	return ok;
}

/* As it is stored, or decompressed for the rare client without gzip. */
static void reply_body(struct exchange *ex, const struct web_file *f, struct slice headers)
{
	struct slice body = slice_make((const char *)f->data, f->stored);
	struct slice accept = request_header(&ex->req, SLICE("accept-encoding"));

	ex->packed = true;
	if (!f->plain && http_list_has(accept, SLICE("gzip")))
		headers = arena_printf(&ex->arena, "Content-Encoding: gzip\r\n%.*s", SLICE_ARG(headers));
	else if (!f->plain && !unpack(ex, f, &body))
		body = SLICE(""); /* cannot happen: we compressed it, and tests decompress each */
	exchange_reply_with(ex, 200, slice_str(f->type), body, headers);
}

void web_file_reply(struct exchange *ex, const struct web_file *f, struct slice guards)
{
	struct slice headers =
		arena_printf(&ex->arena, "%.*sETag: W/%s\r\nVary: Accept-Encoding\r\nCache-Control: %s\r\n",
			     SLICE_ARG(guards), f->etag,
			     f->immutable ? "public, max-age=31536000, immutable" : "no-cache");

	if (web_file_is_known(ex, slice_str(f->etag)))
		exchange_reply_with(ex, 304, (struct slice){ 0 }, (struct slice){ 0 }, headers);
	else
		reply_body(ex, f, headers);
}
