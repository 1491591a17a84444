/* The first bytes of the usual kinds of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "media/media.h"

/* clang-format off */
static const struct kind {
	const char *type;
	size_t at;         /* where the bytes are */
	const char *bytes;
	size_t n;
	bool attached;     /* not shown in place: documents and archives */
} kinds[] = {
#define BYTES(text) text, sizeof(text) - 1
	{ "image/jpeg", 0, BYTES("\xff\xd8\xff") },
	{ "image/png", 0, BYTES("\x89PNG\r\n\x1a\n") },
	{ "image/gif", 0, BYTES("GIF87a") },
	{ "image/gif", 0, BYTES("GIF89a") },
	{ "image/webp", 8, BYTES("WEBP") },
	{ "image/avif", 4, BYTES("ftyp") },
	{ "image/heic", 4, BYTES("ftyp") },
	{ "image/bmp", 0, BYTES("BM") },
	{ "image/tiff", 0, BYTES("II*\0") },
	{ "image/tiff", 0, BYTES("MM\0*") },
	{ "video/mp4", 4, BYTES("ftyp") },
	{ "video/quicktime", 4, BYTES("ftyp") },
	{ "video/quicktime", 4, BYTES("moov") },
	{ "video/webm", 0, BYTES("\x1a\x45\xdf\xa3") },
	{ "video/x-matroska", 0, BYTES("\x1a\x45\xdf\xa3") },
	{ "video/ogg", 0, BYTES("OggS") },
	{ "audio/mp4", 4, BYTES("ftyp") },
	{ "audio/mpeg", 0, BYTES("ID3") },
	{ "audio/mpeg", 0, BYTES("\xff\xfb") },
	{ "audio/mpeg", 0, BYTES("\xff\xf3") },
	{ "audio/mpeg", 0, BYTES("\xff\xf2") },
	{ "audio/wav", 8, BYTES("WAVE") },
	{ "audio/ogg", 0, BYTES("OggS") },
	{ "audio/flac", 0, BYTES("fLaC") },
	{ "audio/webm", 0, BYTES("\x1a\x45\xdf\xa3") },
	{ "application/pdf", 0, BYTES("%PDF-"), true },
	{ "application/zip", 0, BYTES("PK"), true },
	{ "application/gzip", 0, BYTES("\x1f\x8b"), true },
#undef BYTES
};
/* clang-format on */

bool media_kind_fits(struct slice type, struct slice head)
{
	bool known = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct kind *k = &kinds[i];

		if (!slice_is(type, k->type))
			continue;
		known = true;
		if (head.n >= k->at + k->n && !memcmp(head.p + k->at, k->bytes, k->n))
			return true;
	}
	return !known;
}

bool media_kind_is_shown(struct slice type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (slice_is(type, kinds[i].type))
			return !kinds[i].attached;
	return false;
}
