/* Builds heads from constant pieces in one block of the arena, for one writev() with the body.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/parse/coding.h"
#include "wire/gzip.h"
#include "http/loop.h"
#include "http/connection/reply.h"
#include "http/connection/route.h"
#include "json/json.h"

#define PACK_LEAST 4096 /* as DynamoDB */
#define HEAD_ROOM  512

/* Code and phrase, as in the status line. */
static struct slice status_text(int status)
{
	/* clang-format off */
	static const struct {
		int status;
		struct slice text;
	} texts[] = {
#define TEXT(number, text) { number, { #number " " text, sizeof(#number " " text) - 1 } }
		TEXT(200, "OK"),
		TEXT(400, "Bad Request"),
		TEXT(201, "Created"),
		TEXT(202, "Accepted"),
		TEXT(204, "No Content"),
		TEXT(206, "Partial Content"),
		TEXT(207, "Multi-Status"),
		TEXT(301, "Moved Permanently"),
		TEXT(302, "Found"),
		TEXT(303, "See Other"),
		TEXT(304, "Not Modified"),
		TEXT(307, "Temporary Redirect"),
		TEXT(308, "Permanent Redirect"),
		TEXT(401, "Unauthorized"),
		TEXT(402, "Payment Required"),
		TEXT(403, "Forbidden"),
		TEXT(404, "Not Found"),
		TEXT(405, "Method Not Allowed"),
		TEXT(406, "Not Acceptable"),
		TEXT(408, "Request Timeout"),
		TEXT(409, "Conflict"),
		TEXT(410, "Gone"),
		TEXT(411, "Length Required"),
		TEXT(412, "Precondition Failed"),
		TEXT(413, "Payload Too Large"),
		TEXT(414, "URI Too Long"),
		TEXT(415, "Unsupported Media Type"),
		TEXT(416, "Range Not Satisfiable"),
		TEXT(417, "Expectation Failed"),
		TEXT(421, "Misdirected Request"),
		TEXT(422, "Unprocessable Entity"),
		TEXT(423, "Locked"),
		TEXT(424, "Failed Dependency"),
		TEXT(426, "Upgrade Required"),
		TEXT(428, "Precondition Required"),
		TEXT(429, "Too Many Requests"),
		TEXT(431, "Request Header Fields Too Large"),
		TEXT(501, "Not Implemented"),
		TEXT(502, "Bad Gateway"),
		TEXT(503, "Service Unavailable"),
		TEXT(504, "Gateway Timeout"),
		TEXT(505, "HTTP Version Not Supported"),
		TEXT(507, "Insufficient Storage"),
		TEXT(511, "Network Authentication Required"),
#undef TEXT
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return SLICE("500 Internal Server Error");
}

/* The body, compressed if the client accepts it, and the matching header. */
static struct slice packed_body(struct exchange *ex, struct buf *head, struct slice body)
{
	enum coding coding = CODING_NONE;
	struct slice packed = { 0 };

	if (body.n > PACK_LEAST && !ex->packed)
		coding = coding_chosen(request_header(&ex->req, SLICE("accept-encoding")));
	if (coding == CODING_GZIP)
		packed = gzip_pack(&ex->loop->gzip, &ex->arena, body);
	else if (coding == CODING_DEFLATE)
		packed = deflate_zlib(&ex->loop->gzip, &ex->arena, body);
	if (!packed.n)
		return body;
	buf_lit(head, "Content-Encoding: ");
	buf_put(head, coding_name(coding));
	buf_lit(head, "\r\nVary: Accept-Encoding\r\n");
	return packed;
}

/* Lets a page of an allowed origin read the reply, and the headers that SDKs and front ends use. */
static void add_cors(struct buf *b, const struct exchange *ex)
{
	struct slice allowed = origin_allowed(ex->loop->origin, &ex->req);

	if (!allowed.n)
		return;
	buf_lit(b, "Access-Control-Allow-Origin: ");
	buf_put(b, allowed);
	buf_lit(b,
		"\r\nAccess-Control-Expose-Headers: x-amzn-RequestId, x-amz-crc32, Date, Location, ETag, Allow, Retry-After, "
		"WWW-Authenticate\r\n");
}

/* Headers for browsers; the console's replies set their own. DynamoDB's replies are not cached and are read by SDKs:
 * they get CORS headers only. */
static void add_browser_headers(struct buf *b, const struct exchange *ex)
{
	bool is_root = slice_is(ex->req.path, "/"),
	     has_origin = !ex->has_no_origin && request_header(&ex->req, SLICE("origin")).p;

	if ((is_root && !has_origin) || route_is_private(ex))
		return;
	if (has_origin)
		add_cors(b, ex);
	buf_lit(b, "Vary: Origin\r\n"); /* even without Origin: a cache may serve the reply to a page */
	if (!is_root)
		buf_lit(b, "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: ");
	if (!is_root)
		buf_str(b, ex->shared ? "cross-origin\r\n" : "same-origin\r\n");
}

static void add_request_id(struct buf *b, struct exchange *ex)
{
	buf_lit(b, "x-amzn-RequestId: ");
	buf_put(b, slice_make(exchange_id(ex), REQUEST_ID_LENGTH));
	buf_lit(b, "\r\n");
}

static void begin_head(struct buf *b, struct exchange *ex, int status, struct slice type)
{
	buf_init(b, &ex->arena);
	buf_room(b, HEAD_ROOM);
	buf_lit(b, "HTTP/1.1 ");
	buf_put(b, status_text(status));
	buf_lit(b, "\r\nServer: Thorpe\r\nDate: ");
	buf_put(b, loop_http_date(ex->loop));
	if (type.n) {
		buf_lit(b, "\r\nContent-Type: ");
		buf_put(b, type);
	}
	buf_lit(b, "\r\n");
	add_request_id(b, ex);
	add_browser_headers(b, ex);
}

static void add_length(struct buf *b, const struct exchange *ex, struct slice body)
{
	buf_lit(b, "Content-Length: ");
	buf_u64(b, body.n);
	/* DynamoDB's checksum, over the bytes on the wire: SDKs check before decompressing. Nothing else uses it. */
	if (slice_is(ex->req.path, "/")) {
		buf_lit(b, "\r\nx-amz-crc32: ");
		buf_u64(b, gzip_crc32(body));
	}
	buf_lit(b, "\r\n");
}

static void end_head(struct buf *b, const struct exchange *ex)
{
	if (ex->last)
		buf_lit(b, "Connection: close\r\n");
	else if (ex->req.http10)
		buf_lit(b, "Connection: keep-alive\r\n");
	buf_lit(b, "\r\n");
}

void reply_make(struct exchange *ex, int status, struct slice type, struct slice body, struct slice headers)
{
	struct buf b;

	/* A draining server closes a connection after its last request. */
	if (!ex->req.keep_alive || (ex->loop->draining && !ex->next))
		ex->last = true;
	begin_head(&b, ex, status, type);
	body = packed_body(ex, &b, body);
	if (status != 204 && status != 304) /* these have no body and must not state its length */
		add_length(&b, ex, body);
	buf_put(&b, headers);
	end_head(&b, ex);
	loop_count_status(ex->loop, status);
	ex->head = buf_slice(&b);
	ex->body = ex->req.method == HTTP_HEAD ? (struct slice){ 0 } : body;
}

void reply_make_stream(struct exchange *ex, struct slice type, struct slice body, struct slice headers)
{
	struct buf b;

	ex->last = true;
	begin_head(&b, ex, 200, type);
	buf_put(&b, headers);
	end_head(&b, ex);
	loop_count_status(ex->loop, 200);
	ex->head = buf_slice(&b);
	ex->body = body;
}

static enum err refusal_code(int status)
{
	if (status == 413)
		return ERR_TOO_LARGE;
	if (status == 403)
		return ERR_ACCESS_DENIED;
	return status >= 500 ? ERR_UNAVAILABLE : ERR_SERIALIZATION;
}

static const char *problem_type(int status)
{
	switch (status) {
	case 403: return "urn:thorpe:forbidden";
	case 412: return "urn:thorpe:changed";
	case 413: return "urn:thorpe:too-large";
	case 415: return "urn:thorpe:media-type";
	case 507: return "urn:thorpe:too-large";
	case 500: return "urn:thorpe:internal";
	case 503: return "urn:thorpe:busy";
	default: return status < 500 ? "urn:thorpe:malformed" : "about:blank";
	}
}

static void refuse_with_problem(struct exchange *ex, int status, const char *why, struct slice headers)
{
	struct slice text = status_text(status);
	struct buf b;

	buf_init(&b, &ex->arena);
	json_open(&b, '{');
	json_member_word(&b, "type", problem_type(status));
	json_member_string(&b, "title", slice_make(text.p + 4, text.n - 4)); /* without the number */
	json_member_int(&b, "status", status);
	json_member_word(&b, "detail", why);
	json_close(&b, '}');
	buf_byte(&b, '\n');
	reply_make(ex, status, SLICE("application/problem+json"), buf_slice(&b), headers);
}

void reply_denial(struct exchange *ex, int status, const char *why, struct slice headers)
{
	struct error e = { .code = refusal_code(status), .message = slice_str(why) };

	if (route_tells_problems(ex))
		refuse_with_problem(ex, status, why, headers);
	else
		reply_make(ex, status, ex->content_type, api_error_reply(&ex->arena, &e), headers);
}

void reply_refusal(struct exchange *ex, int status, const char *why)
{
	struct error e = { .code = refusal_code(status), .message = slice_str(why) };
	struct slice body = api_error_reply(&ex->arena, &e);
	struct slice retry = status == 503 ? SLICE("Retry-After: 1\r\n") : (struct slice){ 0 };
	struct buf b;

	ex->req.keep_alive = false;
	if (ex->denial) {
		reply_make(ex, status, ex->content_type, api_error_reply(&ex->arena, ex->denial), (struct slice){ 0 });
		return;
	}
	if (ex->req.path.n && route_tells_problems(ex)) {
		refuse_with_problem(ex, status, why, retry);
		return;
	}
	/* DynamoDB sends its 413 in chunks; a client of HTTP/1.0 would not understand. */
	if (status != 413 || ex->req.http10) {
		reply_make(ex, status, REPLY_JSON, body, retry);
		return;
	}
	begin_head(&b, ex, status, REPLY_JSON);
	buf_lit(&b, "Transfer-Encoding: chunked\r\n");
	end_head(&b, ex);
	buf_printf(&b, "%zx\r\n%.*s\r\n0\r\n\r\n", body.n, SLICE_ARG(body));
	loop_count_status(ex->loop, status);
	ex->head = buf_slice(&b);
	ex->body = (struct slice){ 0 };
}
