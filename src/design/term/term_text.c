/* Characters, case, words and slugs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/source/source.h"
#include "design/term/term_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NO_CHARACTER UINT32_MAX

/* The character at s.p[*at], moving *at after it; NO_CHARACTER, and one byte on, if the bytes are no UTF-8. */
static uint32_t next_character(struct slice s, size_t *at)
{
	const uint8_t *p = (const uint8_t *)s.p + *at;
	size_t n = p[0] < 0x80 ? 1 : source_character(slice_make(p, s.n - *at));
	uint32_t c = n == 1 ? p[0] : p[0] & (0x7Fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3F);
	*at += n ? n : 1;
	return n ? c : NO_CHARACTER;
}

static void put_character(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_byte(b, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		buf_byte(b, (uint8_t)(0xC0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_byte(b, (uint8_t)(0xE0 | c >> 12));
		} else {
			buf_byte(b, (uint8_t)(0xF0 | c >> 18));
			buf_byte(b, (uint8_t)(0x80 | (c >> 12 & 0x3F)));
		}
		buf_byte(b, (uint8_t)(0x80 | (c >> 6 & 0x3F)));
	}
	buf_byte(b, (uint8_t)(0x80 | (c & 0x3F)));
}

bool text_is_utf8(struct slice s)
{
	for (size_t at = 0; at < s.n;)
		if (next_character(s, &at) == NO_CHARACTER)
			return false;
	return true;
}

size_t text_count(struct slice s)
{
	size_t n = 0;

	for (size_t at = 0; at < s.n; n++)
		(void)next_character(s, &at);
	return n;
}

struct slice text_first(struct slice s, size_t n)
{
	size_t at = 0;

	while (n-- && at < s.n)
		(void)next_character(s, &at);
	return slice_make(s.p, at);
}

/* Capitals from..to become small letters by adding `add`; every second one from `from` when they alternate with their
 * small letters. */
/* clang-format off */
static const struct {
	uint32_t from, to;
	int32_t add;
	bool alternate;
} capitals[] = {
	{ 'A', 'Z', 32, false },         { 0xC0, 0xD6, 32, false },
	{ 0xD8, 0xDE, 32, false },       { 0x100, 0x12E, 1, true },
	{ 0x130, 0x130, -199, false },   { 0x132, 0x136, 1, true },
	{ 0x139, 0x147, 1, true },       { 0x14A, 0x176, 1, true },
	{ 0x178, 0x178, -121, false },   { 0x179, 0x17D, 1, true },
	{ 0x386, 0x386, 38, false },     { 0x388, 0x38A, 37, false },
	{ 0x38C, 0x38C, 64, false },     { 0x38E, 0x38F, 63, false },
	{ 0x391, 0x3A1, 32, false },     { 0x3A3, 0x3AB, 32, false },
	{ 0x400, 0x40F, 80, false },     { 0x410, 0x42F, 32, false },
	{ 0x460, 0x480, 1, true },       { 0x48A, 0x4BE, 1, true },
	{ 0x4D0, 0x52E, 1, true },       { 0x531, 0x556, 48, false },
	{ 0x1E00, 0x1E94, 1, true },     { 0x1E9E, 0x1E9E, -7615, false },
	{ 0x1EA0, 0x1EFE, 1, true },     { 0xFF21, 0xFF3A, 32, false },
};
/* clang-format on */

static uint32_t to_lower(uint32_t c)
{
	for (size_t i = 0; i < COUNT(capitals); i++)
		if (c >= capitals[i].from && c <= capitals[i].to &&
		    (!capitals[i].alternate || (c - capitals[i].from) % 2 == 0))
			return (uint32_t)((int32_t)c + capitals[i].add);
	return c;
}

static uint32_t to_upper(uint32_t c)
{
	for (size_t i = 0; i < COUNT(capitals); i++) {
		uint32_t capital = (uint32_t)((int32_t)c - capitals[i].add);

		if (c != 0xDF && capital >= capitals[i].from && capital <= capitals[i].to &&
		    (!capitals[i].alternate || (capital - capitals[i].from) % 2 == 0))
			return capital;
	}
	return c;
}

static struct slice changed(struct arena *a, struct slice s, uint32_t (*change)(uint32_t))
{
	struct buf b;

	buf_init(&b, a);
	for (size_t at = 0; at < s.n;) {
		size_t before = at;
		uint32_t c = next_character(s, &at);

		if (c == NO_CHARACTER)
			buf_byte(&b, (uint8_t)s.p[before]);
		else
			put_character(&b, change(c));
	}
	return buf_slice(&b);
}

struct slice text_lower(struct arena *a, struct slice s)
{
	return changed(a, s, to_lower);
}

struct slice text_upper(struct arena *a, struct slice s)
{
	return changed(a, s, to_upper);
}

/* Punctuation, spaces, symbols and pictures. */
/* clang-format off */
static const struct {
	uint32_t from, to;
} no_letters[] = {
	{ 0x80, 0xA9 },     { 0xAB, 0xB4 },     { 0xB6, 0xB9 },     { 0xBB, 0xBF },
	{ 0xD7, 0xD7 },     { 0xF7, 0xF7 },     { 0x1680, 0x1680 }, { 0x2000, 0x206F },
	{ 0x20A0, 0x20CF }, { 0x2190, 0x2BFF }, { 0x2E00, 0x2E7F }, { 0x3000, 0x3004 },
	{ 0x3008, 0x3020 }, { 0xE000, 0xF8FF }, { 0xFE00, 0xFE6F }, { 0xFF01, 0xFF0F },
	{ 0xFF1A, 0xFF20 }, { 0xFF3B, 0xFF40 }, { 0xFF5B, 0xFF65 }, { 0xFFE0, 0xFFFF },
	{ 0x1F000, 0x1FAFF }, { 0xE0000, 0x10FFFF },
};
/* clang-format on */

static bool is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
	for (size_t i = 0; i < COUNT(no_letters); i++)
		if (c >= no_letters[i].from && c <= no_letters[i].to)
			return false;
	return c != NO_CHARACTER;
}

/* Accents that follow their letter: "é" as "e" and U+0301. */
static bool is_accent(uint32_t c)
{
	return (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
	       (c >= 0x20D0 && c <= 0x20FF);
}

static bool is_unseen(uint32_t c)
{
	/* clang-format off */
	static const struct {
		uint32_t from, to;
	} unseen[] = {
		{ 0, 0x1F },          { 0x7F, 0xA0 },       { 0xAD, 0xAD },       { 0x34F, 0x34F },
		{ 0x61C, 0x61C },     { 0x115F, 0x1160 },   { 0x1680, 0x1680 },   { 0x17B4, 0x17B5 },
		{ 0x180B, 0x180F },   { 0x2000, 0x200F },   { 0x2028, 0x202F },   { 0x205F, 0x206F },
		{ 0x2800, 0x2800 },   { 0x3000, 0x3000 },   { 0x3164, 0x3164 },   { 0xFE00, 0xFE0F },
		{ 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFFB },   { 0x1BCA0, 0x1BCA3 },
		{ 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF }, { NO_CHARACTER, NO_CHARACTER },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT(unseen); i++)
		if (c >= unseen[i].from && c <= unseen[i].to)
			return true;
	return false;
}

bool text_has_unseen(struct slice s)
{
	for (size_t at = 0; at < s.n;)
		if (is_unseen(next_character(s, &at)))
			return true;
	return false;
}

bool text_is_letters(struct slice s, const char *also)
{
	for (size_t at = 0; at < s.n;) {
		uint32_t c = next_character(s, &at);

		if (c && c < 0x80 && strchr(also, (int)c))
			continue;
		if (!is_letter(c) || is_accent(c) || is_unseen(c))
			return false;
	}
	return true;
}

static bool is_apostrophe(uint32_t c)
{
	return c == '\'' || c == 0x2019;
}

/* Small Latin letters without their accents. */
static const struct {
	uint16_t from, to;
	const char *plain;
} plain_letters[] = {
	{ 0xDF, 0xDF, "ss" },  { 0xE0, 0xE5, "a" },    { 0xE6, 0xE6, "ae" },  { 0xE7, 0xE7, "c" },
	{ 0xE8, 0xEB, "e" },   { 0xEC, 0xEF, "i" },    { 0xF0, 0xF0, "d" },   { 0xF1, 0xF1, "n" },
	{ 0xF2, 0xF6, "o" },   { 0xF8, 0xF8, "o" },    { 0xF9, 0xFC, "u" },   { 0xFD, 0xFD, "y" },
	{ 0xFE, 0xFE, "th" },  { 0xFF, 0xFF, "y" },    { 0x101, 0x105, "a" }, { 0x107, 0x10D, "c" },
	{ 0x10F, 0x111, "d" }, { 0x113, 0x11B, "e" },  { 0x11D, 0x123, "g" }, { 0x125, 0x127, "h" },
	{ 0x129, 0x131, "i" }, { 0x133, 0x133, "ij" }, { 0x135, 0x135, "j" }, { 0x137, 0x138, "k" },
	{ 0x13A, 0x142, "l" }, { 0x144, 0x14B, "n" },  { 0x14D, 0x151, "o" }, { 0x153, 0x153, "oe" },
	{ 0x155, 0x159, "r" }, { 0x15B, 0x161, "s" },  { 0x163, 0x167, "t" }, { 0x169, 0x173, "u" },
	{ 0x175, 0x175, "w" }, { 0x177, 0x177, "y" },  { 0x17A, 0x17E, "z" }, { 0x17F, 0x17F, "s" },
};

static void put_plain(struct buf *b, uint32_t c)
{
	for (size_t i = 0; i < COUNT(plain_letters); i++) {
		if (c < plain_letters[i].from || c > plain_letters[i].to)
			continue;
		buf_str(b, plain_letters[i].plain);
		return;
	}
	put_character(b, c);
}

struct slice text_slug(struct arena *a, struct slice s)
{
	bool gap = false;
	struct buf b;

	buf_init(&b, a);
	for (size_t at = 0; at < s.n;) {
		uint32_t c = next_character(s, &at);

		if (is_apostrophe(c) || is_accent(c))
			continue;
		if (!is_letter(c) || is_unseen(c)) {
			gap = b.n > 0;
			continue;
		}
		if (gap)
			buf_byte(&b, '-');
		gap = false;
		put_plain(&b, to_lower(c));
	}
	return buf_slice(&b);
}

bool text_word(struct arena *a, struct slice *rest, struct slice *word)
{
	size_t at = 0;
	struct buf b;

	buf_init(&b, a);
	while (at < rest->n) {
		uint32_t c = next_character(*rest, &at);

		if (is_letter(c))
			put_character(&b, to_lower(c));
		else if (b.n && !is_apostrophe(c))
			break;
	}
	*rest = slice_make(rest->p + at, rest->n - at);
	*word = buf_slice(&b);
	return b.n > 0;
}

bool text_is_stop_word(struct slice word)
{
	static const char *const stop[] = {
		"a",    "an",  "and",  "are",  "as",   "at",   "be",    "but",  "by",    "do",    "for",   "from",
		"had",  "has", "have", "how",  "if",   "in",   "into",  "is",   "it",    "its",   "no",    "not",
		"of",   "on",  "or",   "so",   "such", "that", "the",   "then", "their", "there", "these", "they",
		"this", "to",  "was",  "were", "what", "when", "which", "will", "with",  "you",   "your",
	};

	for (size_t i = 0; i < COUNT(stop); i++)
		if (slice_is(word, stop[i]))
			return true;
	return false;
}
