/* gzip of JSON and back, with libdeflate. Any program may have written the stored bytes, so they are checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/packed.h"
#include <libdeflate.h>

#define LEVEL   6
#define TRAILER 8 /* bytes: CRC, then the size of the text, little endian */

struct value packed_make(struct arena *a, struct slice json)
{
	size_t room = libdeflate_gzip_compress_bound(NULL, json.n), n;
	char *out = arena_alloc(a, room);
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);

	if (!c)
		arena_out_of_memory(a);
	n = libdeflate_gzip_compress(c, json.p, json.n, out, room);
	libdeflate_free_compressor(c);
	return value_make_b(a, slice_make(out, n));
}

static size_t size_said(struct slice gzip)
{
	const uint8_t *p;

	if (gzip.n < TRAILER)
		return 0;
	p = (const uint8_t *)gzip.p + gzip.n - 4;
	return (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

/* Releases the parsed tree at once: a page of rows should not keep all of them. */
static bool is_json(struct slice text)
{
	struct arena own;
	volatile bool is = false;

	arena_init(&own);
	ARENA_TRY(&own, { is = json_parse(&own, text) != NULL; }, { is = false; });
	arena_release(&own);
	return is;
}

bool packed_write(struct buf *b, struct value v)
{
	struct slice gzip = value_bytes(v);
	size_t n = value_type(v) == VALUE_B ? size_said(gzip) : 0;
	struct libdeflate_decompressor *d;
	enum libdeflate_result result;
	char *to;

	if (!n || n > PACKED_MOST_OUT)
		return false;
	to = buf_room(b, n);
	d = libdeflate_alloc_decompressor();
	if (!d)
		arena_out_of_memory(b->arena);
	result = libdeflate_gzip_decompress(d, gzip.p, gzip.n, to, n, NULL);
	libdeflate_free_decompressor(d);
	if (result != LIBDEFLATE_SUCCESS || !is_json(slice_make(to, n)))
		return false;
	b->n += n;
	return true;
}
