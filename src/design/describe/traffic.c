/* What the calls of a design cost, estimated.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/traffic.h"
#include <math.h>
#include "design/check/check.h"

#define PAGE       20 /* rows of a page that says nothing */
#define LIST_GUESS 3  /* elements of a list that a merge goes over */
#define READ_UNIT  4096.0

/* ---- writes ---- */

/* How many ways an item of the entity, or one of its companions, stands in indexes. */
static double entries_of(const struct checker *c, const struct entity *e)
{
	double n = 0;

	EACH_INDEX (s, c) {
		const struct shape *last = NULL;

		EACH (struct entry, x, s->entries, s->entry_count) {
			n += x->shape->entity == e && x->shape != last;
			last = x->shape;
		}
	}
	return n;
}

/* Indexes that carry the counters of an entity: moving one writes them, too. */
static double carriers_of(const struct checker *c, const struct entity *e)
{
	double n = 0;

	EACH_INDEX (s, c)
		n += s->index->projection == PROJECT_ALL && space_entry(s, e);
	return n;
}

struct traffic_write check_write_of(const struct checker *c, const struct entity *e)
{
	struct traffic_write w = { .items = 1 + (double)e->companion_count, .copies = entries_of(c, e) };

	w.actions = w.items + (double)e->count_count + (double)e->require_count;
	EACH (struct also_rule, r, e->also, e->also_count)
		w.actions += (r->events & ON_CREATED) && !r->each.list;
	w.indexed = w.copies;
	EACH (struct count_rule, r, e->counts, e->count_count)
		w.indexed += carriers_of(c, r->target.to);
	return w;
}

/* ---- reads ---- */

static double rows_of(const struct access *a)
{
	return a->single ? 1 : a->limit > 0 ? (double)a->limit : PAGE;
}

static double one_item(bool consistent, double item_bytes)
{
	return ceil(item_bytes / READ_UNIT) * (consistent ? 1 : 0.5);
}

static double units_of_access(const struct access *a, double item_bytes);

static double units_of_merge(const struct access *a, double item_bytes)
{
	const struct access *over = a->merge_rows;
	double units = 0, runs;

	for (size_t i = 0; i < a->merge_of_count; i++)
		units += units_of_access(a->merge_parts[i], item_bytes);
	if (!a->merge_run)
		return units;
	runs = over ? rows_of(over) : a->range_list ? LIST_GUESS : (double)(a->range_to - a->range_from + 1);
	return units + (over ? units_of_access(over, item_bytes) : 0) + runs * units_of_access(a->merge_run, item_bytes);
}

static double units_of_access(const struct access *a, double item_bytes)
{
	double units = 0;

	switch (a->kind) {
	case ACCESS_GET: units = one_item(a->consistent, item_bytes); break;
	case ACCESS_BATCH: units = rows_of(a) * one_item(a->consistent, item_bytes); break;
	case ACCESS_QUERY: units = ceil(rows_of(a) * item_bytes / READ_UNIT) * (a->consistent ? 1 : 0.5); break;
	case ACCESS_MERGE: units = units_of_merge(a, item_bytes); break;
	}
	return a->has_then ? units + rows_of(a) * one_item(a->consistent, item_bytes) : units;
}

/* ---- sums ---- */

static struct checker model_of(const struct design *d, struct findings *f, struct arena *a)
{
	struct checker c = { .d = d, .f = f, .arena = a };

	findings_init(f, a);
	check_model(&c);
	return c;
}

static void add_write(struct traffic_total *t, const struct traffic_write *w, double times, bool creates)
{
	t->writes.actions += times * w->actions;
	t->writes.indexed += times * w->indexed;
	t->writes.items += times * w->items;
	t->writes.copies += times * w->copies;
	t->write_calls += times;
	if (creates) {
		t->created += times * w->items;
		t->created_copies += times * w->copies;
	}
}

void design_traffic(const struct design *d, double item_bytes, struct arena *a, struct traffic_total *out)
{
	struct findings f;
	struct checker c = model_of(d, &f, a);

	*out = (struct traffic_total){ 0 };
	EACH (struct traffic_rule, t, d->traffic, d->traffic_count) {
		const struct access *access = design_access(d, t->pattern);
		struct slice verb;
		const struct entity *e = design_call(d, t->pattern, &verb);

		if (access || (e && (slice_is(verb, "read") || slice_is(verb, "list")))) {
			out->reads += t->per_second *
				      (access ? units_of_access(access, item_bytes) : one_item(true, item_bytes));
			out->read_calls += t->per_second;
		} else if (e) {
			struct traffic_write w = check_write_of(&c, e);

			add_write(out, &w, t->per_second, slice_is(verb, "create"));
			out->reads += t->per_second * one_item(true, item_bytes); /* what decides it is read before */
		}
	}
}

void design_mean_traffic(const struct design *d, double item_bytes, struct arena *a, double *read_units,
			 struct traffic_write *write)
{
	struct findings f;
	struct checker c = model_of(d, &f, a);
	struct traffic_total t = { 0 };
	double reads = 0, n = 0;

	EACH (struct access, p, d->accesses, d->access_count)
		if (p->path.n) {
			reads += units_of_access(p, item_bytes);
			n++;
		}
	*read_units = n ? reads / n : one_item(true, item_bytes);
	EACH (struct entity, e, d->entities, d->entity_count) {
		struct traffic_write w = check_write_of(&c, e);

		if (!e->internal)
			add_write(&t, &w, 1, true);
	}
	n = t.write_calls ? t.write_calls : 1;
	*write = (struct traffic_write){ t.writes.actions / n, t.writes.indexed / n, t.writes.items / n,
					 t.writes.copies / n };
}
