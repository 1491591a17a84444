/* `thorpe lsp`: a language server for designs.
 *
 * One thread reads all that has come, answers it in order, and only when nothing more is there checks the texts that
 * changed: who types fast gets the findings of the last text, not those of each.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/lsp/answer.h"
#include "cli/lsp/frame.h"

#define CHUNK      65536
#define AHEAD_MOST (1u << 20) /* read before the first of it is answered: cancellations are in it */

struct lsp_options {
	bool stdio;
};

static const struct flag flags[] = {
	FLAG_SWITCH("stdio", struct lsp_options, stdio, "for editors that say so: it is what it does anyway"),
	FLAG_END,
};

/* ---- out ---- */
static bool is_broken; /* nothing can be sent any more */

static void write_all(const char *p, size_t n)
{
	while (n && !is_broken) {
		ssize_t done = write(STDOUT_FILENO, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			is_broken = true;
			return;
		}
		p += done;
		n -= (size_t)done;
	}
}

static void send_body(struct slice body)
{
	char header[64];
	int n = snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n", body.n);

	write_all(header, (size_t)n);
	write_all(body.p, body.n);
}

/* ---- in ---- */
static bool is_more_there(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* False: the input has ended, or there is no memory for it. */
static bool read_once(struct frame *f)
{
	char *room = frame_room(f, CHUNK);
	ssize_t n;

	if (!room)
		return false;
	do
		n = read(STDIN_FILENO, room, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	frame_added(f, (size_t)n);
	return true;
}

/* Waits for something, and takes what has come by then. False: as read_once(), and there is nothing left to answer. */
static bool read_some(struct frame *f)
{
	size_t before = f->n;

	if (!read_once(f))
		return false;
	while (f->n < AHEAD_MOST && is_more_there() && read_once(f))
		;
	return f->n > before;
}

/* Whether a message that has come, too, cancels the request. */
static bool is_cancelled(const struct frame *f, size_t from, const struct json *id, struct arena *a)
{
	struct frame rest = { f->p + from, f->n - from, 0 };
	struct slice body;
	const char *why;
	size_t size;

	while (json_is(id, JSON_INT) || json_is(id, JSON_STRING)) {
		const struct json *m, *other;

		if (frame_take(&rest, &body, &size, &why) != FRAME_TAKEN)
			return false;
		rest.p += size;
		rest.n -= size;
		if (!memmem(body.p, body.n, "cancelRequest", 13))
			continue;
		m = json_parse(a, body);
		other = json_get(json_get(m, "params"), "id");
		if (slice_is(json_get_text(m, "method"), "$/cancelRequest") && other && other->type == id->type &&
		    (json_is(id, JSON_INT) ? other->integer == id->integer : slice_equal(other->string, id->string)))
			return true;
	}
	return false;
}

static void answer(struct lsp *l, const struct frame *f, size_t size, struct slice body, struct arena *a)
{
	const struct json *m = json_parse(a, body), *id = json_get(m, "id");

	if (!m)
		lsp_refuse(a, NULL, LSP_NOT_JSON, "this is not JSON", send_body);
	else if (id && json_get(m, "method") && is_cancelled(f, size, id, a))
		lsp_refuse(a, id, LSP_CANCELLED, "cancelled", send_body);
	else
		lsp_message(l, a, m, send_body);
}

/* Answers all messages that are there. False: nothing more can be understood. */
static bool answer_all(struct lsp *l, struct frame *f)
{
	enum frame_result r = FRAME_MORE;
	struct slice body;
	struct arena a;
	const char *why;
	size_t size;

	arena_init(&a);
	while (l->state != LSP_ENDED && (r = frame_take(f, &body, &size, &why)) == FRAME_TAKEN) {
		ARENA_TRY(&a, { answer(l, f, size, body, &a); }, { complain(0, "out of memory"); });
		arena_clear(&a);
		frame_drop(f, size);
	}
	arena_release(&a);
	if (r == FRAME_WRONG)
		complain(0, "%s", why);
	return r != FRAME_WRONG;
}

/* Not while more is there to be read. */
static void publish_all(struct lsp *l, bool ended)
{
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < l->documents.count && (ended || !is_more_there()); i++) {
		if (!l->documents.list[i].changed)
			continue;
		ARENA_TRY(&a, { lsp_publish(&l->documents.list[i], &a, send_body); }, { complain(0, "out of memory"); });
		arena_clear(&a);
	}
	arena_release(&a);
}

static int run(void *options, char **words, int count)
{
	static struct lsp l;
	struct frame f;

	(void)options, (void)words, (void)count;
	frame_init(&f);
	while (l.state != LSP_ENDED && !is_broken && read_some(&f)) {
		if (!answer_all(&l, &f))
			break;
		if (l.state == LSP_READY)
			publish_all(&l, false);
	}
	if (l.state == LSP_READY && !is_broken)
		publish_all(&l, true);
	documents_release(&l.documents);
	frame_release(&f);
	return l.ended_well ? 0 : EXIT_REFUSED;
}

const struct command command_lsp = {
	.name = "lsp",
	.summary = "help editors: errors and findings as you type, words, what they are for",
	.usage = "[--stdio]",
	.about = "A language server: an editor starts it and talks to it on standard input and output. It checks designs\n"
		 "as they are written, with the errors and findings of 'thorpe check', completes words and names, and\n"
		 "says what a word is for. docs/howto/editors.md shows how to set up VS Code, Neovim, Helix and Zed.",
	.flags = flags,
	.examples = "  thorpe lsp --stdio",
	.size = sizeof(struct lsp_options),
	.run = run,
};
