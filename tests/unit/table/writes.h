/* Writes with conditions and updates, several at once, and faults on the writer's thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_TABLE_WRITES_H
#define THORPE_TESTS_TABLE_WRITES_H

#include <pthread.h>
#include "base/alloc.h"
#include "fixture.h"
#include "table/write.h"

/* An action on the item with the key attributes of `item`. */
static inline struct write_action action(struct fixture *f, enum write_kind kind, const char *table, const char *item)
{
	struct write_action w = { .kind = kind, .table = table_of(f, table) };
	struct value v = item_of(f, item);
	struct error e = { 0 };

	if (!table_key_of_item(w.table, v, &f->arena, &w.key, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	w.key_item = table_key_item(w.table, NULL, v, &f->arena);
	w.item = kind == WRITE_PUT ? v : VALUE_ABSENT;
	return w;
}

static inline struct expr_bindings *bindings(struct fixture *f, const char *values)
{
	struct expr_bindings *b;
	struct error e = { 0 };

	if (!expr_bindings_new(&f->arena, NULL, NULL, values ? json_of(f, values) : NULL, &b, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return b;
}

static inline void only_if(struct fixture *f, struct write_action *w, const char *condition, const char *values)
{
	struct error e = { 0 };

	if (!condition_compile(bindings(f, values), CONDITION_EXPRESSION, slice_str(condition), &w->condition, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
}

static inline void with_update(struct fixture *f, struct write_action *w, const char *update, const char *values)
{
	struct error e = { 0 };

	if (!update_compile(bindings(f, values), slice_str(update), &w->update, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
}

static inline struct write_request submit(struct fixture *f, enum request_mode mode, struct write_action *w, size_t n)
{
	struct write_request r = { .arena = &f->arena, .mode = mode, .actions = w, .action_count = n };

	db_submit_wait(f->db, &r);
	return r;
}

static inline struct write_request submit_control(struct fixture *f, struct control *c)
{
	struct write_request r = { .arena = &f->arena, .mode = REQUEST_CONTROL, .control = c };

	db_submit_wait(f->db, &r);
	return r;
}

static inline void assert_error(struct fixture *f, const struct error *e, enum err code, const char *text)
{
	assert_int_equal(e->code, code);
	assert_string_equal(arena_cstr(&f->arena, e->message), text);
}

/* done() runs on the writer's thread: that is how a test reaches its allocations. */
struct on_writer {
	struct write_request r;
	struct arena arena;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool reached, go_on;
	long fail_after; /* -1: do not */
	bool failed;     /* an allocation was failed up to now */
};

static inline void on_writer_done(struct write_request *r)
{
	struct on_writer *o = r->ctx;

	o->failed = alloc_has_failed();
	alloc_fail_never();
	pthread_mutex_lock(&o->lock);
	o->reached = true;
	pthread_cond_broadcast(&o->cond);
	while (!o->go_on)
		pthread_cond_wait(&o->cond, &o->lock);
	o->go_on = false;
	if (o->fail_after >= 0)
		alloc_fail_after(o->fail_after);
	pthread_cond_broadcast(&o->cond);
	pthread_mutex_unlock(&o->lock);
}

/* The writer stands still when this returns, until writer_release(). */
static inline void writer_hold(struct fixture *f, struct on_writer *o)
{
	*o = (struct on_writer){ .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER, .fail_after = -1 };
	arena_init(&o->arena);
	o->r = (struct write_request){ .arena = &o->arena, .mode = REQUEST_EACH, .done = on_writer_done, .ctx = o };
	db_submit(f->db, &o->r);
	pthread_mutex_lock(&o->lock);
	while (!o->reached)
		pthread_cond_wait(&o->cond, &o->lock);
	pthread_mutex_unlock(&o->lock);
}

static inline void writer_release(struct on_writer *o)
{
	pthread_mutex_lock(&o->lock);
	o->go_on = true;
	pthread_cond_broadcast(&o->cond);
	while (o->go_on)
		pthread_cond_wait(&o->cond, &o->lock);
	pthread_mutex_unlock(&o->lock);
	arena_release(&o->arena);
}

/* After submit_together(): no more failing; tells whether one failed. */
static inline bool writer_fail_never(struct fixture *f)
{
	struct on_writer o;
	bool failed;

	writer_hold(f, &o);
	failed = o.failed;
	writer_release(&o);
	return failed;
}

/* Several requests queued while the writer is held, hence in one batch. */
struct several {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	size_t left;
};

static inline void several_done(struct write_request *r)
{
	struct several *s = r->ctx;

	pthread_mutex_lock(&s->lock);
	s->left--;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

/* With fail_after >= 0 the writer's allocations fail after so many, until writer_fail_never(). */
static inline void submit_together(struct fixture *f, struct write_request *r, size_t n, long fail_after)
{
	struct several s = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, n };
	struct arena *arenas = calloc(n, sizeof(*arenas));
	struct on_writer o;

	writer_hold(f, &o);
	o.fail_after = fail_after;
	for (size_t i = 0; i < n; i++) {
		if (!r[i].arena)
			r[i].arena = &arenas[i]; /* goes at the end: only errors are looked at */
		r[i].done = several_done;
		r[i].ctx = &s;
		db_submit(f->db, &r[i]);
	}
	writer_release(&o);
	pthread_mutex_lock(&s.lock);
	while (s.left)
		pthread_cond_wait(&s.cond, &s.lock);
	pthread_mutex_unlock(&s.lock);
	for (size_t i = 0; i < n; i++)
		arena_release(&arenas[i]);
	free(arenas);
}

#endif
