/* The writer: takes queued requests, evaluates them in order, commits them together, and completes each.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/crashpoint.h"
#include "base/log.h"
#include "table/apply.h"

/* A batch's limit, so that its first requests do not wait long. */
#define BATCH_REQUESTS 1000
#define BATCH_BYTES    (8 << 20)

static const struct error out_of_memory = { .code = ERR_INTERNAL, .message = { "Out of memory", 13 } };
#define FULL "The write was refused: no space left on the disk of the database. Deleting still works"
static const struct error disk_is_full = { .code = ERR_INTERNAL, .message = { FULL, sizeof(FULL) - 1 } };

/* ---- the queue and the writer's turn ---- */
static void write_alone(struct db *db, struct write_request *r);

static void queue_up(struct db *db, struct write_request *r)
{
	bool was_empty = !db->queue_head;

	*db->queue_tail = r;
	db->queue_tail = &r->next;
	if (was_empty && !db->writing)
		pthread_cond_signal(&db->queue_filled);
}

bool db_submit(struct db *db, struct write_request *r)
{
	bool alone;

	r->next = NULL;
	atomic_fetch_add_explicit(&db->queue_depth, 1, memory_order_relaxed);
	pthread_mutex_lock(&db->queue_lock);
	alone = r->may_wait && !db->queue_head && !db->writing;
	if (alone)
		db->writing = true;
	else
		queue_up(db, r);
	pthread_mutex_unlock(&db->queue_lock);
	if (alone)
		write_alone(db, r);
	return alone;
}

/* Takes everything queued, in order, and the turn to write it; waits for both. NULL: closing, and the queue is empty.
 * */
static struct write_request *take_queue(struct db *db)
{
	struct write_request *all;

	pthread_mutex_lock(&db->queue_lock);
	while (db->writing || (!db->queue_head && !db->stopping))
		pthread_cond_wait(&db->queue_filled, &db->queue_lock);
	all = db->queue_head;
	db->queue_head = NULL;
	db->queue_tail = &db->queue_head;
	db->writing = all != NULL;
	pthread_mutex_unlock(&db->queue_lock);
	return all;
}

static void end_turn(struct db *db)
{
	pthread_mutex_lock(&db->queue_lock);
	db->writing = false;
	if (db->queue_head || db->stopping)
		pthread_cond_signal(&db->queue_filled);
	pthread_mutex_unlock(&db->queue_lock);
}

struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void wake_waiter(struct write_request *r)
{
	struct waiter *w = r->ctx;

	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

void db_submit_wait(struct db *db, struct write_request *r)
{
	struct waiter w = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

	r->done = wake_waiter;
	r->ctx = &w;
	r->may_wait = true;
	(void)db_submit(db, r);
	pthread_mutex_lock(&w.lock);
	while (!w.done)
		pthread_cond_wait(&w.cond, &w.lock);
	pthread_mutex_unlock(&w.lock);
	pthread_mutex_destroy(&w.lock);
	pthread_cond_destroy(&w.cond);
}

/* ---- transactions ---- */
/* An action is evaluated against the store, not against those before it in its transaction. */
static bool check_distinct(struct stage *s, struct write_request *r)
{
	struct map seen;
	struct buf b;
	size_t i;

	map_init(&seen, s->arena);
	for (i = 0; i < r->action_count; i++) {
		const struct write_action *a = &r->actions[i];

		buf_init(&b, s->arena);
		buf_be32(&b, a->table->id);
		buf_be16(&b, (uint16_t)a->key.pk.n);
		buf_put(&b, a->key.pk);
		buf_put(&b, a->key.sk);
		if (map_set(&seen, buf_slice(&b), &r->actions[i]))
			return error_set(&r->error, s->arena, ERR_VALIDATION,
					 "Transaction request cannot include multiple operations on one "
					 "item");
	}
	return true;
}

/* An error that is not a reason for cancellation but the outcome of the whole request. */
static bool is_fatal(enum err code)
{
	return code == ERR_INTERNAL || code == ERR_NOT_FOUND;
}

/* Evaluates every action, even after a failure: each has its cancellation reason. */
static bool run_transaction(struct stage *s, struct write_request *r)
{
	bool failed = false, seen;
	size_t i;

	if (!check_distinct(s, r) || !token_check(s, r, &seen, &r->error))
		return false;
	for (i = 0; i < r->action_count; i++) {
		struct write_action *a = &r->actions[i];

		/* The api has checked the request's size; this counts the existing items. It also bounds how long
		 * others wait. */
		if (s->item_bytes > TRANSACTION_BYTES_MAX)
			return error_set(&r->error, s->arena, ERR_VALIDATION,
					 "Transaction payload size cannot exceed 4MB. Payload Size: %zu", s->item_bytes);
		if (seen ? apply_replay(s, a) : apply_action(s, a))
			continue;
		failed = true;
		if (is_fatal(a->error.code)) {
			r->error = a->error;
			return false;
		}
	}
	if (failed) /* each action's error says why; the api makes the text */
		return error_set(&r->error, s->arena, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
	r->replayed = seen;
	if (!seen)
		token_record(s, r);
	return true;
}

/* ---- one request ---- */
static bool run_each(struct stage *s, struct write_request *r)
{
	size_t i;

	for (i = 0; i < r->action_count; i++)
		if (!apply_action(s, &r->actions[i]))
			assert(r->actions[i].error.code != ERR_NONE);
	return true;
}

static bool run_request(struct stage *s, struct write_request *r)
{
	switch (r->mode) {
	case REQUEST_EACH: return run_each(s, r);
	case REQUEST_ALL: return run_transaction(s, r);
	case REQUEST_CONTROL: break;
	}
	return control_run(s, r->control, &r->error);
}

/* Running out of memory, in the request's arena or the batch's, fails only this request. */
static void run_guarded(struct batch *b, struct stage *s, struct write_request *r)
{
	ARENA_TRY(r->arena, {
		b->arena.oom = r->arena->oom;
		if (!run_request(s, r))
			;
		else if (b->only_frees && !stage_frees(s))
			r->error = disk_is_full;
		else
			batch_take(b, s);
	}, {
		batch_undo(b, s);
		r->error = out_of_memory;
	});
	b->arena.oom = NULL;
}

static void evaluate(struct batch *b, struct write_request *r)
{
	struct stage s;

	r->error = (struct error){ 0 };
	r->replayed = false;
	stage_init(&s, b, r->arena);
	run_guarded(b, &s, r);
	stage_release(&s);
}

/* ---- batches ---- */
/* Evaluates requests from *pending until the batch is full; returns those it took. */
static struct write_request *evaluate_some(struct batch *b, struct write_request **pending, size_t *count)
{
	struct write_request *first = *pending, *r = first, *last = NULL;

	for (*count = 0; r && *count < BATCH_REQUESTS && b->bytes < BATCH_BYTES; r = r->next) {
		evaluate(b, r);
		last = r;
		++*count;
	}
	if (last)
		last->next = NULL;
	*pending = r;
	return first;
}

/* Counts one request's writes to each table. Actions on the same table are usually adjacent. */
static void count_writes(const struct write_request *r)
{
	const struct table *t = NULL;
	int64_t n = 0;

	if (r->error.code != ERR_NONE || r->replayed || r->mode == REQUEST_CONTROL)
		return;
	for (size_t i = 0; i < r->action_count; i++) {
		const struct write_action *a = &r->actions[i];

		if (a->error.code != ERR_NONE || a->kind == WRITE_CHECK || (a->by_ttl && !value_present(a->old_item)))
			continue;
		if (t && t != a->table) {
			stats_add(&t->stats->writes, n);
			n = 0;
		}
		t = a->table;
		n++;
	}
	if (t)
		stats_add(&t->stats->writes, n);
}

/* done() may free the request at once. */
static void answer(struct write_request *first, const struct error *failed)
{
	struct write_request *r, *next;

	for (r = first; r; r = next) {
		next = r->next;
		if (failed) {
			r->error = *failed;
			r->replayed = false;
		}
		count_writes(r);
		r->done(r);
		crash_point("answered");
	}
}

static void wake_background(struct db *db)
{
	pthread_mutex_lock(&db->queue_lock); /* db_close() clears it */
	background_wake(db->background);
	pthread_mutex_unlock(&db->queue_lock);
}

/* After a failed write every request in the batch gets the error, even those that only read: they may have seen an
 * earlier request's change that never happened (T7). */
static void run_batch(struct batch *b, struct db *db, struct write_request **pending)
{
	struct write_request *first;
	struct error e = { 0 };
	bool ok, wake;
	size_t count;

	batch_start(b, db);
	first = evaluate_some(b, pending, &count);
	crash_point("evaluated");
	ok = batch_commit(b, &e);
	if (!ok) {
		/* The store logs once that writes fail. */
		log_debug("a batch of %zu requests was not written: %.*s", count, SLICE_ARG(e.message));
		atomic_fetch_add(&db->write_errors, 1);
	}
	crash_point("published");
	wake = ok && b->wake;
	batch_clear(b);
	atomic_fetch_add(&db->requests, count);
	atomic_fetch_sub(&db->queue_depth, count);
	answer(first, ok ? NULL : &e);
	if (wake)
		wake_background(db);
}

static void write_alone(struct db *db, struct write_request *r)
{
	atomic_fetch_add(&db->alone, 1);
	run_batch(db->batch, db, &r);
	end_turn(db);
}

void *writer_main(void *arg)
{
	struct db *db = arg;
	struct write_request *pending;

	while ((pending = take_queue(db))) {
		while (pending)
			run_batch(db->batch, db, &pending);
		end_turn(db);
	}
	return NULL;
}
