/* Cuts messages out of a stream of bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lsp/frame.h"

#include <strings.h>

#include "base/alloc.h"

void frame_init(struct frame *f)
{
	*f = (struct frame){ 0 };
}

void frame_release(struct frame *f)
{
	mem_free(f->p);
	frame_init(f);
}

char *frame_room(struct frame *f, size_t n)
{
	if (f->room - f->n < n) {
		size_t room = f->room * 2 > f->n + n ? f->room * 2 : f->n + n;
		char *p = mem_realloc(f->p, room);

		if (!p)
			return NULL;
		f->p = p;
		f->room = room;
	}
	return f->p + f->n;
}

void frame_added(struct frame *f, size_t n)
{
	f->n += n;
}

void frame_drop(struct frame *f, size_t n)
{
	memmove(f->p, f->p + n, f->n - n);
	f->n -= n;
}

/* A line without its end; false: it has no end yet. */
static bool take_line(struct slice *rest, struct slice *line)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	size_t n = end ? (size_t)(end - rest->p) : 0;

	if (!end)
		return false;
	*line = slice_make(rest->p, n && rest->p[n - 1] == '\r' ? n - 1 : n);
	*rest = slice_make(end + 1, rest->n - n - 1);
	return true;
}

/* The length, if the line says it; false: it says another thing. */
static bool read_length(struct slice line, size_t *length)
{
	static const char name[] = "Content-Length:";
	size_t i = sizeof(name) - 1, n = 0, digits = 0;

	if (line.n < i || strncasecmp(line.p, name, i) != 0)
		return false;
	while (i < line.n && line.p[i] == ' ')
		i++;
	for (; i < line.n && line.p[i] >= '0' && line.p[i] <= '9' && n <= FRAME_BODY_MOST; i++, digits++)
		n = n * 10 + (size_t)(line.p[i] - '0');
	while (i < line.n && line.p[i] == ' ')
		i++;
	*length = digits && i == line.n ? n : SIZE_MAX;
	return true;
}

enum frame_result frame_take(const struct frame *f, struct slice *body, size_t *size, const char **why)
{
	struct slice rest = slice_make(f->p, f->n), line = SLICE("x");
	size_t length = SIZE_MAX;

	while (line.n) {
		if (!take_line(&rest, &line)) {
			*why = "the headers have no end";
			return f->n > FRAME_HEADERS_MOST ? FRAME_WRONG : FRAME_MORE;
		}
		if (read_length(line, &length) && length > FRAME_BODY_MOST) {
			*why = "expected a Content-Length of at most 16 MiB";
			return FRAME_WRONG;
		}
	}
	*why = "a message has no Content-Length";
	if (length == SIZE_MAX)
		return FRAME_WRONG;
	if (rest.n < length)
		return FRAME_MORE;
	*body = slice_make(rest.p, length);
	*size = (size_t)(rest.p - f->p) + length;
	return FRAME_TAKEN;
}
