/* Bytes from the network through everything that looks at them before the api: the request parser
 * in pieces of odd sizes, headers, query, gzip, signatures.
 *
 * The first byte chooses how the rest is cut into pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "wire/gzip.h"
#include "http/door/sigv4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct http_limits limits;
static struct keys *keys;

static void prepare(void)
{
	char why[200];

	if (keys)
		return;
	limits = (struct http_limits){ .body_bytes = 1 << 20 };
	http_limits_complete(&limits);
	keys = keys_parse(SLICE("AKIDEXAMPLE secret\n"), "keys", why, sizeof(why));
	if (!keys)
		abort();
}

/* What the handlers do with a complete request. */
static void use(const struct http_request *r)
{
	struct sigv4_cache cache = { 0 };
	struct gzip gzip = { 0 };
	struct slice out;
	struct error e;

	http_list_has(request_header(r, SLICE("accept-encoding")), SLICE("gzip"));
	if (sigv4_verify(r, keys, SLICE("us-east-1"), &cache, 1440938160000LL, &e))
		return;
	if (sigv4_is_present(r)) {
		struct sigv4 s = { .signed_headers = request_header(r, SLICE("x-signed")), .presigned = true };

		sigv4_canonical_request(r, &s);
	}
	if (gunzip(&gzip, r->arena, r->body, limits.body_bytes, &out) == GUNZIP_OK && out.n > limits.body_bytes)
		abort();
	gzip_release(&gzip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request_parser parser;
	struct http_request req;
	struct arena arena;
	size_t at = 1, step, used;

	prepare();
	if (size < 2)
		return 0;
	step = data[0] ? data[0] : 100000;
	arena_init(&arena);
	request_parser_init(&parser, &limits);
	request_begin(&parser, &req, &arena);
	while (at < size) {
		size_t n = size - at < step ? size - at : step;
		/* Its own block, so that reading beyond a piece is noticed. */
		char *piece = mem_strndup((const char *)data + at, n);
		enum request_status status = request_feed(&parser, piece, n, &used);

		mem_free(piece);
		if (status == REQUEST_REFUSED)
			break;
		at += used;
		if (status == REQUEST_MORE && used != n)
			abort(); /* nothing may be left lying about */
		if (status == REQUEST_DONE) {
			use(&req);
			arena_clear(&arena);
			request_begin(&parser, &req, &arena);
		}
	}
	arena_release(&arena);
	return 0;
}
