/* References: what they name exists, and trees have no circles.
 *
 * For each reference an item adds a FACT_REFER at the identity of the item that it names. If that one is missing, the
 * reference dangles: a difference where such items stay (their deletion is soft), otherwise a note.
 *
 * Parents cannot be followed in sorted facts. Each item of a tree with a parent leaves the hashes of its identity and
 * of its parent's in memory (16 bytes); after the scan all chains are followed once, and a FACT_TARGET with a hash that
 * is in a circle is a finding.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/grow.h"
#include "oracle/oracle_internal.h"

/* ---- what the design says ---- */

static bool is_removed_by_processor(const struct design *d, const struct entity *e)
{
	for (size_t i = 0; i < d->processor_count; i++) {
		const struct processor *p = &d->processors[i];
		const struct entity *rows = p->target_access ? read_entity(d, p->target_access) : NULL;

		if ((p->effect == EFFECT_DELETE && p->target_ref.to == e) || (p->target_access && (!rows || rows == e)))
			return true;
	}
	return false;
}

static bool is_removed_by_cascade(const struct design *d, const struct entity *e)
{
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].delete_.then_count; k++) {
			const struct entity *rows = read_entity(d, d->entities[i].delete_.then_access[k]);

			if (!rows || rows == e)
				return true;
		}
	return false;
}

/* Whether items of the entity may go, or get another identity, while others name them. */
static bool may_go(const struct design *d, const struct entity *e)
{
	if (e->may_expire || !e->delete_.soft || is_removed_by_processor(d, e) || is_removed_by_cascade(d, e))
		return true;
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);

		if (!a || !(a->fixed || a->id))
			return true;
	}
	return false;
}

void refers_mark(struct rules *x)
{
	const struct design *d = x->design;

	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].attribute_count; k++) {
			const struct attribute *a = &d->entities[i].attributes[k];

			if (a->refers && !a->may_be_missing)
				x->entities[entity_index(d, a->refers->to)].is_target = true;
		}
}

/* ---- facts ---- */

struct referring {
	struct oracle *o;
	const struct row *full;
	const struct attribute *attribute;
	const struct requirement *rule;
	struct value key;
};

static void tell_dangling(const struct referring *x, const struct value *args)
{
	struct run *r = &x->o->run;
	const struct reference *f = x->attribute->refers;
	struct oracle_finding finding = { .kind = ORACLE_DANGLING,
					  .entity = x->full->entity,
					  .key = x->key,
					  .attribute = x->attribute->name,
					  .found = args[x->attribute->refers_part],
					  .other_entity = f->to };
	const char *rest = "";

	if (may_go(r->design, f->to)) {
		finding.weight = ORACLE_NOTE;
		rest = "; the design lets it go";
	}
	if (!entity_locate(r, f->to, args, f->arg_count, &finding.other)) {
		r->problem = (struct problem){ 0 };
		finding.other = VALUE_ABSENT;
	}
	tell(x->o, &finding, "%.*s names as its %.*s a %.*s that does not exist, %.*s%s",
	     SLICE_ARG(say_item(r, x->full->entity, x->key)), SLICE_ARG(x->attribute->name), SLICE_ARG(f->to->name),
	     SLICE_ARG(write_identity_text(r, args, f->arg_count)), rest);
}

static bool imply_one(void *ctx, struct scope *s)
{
	const struct referring *x = ctx;
	const struct requirement *q = x->rule;
	struct run *r = &x->o->run;
	const struct entity *e = x->full->entity;
	struct value *args;
	struct slice join;
	struct buf b;
	bool is;

	if (!scope_holds(s, q->when, &is) || (is && !scope_args(s, q->target.args, q->target.arg_count, &args)))
		return false;
	if (!is)
		return true;
	if (!identity_join(r, q->target.to, args, q->target.arg_count, &join)) {
		tell_dangling(x, args);
		return true;
	}
	b = fact_begin(x->o, SPACE_IDENTITY, join, FACT_REFER);
	buf_be16(&b, (uint16_t)entity_index(r->design, e));
	buf_be16(&b, (uint16_t)(q - e->requires));
	fact_put_value(&b, x->key);
	fact_put_value(&b, value_make_list(r->arena, args, q->target.arg_count));
	fact_add(x->o, &b);
	return true;
}

/* The item's own identity and its parent's. */
static void note_parent(struct referring *x)
{
	struct oracle *o = x->o;
	struct run *r = &o->run;
	const struct entity *e = x->full->entity;
	struct scope s = { .run = r, .item = x->full };
	struct slice own, parent;
	struct value *args;
	bool is;

	if (!scope_holds(&s, x->rule->when, &is) || !is ||
	    !scope_args(&s, x->rule->target.args, x->rule->target.arg_count, &args) ||
	    !identity_join(r, e, entity_identity(r, x->full), e->param_count, &own) ||
	    !identity_join(r, e, args, e->param_count, &parent))
		return;
	if (!GROW(o->parents, o->parent_count + 1, o->parent_room, 1024)) {
		(void)run_fail(r, PROBLEM_INTERNAL, "out of memory");
		o->failed = true;
		return;
	}
	o->parents[o->parent_count++] = (struct parent){ hash_bytes(own), hash_bytes(parent) };
}

void refers_imply(struct oracle *o, const struct row *full, struct value key)
{
	const struct entity *e = full->entity;
	struct scope s = { .run = &o->run, .item = full };

	for (size_t i = 0; i < e->require_count; i++) {
		struct referring x = { o, full, e->requires[i].of, &e->requires[i], key };

		if (!x.attribute)
			continue;
		if (!scope_each(&s, &x.rule->each, imply_one, &x))
			o->run.problem = (struct problem){ 0 };
		if (x.attribute->tree)
			note_parent(&x);
	}
}

/* ---- comparing ---- */

void refers_compare(struct oracle *o, struct fact_reader *f)
{
	struct run *r = &o->run;
	const struct entity *e = &r->design->entities[fact_u16(f)];
	const struct requirement *q = &e->requires[fact_u16(f)];
	struct value key = fact_value(f), list = fact_value(f);
	struct value *args = arena_array(r->arena, struct value, value_count(list));
	struct row item = { .entity = e };
	struct referring x = { o, &item, q->of, q, key };
	size_t n = 0;

	for (struct value_iter it = value_iter(list); value_next(&it);)
		args[n++] = it.value;
	tell_dangling(&x, args);
	scratch_clear(o); /* any number of items may name the same one */
}

/* ---- circles ---- */

static int compare_parents(const void *x, const void *y)
{
	const struct parent *p = x, *q = y;

	return (p->child > q->child) - (p->child < q->child);
}

static const struct parent *parent_of(const struct oracle *o, uint64_t child)
{
	struct parent key = { .child = child };

	return bsearch(&key, o->parents, o->parent_count, sizeof(key), compare_parents);
}

/* Adds the items of the circle that begins and ends here. */
static bool mark_circle(struct oracle *o, const struct parent *from)
{
	const struct parent *p = from;

	do {
		if (!hash_set_add(&o->circled, p->child))
			return false;
		p = parent_of(o, p->parent);
	} while (p && p != from);
	return true;
}

/* `walks[i]`: the walk that came by parents[i], from 1; each is visited once. */
static bool follow_parents(struct oracle *o, size_t *walks)
{
	for (size_t i = 0; i < o->parent_count; i++) {
		const struct parent *p = &o->parents[i];

		while (p && !walks[p - o->parents]) {
			walks[p - o->parents] = i + 1;
			p = parent_of(o, p->parent);
		}
		if (p && walks[p - o->parents] == i + 1 && !mark_circle(o, p))
			return false;
	}
	return true;
}

bool refers_find_circles(struct oracle *o)
{
	size_t *walks;
	bool ok;

	hash_set_free(&o->circled);
	if (!o->parent_count)
		return true;
	qsort(o->parents, o->parent_count, sizeof(*o->parents), compare_parents);
	walks = mem_zalloc(o->parent_count * sizeof(*walks));
	ok = walks && follow_parents(o, walks);
	mem_free(walks);
	o->parent_count = 0;
	return ok || run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
}

void refers_tell_circle(struct oracle *o, const struct entity *e, struct value key)
{
	struct oracle_finding f = { .kind = ORACLE_CIRCLE, .entity = e, .key = key };

	tell(o, &f, "%.*s is below itself", SLICE_ARG(say_item(&o->run, e, key)));
}
