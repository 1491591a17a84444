/* Writes without a document, where the backend takes values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_action.h"

#define BINDINGS 8 /* of most actions */

static enum write_kind kind_of(const struct dyn_write *w)
{
	switch (dyn_action_kind(w)) {
	case DYN_PUT: return WRITE_PUT;
	case DYN_UPDATE: return WRITE_UPDATE;
	case DYN_DELETE: return WRITE_DELETE;
	case DYN_CHECK: break;
	}
	return WRITE_CHECK;
}

/* The text of an expression, of which `from` is the beginning. */
static struct slice text_from(const struct dyn_request *q, size_t from)
{
	return arena_copy(q->run->arena, slice_make(q->body.p + from, q->body.n - from));
}

/* As dyn_put_action(). */
static void make_action(struct dyn_request *q, const struct dyn_write *w, struct api_action *out)
{
	struct run *r = q->run;

	*out = (struct api_action){ .kind = kind_of(w), .table = w->table.n ? w->table : r->design->table };
	if (out->kind == WRITE_PUT)
		out->item = w->item;
	else
		out->key = w->key;
	q->body.n = 0;
	if (out->kind == WRITE_UPDATE) {
		dyn_put_update(q, w);
		out->update = text_from(q, 0);
		q->body.n = 0;
	}
	dyn_put_condition(q, w);
	out->condition = text_from(q, 0);
	out->bindings = q->bindings;
	out->binding_count = q->binding_count;
	out->names = arena_copy(r->arena, buf_slice(&q->names));
	out->values = arena_copy(r->arena, buf_slice(&q->values));
}

static void begin_action(struct dyn_request *q)
{
	q->names.n = q->values.n = 0;
	q->name_count = q->value_count = 0;
	q->bindings = arena_array(q->run->arena, struct api_binding, BINDINGS);
	q->binding_count = 0;
	q->binding_room = BINDINGS;
}

static struct api_write *start(struct run *r, const struct dyn_write *w, size_t n, unsigned how)
{
	struct api_action *actions;
	struct dyn_request q;

	if (r->trace || !r->backend->write || n > DYN_MOST_ACTIONS)
		return NULL;
	actions = arena_array(r->arena, struct api_action, n);
	dyn_request_init(&q, r);
	for (size_t i = 0; i < n; i++) {
		begin_action(&q);
		make_action(&q, &w[i], &actions[i]);
	}
	return r->backend->write(r->backend, r->arena, actions, n, how);
}

bool dyn_write_directly(struct run *r, const struct dyn_write *w, size_t n, bool together, struct dyn_refusal *refusals,
			enum dyn_outcome *end)
{
	struct api_refusal *told = arena_array(r->arena, struct api_refusal, n);
	struct api_write *started = start(r, w, n, API_WRITE_AT_ONCE | (together ? API_WRITE_TOGETHER : 0));

	if (!started)
		return false;
	switch (api_write_wait(started, told)) {
	case API_WRITTEN:
		*end = DYN_DONE;
		return true;
	case API_REFUSED:
		for (size_t i = 0; i < n; i++)
			refusals[i] = (struct dyn_refusal){ told[i].failed, told[i].item };
		*end = DYN_REFUSED;
		return true;
	case API_NOT_WRITTEN: break;
	}
	return false;
}

/* ---- without waiting ---- */

struct dyn_started {
	struct run *run;
	struct api_write *write;
};

struct dyn_started *dyn_write_start(struct run *r, const struct dyn_write *w, size_t n)
{
	struct dyn_started *s = arena_new(r->arena, struct dyn_started);
	size_t all = n + r->rider_count;
	struct dyn_write *actions = arena_array(r->arena, struct dyn_write, all);

	if (n)
		memcpy(actions, w, n * sizeof(*w));
	if (r->rider_count)
		memcpy(actions + n, r->riders, r->rider_count * sizeof(*w));
	s->run = r;
	s->write = start(r, actions, all, API_WRITE_TOGETHER);
	return s->write ? s : NULL;
}

bool dyn_write_end(struct dyn_started *s)
{
	if (api_write_wait(s->write, NULL) != API_WRITTEN)
		return false;
	s->run->riders = NULL;
	s->run->rider_count = 0;
	return true;
}
