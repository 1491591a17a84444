/* What is known of a pattern from the design alone: above all the entities that its rows can be of.
 *
 * In doubt one entity more: rows of an entity that is missing here would be counted without asking its rule.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/isolation.h"
#include "app/entity/entity_key.h"
#include "app/read/read_where.h"
#include "app/run/state.h"
#include "base/grow.h"

/* ---- can a key be what is asked for? ---- */

/* walks the characters of a template; the text of a placeholder is not known */
struct reader {
	const struct template *t;
	size_t part, at;
};

enum { HOLE = -1, END = -2 };

static int next_char(struct reader *x)
{
	while (x->part < x->t->part_count) {
		const struct template_part *part = &x->t->parts[x->part];

		if (part->names)
			return HOLE;
		if (x->at < part->literal.n)
			return (unsigned char)part->literal.p[x->at++];
		x->part++;
		x->at = 0;
	}
	return END;
}

/* A time or a padded number does not begin with a letter. */
static bool begins_with_digit(const struct template_part *hole, const struct entity *e)
{
	const struct attribute *a = hole->name_count == 1 ? slots_attribute(e->slots, hole->at) : NULL;

	return format_begins_with_digit(hole->format) || (a && (a->type == ATTR_TIMESTAMP || a->type == ATTR_EPOCH));
}

static bool meets_hole(const struct reader *key, int c, const struct entity *e)
{
	bool digit = (c >= '0' && c <= '9') || c == '-';

	return c != '#' && (digit || !begins_with_digit(&key->t->parts[key->part], e));
}

static size_t hashes(const struct template *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->part_count; i++)
		for (size_t k = 0; !t->parts[i].names && k < t->parts[i].literal.n; k++)
			n += t->parts[i].literal.p[k] == '#';
	return n;
}

/* A text between two texts begins as both of them do. */
static bool can_lie_between(const struct where_rule *w, const struct template *key)
{
	struct slice from = template_prefix(w->value), to = template_prefix(w->upper), is = template_prefix(key);
	size_t n = 0;

	while (n < from.n && n < to.n && from.p[n] == to.p[n])
		n++;
	n = n < is.n ? n : is.n;
	return slice_equal(slice_make(from.p, n), slice_make(is.p, n));
}

/* Skips to the next '#': no value of a placeholder contains one. */
static void skip_value(struct reader *x)
{
	for (; x->part < x->t->part_count; x->part++, x->at = 0) {
		const struct template_part *part = &x->t->parts[x->part];

		for (; !part->names && x->at < part->literal.n; x->at++)
			if (part->literal.p[x->at] == '#')
				return;
	}
}

static bool can_meet(const struct where_rule *w, const struct template *key, const struct entity *e)
{
	struct reader asked = { .t = w->value }, is = { .t = key };
	bool exact = w->op == WHERE_EQ;

	if (w->op == WHERE_BETWEEN && !w->optional)
		return can_lie_between(w, key);
	if (w->optional || (w->op != WHERE_EQ && w->op != WHERE_BEGINS) || template_is_bare(w->value) ||
	    template_is_bare(key))
		return true;
	if (exact && hashes(w->value) != hashes(key)) /* a value has no '#' */
		return false;
	if (!exact && hashes(w->value) > hashes(key))
		return false;
	for (;;) {
		int a = next_char(&asked), k = next_char(&is);

		if (a == END && !exact)
			return true;
		if (k == HOLE && a != HOLE && (a == END || !meets_hole(&is, a, e)))
			return false;
		if (a == HOLE || k == HOLE) {
			skip_value(&asked);
			skip_value(&is);
			continue;
		}
		if (a != k)
			return false;
		if (a == END)
			return true;
	}
}

static bool rules_meet(const struct where_rule *w, const struct key_rule *rules, size_t n, const struct entity *e)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].at == w->at && can_meet(w, rules[i].template, e))
			return true;
	/* a key may be an attribute as it is */
	return slots_attribute(e->slots, w->at) && rules == e->keys;
}

static bool can_be_in(const struct design *d, const struct access *a, const struct key_rule *rules, size_t n,
		      const struct entity *e)
{
	for (size_t i = 0; i < a->where_count; i++)
		if (!rules_meet(&a->where[i], rules, n, e))
			return false;
	for (size_t i = 0; i < a->key_count; i++) {
		struct where_rule any = { .at = a->key_at[i], .optional = true };

		if (!rules_meet(&any, rules, n, e))
			return false;
	}
	return true;
}

/* ---- and does the filter let it through? ---- */

/* Also keys and attributes that the entity computes. */
static bool has_name(const struct entity *e, const struct name *name)
{
	for (size_t i = 0; i < e->key_count; i++)
		if (e->keys[i].at == name)
			return true;
	return slots_attribute(e->slots, name) != NULL;
}

/* False only if the filter requires an attribute that items of the entity never have. */
static bool can_pass(const struct term *t, const struct entity *e)
{
	if (!t)
		return true;
	if (t->kind == TERM_AND)
		return can_pass(t->args[0], e) && can_pass(t->args[1], e);
	if (t->kind == TERM_PRESENT || t->kind == TERM_EQ)
		return t->args[0]->kind != TERM_PATH || t->args[0]->name_count != 1 || has_name(e, t->args[0]->at);
	return true;
}

/* ---- all together ---- */

static void add_kind(struct arena *a, struct read_kinds *out, const struct entity *e)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->list[i] == e)
			return;
	GROW_IN(a, out->list, out->count, out->room, 4);
	out->list[out->count++] = e;
}

static void add_by_keys(const struct design *d, const struct access *access, struct arena *a, struct read_kinds *out)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		if (can_be_in(d, access, e->keys, e->key_count, e) && can_pass(access->filter, e))
			add_kind(a, out, e);
		for (size_t k = 0; k < e->companion_count; k++)
			out->others = out->others ||
				      can_be_in(d, access, e->companions[k].rules, e->companions[k].rule_count, e);
	}
}

static void add_kinds(const struct design *d, const struct access *access, bool returned, int depth, struct arena *a,
		      struct read_kinds *out)
{
	const struct entity *e = access->get.to;

	if (returned && access->has_then) {
		e = access->then.of;
		out->others = out->others || !e; /* whatever the keys lead to */
	} else if (returned && !e) {
		e = access->of;
	}
	if (e)
		add_kind(a, out, e);
	else if (access->kind != ACCESS_MERGE)
		add_by_keys(d, access, a, out);
	if (e || access->kind != ACCESS_MERGE || depth == READ_MOST_NESTED)
		return;
	for (size_t i = 0; i < access->merge_of_count; i++)
		add_kinds(d, access->merge_parts[i], returned, depth + 1, a, out);
	if (access->merge_run)
		add_kinds(d, access->merge_run, returned, depth + 1, a, out);
}

void read_kinds(const struct design *d, const struct access *access, bool returned, struct arena *a,
		struct read_kinds *out)
{
	*out = (struct read_kinds){ 0 };
	add_kinds(d, access, returned, 0, a, out);
}

const struct term *read_rule(const struct entity *e, enum allow_verb verb)
{
	return e->allow[verb] || verb != ALLOW_LIST ? e->allow[verb] : e->allow[ALLOW_READ];
}

const struct term *read_row_rule(const struct entity *e, enum allow_verb verb, bool past_rules)
{
	const struct term *rule = past_rules ? NULL : read_rule(e, verb);

	return rule ? rule : e->everywhere;
}

/* ---- keys ---- */

static bool is_fixed(const struct access *a, const struct name *name)
{
	for (size_t i = 0; i < a->where_count; i++)
		if (a->where[i].at == name && a->where[i].op == WHERE_EQ && !a->where[i].optional)
			return true;
	return false;
}

static void add_key(const struct access *a, const struct name *name, struct read_known *out)
{
	struct read_names *to = is_fixed(a, name) ? &out->fixed : &out->open;

	for (size_t i = 0; i < to->count; i++)
		if (to->list[i] == name)
			return;
	to->list[to->count++] = name;
}

/* ---- all together ---- */

struct looks {
	const struct design *d;
	const struct access *access;
};

static bool looks_at_rows(const void *ctx, const struct term *t)
{
	const struct looks *l = ctx;

	return t->kind == TERM_PATH && t->of != TERM_OF_INPUT && t->at != l->d->caller_at &&
	       !access_has_parameter(l->access, t->at);
}

static struct read_known find_out(const struct design *d, const struct access *access, struct arena *a)
{
	struct read_kinds returned;
	struct read_known known = {
		.asks_caller = read_asks_caller(d, access, a),
		.by_age = read_term_reads(access->rank, d->age_at),
		.time = read_time(d, access),
		.keeps = isolation_by_key(d, access),
		.row_rule = term_any(access->allow, looks_at_rows, &(struct looks){ d, access }),
		.filter = query_filter(d, access, a),
		.fixed = { .list = arena_array(a, const struct name *, 2 * (KEY_HASH_MAX + KEY_RANGE_MAX)) },
		.open = { .list = arena_array(a, const struct name *, 2 * (KEY_HASH_MAX + KEY_RANGE_MAX)) },
	};

	read_kinds(d, access, false, a, &known.possible);
	read_kinds(d, access, true, a, &returned);
	known.expected = known.possible.count == 1 && !known.possible.others ? known.possible.list[0] : NULL;
	known.mixed = returned.count > 1;
	for (size_t i = 0; i < access->key_count; i++)
		add_key(access, access->key_at[i], &known);
	for (size_t i = 0; i < key_count(d); i++)
		add_key(access, d->key_at[i], &known);
	query_projection(d, access, a, &known);
	return known;
}

const struct read_known *reads_new(struct arena *a, const struct design *d)
{
	struct read_known *list = arena_array(a, struct read_known, d->access_count);

	for (size_t i = 0; i < d->access_count; i++)
		list[i] = find_out(d, &d->accesses[i], a);
	return list;
}

const struct read_known *read_known(struct run *r, const struct access *access)
{
	const struct design *d = r->design;
	struct read_known *known;

	if (r->app && r->app->reads && access >= d->accesses && access < d->accesses + d->access_count)
		return &r->app->reads[access - d->accesses];
	known = arena_new(r->arena, struct read_known);
	*known = find_out(d, access, r->arena);
	return known;
}

bool read_depends_on_caller(struct run *r, const struct access *access)
{
	return read_known(r, access)->asks_caller;
}

const struct entity *read_entity(const struct design *d, const struct access *access)
{
	struct read_kinds kinds;
	struct arena a;
	const struct entity *volatile e = NULL;

	arena_init(&a);
	ARENA_TRY(&a, {
		read_kinds(d, access, true, &a, &kinds);
		e = kinds.count == 1 && !kinds.others ? kinds.list[0] : NULL;
	}, {
		e = NULL;
	});
	arena_release(&a);
	return e;
}
