/* Open files, and how editors count in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lsp/document.h"

#include "base/alloc.h"

/* ---- files ---- */
struct document *documents_find(struct documents *d, struct slice uri)
{
	for (size_t i = 0; i < d->count; i++)
		if (slice_equal(d->list[i].uri, uri))
			return &d->list[i];
	return NULL;
}

static bool copy(struct slice s, struct slice *out)
{
	char *p = mem_alloc(s.n ? s.n : 1);

	if (!p)
		return false;
	memcpy(p, s.p, s.n);
	*out = slice_make(p, s.n);
	return true;
}

static void forget(struct slice *s)
{
	mem_free((char *)(uintptr_t)s->p);
	*s = slice_make(NULL, 0);
}

bool documents_set(struct documents *d, struct slice uri, struct slice text, int64_t version)
{
	struct document *x = documents_find(d, uri);
	struct slice mine;

	if (!x && d->count == DOCUMENTS_MOST)
		return false;
	if (!copy(text, &mine))
		return false;
	if (!x) {
		x = &d->list[d->count];
		*x = (struct document){ 0 };
		if (!copy(uri, &x->uri)) {
			forget(&mine);
			return false;
		}
		d->count++;
	}
	forget(&x->text);
	x->text = mine;
	x->version = version;
	x->changed = true;
	return true;
}

void documents_close(struct documents *d, struct document *x)
{
	forget(&x->uri);
	forget(&x->text);
	*x = d->list[--d->count];
}

void documents_release(struct documents *d)
{
	while (d->count)
		documents_close(d, &d->list[0]);
}

/* ---- places ---- */
/* The bytes of the character at `at`, which a byte that begins none is by itself, and its UTF-16 code units. */
static size_t character(struct slice text, size_t at, int64_t *units)
{
	size_t n = source_character(slice_make(text.p + at, text.n - at));

	*units = n == 4 ? 2 : 1;
	return n ? n : 1;
}

static size_t line_at(struct slice text, int64_t line)
{
	size_t at = 0;

	while (line > 0 && at < text.n) {
		const char *end = memchr(text.p + at, '\n', text.n - at);

		at = end ? (size_t)(end - text.p) + 1 : text.n;
		line--;
	}
	return at;
}

static bool is_end(struct slice text, size_t at)
{
	return at >= text.n || text.p[at] == '\n' || (text.p[at] == '\r' && at + 1 < text.n && text.p[at + 1] == '\n');
}

size_t position_to_byte(struct slice text, struct position p)
{
	size_t at = line_at(text, p.line);
	int64_t units;

	while (p.character > 0 && !is_end(text, at)) {
		size_t n = character(text, at, &units);

		if (units > p.character) /* the middle of a pair */
			break;
		at += n;
		p.character -= units;
	}
	return at;
}

struct position position_of_byte(struct slice text, size_t at)
{
	struct position p = { 0 };
	int64_t units;

	for (size_t i = 0; i < at && i < text.n;) {
		size_t n = character(text, i, &units);

		p.character = text.p[i] == '\n' ? 0 : p.character + units;
		p.line += text.p[i] == '\n';
		i += n;
	}
	return p;
}

void place_to_bytes(struct slice text, struct place p, size_t *from, size_t *to)
{
	size_t at = line_at(text, p.line > 0 ? p.line - 1 : 0);
	int64_t units;

	for (int i = 1; i < p.column && !is_end(text, at); i++)
		at += character(text, at, &units);
	*from = at;
	for (int i = 0; i < (p.length > 0 ? p.length : 1) && !is_end(text, at); i++)
		at += character(text, at, &units);
	*to = at;
}
