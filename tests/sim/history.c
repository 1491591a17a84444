/* The history for people: requests, replies, writes, deaths; for a failure only the relevant ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"
#include "expr/print.h"
#include "value/codec.h"

#define LINE_MOST   420
#define VALUES_MOST 2
#define KEYS_MOST   2
#define HEAD        35 /* bytes before the text of a line: turn, time, fiber and its number */

void sim_note(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->options->recording)
		return;
	buf_printf(&s->history, "%6llu %10.4f s %-9.9s %3u  ", (unsigned long long)fiber_turns(),
		   (double)fiber_now_us() / 1e6, fiber_name(fiber_self()), fiber_number(fiber_self()));
	va_start(ap, fmt);
	buf_put(&s->history, arena_vprintf(&s->arena, fmt, ap));
	va_end(ap);
	buf_lit(&s->history, "\n");
}

/* ---- writes ---- */

static void put_action(struct buf *b, const struct request_action *a)
{
	static const char *const kinds[] = {
		[WRITE_PUT] = "put", [WRITE_UPDATE] = "update", [WRITE_DELETE] = "delete", [WRITE_CHECK] = "check"
	};
	struct expr_printer p;

	buf_printf(b, " %s ", kinds[a->kind]);
	item_to_json(b, a->kind == WRITE_PUT ? a->item : a->key);
	expr_printer_init(&p, b->arena, b);
	if (a->update) {
		buf_lit(b, " ");
		expr_print_update(&p, a->update);
	}
	if (a->condition) {
		buf_lit(b, " if ");
		expr_print_condition(&p, a->condition);
	}
	buf_printf(b, " %.*s %.*s;", SLICE_ARG(buf_slice(&p.names)), SLICE_ARG(buf_slice(&p.values)));
}

void history_watch(void *ctx, const struct machine_write *w)
{
	struct sim *s = ctx;
	struct buf b;

	if (sim_may(s, SIM_DECIDE))
		decide_watch(s, w);
	if (!s->options->recording)
		return;
	buf_init(&b, &s->arena);
	if (w->is_done) {
		if (!slice_is(w->outcome, "done"))
			sim_note(s, "  … %.*s", SLICE_ARG(w->outcome));
		return;
	}
	if (!w->actions) {
		sim_note(s, "  writes: %.*s %.*s", SLICE_ARG(w->operation), SLICE_ARG(w->document));
		return;
	}
	for (size_t i = 0; i < w->count; i++)
		put_action(&b, &w->actions[i]);
	sim_note(s, "  writes:%.*s", SLICE_ARG(buf_slice(&b)));
}

void history_log(void *ctx, const char *line)
{
	sim_note(ctx, "  log: %s", line);
}

/* ---- lines relevant to a failure ---- */

/* values of a key, as in a document */
struct texts {
	struct slice list[VALUES_MOST];
	size_t count;
};

/* Collects the keys in the first problem, {"PK":{"S":"USER#ann"},"SK":{"S":"PROFILE"}}; returns their number. */
static size_t keys_of(const struct sim *s, struct texts *keys)
{
	const char *p = s->problems.p, *line = p ? memchr(p, '\n', s->problems.n) : NULL, *value, *end;
	size_t n = 0;

	while (n < KEYS_MOST && p && (p = memmem(p, (size_t)(line - p), "{\"", 2)) != NULL) {
		end = memmem(p, (size_t)(line - p), "}}", 2);
		if (!end)
			break;
		keys[n] = (struct texts){ 0 };
		while (keys[n].count < VALUES_MOST && (value = memmem(p, (size_t)(end - p), "\"S\":", 4)) != NULL) {
			const char *close = memchr(value + 5, '"', (size_t)(line - value - 5));

			keys[n].list[keys[n].count++] = slice_make(value + 4, (size_t)(close + 1 - value - 4));
			p = close;
		}
		n += keys[n].count > 0;
		p = end;
		if (!slice_starts(slice_make(end, (size_t)(line - end)), SLICE("}}, {")))
			break;
	}
	return n;
}

struct line {
	struct slice text;
	long fiber;
	enum { LINE_OTHER, LINE_REQUEST, LINE_REPLY, LINE_WRITE, LINE_EVENT } kind;
	bool is_shown;
};

static struct line line_of(struct slice text)
{
	struct line l = { .text = text };
	struct slice rest = text.n > HEAD ? slice_make(text.p + HEAD, text.n - HEAD) : SLICE("");

	l.fiber = text.n > HEAD ? strtol(text.p + HEAD - 4, NULL, 10) : -1;
	if (slice_starts(rest, SLICE("  writes")))
		l.kind = LINE_WRITE;
	else if (slice_starts(rest, SLICE("the ")))
		l.kind = LINE_EVENT;
	else if (slice_starts(rest, SLICE("→")))
		l.kind = LINE_REPLY;
	else if (!slice_starts(rest, SLICE("  ")))
		l.kind = LINE_REQUEST;
	return l;
}

static bool has_key(const struct texts *k, struct slice line)
{
	for (size_t i = 0; i < k->count; i++)
		if (!memmem(line.p, line.n, k->list[i].p, k->list[i].n))
			return false;
	return true;
}

static bool has_any(const struct texts *keys, size_t n, struct slice line)
{
	for (size_t i = 0; i < n; i++)
		if (has_key(&keys[i], line))
			return true;
	return false;
}

/* Whether the write failed. */
static bool is_refused(const struct line *lines, size_t n, size_t i)
{
	for (size_t k = i + 1; k < n; k++)
		if (lines[k].fiber == lines[i].fiber)
			return slice_starts(slice_make(lines[k].text.p + HEAD, lines[k].text.n - HEAD), SLICE("  …"));
	return false;
}

/* Shows the following lines of the same fiber, up to the reply. */
static void show_rest(struct line *lines, size_t n, size_t i)
{
	for (size_t k = i + 1; k < n; k++) {
		if (lines[k].fiber != lines[i].fiber)
			continue;
		lines[k].is_shown |= lines[k].kind == LINE_OTHER || lines[k].kind == LINE_REPLY;
		if (lines[k].kind != LINE_OTHER)
			return;
	}
}

/* Writes of the item, and the requests that made them. */
static void choose_lines(const struct sim *s, struct line *lines, size_t n)
{
	struct texts keys[KEYS_MOST];
	size_t count = s->problem_count && !s->options->all ? keys_of(s, keys) : 0;

	for (size_t i = 0; i < n; i++) {
		lines[i].is_shown |= !count || lines[i].kind == LINE_EVENT;
		if (lines[i].kind != LINE_WRITE || !has_any(keys, count, lines[i].text) || is_refused(lines, n, i))
			continue;
		lines[i].is_shown = true;
		show_rest(lines, n, i);
		for (size_t k = i; k-- > 0;)
			if (lines[k].fiber == lines[i].fiber &&
			    (lines[k].kind == LINE_REQUEST || lines[k].kind == LINE_REPLY)) {
				lines[k].is_shown = true;
				break;
			}
	}
}

void history_print(struct sim *s)
{
	const char *p = s->history.p, *end = p + s->history.n;
	struct line *lines;
	size_t n = 0, i = 0;

	for (const char *at = p; at < end; at++)
		n += *at == '\n';
	lines = arena_array(&s->arena, struct line, n + 1);
	for (; i < n; i++) {
		const char *next = memchr(p, '\n', (size_t)(end - p));

		lines[i] = line_of(slice_make(p, (size_t)(next - p)));
		p = next + 1;
	}
	choose_lines(s, lines, n);
	for (i = 0; i < n; i++)
		if (lines[i].is_shown)
			printf("%.*s\n",
			       (int)(lines[i].text.n < LINE_MOST || s->options->all ? lines[i].text.n : LINE_MOST),
			       lines[i].text.p);
}
