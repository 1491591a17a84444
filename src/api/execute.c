/* Requests of this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/execute.h"

#include <errno.h>
#include <semaphore.h>
#include "api/op/action.h"
#include "api/internal.h"
#include "api/op/op_streams.h"
#include "api/op/paging.h"
#include "base/clock.h"
#include "base/grow.h"
#include "request/document.h"
#include "table/layout.h"
#include "value/codec.h"
#include "value/key.h"

static void state_init(struct op_state *s, struct api *api, struct arena *a)
{
	*s = (struct op_state){ .arena = a, .api = api, .db = api->db, .catalog = db_catalog(api->db, a) };
}

/* Maps requests to operations; the kinds of single writes start at WRITES. */
#define WRITES (REQUEST_RECORDS + 1)
/* clang-format off */
static const op_handler handlers[] = {
	[REQUEST_GET] = op_get_item, [REQUEST_BATCH_GET] = op_batch_get_item, [REQUEST_QUERY] = op_query,
	[REQUEST_WRITE] = op_transact_write_items, [REQUEST_RECORDS] = op_get_records,
	[WRITES + WRITE_PUT] = op_put_item, [WRITES + WRITE_UPDATE] = op_update_item, [WRITES + WRITE_DELETE] = op_delete_item,
};
/* clang-format on */

static size_t row_of(const struct request *q)
{
	static _Atomic size_t rows[sizeof(handlers) / sizeof(*handlers)]; /* 1 + the row; 0: not looked up yet */
	bool alone = q->kind == REQUEST_WRITE && !request_is_transaction(&q->write);
	size_t i = alone ? WRITES + (size_t)q->write.actions[0].kind : (size_t)q->kind,
	       row = atomic_load_explicit(&rows[i], memory_order_relaxed);

	if (row)
		return row - 1;
	while (op_at(row)->handle != handlers[i])
		row++;
	atomic_store_explicit(&rows[i], row + 1, memory_order_relaxed);
	return row;
}

static void count(struct api *api, const struct request *q, int status, int64_t started_us)
{
	metrics_count(api, row_of(q), status, clock_monotonic_us() - started_us);
}

/* ---- items ---- */

static bool execute_get(struct op_state *s, const struct request *q, struct reply *reply, struct error *e)
{
	const struct table *t;

	if (!item_is_allowed(q->get.key, s->arena, e) || !get_item(s, &q->get, &t, &reply->item, e))
		return false;
	if (q->measured)
		reply->units = get_capacity(&q->get, reply->item).table_units;
	if (q->get.projection && value_present(reply->item))
		reply->item = projection_apply(q->get.projection, reply->item, s->arena);
	return true;
}

uint64_t api_item_version(struct api *api, struct arena *a, struct slice table, struct value key)
{
	const struct table *t = catalog_table(db_catalog(api->db, a), table);
	struct value partition = t ? value_get(key, t->key.hash[0].name) : VALUE_ABSENT;
	uint64_t version;

	if (!value_present(partition) || value_type(partition) != t->key.hash[0].type)
		return 0;
	version = store_version(db_store(api->db), layout_item_from_hash(a, t->id, key_hash(value_bytes(partition))));
	return version ? (uint64_t)t->id << 32 ^ version : 0;
}

static void keep_item(void *ctx, size_t i, struct value item)
{
	struct reply *reply = ctx;

	reply->items[i] = item;
	reply->count += value_present(item);
}

static bool execute_batch(struct op_state *s, const struct request *q, struct reply *reply, struct error *e)
{
	const struct request_batch *b = &q->batch;
	struct batch_read r;
	size_t bytes = 0;

	if (!batch_resolve(s, b, &r, e))
		return false;
	reply->items = arena_array(s->arena, struct value, b->count);
	r.emit = keep_item;
	r.ctx = reply;
	if (!batch_read(s, &r, b->count > 1 ? store_view(db_store(s->db), s->arena) : NULL, &bytes, e))
		return false;
	reply->units = r.units;
	for (size_t i = 0; b->projection && i < r.end; i++)
		if (value_present(reply->items[i]))
			reply->items[i] = projection_apply(b->projection, reply->items[i], s->arena);
	if (r.end == b->count)
		return true;
	reply->left = arena_array(s->arena, bool, b->count);
	for (size_t i = r.end; i < b->count; i++)
		reply->left[i] = true;
	return true;
}

/* ---- a page ---- */

struct collection {
	struct arena *arena;
	const struct projection *projection;
	struct reply *reply;
	size_t room;
};

static void collect(void *ctx, struct value item)
{
	struct collection *c = ctx;
	struct reply *r = c->reply;

	GROW_IN(c->arena, r->items, r->count, c->room, 32);
	r->items[r->count++] =
		c->projection ? projection_apply(c->projection, item, c->arena) : value_copy(c->arena, item);
}

static bool execute_query(struct op_state *s, const struct request *q, struct reply *reply, struct error *e)
{
	struct collection c = { s->arena, q->query.projection, reply, 0 };
	struct paging p = { .query = q->query };
	struct page page;

	if (!query_prepare(s, &p, e))
		return false;
	p.request.emit = q->query.count_only ? NULL : collect;
	p.request.ctx = &c;
	p.request.uncounted = !q->measured;
	if (!paging_read(s, &p, &page, e))
		return false;
	reply->count = (size_t)page.count;
	reply->last = page.last_key;
	if (q->measured)
		reply->units = capacity_total(&page.capacity);
	return true;
}

/* ---- records ---- */

struct record_list {
	struct arena *arena;
	struct reply *reply;
	size_t room;
};

static struct value kept(struct arena *a, struct value v)
{
	return value_present(v) ? value_copy(a, v) : v;
}

static void keep_record(void *ctx, const struct stream_record *r)
{
	struct record_list *l = ctx;
	struct reply *out = l->reply;

	GROW_IN(l->arena, out->records, out->count, l->room, 16);
	out->records[out->count++] = (struct reply_record){
		.sequence = sequence_text(r->sequence, l->arena),
		.event = r->event,
		.by_ttl = r->by_ttl,
		.created_ms = r->created_ms / 1000 * 1000,
		.keys = kept(l->arena, r->keys),
		.old_image = kept(l->arena, r->old_image),
		.new_image = kept(l->arena, r->new_image),
	};
}

static bool execute_records(struct op_state *s, const struct request *q, struct reply *reply, struct error *e)
{
	struct record_list list = { s->arena, reply, 0 };
	struct records_place place;

	return records_at(s, q->records.iterator, &place, e) &&
	       records_read(s, &place, q->records.limit, (struct records_sink){ keep_record, &list }, &reply->iterator,
			    e);
}

/* ---- writes ---- */

/* The checks on values that parsing a document would make. Expressions were checked when they were built. */
static bool check_values(struct op_state *s, const struct request_write *q, struct error *e)
{
	for (size_t i = 0; i < q->count; i++) {
		const struct request_action *act = &q->actions[i];
		struct value v = act->kind == WRITE_PUT ? act->item : act->key;

		if (!item_is_allowed(v, s->arena, e) ||
		    (act->kind == WRITE_PUT && !table_check_item_size(v, false, s->arena, e)))
			return false;
	}
	return true;
}

static bool prepare_write(struct op_state *s, const struct request *q, struct error *e)
{
	s->write.arena = s->arena;
	if (!check_values(s, &q->write, e) || !actions_prepare(s, &q->write, e))
		return false;
	if (q->write.token.n) /* the token needs a digest of the document */
		op_set_token(s, json_parse(s->arena, request_document(s->arena, q)));
	return true;
}

static void fail_write(struct op_state *s, const struct error *e, struct reply *reply)
{
	reply_fail(reply, e);
	reply->reasons = s->reasons;
	if (e->code == ERR_TRANSACTION_CANCELED)
		reply->message = reasons_message(s->arena, s->reasons, s->write.action_count);
}

static double units_of(const struct write_request *w)
{
	double units = 0;

	for (size_t i = 0; i < w->action_count; i++)
		units += capacity_total(&w->actions[i].capacity);
	return w->mode == REQUEST_ALL ? 2 * units : units;
}

static void finish_write(struct op_state *s, const struct request *q, struct reply *reply)
{
	struct error e = { 0 };

	*reply = (struct reply){ .status = 200 };
	if (actions_failed(s, &e))
		fail_write(s, &e, reply);
	else if (q->measured)
		reply->units = units_of(&s->write);
}

static void on_written(struct write_request *r)
{
	sem_post(r->ctx);
}

static void wait_for(sem_t *done)
{
	while (sem_wait(done) && errno == EINTR)
		;
	sem_destroy(done);
}

static void submit(struct op_state *s, sem_t *done, bool may_wait)
{
	sem_init(done, 0, 0);
	s->write.done = on_written;
	s->write.ctx = done;
	s->write.may_wait = may_wait;
	(void)db_submit(s->db, &s->write);
}

static void execute_write(struct op_state *s, const struct request *q, struct reply *reply)
{
	struct error e = { 0 };
	sem_t done;

	if (!prepare_write(s, q, &e)) {
		fail_write(s, &e, reply);
		return;
	}
	submit(s, &done, true);
	wait_for(&done);
	finish_write(s, q, reply);
}

struct api_started {
	struct op_state state;
	const struct request *request;
	int64_t started_us;
	sem_t done;
};

struct api_started *api_execute_start(struct api *api, struct arena *a, const struct request *q)
{
	struct api_started *x = arena_new(a, struct api_started);
	struct error e = { 0 };

	x->started_us = clock_monotonic_us();
	x->request = q;
	state_init(&x->state, api, a);
	if (!prepare_write(&x->state, q, &e))
		return NULL;
	submit(&x->state, &x->done, false);
	return x;
}

bool api_execute_wait(struct api_started *x)
{
	const struct write_request *w = &x->state.write;
	enum err end;

	wait_for(&x->done);
	end = w->error.code == ERR_NONE && w->mode == REQUEST_EACH ? w->actions[0].error.code : w->error.code;
	count(x->state.api, x->request, end == ERR_NONE ? 200 : err_status(end), x->started_us);
	return end == ERR_NONE;
}

/* ---- all of them ---- */

static bool execute_read(struct op_state *s, const struct request *q, struct reply *reply, struct error *e)
{
	switch (q->kind) {
	case REQUEST_GET: return execute_get(s, q, reply, e);
	case REQUEST_BATCH_GET: return execute_batch(s, q, reply, e);
	case REQUEST_QUERY: return execute_query(s, q, reply, e);
	case REQUEST_RECORDS: return execute_records(s, q, reply, e);
	case REQUEST_WRITE: break;
	}
	return false;
}

void api_execute(struct api *api, struct arena *a, const struct request *q, struct reply *reply)
{
	int64_t started = clock_monotonic_us();
	struct error e = { 0 };
	struct op_state s; /* for a write, the writer's until it has been waited for */

	state_init(&s, api, a);
	*reply = (struct reply){ .status = 200 };
	if (q->kind == REQUEST_WRITE)
		execute_write(&s, q, reply);
	else if (!execute_read(&s, q, reply, &e))
		reply_fail(reply, &e);
	count(api, q, reply->status, started);
}
