/* What happened, for people: requests, replies, writes, deaths; of a failure those that have to do with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "sim.h"
#include "value/codec.h"

#define LINE_MOST 420
#define WORDS_MOST 32
#define LINES_MOST 400

void sim_note(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->options->recording)
		return;
	buf_printf(&s->history, "%6llu %10.4f s  %-9s %2u  ", (unsigned long long)fiber_turns(), (double)fiber_now_us() / 1e6,
		   fiber_name(fiber_self()), fiber_number(fiber_self()));
	va_start(ap, fmt);
	buf_put(&s->history, arena_vprintf(&s->arena, fmt, ap));
	va_end(ap);
	buf_lit(&s->history, "\n");
}

/* ---- writes ---- */

static void put_action(struct buf *b, const struct api_action *a)
{
	static const char *const kinds[] = { [WRITE_PUT] = "put", [WRITE_UPDATE] = "update", [WRITE_DELETE] = "delete", [WRITE_CHECK] = "check" };

	buf_printf(b, " %s ", kinds[a->kind]);
	item_to_json(b, a->kind == WRITE_PUT ? a->item : a->key);
	if (a->update.n)
		buf_printf(b, " %.*s", SLICE_ARG(a->update));
	if (a->condition.n)
		buf_printf(b, " if %.*s", SLICE_ARG(a->condition));
	for (size_t i = 0; i < a->binding_count; i++) {
		buf_printf(b, " %.*s=", SLICE_ARG(a->bindings[i].placeholder));
		if (value_present(a->bindings[i].value))
			value_to_json(b, a->bindings[i].value);
		else
			buf_put(b, a->bindings[i].name);
	}
	buf_lit(b, ";");
}

void history_watch(void *ctx, const struct machine_write *w)
{
	struct sim *s = ctx;
	struct buf b;

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

/* ---- what has to do with a failure ---- */

struct words {
	struct slice list[WORDS_MOST];
	size_t count;
};

static bool is_telling(struct slice w)
{
	bool lower = false;

	for (size_t i = 0; i < w.n; i++)
		lower |= islower((unsigned char)w.p[i]) || isdigit((unsigned char)w.p[i]);
	return w.n >= 3 && lower;
}

static void add_word(struct words *w, struct slice s)
{
	for (size_t i = 0; i < w->count; i++)
		if (slice_equal(w->list[i], s))
			return;
	if (w->count < WORDS_MOST && is_telling(s))
		w->list[w->count++] = s;
}

/* The parts of the first key that a problem shows: {"PK":{"S":"USER#ann"}} gives ann. */
static void words_of(const struct sim *s, struct words *w)
{
	const char *p = s->problems.p, *end = p + s->problems.n;
	const char *line = memchr(p, '\n', s->problems.n), *value;

	end = line ? line : end;
	while ((value = memmem(p, (size_t)(end - p), "{\"S\":\"", 6)) != NULL) {
		const char *from = value + 6, *at = from;

		for (; at < end && *at != '"'; at++)
			if (*at == '#') {
				add_word(w, slice_make(from, (size_t)(at - from)));
				from = at + 1;
			}
		add_word(w, slice_make(from, (size_t)(at - from)));
		p = at;
	}
}

static bool has_word(const struct words *w, struct slice line)
{
	for (size_t i = 0; i < w->count; i++)
		if (memmem(line.p, line.n, w->list[i].p, w->list[i].n))
			return true;
	return !w->count || memmem(line.p, line.n, "the process", 11) || memmem(line.p, line.n, "the clock", 9);
}

void history_print(const struct sim *s)
{
	const char *p = s->history.p, *end = p + s->history.n;
	struct words words = { 0 };

	if (s->problem_count && !s->options->all)
		words_of(s, &words);
	for (size_t lines = 0; p < end;) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		struct slice line = slice_make(p, (size_t)((next ? next : end) - p));

		p = next ? next + 1 : end;
		if (!has_word(&words, line) || (lines++ > LINES_MOST && !s->options->all))
			continue;
		printf("%.*s%s\n", (int)(line.n < LINE_MOST || s->options->all ? line.n : LINE_MOST), line.p,
		       line.n < LINE_MOST || s->options->all ? "" : " …");
	}
}
