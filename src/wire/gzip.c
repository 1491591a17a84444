/* libdeflate needs the whole input and room for the whole output: the size in gzip's trailer is the first guess,
 * limited to what deflate can expand to.
 * SPDX-License-Identifier: Apache-2.0 */
#include <libdeflate.h>

#include "wire/gzip.h"

#define LEVEL           1    /* replies are made while a client waits */
#define MOST_EXPANSION  1032 /* deflate's best case: 258 bytes for two bits */
#define SMALLEST_MEMBER 18
#define ZLIB_GUESS      4 /* JSON shrinks to about a quarter, and zlib does not say how much it was */

void gzip_release(struct gzip *g)
{
	libdeflate_free_compressor(g->compressor);
	libdeflate_free_decompressor(g->decompressor);
	*g = (struct gzip){ 0 };
}

uint32_t gzip_crc32(struct slice s)
{
	return libdeflate_crc32(0, s.p, s.n);
}

/* The decompressed size a member's trailer claims: little-endian, modulo 2^32. */
static size_t claimed_size(struct slice in)
{
	const uint8_t *t = (const uint8_t *)in.p + in.n - 4;

	return (size_t)t[0] | (size_t)t[1] << 8 | (size_t)t[2] << 16 | (size_t)t[3] << 24;
}

static size_t first_guess(struct slice in, size_t limit)
{
	size_t guess = claimed_size(in), most = in.n * MOST_EXPANSION;

	if (guess > most)
		guess = most;
	if (guess > limit)
		guess = limit;
	return guess ? guess : 1;
}

typedef enum libdeflate_result unpack_fn(struct libdeflate_decompressor *, const void *, size_t, void *, size_t,
					 size_t *, size_t *);

struct format {
	unpack_fn *unpack_one;
	size_t streams_most; /* that may follow one another */
};

/* room for the unpacked bytes */
struct room {
	size_t first, limit;
};

static enum gunzip_result unpack(struct gzip *g, struct arena *a, struct slice in, struct room room,
				 struct format format, struct slice *out)
{
	size_t n = 0, cap = room.first, used, made;
	char *p = arena_alloc(a, cap);

	if (!g->decompressor && !(g->decompressor = libdeflate_alloc_decompressor()))
		arena_out_of_memory(a);
	while (in.n) {
		enum libdeflate_result r = format.unpack_one(g->decompressor, in.p, in.n, p + n, cap - n, &used, &made);

		if (r == LIBDEFLATE_INSUFFICIENT_SPACE) {
			size_t more = cap > room.limit / 2 ? room.limit : cap * 2;

			if (cap >= room.limit)
				return GUNZIP_TOO_LARGE;
			p = arena_grow(a, p, cap, more);
			cap = more;
			continue;
		}
		if (r != LIBDEFLATE_SUCCESS || format.streams_most-- == 0)
			return GUNZIP_BAD;
		n += made;
		in = slice_make(in.p + used, in.n - used);
	}
	*out = slice_make(p, n);
	return GUNZIP_OK;
}

enum gunzip_result gunzip(struct gzip *g, struct arena *a, struct slice in, size_t limit, struct slice *out)
{
	if (in.n < SMALLEST_MEMBER)
		return GUNZIP_BAD;
	return unpack(g, a, in, (struct room){ first_guess(in, limit), limit },
		      (struct format){ libdeflate_gzip_decompress_ex, SIZE_MAX }, out);
}

enum gunzip_result inflate_zlib(struct gzip *g, struct arena *a, struct slice in, size_t limit, struct slice *out)
{
	size_t guess = in.n > limit / ZLIB_GUESS ? limit : in.n * ZLIB_GUESS;

	if (!in.n)
		return GUNZIP_BAD;
	return unpack(g, a, in, (struct room){ guess, limit }, (struct format){ libdeflate_zlib_decompress_ex, 1 }, out);
}

typedef size_t pack_fn(struct libdeflate_compressor *, const void *, size_t, void *, size_t);

static struct slice pack(struct gzip *g, struct arena *a, struct slice in, pack_fn *one)
{
	size_t n;
	char *p;

	if (!g->compressor && !(g->compressor = libdeflate_alloc_compressor(LEVEL)))
		arena_out_of_memory(a);
	if (!in.n)
		return (struct slice){ 0 };
	p = arena_alloc(a, in.n);
	n = one(g->compressor, in.p, in.n, p, in.n - 1);
	return n ? slice_make(p, n) : (struct slice){ 0 };
}

struct slice gzip_pack(struct gzip *g, struct arena *a, struct slice in)
{
	return pack(g, a, in, libdeflate_gzip_compress);
}

struct slice deflate_zlib(struct gzip *g, struct arena *a, struct slice in)
{
	return pack(g, a, in, libdeflate_zlib_compress);
}
