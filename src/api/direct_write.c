/* Writes without documents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/direct_write.h"

#include <errno.h>
#include <semaphore.h>
#include "api/action.h"
#include "api/internal.h"
#include "base/clock.h"
#include "value/codec.h"

#define TRANSACTION_BYTES_MAX (4u << 20)

struct api_write {
	struct op_state state; /* what resolving an action asks for, and the request */
	int64_t started_us;
	sem_t done;
};

/* ---- what is plain ---- */

static bool is_plain(struct value v, int levels);

static bool elements_plain(struct value v, int levels)
{
	struct value_iter it = value_iter(v);

	while (value_next(&it))
		if ((it.type == VALUE_M && !it.name.n) || !is_plain(it.value, levels))
			return false;
	return true;
}

/* Values are canonical (V1); what they can be and DynamoDB refuses: deep ones, empty names, empty sets. */
static bool is_plain(struct value v, int levels)
{
	switch (value_type(v)) {
	case VALUE_S:
	case VALUE_N:
	case VALUE_B:
	case VALUE_BOOL:
	case VALUE_NULL: return true;
	case VALUE_M:
	case VALUE_L: return levels > 1 && elements_plain(v, levels - 1);
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return value_count(v) > 0;
	case VALUE_NONE: break;
	}
	return false;
}

static bool item_plain(struct value item)
{
	return value_type(item) == VALUE_M && elements_plain(item, VALUE_LEVELS_MAX);
}

/* ---- one action ---- */

static const struct json *members(struct arena *a, struct slice list)
{
	struct buf b;

	buf_init(&b, a);
	buf_room(&b, list.n + 2);
	buf_byte(&b, '{');
	buf_put(&b, list);
	buf_byte(&b, '}');
	return json_parse(a, buf_slice(&b));
}

static bool bind(struct op_state *s, const struct api_action *in, struct expr_bindings **out)
{
	const struct json *names = in->names.n ? members(s->arena, in->names) : NULL;
	const struct json *values = in->values.n ? members(s->arena, in->values) : NULL;
	struct error e = { 0 };

	if ((in->names.n && !names) || (in->values.n && !values) ||
	    !expr_bindings_new(s->arena, s->cache, names, values, out, &e))
		return false;
	for (size_t i = 0; i < in->binding_count; i++) {
		const struct api_binding *b = &in->bindings[i];

		if (!value_present(b->value))
			expr_bind_name(*out, b->placeholder, b->name);
		else if (is_plain(b->value, VALUE_LEVELS_MAX))
			expr_bind_value(*out, b->placeholder, b->value);
		else
			return false;
	}
	return true;
}

static bool compile(struct op_state *s, const struct api_action *in, struct write_action *act)
{
	struct expr_bindings *b;
	struct error e = { 0 };

	if (!in->update.n && !in->condition.n)
		return in->kind != WRITE_CHECK && in->kind != WRITE_UPDATE;
	if (!bind(s, in, &b))
		return false;
	if (in->update.n && !update_compile(b, in->update, &act->update, &e))
		return false;
	if (in->condition.n && !condition_compile(b, CONDITION_EXPRESSION, in->condition, &act->condition, &e))
		return false;
	act->return_old_on_failure = in->condition.n > 0;
	return expr_bindings_check_used(b, &e);
}

/* The same as action_parse() and action_resolve() of a document. */
static bool add_action(struct op_state *s, const struct api_action *in, struct write_action *act, size_t *bytes)
{
	const struct table *t = catalog_table(s->catalog, in->table);
	struct value v = in->kind == WRITE_PUT ? in->item : in->key;
	struct error e = { 0 };

	act->kind = in->kind;
	act->item = in->item;
	act->key_item = in->key;
	if (!t || !item_plain(v) || (in->kind == WRITE_PUT && !table_check_item_size(v, false, s->arena, &e)))
		return false;
	*bytes += item_size(v);
	return compile(s, in, act) && action_resolve(s, t, act, &e);
}

/* ---- all of them ---- */

static bool prepare(struct api_write *w, const struct api_action *list, size_t n)
{
	struct op_state *s = &w->state;
	size_t bytes = 0;

	s->write.arena = s->arena;
	s->write.actions = arena_array(s->arena, struct write_action, n);
	s->write.action_count = n;
	for (size_t i = 0; i < n; i++)
		if (!add_action(s, &list[i], &s->write.actions[i], &bytes) || bytes > TRANSACTION_BYTES_MAX)
			return false;
	return true;
}

static void on_written(struct write_request *r)
{
	sem_post(r->ctx);
}

struct api_write *api_write_start(struct api *api, struct api_thread *t, struct arena *a, const struct api_action *list, size_t n,
				  unsigned how)
{
	struct api_write *w = arena_new(a, struct api_write);

	w->started_us = clock_monotonic_us();
	w->state.arena = a;
	w->state.api = api;
	w->state.db = api->db;
	w->state.cache = api_thread_cache(t);
	w->state.catalog = db_catalog(api->db, a);
	if (!n || !prepare(w, list, n))
		return NULL;
	w->state.write.mode = (how & API_WRITE_TOGETHER) || n > 1 ? REQUEST_ALL : REQUEST_EACH;
	w->state.write.done = on_written;
	w->state.write.ctx = &w->done;
	w->state.write.may_wait = how & API_WRITE_AT_ONCE;
	sem_init(&w->done, 0, 0);
	(void)db_submit(api->db, &w->state.write);
	return w;
}

/* Tells of conditions that failed; whether there are any. */
static bool refused(const struct write_request *r, struct api_refusal *refusals)
{
	bool any = false;

	for (size_t i = 0; i < r->action_count; i++) {
		const struct write_action *act = &r->actions[i];
		bool failed = act->error.code == ERR_CONDITION_FAILED;

		any |= failed;
		if (refusals)
			refusals[i] = (struct api_refusal){ failed, failed ? act->old_item : VALUE_ABSENT };
	}
	return any;
}

static op_handler handler_of(const struct write_request *r)
{
	if (r->mode == REQUEST_ALL)
		return op_transact_write_items;
	switch (r->actions[0].kind) {
	case WRITE_PUT: return op_put_item;
	case WRITE_UPDATE: return op_update_item;
	case WRITE_DELETE:
	case WRITE_CHECK: break;
	}
	return op_delete_item;
}

static void count(const struct api_write *w, int status)
{
	op_handler handle = handler_of(&w->state.write);
	size_t row = 0;

	while (op_at(row)->handle != handle)
		row++;
	metrics_count(w->state.api, row, status, clock_monotonic_us() - w->started_us);
}

enum api_written api_write_wait(struct api_write *w, struct api_refusal *refusals)
{
	const struct write_request *r = &w->state.write;

	while (sem_wait(&w->done) && errno == EINTR)
		;
	sem_destroy(&w->done);
	if (r->error.code == ERR_NONE && (r->mode == REQUEST_ALL || r->actions[0].error.code == ERR_NONE)) {
		count(w, 200);
		return API_WRITTEN;
	}
	if ((r->error.code != ERR_NONE && r->error.code != ERR_TRANSACTION_CANCELED) || !refused(r, refusals))
		return API_NOT_WRITTEN;
	count(w, 400);
	return API_REFUSED;
}
