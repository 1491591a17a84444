/* Rows of the patterns in `then remove` and `refuse while`. A parent and its rows are joined by the values of the
 * pattern's query, so nothing is queried: the parent determines the values, and a row has them or not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"
#include "base/grow.h"
#include "oracle/oracle_internal.h"

/* ---- patterns and what they merge ---- */

/* `over`: the pattern reaches the leaf through other rows. */
typedef bool visit_leaf(void *ctx, const struct access *leaf, bool over);

static bool each_leaf(const struct access *a, int depth, bool over, visit_leaf *visit, void *ctx)
{
	if (!a || depth > 8)
		return false;
	if (a->kind == ACCESS_QUERY)
		return visit(ctx, a, over);
	if (a->kind != ACCESS_MERGE)
		return false;
	if (a->merge_pattern.n)
		return each_leaf(a->merge_run, depth + 1, over || a->merge_over.n, visit, ctx);
	for (size_t i = 0; i < a->merge_of_count; i++)
		if (!each_leaf(a->merge_parts[i], depth + 1, over, visit, ctx))
			return false;
	return true;
}

/* ---- filters ---- */

static bool is_input(const struct term *t, const struct access *leaf)
{
	return t->kind == TERM_PATH && t->name_count == 2 && t->of == TERM_OF_INPUT && access_has_parameter(leaf, t->at);
}

static bool is_plain(const struct term *t)
{
	return t->kind == TERM_PATH && t->name_count == 1;
}

/* attribute = input.parameter, in either order. */
static bool as_input(const struct term *t, const struct access *leaf, struct bond_input *out)
{
	const struct term *x, *y;

	if (t->kind != TERM_EQ)
		return false;
	x = t->args[0];
	y = t->args[1];
	if (is_input(x, leaf) && is_plain(y))
		*out = (struct bond_input){ y->at, x->at };
	else if (is_plain(x) && is_input(y, leaf))
		*out = (struct bond_input){ x->at, y->at };
	else
		return false;
	return true;
}

/* Collects its equations with parameters. False: a part of it needs more than the row. */
static bool split_filter(const struct term *t, struct bond *b)
{
	struct bond_input in;

	if (!t)
		return true;
	if (t->kind == TERM_AND)
		return split_filter(t->args[0], b) && split_filter(t->args[1], b);
	if (as_input(t, b->leaf, &in)) {
		if (b->input_count == sizeof(b->inputs) / sizeof(*b->inputs))
			return false;
		b->inputs[b->input_count++] = in;
		return true;
	}
	return !term_reads_more(t);
}

static bool passes_filter(struct scope *s, const struct access *leaf, const struct term *t)
{
	struct bond_input in;
	bool holds;

	if (!t)
		return true;
	if (t->kind == TERM_AND)
		return passes_filter(s, leaf, t->args[0]) && passes_filter(s, leaf, t->args[1]);
	if (as_input(t, leaf, &in))
		return value_present(row_get(s->item, in.attribute));
	if (term_reads_more(t))
		return false;
	if (scope_holds(s, t, &holds))
		return holds;
	s->run->problem = (struct problem){ 0 };
	return false;
}

/* ---- where ---- */

static bool has_placeholder(const struct template *t)
{
	return t && !template_is_constant(t);
}

/* An optional rule does not apply when the parent has none of its parameters. */
static bool is_left_out(const struct where_rule *w, const struct entity *parent)
{
	const struct template *both[2] = { w->value, w->upper };

	if (!w->optional || (!has_placeholder(w->value) && !has_placeholder(w->upper)))
		return false;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; both[k] && i < both[k]->part_count; i++)
			if (both[k]->parts[i].names && parent && slots_attribute(parent->slots, both[k]->parts[i].at))
				return false;
	return true;
}

static bool can_join(const struct bond *b)
{
	for (size_t i = 0; i < b->leaf->where_count; i++) {
		const struct where_rule *w = &b->leaf->where[i];

		if (is_left_out(w, b->parent))
			continue;
		if (w->optional || (w->op != WHERE_EQ && (has_placeholder(w->value) || has_placeholder(w->upper))))
			return false;
	}
	return true;
}

static bool meets_constant(const struct where_rule *w, struct value v)
{
	struct slice is = value_bytes(v), text = w->value->text;

	if (has_placeholder(w->value) || has_placeholder(w->upper) || value_type(v) != VALUE_S)
		return true;
	switch (w->op) {
	case WHERE_EQ: return slice_equal(is, text);
	case WHERE_BEGINS: return slice_starts(is, text);
	case WHERE_BETWEEN: return slice_cmp(is, text) >= 0 && slice_cmp(is, w->upper->text) <= 0;
	case WHERE_LT: return slice_cmp(is, text) < 0;
	case WHERE_LE: return slice_cmp(is, text) <= 0;
	case WHERE_GT: return slice_cmp(is, text) > 0;
	case WHERE_GE: return slice_cmp(is, text) >= 0;
	}
	return false;
}

static bool has_keys(const struct access *leaf, const struct row *row)
{
	for (size_t i = 0; i < leaf->key_count; i++)
		if (value_type(row_get(row, leaf->key_at[i])) != leaf->key_at[i]->key->type)
			return false;
	return true;
}

/* Whether the pattern could return the row, for some parameters. */
static bool is_row(struct run *r, const struct access *leaf, const struct entity *parent, const struct row *row,
		   const struct row *full)
{
	struct scope s = { .run = r, .item = full };

	if (!has_keys(leaf, row))
		return false;
	for (size_t i = 0; i < leaf->where_count; i++) {
		const struct where_rule *w = &leaf->where[i];
		struct value v = row_get(row, w->at);
		size_t literals;

		if (is_left_out(w, parent))
			continue;
		if (!meets_constant(w, v) || (w->op == WHERE_EQ && !key_matches(r, w->value, v, &literals)) ||
		    (w->op == WHERE_BEGINS && !slice_starts(value_bytes(v), template_prefix(w->value))))
			return false;
	}
	return passes_filter(&s, leaf, leaf->filter);
}

struct row_asked {
	struct run *run;
	const struct row *stored, *full;
	bool is;
};

static bool is_row_of_leaf(void *ctx, const struct access *leaf, bool over)
{
	struct row_asked *x = ctx;

	x->is = x->is || (!over && is_row(x->run, leaf, NULL, x->stored, x->full));
	return !over;
}

bool bond_has_row(struct oracle *o, const struct access *access, const struct row *stored, const struct row *full)
{
	struct row_asked x = { &o->run, stored, full, false };

	(void)each_leaf(access, 0, false, is_row_of_leaf, &x);
	return x.is;
}

/* ---- bonds ---- */

struct bonding {
	struct rules *rules;
	struct arena *arena;
	struct bond bond; /* without its leaf */
};

static bool add_leaf(void *ctx, const struct access *leaf, bool over)
{
	struct bonding *x = ctx;
	struct rules *r = x->rules;
	struct bond b = x->bond;

	b.leaf = leaf;
	b.over = over;
	if (over)
		r->entities[entity_index(r->design, b.parent)].is_target = true;
	else if (!split_filter(leaf->filter, &b) || !can_join(&b))
		return false;
	GROW_IN(x->arena, r->bonds, r->bond_count, r->bond_room, 16);
	r->bonds[r->bond_count++] = b;
	return true;
}

/* All leaves of a pattern, or none. */
static bool add_pattern(struct bonding *x, const struct access *root)
{
	size_t before = x->rules->bond_count;

	x->bond.root = root;
	if (each_leaf(root, 0, false, add_leaf, x))
		return true;
	x->rules->bond_count = before;
	return false;
}

static void each_pattern(const struct design *d,
			 bool (*visit)(void *ctx, const struct entity *e, const struct access *root, bool cascade),
			 void *ctx)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		for (size_t k = 0; k < e->delete_.then_count; k++)
			visit(ctx, e, e->delete_.then_access[k], true);
		for (size_t k = 0; k < e->delete_.refuse_count; k++)
			visit(ctx, e, e->delete_.refuse_access[k], false);
	}
}

static bool make_bond(void *ctx, const struct entity *e, const struct access *root, bool cascade)
{
	struct bonding *x = ctx;

	x->bond = (struct bond){ .parent = e, .cascade = cascade };
	return add_pattern(x, root);
}

void bonds_make(struct rules *x, struct arena *a)
{
	struct bonding b = { .rules = x, .arena = a };

	each_pattern(x->design, make_bond, &b);
}

static bool tell_bond(void *ctx, const struct entity *e, const struct access *root, bool cascade)
{
	struct oracle *o = ctx;
	struct oracle_finding f = { .kind = ORACLE_NOT_JUDGED, .weight = ORACLE_NOTE, .entity = e };
	bool over = false;

	for (size_t i = 0; i < o->rules.bond_count; i++)
		if (o->rules.bonds[i].parent == e && o->rules.bonds[i].root == root &&
		    o->rules.bonds[i].cascade == cascade) {
			if (!o->rules.bonds[i].over)
				return true;
			over = true;
		}
	if (root)
		tell(o, &f, "rows of '%.*s', named by the deletion of a %.*s, are known only by running it: %s",
		     SLICE_ARG(root->name), SLICE_ARG(e->name),
		     over ? "only rows that name their parent are checked" : "they are not checked");
	return true;
}

void bonds_tell(struct oracle *o)
{
	each_pattern(o->rules.design, tell_bond, o);
}

/* ---- facts ---- */

static void begin_join(struct oracle *o, struct buf *join, size_t bond)
{
	buf_init(join, o->run.arena);
	buf_be16(join, (uint16_t)bond);
}

static void put_bytes(struct buf *join, struct value v)
{
	buf_add(join, v.p, v.n);
}

struct parent_asked {
	struct oracle *o;
	const struct entity *entity;
	const struct access *root;
	bool cascade;
	enum fact_weight weight;
	struct value key; /* with FACT_DELETED */
};

static void imply_parent(void *ctx, const struct read_asked *q)
{
	struct parent_asked *x = ctx;
	struct oracle *o = x->o;

	for (size_t i = 0; i < o->rules.bond_count; i++) {
		const struct bond *b = &o->rules.bonds[i];
		struct buf join, fact;

		if (b->over || b->parent != x->entity || b->root != x->root || b->cascade != x->cascade ||
		    b->leaf != q->access)
			continue;
		begin_join(o, &join, i);
		for (size_t k = 0; k < q->where_count; k++)
			if (q->where[k].op == WHERE_EQ)
				put_bytes(&join, q->where[k].value);
		for (size_t k = 0; k < b->input_count; k++)
			put_bytes(&join, row_get(q->params, b->inputs[k].parameter));
		fact = fact_begin(o, SPACE_BOND, buf_slice(&join), FACT_PARENT);
		buf_byte(&fact, x->weight);
		if (x->weight == FACT_DELETED)
			fact_put_value(&fact, x->key);
		fact_add(o, &fact);
	}
}

bool bond_is_deleted(struct run *r, const struct row *full)
{
	const struct delete_rule *d = &full->entity->delete_;

	for (size_t i = 0; i < d->set_count; i++) {
		const struct attribute *a = slots_attribute(full->slots, d->set[i].at);
		const struct term *t = d->set[i].term;
		struct value v = row_get(full, d->set[i].at);
		bool is_so = value_present(v);

		if (t->kind == TERM_LITERAL && a) /* null may be stored, or be nothing */
			is_so = is_there(t->value) ? value_equal(v, write_fit(r, a, t->value)) : !is_there(v);
		if (!is_so)
			return false;
	}
	return d->soft && d->set_count;
}

static void imply_parents(struct oracle *o, const struct entity *e, const struct row *full, struct value key,
			  enum fact_weight weight)
{
	struct scope s = { .run = &o->run, .item = full };
	bool deleted = weight == FACT_FULL && e->delete_.then_count && bond_is_deleted(&o->run, full);

	for (size_t i = 0; i < e->delete_.then_count + e->delete_.refuse_count; i++) {
		bool cascade = i < e->delete_.then_count, known;
		const struct access *root =
			cascade ? e->delete_.then_access[i] : e->delete_.refuse_access[i - e->delete_.then_count];
		struct parent_asked x = { o, e, root, cascade, weight, key };

		if (cascade && deleted)
			x.weight = FACT_DELETED;
		if (root && !read_asks(&o->run, x.root, &s, imply_parent, &x, &known))
			o->run.problem = (struct problem){ 0 };
	}
}

/* What the row's entity declares about the parent's: nothing; that this row needs no parent; that it needs one. */
enum hold { HOLD_UNSAID, HOLD_NONE, HOLD_REQUIRED };

static enum hold hold_of(struct run *r, const struct entity *e, const struct row *full, const struct entity *parent)
{
	struct scope s = { .run = r, .item = full };
	enum hold hold = HOLD_UNSAID;
	bool holds;

	for (size_t i = 0; i < e->require_count + e->count_count; i++) {
		bool count = i >= e->require_count;
		const struct reference *to = count ? &e->counts[i - e->require_count].target : &e->requires[i].target;
		const struct term *when = count ? e->counts[i - e->require_count].when : e->requires[i].when;

		if (to->to != parent || (count ? e->counts[i - e->require_count].each : e->requires[i].each).list)
			continue;
		if (!scope_holds(&s, when, &holds)) {
			r->problem = (struct problem){ 0 };
			holds = false;
		}
		if (holds)
			return HOLD_REQUIRED;
		if (!count) /* a count that does not apply now (a deleted comment's) may have applied before */
			hold = HOLD_NONE;
	}
	return hold;
}

/* Whether the row is compared at all; *sure: it certainly must have a parent. */
static bool hangs(const struct bond *b, struct run *r, const struct entity *e, const struct row *full, bool *sure)
{
	enum hold hold = hold_of(r, e, full, b->parent);

	*sure = hold == HOLD_REQUIRED;
	return *sure || (b->cascade && hold == HOLD_UNSAID);
}

/* `row`, the item itself or one of its companions, needs a parent of the bond. */
static void imply_child(struct oracle *o, size_t at, const struct scanned *x, const struct row *row,
			const struct row *full, bool sure)
{
	const struct bond *b = &o->rules.bonds[at];
	struct buf join, fact;

	begin_join(o, &join, at);
	for (size_t i = 0; i < b->leaf->where_count; i++)
		if (b->leaf->where[i].op == WHERE_EQ && !is_left_out(&b->leaf->where[i], b->parent))
			put_bytes(&join, row_get(row, b->leaf->where[i].at));
	for (size_t k = 0; k < b->input_count; k++)
		put_bytes(&join, row_get(full, b->inputs[k].attribute));
	fact = fact_begin(o, SPACE_BOND, buf_slice(&join), FACT_CHILD);
	buf_be16(&fact, (uint16_t)entity_index(o->run.design, x->entity));
	buf_byte(&fact, sure);
	fact_put_value(&fact, x->key);
	fact_add(o, &fact);
}

/* ---- rows that other rows lead to ---- */

const struct reference *bond_reference(struct run *r, const struct entity *e, const struct row *full,
				       const struct entity *parent, size_t *from, const struct term **if_)
{
	struct scope s = { .run = r, .item = full };
	bool applies;

	while (*from < e->require_count + e->count_count) {
		size_t i = (*from)++;
		const struct requirement *q = i < e->require_count ? &e->requires[i] : NULL;
		const struct count_rule *c = q ? NULL : &e->counts[i - e->require_count];
		const struct reference *to = q ? &q->target : &c->target;

		if (to->to != parent || (q ? q->each : c->each).list)
			continue;
		if (!scope_holds(&s, q ? q->when : c->when, &applies)) {
			r->problem = (struct problem){ 0 };
			continue;
		}
		*if_ = q ? q->if_ : c->if_;
		if (applies)
			return to;
	}
	return NULL;
}

static void imply_row(struct oracle *o, size_t at, const struct scanned *x)
{
	const struct bond *b = &o->rules.bonds[at];
	struct run *r = &o->run;
	struct scope s = { .run = r, .item = x->full };
	const struct reference *to;
	const struct term *if_;
	struct value *args;
	struct slice join;
	size_t from = 0;
	struct buf fact;

	if (b->leaf->has_then || !is_row(r, b->leaf, NULL, x->stored, x->full))
		return;
	to = bond_reference(r, x->entity, x->full, b->parent, &from, &if_);
	if (!to || !scope_args(&s, to->args, to->arg_count, &args) ||
	    !identity_join(r, b->parent, args, to->arg_count, &join)) {
		r->problem = (struct problem){ 0 };
		return;
	}
	fact = fact_begin(o, SPACE_IDENTITY, join, FACT_ROW);
	buf_be16(&fact, (uint16_t)at);
	buf_be16(&fact, (uint16_t)entity_index(r->design, x->entity));
	fact_put_value(&fact, x->key);
	fact_add(o, &fact);
}

/* ---- reporting ---- */

void bond_tell(struct oracle *o, const struct bond *b, const struct entity *e, struct value key, struct value parent,
	       enum oracle_weight weight)
{
	struct run *r = &o->run;
	struct oracle_finding f = { .kind = b->cascade ? ORACLE_ORPHAN : ORACLE_REQUIREMENT_BROKEN,
				    .entity = e,
				    .key = key,
				    .weight = weight,
				    .other_entity = b->parent,
				    .other = parent };

	if (weight == ORACLE_NOTE) {
		tell(o, &f,
		     "%.*s is one of '%.*s', which are removed with their %.*s; that does not exist, but nothing requires it",
		     SLICE_ARG(say_item(r, e, key)), SLICE_ARG(b->root->name), SLICE_ARG(b->parent->name));
	} else if (b->cascade) {
		tell(o, &f, "%.*s is left over: it is one of '%.*s', which are removed with their %.*s, and that %s",
		     SLICE_ARG(say_item(r, e, key)), SLICE_ARG(b->root->name), SLICE_ARG(b->parent->name),
		     value_present(parent) ? "was deleted" : "does not exist");
	} else {
		tell(o, &f, "%.*s requires a %.*s that does not exist, though '%.*s' should have kept it",
		     SLICE_ARG(say_item(r, e, key)), SLICE_ARG(b->parent->name), SLICE_ARG(b->root->name));
	}
}

/* Whether `then` leads from the row to the item. */
static bool leads_to(struct run *r, const struct access *leaf, const struct row *row, struct value key)
{
	struct scope s = { .run = r, .item = row };
	struct value v;

	for (size_t i = 0; i < leaf->then.key_count; i++)
		if (scope_try_fill(&s, leaf->then.keys[i].template, true, &v) != TEMPLATE_OK ||
		    !value_equal(v, key_part(key, leaf->then.keys[i].at)))
			return false;
	return leaf->then.key_count > 0;
}

/* The first companion that is a row of the bond's leaf and leads to its item. */
static void imply_companion_child(struct oracle *o, size_t at, const struct scanned *x)
{
	const struct bond *b = &o->rules.bonds[at];
	struct run *r = &o->run;
	bool sure;

	for (size_t k = 0; k < x->companion_count; k++) {
		struct row row = row_of(x->companions[k].item);

		if (is_row(r, b->leaf, b->parent, &row, &row) && leads_to(r, b->leaf, &row, x->key) &&
		    hangs(b, r, x->entity, x->full, &sure)) {
			imply_child(o, at, x, &row, &row, sure);
			return;
		}
	}
}

void bonds_imply(struct oracle *o, const struct scanned *x, enum fact_weight weight)
{
	struct run *r = &o->run;
	bool sure;

	imply_parents(o, x->entity, x->full, x->key, weight);
	if (weight != FACT_FULL)
		return;
	for (size_t i = 0; i < o->rules.bond_count; i++) {
		const struct bond *b = &o->rules.bonds[i];

		if (b->over)
			imply_row(o, i, x);
		else if (b->leaf->has_then)
			imply_companion_child(o, i, x);
		else if (is_row(r, b->leaf, b->parent, x->stored, x->full) && hangs(b, r, x->entity, x->full, &sure))
			imply_child(o, i, x, x->stored, x->full, sure);
	}
}
