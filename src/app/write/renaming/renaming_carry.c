/* Carries out a rename: lets rows follow, page by page, until the patterns find nothing under the old name; then removes
 * the markers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"
#include "app/db/late.h"
#include "app/entity/renamed.h"
#include "app/read/read.h"
#include "app/run/state.h"
#include "app/write/deleting_internal.h"
#include "app/write/renaming/renaming.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"

#define CHUNK          200
#define STUCK_MOST     1000 /* children that cannot follow, or that a late index still shows, passed over in one go */
#define MARKERS_A_PAGE 25
#define SWEEP_MOST     500   /* rows per sweep: the tick has other work */
#define REMOTE_MOST    50    /* the same for a remote table: each is several round trips */
#define WAIT_MS        1000  /* until a marker that waits is looked at again */
#define STUCK_MS       10000 /* the same for one with children that cannot follow */

/* a row that follows */
struct leaving {
	const struct entity *entity;
	struct value key;
};

struct carry {
	struct run *run;             /* gets the problem */
	struct run *reader, *branch; /* cleared after each chunk, each row */
	const struct renaming *marker;
	struct map passed; /* keys, in run->arena: not to be tried again in this go */
	struct leaving *list;
	size_t count;
	int64_t left;
	bool stuck; /* a child cannot follow */
	bool over;  /* the marker is gone */
};

static bool fail_with(struct carry *c, const struct run *inside)
{
	enum problem_type t = inside->problem.type;

	return run_fail(c->run, t ? t : PROBLEM_INTERNAL, "%.*s", SLICE_ARG(inside->problem.detail));
}

/* ---- finding rows ---- */

static bool find_row(void *ctx, const struct row *row, bool *stop)
{
	struct carry *c = ctx;
	struct run *r = c->reader;
	struct row f;
	struct value key;
	bool names;

	if (!row->entity)
		return true; /* a companion: it goes with its item */
	row_copy(&f, r->arena, row);
	if (!renaming_apply(r, c->marker, row->entity, &f, &names))
		return false;
	if (!names)
		return true;
	key = dyn_key_of(r, row->full);
	if (map_get(&c->passed, value_slice(key)))
		return true;
	for (size_t i = 0; i < c->count; i++)
		if (value_equal(c->list[i].key, key))
			return true;
	c->list[c->count++] = (struct leaving){ row->entity, value_copy(r->arena, key) };
	*stop = c->count == CHUNK;
	return true;
}

static bool find_rows(struct carry *c)
{
	const struct rename_rule *rule = &c->marker->entity->rename;
	struct run *r = c->reader;
	struct row values;
	struct scope s = { .run = r, .item = &values };
	int64_t now = r->now_ms;
	bool ok = true;

	c->list = arena_array(r->arena, struct leaving, CHUNK);
	c->count = 0;
	row_from(&values, r->arena, NULL, c->marker->values);
	r->now_ms = 0; /* expired rows follow, too: nothing has expired at time 0 */
	for (size_t i = 0; ok && i < rule->then_count && c->count < CHUNK; i++)
		if (rule->then_access[i] && value_present(marker_values(r, rule->then_access[i], c->marker->values)))
			ok = read_each(rule->then_access[i], &s, NULL, 0, find_row, c);
	r->now_ms = now;
	return ok || fail_with(c, r);
}

/* ---- one row ---- */

static void pass(struct carry *c, struct value key)
{
	static bool there = true;

	map_set(&c->passed, value_slice(value_copy(c->run->arena, key)), &there);
}

static bool is_lasting(enum problem_type t)
{
	return t != PROBLEM_NONE && t != PROBLEM_BUSY && t != PROBLEM_INTERNAL;
}

/* N7 */
static void tell_stuck(struct carry *c, const struct leaving *x)
{
	c->stuck = true;
	log_warn("%.*s: a %.*s cannot follow the %.*s that was renamed, and stays at %.*s: %.*s",
		 SLICE_ARG(c->run->design->name), SLICE_ARG(x->entity->name), SLICE_ARG(c->marker->entity->name),
		 SLICE_ARG(entity_key_text(c->branch, x->key)), SLICE_ARG(c->branch->problem.detail));
}

static bool follow_row(struct carry *c, const struct leaving *x)
{
	struct run *r = c->branch;
	bool followed, ok = write_follow(r, x->entity, x->key, c->marker, &followed, &c->over);

	if (c->over)
		return true;
	if (ok && !followed) /* gone: other processes are at work, or an index is late */
		pass(c, x->key);
	if (!ok && !is_lasting(r->problem.type))
		return fail_with(c, r);
	if (!ok) {
		pass(c, x->key);
		tell_stuck(c, x);
		return true;
	}
	c->left--;
	return true;
}

static bool follow_rows(struct carry *c)
{
	for (size_t i = 0; i < c->count && c->left > 0 && !c->over; i++) {
		bool ok = follow_row(c, &c->list[i]);

		branch_clear(c->branch, c->run);
		if (!ok)
			return false;
	}
	return true;
}

/* False: run->problem. */
static bool carry_rows(struct carry *c)
{
	do {
		branch_clear(c->reader, c->run);
		if (!find_rows(c) || !follow_rows(c))
			return false;
	} while (c->count && c->left > 0 && !c->over && c->passed.n < STUCK_MOST);
	return true;
}

/* ---- renames below ---- */

static enum renaming_end carry_marker(struct run *r, const struct renaming *m, int64_t *left);

/* Carries out the markers of one entity. */
static enum renaming_end carry_kind(struct run *r, const struct entity *e, int64_t *left)
{
	enum renaming_end all = RENAMING_DONE;
	struct dyn_page page = { .last = VALUE_ABSENT };

	do {
		if (!beside_query(r, renamed_kind(r, e), MARKERS_A_PAGE, page.last, &page))
			return RENAMING_FAILED;
		for (size_t i = 0; i < page.count; i++) {
			struct run *b = branch_new(r);
			struct renaming m;
			enum renaming_end end;
			bool known;

			if (!renaming_read(b, page.items[i], &m, &known))
				return RENAMING_FAILED;
			/* Both markers of a rename are found: one suffices. */
			if (!known ||
			    !value_equal(value_get(m.from_key, SLICE("SK")), value_get(page.items[i], SLICE("SK"))))
				continue;
			end = *left > 0 ? carry_marker(b, &m, left) : RENAMING_IN_PART;
			if (end == RENAMING_FAILED)
				(void)run_fail(r, b->problem.type ? b->problem.type : PROBLEM_INTERNAL, "%.*s",
					       SLICE_ARG(b->problem.detail));
			branch_clear(b, r);
			if (end == RENAMING_FAILED || end == RENAMING_IN_PART)
				return end;
			all = end == RENAMING_DONE ? all : end;
		}
	} while (value_present(page.last));
	return all;
}

/* Renames of what follows an item of the entity. Such a tree of entities has no circle: each is below itself at most,
 * and then the markers of its own kind are carried out by whoever looks for all. */
static enum renaming_end carry_below(struct run *r, const struct renaming *m, int64_t *left)
{
	const struct design *d = r->design;
	enum renaming_end all = RENAMING_DONE;

	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];
		enum renaming_end end;

		if (e == m->entity || !e->rename.then_count || !entity_follows(e, m->entity, 0))
			continue;
		end = carry_kind(r, e, left);
		if (end == RENAMING_FAILED || end == RENAMING_IN_PART)
			return end;
		all = end == RENAMING_DONE ? all : end;
	}
	return all;
}

/* ---- the whole ---- */

/* How long rows may still be missing from an index; 0: all are shown. */
static int64_t early_ms(struct run *r, const struct renaming *m)
{
	const struct rename_rule *rule = &m->entity->rename;
	const struct marker as = { .key = m->from_key, .id = m->id, .at_ms = m->at_ms };
	int64_t ms = run_is_remote(r) ? late_ms(r->app) - deleting_known_ms(r, &as) : 0;

	for (size_t i = 0; ms > 0 && i < rule->then_count; i++)
		if (late_reads_index(rule->then_access[i]))
			return ms;
	return 0;
}

/* Both, if they still have this id. */
static enum renaming_end drop_markers(struct run *r, const struct renaming *m)
{
	const struct value_member id = { SLICE("id"), value_make_s(r->arena, m->id) };
	struct dyn_write w[2];
	struct dyn_refusal refusals[2];

	for (int i = 0; i < 2; i++)
		w[i] = (struct dyn_write){ .kind = DYN_DELETE,
					   .table = beside_table(r),
					   .key = i ? m->to_key : m->from_key,
					   .equal = &id,
					   .equal_count = 1 };
	switch (dyn_write(r, w, 2, SLICE(""), refusals)) {
	case DYN_DONE:
	case DYN_REFUSED: return RENAMING_DONE;
	case DYN_CONFLICT:
	case DYN_MISMATCH: (void)run_busy(r); break;
	case DYN_FAILED: break;
	}
	return RENAMING_FAILED;
}

static enum renaming_end carry_marker(struct run *r, const struct renaming *m, int64_t *left)
{
	bool early = early_ms(r, m) > 0; /* decided before reading */
	struct carry c = { .run = r, .reader = branch_new(r), .branch = branch_new(r), .marker = m, .left = *left };
	enum renaming_end end;
	bool ok;

	c.reader->depth = c.branch->depth = r->depth; /* as deep as the tree of children; each row moves once */
	map_init(&c.passed, r->arena);
	ok = carry_rows(&c);
	*left = c.left;
	if (!ok)
		return RENAMING_FAILED;
	if (c.over)
		return RENAMING_DONE;
	if (c.count || c.passed.n >= STUCK_MOST)
		return c.left > 0 ? RENAMING_WAITS : RENAMING_IN_PART;
	end = carry_below(r, m, left);
	if (end != RENAMING_DONE)
		return end;
	if (c.stuck)
		return RENAMING_STUCK;
	return early ? RENAMING_WAITS : drop_markers(r, m);
}

enum renaming_end renaming_carry(struct run *r, const struct renaming *m, int64_t most)
{
	return carry_marker(r, m, &most);
}

bool renaming_settle(struct run *r, const struct entity *e, const struct value *args)
{
	struct value identity = e->rename.then_count ? renamed_identity(r, e, args) : VALUE_ABSENT, item;
	struct renaming m;
	bool known;

	if (!value_present(identity))
		return true;
	if (!beside_get(r, renamed_key(r, e, identity), &item))
		return false;
	if (!value_present(item))
		return true;
	if (!renaming_read(r, item, &m, &known))
		return false;
	if (!known || !value_equal(m.to, identity))
		return true;
	switch (renaming_carry(r, &m, INT64_MAX)) {
	case RENAMING_DONE:
	case RENAMING_STUCK: return true;
	case RENAMING_IN_PART:
	case RENAMING_WAITS: return run_busy(r);
	case RENAMING_FAILED: break;
	}
	return false;
}

bool renaming_sweep(struct run *r, int64_t *next_ms)
{
	const struct design *d = r->design;
	uint64_t noted = r->app->renames_noted; /* before reading: a rename may put a marker meanwhile */
	enum renaming_end all = RENAMING_DONE;
	int64_t left = run_is_remote(r) ? REMOTE_MOST : SWEEP_MOST;

	for (size_t i = 0; i < d->entity_count && all != RENAMING_FAILED; i++) {
		enum renaming_end end;

		if (!d->entities[i].rename.then_count)
			continue;
		end = carry_kind(r, &d->entities[i], &left);
		all = end > all ? end : all;
	}
	*next_ms = all == RENAMING_DONE ? INT64_MAX : left <= 0 ? 0 : all == RENAMING_STUCK ? STUCK_MS : WAIT_MS;
	if (all == RENAMING_DONE)
		r->app->renames_swept = noted + 1;
	return all != RENAMING_FAILED;
}
