/* gzip and deflate of bodies, both ways, and the checksum of bodies.
 *
 * A struct gzip belongs to one thread; its two halves are created when first needed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_WIRE_GZIP_H
#define THORPE_WIRE_GZIP_H

#include "base/arena.h"

struct libdeflate_compressor;
struct libdeflate_decompressor;

struct gzip {
	struct libdeflate_compressor *compressor;
	struct libdeflate_decompressor *decompressor;
};

void gzip_release(struct gzip *g);

enum gunzip_result { GUNZIP_OK, GUNZIP_BAD, GUNZIP_TOO_LARGE };

/* Unpacks one or more concatenated gzip members; never returns or holds more than `limit` bytes. Running out of
 * memory leaves by arena.h A1. */
enum gunzip_result gunzip(struct gzip *g, struct arena *a, struct slice in, size_t limit, struct slice *out);

/* The same for HTTP's "deflate", which is zlib's format: exactly one stream. */
enum gunzip_result inflate_zlib(struct gzip *g, struct arena *a, struct slice in, size_t limit, struct slice *out);

/* An empty slice if compressing would not make it smaller. Memory as above. */
struct slice gzip_pack(struct gzip *g, struct arena *a, struct slice in);
struct slice deflate_zlib(struct gzip *g, struct arena *a, struct slice in);

uint32_t gzip_crc32(struct slice s);

#endif
