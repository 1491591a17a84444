/* See ledger.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"
#include "held.h"

#include <stdlib.h>
#include "process/tail/change.h"
#include "value/codec.h"

#define TRANSACTION_MOST 100 /* actions: sequence numbers of one transaction are no further apart */
#define PAGE             1000

struct entry {
	enum app_method method;
	struct slice path;
	const struct entity *entity;
	uint64_t from, to; /* sequence numbers: after, up to */
	int status;        /* 0: no reply */
};

struct record {
	uint64_t sequence;
	struct change change;
	uint64_t made; /* for a removal: when the item was created; 0: unknown */
	bool is_last;  /* the last creation or removal of its key */
};

struct ledger {
	struct entry *entries;
	size_t count, capacity;
	/* set at the end */
	struct run run;
	struct record *records;
	size_t record_count, record_capacity;
};

/* ---- while it runs ---- */

static struct ledger *ledger_of(struct sim *s)
{
	if (!s->ledger)
		s->ledger = arena_new(&s->arena, struct ledger);
	return s->ledger;
}

static void *grown(struct arena *a, void *list, size_t count, size_t *capacity, size_t size)
{
	size_t next = *capacity ? 2 * *capacity : 64;

	if (count < *capacity)
		return list;
	list = list ? arena_grow(a, list, *capacity * size, next * size) : arena_alloc(a, next * size);
	*capacity = next;
	return list;
}

size_t ledger_ask(struct sim *s, enum app_method m, struct slice path, const struct entity *e)
{
	struct ledger *l = ledger_of(s);

	l->entries = grown(&s->arena, l->entries, l->count, &l->capacity, sizeof(*l->entries));
	l->entries[l->count] =
		(struct entry){ .method = m, .path = arena_copy(&s->arena, path), .entity = e, .to = UINT64_MAX };
	l->entries[l->count].from = db_metrics(s->db).last_sequence;
	return l->count++;
}

void ledger_answer(struct sim *s, size_t entry, int status)
{
	s->ledger->entries[entry].to = db_metrics(s->db).last_sequence;
	s->ledger->entries[entry].status = status;
}

void ledger_died(struct sim *s)
{
	for (size_t i = 0; s->ledger && i < s->ledger->count; i++)
		if (s->ledger->entries[i].to == UINT64_MAX)
			s->ledger->entries[i].to = db_metrics(s->db).last_sequence;
}

/* ---- the stream ---- */

static uint64_t sequence_of(struct slice text)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n = n * 10 + (uint64_t)(text.p[i] - '0');
	return n;
}

static void read_shard(struct sim *s, struct slice arn, struct slice shard)
{
	struct ledger *l = s->ledger;
	struct shard_position at = { .where = AT_OLDEST };
	struct change_page page;
	struct slice iterator;

	if (!dyn_take_iterator(&l->run, arn, shard, &at, &iterator))
		abort();
	do {
		if (!change_read(&l->run, iterator, PAGE, &page))
			abort();
		for (size_t i = 0; i < page.count; i++) {
			l->records =
				grown(&s->arena, l->records, l->record_count, &l->record_capacity, sizeof(*l->records));
			l->records[l->record_count++] =
				(struct record){ sequence_of(page.list[i].sequence), page.list[i], 0, false };
		}
		iterator = page.iterator;
	} while (page.count && iterator.n);
}

static int by_sequence(const void *x, const void *y)
{
	const struct record *a = x, *b = y;

	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Finds the creation of each removed item, and the final state of each key. */
static void link_records(struct ledger *l)
{
	for (size_t i = 0; i < l->record_count; i++) {
		struct record *r = &l->records[i];

		r->is_last = r->change.events != ON_UPDATED;
		for (size_t k = i; r->is_last && k-- > 0;) {
			if (l->records[k].change.events == ON_UPDATED ||
			    !value_equal(l->records[k].change.key, r->change.key))
				continue;
			l->records[k].is_last = false;
			if (r->change.events == ON_DELETED)
				r->made = l->records[k].sequence;
			break;
		}
	}
}

static bool read_stream(struct sim *s)
{
	struct ledger *l = ledger_of(s);
	struct shard_list list;

	l->run = (struct run){ .app = s->app,
			       .design = s->design,
			       .backend = s->backend,
			       .arena = &s->arena,
			       .now_ms = app_now_ms(s->app) };
	l->run.caller.operator_ = true;
	if (s->design->stream != STREAM_NEW_AND_OLD || !dyn_list_shards(&l->run, &list))
		return false;
	for (size_t i = 0; i < list.count; i++)
		read_shard(s, list.stream_arn, list.list[i].id);
	if (l->record_count)
		qsort(l->records, l->record_count, sizeof(*l->records), by_sequence);
	link_records(l);
	return true;
}

/* ---- cascades ---- */

static bool fits(const struct where_rule *w, struct scope *parent, struct value row)
{
	struct value is = value_get(row, w->attribute), want;

	if (scope_try_fill(parent, w->value, false, &want) != TEMPLATE_OK || !value_present(want))
		return w->optional;
	if (w->op == WHERE_EQ)
		return value_equal(is, want);
	return w->op != WHERE_BEGINS || (value_type(is) == VALUE_S && slice_starts(value_bytes(is), value_bytes(want)));
}

/* Whether the row is removed with the parent. `otherwise`: the result if that is unknown. */
static bool goes_with(struct run *r, const struct entity *e, struct value parent, struct value row, bool otherwise)
{
	struct value full = entity_full(r, e, parent);
	struct row f;
	struct scope s = { .run = r, .item = &f };

	row_from(&f, r->arena, NULL, full);
	for (size_t i = 0; i < e->delete_.then_count; i++) {
		const struct access *a = design_access(r->design, e->delete_.then_remove[i]);
		bool all = true;

		if (!a || a->kind != ACCESS_QUERY || a->filter)
			return otherwise;
		for (size_t k = 0; k < a->where_count && all; k++)
			all = fits(&a->where[k], &s, row);
		if (all)
			return true;
	}
	return false;
}

/* ---- reasons for a removal ---- */

/* `done`: only requests that were not refused. */
static bool was_asked_for(struct sim *s, const struct record *r, bool done)
{
	struct ledger *l = s->ledger;
	struct row gone = entity_lay(&l->run, r->change.entity, r->change.old_image);
	struct slice path = entity_path(&l->run, &gone);

	for (size_t i = 0; i < l->count; i++) {
		const struct entry *e = &l->entries[i];

		if (e->from < r->sequence && r->sequence <= e->to && (!done || e->status < 400) &&
		    (!e->entity || slice_starts(e->path, path)))
			return true;
	}
	return false;
}

static bool has_moved(struct sim *s, size_t at)
{
	struct ledger *l = s->ledger;
	const struct record *r = &l->records[at];

	for (size_t i = 0; i < l->record_count; i++) {
		const struct record *x = &l->records[i];

		if (x->change.events == ON_CREATED && x->change.entity == r->change.entity &&
		    x->sequence + TRANSACTION_MOST > r->sequence && r->sequence + TRANSACTION_MOST > x->sequence)
			return true;
	}
	return false;
}

/* Whether the row can be made while the removal goes on, and go with it: its entity neither requires the other nor
 * counts on it (app/write/deleting.h: "not covered"). Not if the other was made again: then that had ended. */
static bool came_too_late(const struct ledger *l, const struct record *p, const struct record *r)
{
	const struct entity *e = r->change.entity;

	for (size_t i = 0; i < e->require_count; i++)
		if (e->requires[i].target.to == p->change.entity)
			return false;
	for (size_t i = 0; i < e->count_count; i++)
		if (e->counts[i].target.to == p->change.entity)
			return false;
	for (size_t i = 0; i < l->record_count; i++) {
		const struct record *x = &l->records[i];

		if (x->change.events == ON_CREATED && p->sequence < x->sequence && x->sequence < r->sequence &&
		    value_equal(x->change.key, p->change.key))
			return false;
	}
	return true;
}

static bool went_along(struct sim *s, const struct record *r)
{
	struct ledger *l = s->ledger;

	for (size_t i = 0; i < l->record_count; i++) {
		const struct record *p = &l->records[i];
		const struct entity *e = p->change.entity;

		if (!e || !e->delete_.then_count || p->sequence > r->sequence + TRANSACTION_MOST)
			continue;
		if (p->change.events == (e->delete_.soft ? ON_UPDATED : ON_DELETED) &&
		    (p->sequence >= r->made || came_too_late(l, p, r)) &&
		    goes_with(&l->run, e, p->change.old_image, r->change.old_image, true))
			return true;
	}
	return false;
}

static bool is_removed_by_processors(const struct design *d, const struct entity *e)
{
	for (size_t i = 0; i < d->processor_count; i++) {
		const struct processor *p = &d->processors[i];
		const struct access *a = p->effect == EFFECT_REMOVE_ALL ? design_access(d, p->target) : NULL;

		if ((p->effect == EFFECT_DELETE && slice_equal(p->target_ref.entity, e->name)) ||
		    (a && (!a->entity.n || slice_equal(a->entity, e->name))))
			return true;
	}
	return false;
}

static bool also_deletes(const struct also_rule *list, size_t n, const struct entity *e)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == ALSO_DELETE && list[i].to == e)
			return true;
	return false;
}

static bool is_also_deleted_by(const struct entity *x, const struct entity *e)
{
	for (size_t i = 0; i < x->action_count; i++)
		if (also_deletes(x->actions[i].also, x->actions[i].also_count, e))
			return true;
	return also_deletes(x->also, x->also_count, e);
}

/* Whether a request was under way that also deletes such items. */
static bool was_also_deleted(struct sim *s, const struct record *r)
{
	struct ledger *l = s->ledger;

	for (size_t i = 0; i < l->count; i++) {
		const struct entry *e = &l->entries[i];

		if (e->from < r->sequence && r->sequence <= e->to && e->method != APP_GET && e->status < 400 &&
		    (!e->entity || is_also_deleted_by(e->entity, r->change.entity)))
			return true;
	}
	return false;
}

static struct slice key_text(struct sim *s, struct value key)
{
	struct buf b;

	buf_init(&b, &s->arena);
	item_to_json(&b, key);
	return buf_slice(&b);
}

static void check_removal(struct sim *s, size_t i)
{
	const struct record *r = &s->ledger->records[i];
	const struct entity *e = r->change.entity;

	if (r->change.events != ON_DELETED || !e || r->change.by_ttl || !r->made || s->raw_deletes)
		return;
	if (s->design->ttl.n && value_present(value_get(r->change.old_image, s->design->ttl)))
		return; /* it may have been replaced by a new one */
	if (was_asked_for(s, r, false) || has_moved(s, i) || is_removed_by_processors(s->design, e) ||
	    went_along(s, r) || was_also_deleted(s, r))
		return;
	sim_problem(s, "%.*s %.*s was removed, and nothing says why: what it went with was deleted before it was made",
		    SLICE_ARG(e->name), SLICE_ARG(key_text(s, r->change.key)));
}

/* ---- what should have been removed ---- */

/* The item as it was at that time, if it is still the same one. */
static struct value image_before(const struct ledger *l, const struct record *made, uint64_t sequence)
{
	struct value image = made->change.new_image;

	for (const struct record *r = made; r < l->records + l->record_count && r->sequence < sequence; r++)
		if (value_equal(r->change.key, made->change.key))
			image = r->change.new_image;
	return image;
}

static bool was_deleted_raw(const struct sim *s, struct value key)
{
	for (size_t i = 0; i < s->raw_deletes; i++)
		if (value_equal(s->raw_deleted[i], key))
			return true;
	return false;
}

static void check_left(struct sim *s, size_t at)
{
	struct ledger *l = s->ledger;
	const struct record *parent = &l->records[at];
	const struct entity *e = parent->change.entity;

	if (parent->change.events != ON_DELETED || !e || !e->delete_.then_count || e->delete_.soft || has_moved(s, at))
		return;
	if (!was_asked_for(s, parent, true) || was_deleted_raw(s, parent->change.key))
		return; /* by an SDK or TTL: items recreated before the keeper sees it cannot be distinguished */
	for (size_t i = 0; i < l->record_count; i++) {
		const struct record *r = &l->records[i];

		if (r->change.events != ON_CREATED || !r->is_last || r->sequence >= parent->sequence ||
		    value_equal(r->change.key, parent->change.key) ||
		    !goes_with(&l->run, e, parent->change.old_image, image_before(l, r, parent->sequence), false))
			continue;
		sim_problem(
			s,
			"left over: %.*s, %.*s: the first was there when the second, of %.*s, was deleted, and is still there",
			SLICE_ARG(key_text(s, r->change.key)), SLICE_ARG(key_text(s, parent->change.key)),
			SLICE_ARG(e->name));
	}
}

/* ---- acknowledged requests ---- */

static bool has_record(struct ledger *l, const struct entry *e, int event)
{
	for (size_t i = 0; i < l->record_count; i++)
		if (l->records[i].sequence > e->from && l->records[i].sequence <= e->to &&
		    l->records[i].change.entity == e->entity && l->records[i].change.events == event)
			return true;
	return false;
}

/* What is always put together with it has its record close by: sequence numbers of one transaction are. */
static bool has_company(struct ledger *l, const struct record *r, const struct also_rule *x)
{
	if (x->kind != ALSO_PUT || x->when || x->each.list || !(x->events & r->change.events))
		return true;
	for (size_t i = 0; i < l->record_count; i++) {
		const struct record *other = &l->records[i];

		if (other->change.entity == x->to && other->change.events == ON_CREATED &&
		    other->sequence + TRANSACTION_MOST > r->sequence && r->sequence + TRANSACTION_MOST > other->sequence)
			return true;
	}
	return false;
}

/* Not of what an SDK writes, a time to live removes, or an update moves to another key. */
static void check_company(struct sim *s, size_t at)
{
	struct ledger *l = s->ledger;
	const struct record *r = &l->records[at];
	const struct entity *e = r->change.entity;

	if (!e || !e->also_count || s->raw_deletes || r->change.by_ttl || r->change.events == ON_UPDATED)
		return;
	for (size_t k = 0; k < e->also_count; k++)
		if (!has_company(l, r, &e->also[k]) && !has_moved(s, at))
			sim_problem(s, "%.*s was %s, but no %.*s was put with it", SLICE_ARG(key_text(s, r->change.key)),
				    r->change.events == ON_CREATED ? "created" : "deleted",
				    SLICE_ARG(e->also[k].target));
}

static void check_entry(struct sim *s, const struct entry *e)
{
	if (!e->entity)
		return;
	if (e->status == 201 && !has_record(s->ledger, e, ON_CREATED))
		sim_problem(s, "the creation of %.*s was acknowledged, but the stream has no record of it",
			    SLICE_ARG(e->path));
	/* A soft deletion need not have one: the item may have been deleted before. */
	if (e->status == 204 && e->method == APP_DELETE && !e->entity->delete_.soft &&
	    !has_record(s->ledger, e, ON_DELETED))
		sim_problem(s, "the deletion of %.*s was acknowledged, but the stream has no record of it",
			    SLICE_ARG(e->path));
}

void ledger_check(struct sim *s)
{
	if (!read_stream(s))
		return;
	for (size_t i = 0; !s->unfit && i < s->ledger->record_count; i++) {
		check_removal(s, i);
		check_left(s, i);
		check_company(s, i);
	}
	for (size_t i = 0; i < s->ledger->count; i++)
		check_entry(s, &s->ledger->entries[i]);
}
