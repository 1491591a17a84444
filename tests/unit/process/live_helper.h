/* Watchers without a server: a target that is pumped by hand, and what was heard in short.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_LIVE_HELPER_H
#define THORPE_TESTS_LIVE_HELPER_H

#include <pthread.h>
#include <sched.h>
#include "read_helper.h"
#include "app/read/read_live.h"
#include "process/live/live.h"

/* ---- a target, as an event loop is one ---- */

/* an event on its way */
struct heard {
	struct heard *next;
	struct live_event event;
};

struct target {
	struct live_target live;
	pthread_mutex_t lock;
	struct heard *first, **last;
};

/* a watcher */
struct ear {
	struct live_watcher w; /* first */
	struct ear *next;
	struct arena arena;
	struct buf text;
	bool ended;
};

static inline bool post(struct live_target *t, const struct live_event *e)
{
	struct target *target = (struct target *)t;
	struct heard *h = mem_alloc(sizeof(*h));

	*h = (struct heard){ NULL, *e };
	pthread_mutex_lock(&target->lock);
	*target->last = h;
	target->last = &h->next;
	pthread_mutex_unlock(&target->lock);
	return true;
}

static inline void target_init(struct target *t)
{
	*t = (struct target){ .live = { post }, .last = &t->first };
	pthread_mutex_init(&t->lock, NULL);
}

static inline void pump(struct target *t)
{
	struct heard *h, *next;

	pthread_mutex_lock(&t->lock);
	h = t->first;
	t->first = NULL;
	t->last = &t->first;
	pthread_mutex_unlock(&t->lock);
	for (; h; h = next) {
		const struct live_event *e = &h->event;

		next = h->next;
		for (struct ear *x = e->place->first; x; x = x->next) {
			if (e->bytes && e->sequence > x->w.from)
				buf_add(&x->text, e->bytes->p, e->bytes->n);
			x->ended |= e->end;
		}
		live_posted(e);
		mem_free(h);
	}
}

static inline void take(void *ctx, uint64_t sequence, struct live_bytes *b)
{
	struct ear *x = ctx;

	x->w.from = sequence;
	buf_add(&x->text, b->p, b->n);
}

/* ---- watching ---- */

struct world {
	struct app_fixture f;
	struct live *live;
	struct target target;
};

static inline void open_world(struct world *w, const char *design)
{
	app_fixture_open(&w->f, design);
	w->f.app.clock = &clock_system;
	w->live = live_new(&w->f.app, NULL);
	assert_non_null(w->live);
	target_init(&w->target);
}

static inline void close_world(struct world *w)
{
	pump(&w->target);
	live_free(w->live);
	app_fixture_close(&w->f);
}

static inline void give(struct run *r, const struct access *a, const char *text, struct row *params)
{
	struct slice rest = slice_str(text), name, v;

	row_init(params, r->arena, NULL);
	while (read_pair(&rest, &name, &v)) {
		const struct attribute *type = NULL;

		for (size_t i = 0; i < a->query_param_count; i++)
			if (slice_equal(a->query_params[i].name, name))
				type = &a->query_params[i];
		row_put(params, name, read_typed(r, type, v));
	}
}

static inline bool try_listen(struct live *live, struct run *r, struct target *t, const char *pattern,
			      const char *params, const char *last, struct ear *x)
{
	const struct access *a = design_access(r->design, slice_str(pattern));
	struct live_ask ask = { .access = a, .last_event_id = slice_str(last ? last : ""), .target = &t->live };
	struct row given;

	assert_non_null(a);
	memset(x, 0, sizeof(*x));
	arena_init(&x->arena);
	buf_init(&x->text, &x->arena);
	give(r, a, params, &given);
	ask.params = &given;
	return live_watch(live, r, &ask, &x->w, &x->text);
}

static inline void adopt(struct ear *x)
{
	assert_true(live_adopt(&x->w, take, x));
	x->next = x->w.place->first;
	x->w.place->first = x;
}

static inline void listen_to(struct world *w, const char *who, const char *pattern, const char *params,
			     const char *last, struct ear *x)
{
	struct run *r = app_fixture_run(&w->f, who);

	if (!try_listen(w->live, r, &w->target, pattern, params, last, x))
		fail_msg("%s: %.*s", pattern, SLICE_ARG(r->problem.detail));
	adopt(x);
}

static inline void stop_listening(struct ear *x)
{
	if (x->w.place)
		for (struct ear **at = (struct ear **)&x->w.place->first; *at; at = &(*at)->next)
			if (*at == x) {
				*at = x->next;
				break;
			}
	live_leave(&x->w);
	arena_release(&x->arena);
}

static inline int refused(struct world *w, const char *who, const char *pattern, const char *params)
{
	struct run *r = app_fixture_run(&w->f, who);
	struct ear x;
	bool ok = try_listen(w->live, r, &w->target, pattern, params, NULL, &x);

	stop_listening(&x);
	return ok ? 200 : problem_status(r->problem.type);
}

/* Until everything that was written has been told. */
static inline void settle(struct world *w)
{
	while (!live_is_idle(w->live)) {
		pump(&w->target);
		sched_yield();
	}
	pump(&w->target);
}

/* ---- what was heard, in short: "ready added p1 changed p1" ---- */

/* The text of "id":"…" in a line of data; NULL when there is none. */
static inline const char *id_in(struct slice line)
{
	const char *id = NULL;

	if (line.p && line.n > 6 && !memcmp(line.p, "data: ", 6))
		id = memmem(line.p, line.n, "\"id\":\"", 6);
	return id ? id + 6 : NULL;
}

static inline const char *heard(struct world *w, struct ear *x)
{
	struct arena *a = &w->f.arena;
	struct slice text;
	struct buf out;

	settle(w);
	text = buf_slice(&x->text);
	buf_init(&out, a);
	for (size_t i = 0; i < text.n;) {
		const char *end = memchr(text.p + i, '\n', text.n - i);
		struct slice line = slice_make(text.p + i, (size_t)(end - text.p) - i);
		const char *id = id_in(line);

		if (slice_starts(line, SLICE("event: ")))
			buf_printf(&out, "%s%.*s", out.n ? " " : "", (int)line.n - 7, line.p + 7);
		if (id)
			buf_printf(&out, " %.*s", (int)strcspn(id, "\""), id);
		i += line.n + 1;
	}
	x->text.n = 0;
	return arena_cstr(a, buf_slice(&out));
}

#define assert_heard(w, x, expected) assert_string_equal(heard(w, x), expected)

static inline void take_away(struct world *w, const char *pk, const char *sk)
{
	struct run *r = app_fixture_run(&w->f, "!");
	struct value_member key[] = { { SLICE("PK"), value_make_s(r->arena, slice_str(pk)) },
				      { SLICE("SK"), value_make_s(r->arena, slice_str(sk)) } };
	struct dyn_write d = { .kind = DYN_DELETE, .key = value_make_map(r->arena, key, 2) };
	struct dyn_refusal refusal;

	assert_int_equal(dyn_write(r, &d, 1, SLICE(""), &refusal), DYN_DONE);
}

#endif
