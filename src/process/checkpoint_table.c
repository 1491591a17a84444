/* Requests to the table of the checkpoints, and the parts of its items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/checkpoint_table.h"

#include "app/db/beside.h"
#include "app/db/provision.h"
#include "base/clock.h"
#include "base/timestamp.h"

#define CONFLICT_TRIES 4
#define CONFLICT_MS    20
#define WALK_PAGE      500

struct slice checkpoint_table(struct run *r)
{
	return beside_table(r);
}

struct value checkpoint_key(struct run *r, const char *kind, struct slice name, struct slice sk)
{
	struct slice pk = arena_printf(r->arena, name.n ? "%s#%.*s" : "%s%.*s", kind, SLICE_ARG(name));

	return beside_key(r, pk, sk);
}

/* ---- requests ---- */

bool checkpoint_provision(struct run *r)
{
	struct error e = { 0 };

	return provision_beside(r->backend, r->design, r->arena, &e) ||
	       run_fail(r, PROBLEM_INTERNAL, "%.*s", SLICE_ARG(e.message));
}

static struct slice pk_of(struct value key)
{
	return value_bytes(value_get(key, SLICE("PK")));
}

bool checkpoint_get(struct run *r, struct value key, struct value *item)
{
	return beside_get(r, key, item);
}

bool checkpoint_query(struct run *r, struct value key, bool after, int limit, struct dyn_page *page)
{
	return beside_query(r, pk_of(key), limit, after ? key : VALUE_ABSENT, page);
}

bool checkpoint_walk(struct run *r, const char *kind, struct slice name, bool (*look)(void *ctx, struct value item),
		     void *ctx)
{
	struct value key = checkpoint_key(r, kind, name, SLICE(""));
	struct dyn_page page = { 0 };

	do {
		if (!checkpoint_query(r, key, page.count > 0, WALK_PAGE, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!look(ctx, page.items[i]))
				return false;
		if (page.count)
			key = page.last;
	} while (page.count && value_present(page.last));
	return true;
}

bool checkpoint_count(struct run *r, struct value key, int64_t *out)
{
	return beside_count(r, pk_of(key), out);
}

bool checkpoint_write(struct run *r, const struct dyn_write *w, size_t n)
{
	struct dyn_refusal *refusals = arena_array(r->arena, struct dyn_refusal, n);

	for (int tries = 1;; tries++) {
		switch (dyn_write(r, w, n, SLICE(""), refusals)) {
		case DYN_DONE: return true;
		case DYN_REFUSED: return run_fail(r, PROBLEM_CONFLICT, "another server has moved this position");
		case DYN_MISMATCH: return run_busy(r);
		case DYN_FAILED: return false;
		case DYN_CONFLICT: break; /* another transaction holds an item: try again */
		}
		if (tries == CONFLICT_TRIES)
			return run_busy(r);
		clock_pause_us(CONFLICT_MS * 1000);
	}
}

/* ---- parts of items ---- */

bool checkpoint_bool(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));

	return value_type(v) == VALUE_BOOL && value_bool(v);
}

int64_t checkpoint_time(struct value item, const char *name)
{
	int64_t ms;

	return time_parse(beside_text(item, name), &ms) ? ms : 0;
}

void checkpoint_item_init(struct checkpoint_item *i, struct run *r, struct value key)
{
	i->run = r;
	i->count = 0;
	checkpoint_add(i, "PK", value_get(key, SLICE("PK")));
	checkpoint_add(i, "SK", value_get(key, SLICE("SK")));
}

void checkpoint_add(struct checkpoint_item *i, const char *name, struct value v)
{
	if (value_present(v) && i->count < CHECKPOINT_MEMBERS)
		i->list[i->count++] = (struct value_member){ slice_str(name), v };
}

void checkpoint_add_text(struct checkpoint_item *i, const char *name, struct slice s)
{
	if (s.n)
		checkpoint_add(i, name, value_make_s(i->run->arena, s));
}

void checkpoint_add_time(struct checkpoint_item *i, const char *name, int64_t ms)
{
	char out[TIME_TEXT_MAX];

	checkpoint_add_text(i, name, time_format(ms, out));
}

struct value checkpoint_item_made(struct checkpoint_item *i)
{
	return value_make_map(i->run->arena, i->list, i->count);
}
