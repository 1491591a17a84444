/* Carries out a cascade: removes rows, some per transaction, until none is left; then removes the marker.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/write/deleting_internal.h"
#include "app/db/guess.h"
#include "app/db/late.h"
#include "app/read/read.h"
#include "base/clock.h"
#include "base/log.h"

#define CHUNK            200 /* rows read together */
#define BATCH            20  /* rows removed together */
#define IDLE_MOST        3 /* consecutive reads whose rows were all gone already: a late index, or other processes at work */
#define MARKERS_A_PAGE   25
#define SWEEP_MS         30000 /* how long a marker is left to the process that put it */
#define SWEEP_MOST       2000  /* rows per sweep */
#define SWEEP_AFTER_MS   200   /* how long after late_ms() a marker is left to the keeper */
#define OLD_MS           120000 /* longer than any request is retried (remote/: 30 s), and than the clocks of servers differ */
#define SWEEP_EARLY_MOST 1 /* rows of a young marker, which its deletion or the keeper may be carrying out */

struct carry {
	struct run *run;             /* gets the problem */
	struct run *reader, *branch; /* cleared after each chunk, each batch */
	const struct marker *marker;
	size_t removed;
	bool over; /* the marker is gone: another process has finished */
};

static void carry_init(struct carry *c, struct run *r, const struct marker *m)
{
	*c = (struct carry){ .run = r, .reader = branch_new(r), .branch = branch_new(r), .marker = m };
	c->reader->depth = c->branch->depth = r->depth; /* as deep as the tree of dependents; each row is removed once */
}

static bool fail_with(struct carry *c, struct run *inside)
{
	enum problem_type t = inside->problem.type;

	return run_fail(c->run, t ? t : PROBLEM_INTERNAL, "%.*s", SLICE_ARG(inside->problem.detail));
}

/* ---- one row ---- */

/* Removes only the stored item: it is of no entity, or does not fit its entity. */
static bool remove_plainly(struct carry *c, struct value key)
{
	struct run *r = c->branch;
	const struct value_member id = { SLICE("id"), value_make_s(r->arena, c->marker->id) };
	/* clang-format off */
	struct dyn_write w[] = {
		{ .kind = DYN_DELETE, .key = key },
		{ .kind = DYN_CHECK, .table = beside_table(r), .key = c->marker->key, .must_exist = true, .equal = &id, .equal_count = 1 },
	};
	/* clang-format on */
	struct dyn_refusal refusals[2];

	switch (dyn_write(r, w, 2, SLICE(""), refusals)) {
	case DYN_DONE: c->removed++; return true;
	case DYN_REFUSED: c->over = true; return true;
	case DYN_CONFLICT:
	case DYN_MISMATCH: return run_busy(r);
	case DYN_FAILED: break;
	}
	return false;
}

static bool remove_one(struct carry *c, const struct doomed *row)
{
	struct run *r = c->branch;
	struct value stored;
	bool ok;

	if (!dyn_get(r, row->key, true, &stored))
		return false;
	if (!value_present(stored))
		return true;
	if (!doomed_fits(r, row, stored))
		return remove_plainly(c, row->key);
	ok = write_remove_under(r, row->entity, row->key, c->marker, &c->over);
	if (ok || c->over) {
		c->removed += ok;
		return true;
	}
	if (r->problem.type == PROBLEM_BUSY || r->problem.type == PROBLEM_INTERNAL || r->problem.type == PROBLEM_NONE)
		return false;
	log_warn("%.*s: a %.*s goes with what was deleted, but not what it counted: %.*s", SLICE_ARG(r->design->name),
		 SLICE_ARG(row->entity->name), SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
	return remove_plainly(c, row->key);
}

static bool remove_singly(struct carry *c, const struct doomed *list, size_t n)
{
	for (size_t i = 0; i < n && !c->over; i++) {
		bool ok = remove_one(c, &list[i]) || fail_with(c, c->branch);

		branch_clear(c->branch, c->run);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- some rows ---- */

/* *done false: remove them one by one. */
static bool remove_together(struct carry *c, const struct doomed *list, size_t n, bool *done)
{
	static const struct write_options none = { 0 };
	struct write w = {
		.run = c->branch,
		.entity = c->marker->entity,
		.options = &none,
		.trusted = true,
		.deletes = true,
		.under = c->marker,
	};
	enum plan_end end = PLAN_DONE;
	struct plan p;
	size_t found;
	bool ok = true;

	plan_init(&p, &w, VALUE_ABSENT, NULL);
	plan_under(&p, c->marker);
	ok = plan_doom(&p, c->marker, list, n, done, &found);
	if (ok && *done && found)
		end = plan_commit(&p);
	if (ok && end == PLAN_DONE && *done && found) {
		c->removed += found;
		plan_follow(&p);
		deleting_follow(&p);
	}
	c->over = w.over;
	if (end == PLAN_FAILED && !w.over)
		ok = false;
	*done = *done && end != PLAN_AGAIN;
	return ok || fail_with(c, c->branch);
}

static bool remove_rows(struct carry *c, const struct doomed_list *rows)
{
	size_t n;

	for (size_t i = 0; i < rows->count && !c->over; i += n) {
		bool done = false, ok;

		n = rows->count - i < BATCH ? rows->count - i : BATCH;
		ok = remove_together(c, &rows->list[i], n, &done);
		branch_clear(c->branch, c->run);
		if (!ok || (!done && !remove_singly(c, &rows->list[i], n)))
			return false;
	}
	return true;
}

/* ---- all rows ---- */

/* Removes rows until the marker's patterns return nothing. */
static enum carried carry_rows(struct carry *c, int64_t *left)
{
	int idle = 0;

	while (!c->over) {
		struct doomed_list rows;
		size_t before = c->removed;
		bool ok = deleting_rows(c->reader, c->marker, *left > 0 ? CHUNK : 1, &rows);

		if (!ok) {
			(void)fail_with(c, c->reader);
			return CARRIED_NOT;
		}
		if (!rows.count)
			break;
		if (*left <= 0 || idle > IDLE_MOST)
			return CARRIED_IN_PART;
		if (!remove_rows(c, &rows))
			return CARRIED_NOT;
		*left -= (int64_t)rows.count;
		idle = c->removed == before ? idle + 1 : 0;
		branch_clear(c->reader, c->run);
	}
	return CARRIED;
}

/* ---- other cascades a marker waits for (M4) ---- */

static bool counts_on(const struct entity *e, const struct entity *target)
{
	for (size_t i = 0; i < e->count_count; i++)
		if (e->counts[i].target.to == target)
			return true;
	return false;
}

/* Marks the entities with a cascade whose items are removed with one of `e`; NULL: rows of any entity. */
static void mark_below(const struct design *d, const struct entity *e, bool *marked)
{
	for (size_t i = 0; i < e->delete_.then_count; i++) {
		const struct access *x = e->delete_.then_access[i];
		const struct entity *rows = x ? read_entity(d, x) : NULL;

		for (size_t k = 0; k < d->entity_count; k++) {
			const struct entity *f = &d->entities[k];

			if (marked[k] || !f->delete_.then_count || (rows && rows != f))
				continue;
			marked[k] = true;
			mark_below(d, f, marked);
		}
	}
}

/* Marks the entities whose cascades remove rows that count on items of `e`. */
static void mark_counting(const struct design *d, const struct entity *e, bool *marked)
{
	for (size_t k = 0; k < d->entity_count; k++) {
		const struct delete_rule *rule = &d->entities[k].delete_;

		for (size_t i = 0; i < rule->then_count && !marked[k]; i++) {
			const struct access *x = rule->then_access[i];
			const struct entity *rows = x ? read_entity(d, x) : NULL;

			if (rows) {
				marked[k] = counts_on(rows, e);
				continue;
			}
			for (size_t n = 0; n < d->entity_count && !marked[k]; n++)
				marked[k] = counts_on(&d->entities[n], e);
		}
	}
}

/* Removes the rows of all markers of an entity except one. Those markers stay: they wait for other cascades too. */
static enum carried carry_kind(struct run *r, const struct entity *e, const struct marker *but, int64_t *left,
			       size_t *removed)
{
	struct dyn_page page = { .last = VALUE_ABSENT };

	do {
		if (!beside_query(r, marker_kind(r, e), MARKERS_A_PAGE, page.last, &page))
			return CARRIED_NOT;
		for (size_t i = 0; i < page.count; i++) {
			struct marker m;
			struct carry c;
			enum carried end;
			bool known;

			if (!marker_read(r, page.items[i], &m, &known))
				return CARRIED_NOT;
			if (!known || value_equal(m.key, but->key))
				continue;
			carry_init(&c, r, &m);
			end = carry_rows(&c, left);
			*removed += c.removed;
			if (end != CARRIED)
				return end;
		}
	} while (value_present(page.last));
	return CARRIED;
}

/* A removed row may leave a marker of its own, possibly before the position already passed: repeats until nothing is
 * removed. */
static enum carried carry_others(struct run *r, const struct marker *m, int64_t *left)
{
	const struct design *d = r->design;
	bool *marked = arena_array(r->arena, bool, d->entity_count);
	size_t removed;

	mark_below(d, m->entity, marked);
	mark_counting(d, m->entity, marked);
	do {
		struct run *b = branch_new(r);

		b->depth = r->depth;
		removed = 0;
		for (size_t i = 0; i < d->entity_count; i++) {
			enum carried end = marked[i] ? carry_kind(b, &d->entities[i], m, left, &removed) : CARRIED;

			if (end == CARRIED_NOT)
				(void)run_fail(r, b->problem.type, "%.*s", SLICE_ARG(b->problem.detail));
			if (end != CARRIED)
				return end;
		}
		branch_clear(b, r);
	} while (removed);
	return CARRIED;
}

/* ---- the whole ---- */

/* Removes the marker if it still has its id: another id belongs to another deletion. */
static enum carried drop_marker(struct run *r, const struct marker *m)
{
	const struct value_member id = { SLICE("id"), value_make_s(r->arena, m->id) };
	struct dyn_write w = {
		.kind = DYN_DELETE,
		.table = beside_table(r),
		.key = m->key,
		.equal = &id,
		.equal_count = 1,
	};
	struct dyn_refusal refusal;

	switch (dyn_write(r, &w, 1, SLICE(""), &refusal)) {
	case DYN_DONE:
	case DYN_REFUSED: return CARRIED;
	case DYN_CONFLICT:
	case DYN_MISMATCH: (void)run_busy(r); break;
	case DYN_FAILED: break;
	}
	return CARRIED_NOT;
}

/* The marker's own time is not enough: it is older than its transaction, and another server's clock made it. It counts
 * only when that cannot matter any more (OLD_MS), so that a server without room to remember the marker does not wait for
 * ever. */
int64_t deleting_known_ms(struct run *r, const struct marker *m)
{
	struct value_member id = { GUESS_JOINED, value_make_s(r->arena, m->id) };
	struct guesses *g = r->app->guesses;
	int64_t since_ms, age_ms = clock_now_ms(r->app->clock) - m->at_ms;

	if (age_ms > OLD_MS)
		return age_ms;
	if (g && guess_joined(g, m->key, id.value, &since_ms))
		return clock_steady_ms(r->app->clock) - since_ms;
	if (g)
		guess_learn(g, m->key, value_make_map(r->arena, &id, 1));
	return 0;
}

/* How long rows may still be missing from an index; 0: all are shown. For a marker that exists. */
static int64_t early_ms(struct run *r, const struct marker *m)
{
	const struct delete_rule *rule = &m->entity->delete_;
	int64_t ms = run_is_remote(r) ? late_ms(r->app) - deleting_known_ms(r, m) : 0;

	for (size_t i = 0; ms > 0 && i < rule->then_count; i++)
		if (late_reads_index(rule->then_access[i]))
			return ms;
	return 0;
}

void deleting_expect(struct run *r)
{
	if (r->app)
		r->app->deletions_noted++;
}

void deleting_note(struct run *r, const struct marker *m)
{
	if (run_is_remote(r))
		(void)deleting_known_ms(r, m);
}

enum carried deleting_carry(struct run *r, const struct marker *m, int64_t most)
{
	bool early = early_ms(r, m) > 0; /* decided before reading */
	struct carry c;
	enum carried end;

	if (early && !most) { /* the marker stays in any case: no need to look */
		deleting_expect(r);
		return CARRIED_EARLY;
	}
	carry_init(&c, r, m);
	end = carry_rows(&c, &most);
	if (end != CARRIED || c.over)
		return end;
	end = carry_others(r, m, &most);
	if (end == CARRIED && early) {
		deleting_expect(r);
		return CARRIED_EARLY;
	}
	return end == CARRIED ? drop_marker(r, m) : end;
}

enum carried deleting_settle(struct run *r, const struct entity *e)
{
	const struct design *d = r->design;
	bool *marked = arena_array(r->arena, bool, d->entity_count);
	enum carried all = CARRIED;

	mark_below(d, e, marked);
	for (size_t i = 0; i < d->entity_count; i++) {
		struct dyn_page page = { .last = VALUE_ABSENT };

		while (marked[i]) {
			if (!beside_query(r, marker_kind(r, &d->entities[i]), MARKERS_A_PAGE, page.last, &page))
				return CARRIED_NOT;
			for (size_t k = 0; k < page.count; k++) {
				struct marker m;
				bool known;

				if (!marker_read(r, page.items[k], &m, &known))
					return CARRIED_NOT;
				if (known && deleting_carry(r, &m, DELETING_ALL) != CARRIED)
					all = CARRIED_IN_PART;
			}
			marked[i] = value_present(page.last);
		}
	}
	return all;
}

/* ---- without a marker ---- */

/* Puts the marker if the item does not exist; *put false: the item exists, or there already is a marker. */
static bool put_marker(struct run *r, struct marker *m, struct value gone, const struct fields *still, bool *put)
{
	struct dyn_write w[] = {
		{ .kind = DYN_PUT, .table = beside_table(r), .must_not_exist = true },
		{ .kind = DYN_CHECK, .key = dyn_key_of(r, gone), .must_not_exist = !still, .or_expired = r->design->ttl },
	};
	struct dyn_refusal refusals[2];

	if (still) {
		w[1].must_exist = true;
		w[1].equal = still->list;
		w[1].equal_count = still->count;
		w[1].or_expired = SLICE("");
	}
	*put = false;
	if (!marker_make(r, m, &w[0].item))
		return false;
	switch (dyn_write(r, w, 2, SLICE(""), refusals)) {
	case DYN_DONE: *put = true; return true;
	case DYN_REFUSED: return true;
	case DYN_CONFLICT:
	case DYN_MISMATCH: return run_busy(r);
	case DYN_FAILED: break;
	}
	return false;
}

static bool finish_one(struct run *r, struct marker *m, struct value gone, const struct fields *still)
{
	struct doomed_list rows;
	struct value item;
	bool known = true;

	if (!beside_get(r, m->key, &item))
		return false;
	if (!value_present(item)) {
		if (!deleting_rows(r, m, 1, &rows) || (rows.count && !put_marker(r, m, gone, still, &known)))
			return false;
		if (!rows.count)
			return true;
	} else if (!marker_read(r, item, m, &known)) {
		return false;
	}
	if (!known)
		return true;
	switch (deleting_carry(r, m, DELETING_ALL)) {
	case CARRIED:
	case CARRIED_EARLY: return true; /* the sweep looks again */
	case CARRIED_IN_PART:
		if (!run_is_remote(r))
			return run_busy(r);
		deleting_expect(r); /* an index still shows rows that are gone, of this deletion or of others */
		return true;        /* the marker stays, and the sweep looks again */
	case CARRIED_NOT: break;
	}
	return false;
}

bool deleting_finish(struct run *r, const struct entity *e, struct value gone, const struct fields *still)
{
	struct marker *list;
	size_t n;

	markers_of(r, e, gone, &list, &n);
	for (size_t i = 0; i < n; i++)
		if (!finish_one(r, &list[i], gone, still))
			return false;
	return true;
}

bool deleting_is_marked(struct run *r, const struct entity *e, struct value gone, bool *out)
{
	struct marker *list;
	struct value item;
	size_t n;

	*out = false;
	markers_of(r, e, gone, &list, &n);
	for (size_t i = 0; i < n && !*out; i++) {
		if (!beside_get(r, list[i].key, &item))
			return false;
		*out = value_present(item);
	}
	return true;
}

/* ---- pending markers ---- */

struct sweep {
	struct run *run;
	int64_t left;    /* rows, or markers */
	int64_t next_ms; /* until the next marker is due */
	bool any;        /* markers are left */
};

/* When a marker is due, in milliseconds; 0: now. A young marker is left to its deletion and the keeper, unless these
 * may have looked too early. */
static int64_t due_ms(struct run *r, const struct marker *m)
{
	int64_t ms = run_is_remote(r) ? late_ms(r->app) + SWEEP_AFTER_MS - deleting_known_ms(r, m)
				      : m->at_ms + SWEEP_MS - r->now_ms;

	return ms > 0 ? ms : 0;
}

static bool sweep_one(struct sweep *s, const struct marker *m)
{
	struct run *b = branch_new(s->run);
	bool young = m->at_ms > s->run->now_ms - SWEEP_MS;
	enum carried end;

	b->depth = s->run->depth;
	end = deleting_carry(b, m, young ? SWEEP_EARLY_MOST : s->left);
	if (end == CARRIED_NOT)
		return run_fail(s->run, b->problem.type ? b->problem.type : PROBLEM_INTERNAL, "%.*s",
				SLICE_ARG(b->problem.detail));
	s->any = s->any || end != CARRIED;
	s->left -= 1; /* at least; the next sweep continues a large one */
	return true;
}

static bool sweep_kind(struct sweep *s, const struct entity *e)
{
	struct run *r = s->run;
	struct dyn_page page = { .last = VALUE_ABSENT };

	do {
		if (!beside_query(r, marker_kind(r, e), MARKERS_A_PAGE, page.last, &page))
			return false;
		for (size_t i = 0; i < page.count && s->left > 0; i++) {
			struct marker m;
			int64_t ms;
			bool known;

			if (!marker_read(r, page.items[i], &m, &known))
				return false;
			ms = known ? due_ms(r, &m) : INT64_MAX;
			s->any = s->any || ms;
			s->next_ms = ms && ms < s->next_ms ? ms : s->next_ms;
			if (!ms && !sweep_one(s, &m))
				return false;
		}
	} while (value_present(page.last) && s->left > 0);
	s->any = s->any || value_present(page.last);
	return true;
}

bool deleting_sweep(struct run *r, int64_t *next_ms)
{
	const struct design *d = r->design;
	struct sweep s = { .run = r, .left = SWEEP_MOST, .next_ms = INT64_MAX };
	uint64_t noted;
	bool ok = true;

	noted = r->app->deletions_noted; /* before reading: a deletion may put a marker meanwhile */
	for (size_t i = 0; ok && i < d->entity_count; i++)
		if (d->entities[i].delete_.then_count)
			ok = sweep_kind(&s, &d->entities[i]);
	if (s.any || !ok)
		deleting_expect(r);
	else
		r->app->deletions_swept = noted + 1;
	*next_ms = s.next_ms;
	return ok;
}
