/* Which entities a pattern's rows can be of, told from the design alone.
 *
 * In doubt one more: a kind that is missing here would be shown without its rule being asked where rows are only counted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/read/read_internal.h"

/* ---- can a key be what is asked for? ---- */

/* walks the characters of a template; what is in a placeholder is not known */
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
	const struct attribute *a = hole->name_count == 1 ? entity_attribute(e, hole->names[0]) : NULL;

	return hole->format == FORMAT_DATE || hole->format == FORMAT_MONTH || hole->format == FORMAT_PAD ||
	       hole->format == FORMAT_OFFSET || (a && (a->type == ATTR_TIMESTAMP || a->type == ATTR_EPOCH));
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

static bool is_bare(const struct template *t)
{
	return t->part_count == 1 && t->parts[0].names && t->parts[0].format == FORMAT_PLAIN;
}

/* What lies between two texts begins as both of them do. */
static bool can_lie_between(const struct where_rule *w, const struct template *key)
{
	struct slice from = template_prefix(w->value), to = template_prefix(w->upper), is = template_prefix(key);
	size_t n = 0;

	while (n < from.n && n < to.n && from.p[n] == to.p[n])
		n++;
	n = n < is.n ? n : is.n;
	return slice_equal(slice_make(from.p, n), slice_make(is.p, n));
}

/* To the next '#': no value of a placeholder holds one. */
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
	if (w->optional || (w->op != WHERE_EQ && w->op != WHERE_BEGINS) || is_bare(w->value) || is_bare(key))
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
		if (slice_equal(rules[i].attribute, w->attribute) && can_meet(w, rules[i].template, e))
			return true;
	/* a key may be an attribute as it is */
	return entity_attribute(e, w->attribute) && rules == e->keys;
}

static bool can_be_in(const struct design *d, const struct access *a, const struct key_rule *rules, size_t n,
		      const struct entity *e)
{
	const struct design_index *index = a->index.n ? design_index(d, a->index) : NULL;
	const struct key_schema *k = index ? &index->key : &d->key;

	for (size_t i = 0; i < a->where_count; i++)
		if (!rules_meet(&a->where[i], rules, n, e))
			return false;
	for (size_t i = 0; i < (size_t)k->hash_count + k->range_count; i++) {
		struct where_rule any = { .attribute = i < k->hash_count ? k->hash[i].name
									 : k->range[i - k->hash_count].name,
					  .optional = true };

		if (!rules_meet(&any, rules, n, e))
			return false;
	}
	return true;
}

/* ---- and does the filter let it through? ---- */

static bool has_name(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->key_count; i++)
		if (slice_equal(e->keys[i].attribute, name))
			return true;
	return entity_attribute(e, name) != NULL;
}

/* False only where an attribute must be there that such an item never has. */
static bool can_pass(const struct term *t, const struct entity *e)
{
	if (!t)
		return true;
	if (t->kind == TERM_AND)
		return can_pass(t->args[0], e) && can_pass(t->args[1], e);
	if (t->kind == TERM_PRESENT || t->kind == TERM_EQ)
		return t->args[0]->kind != TERM_PATH || t->args[0]->name_count != 1 || has_name(e, t->args[0]->names[0]);
	return true;
}

/* ---- all together ---- */

static void add(struct arena *a, struct read_kinds *out, const struct entity *e)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->list[i] == e)
			return;
	out->list = arena_grow(a, (void *)(uintptr_t)out->list, out->count * sizeof(*out->list),
			       (out->count + 1) * sizeof(*out->list));
	out->list[out->count++] = e;
}

static void add_by_keys(const struct design *d, const struct access *access, struct arena *a, struct read_kinds *out)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		if (can_be_in(d, access, e->keys, e->key_count, e) && can_pass(access->filter, e))
			add(a, out, e);
		for (size_t k = 0; k < e->companion_count; k++)
			out->others = out->others ||
				      can_be_in(d, access, e->companions[k].rules, e->companions[k].rule_count, e);
	}
}

static void add_kinds(const struct design *d, const struct access *access, struct arena *a, int depth, bool said,
		      struct read_kinds *out)
{
	const struct entity *e = NULL;
	const struct access *run;

	if (said && access->has_then && access->then.entity.n)
		e = design_entity(d, access->then.entity);
	else if (said && access->has_then)
		out->others = true; /* whatever the keys lead to */
	else if (access->get.entity.n)
		e = design_entity(d, access->get.entity);
	else if (said && access->entity.n)
		e = design_entity(d, access->entity);
	if (e) {
		add(a, out, e);
		return;
	}
	if (access->kind != ACCESS_MERGE) {
		add_by_keys(d, access, a, out);
		return;
	}
	for (size_t i = 0; depth < READ_MOST_NESTED && i < (access->merge_of_count ? access->merge_of_count : 1); i++) {
		run = design_access(d, access->merge_of_count ? access->merge_of[i] : access->merge_pattern);
		if (run)
			add_kinds(d, run, a, depth + 1, said, out);
	}
}

void read_possible(const struct design *d, const struct access *access, struct arena *a, struct read_kinds *out)
{
	*out = (struct read_kinds){ 0 };
	add_kinds(d, access, a, 0, false, out);
}

void read_kinds(const struct design *d, const struct access *access, struct arena *a, struct read_kinds *out)
{
	*out = (struct read_kinds){ 0 };
	add_kinds(d, access, a, 0, true, out);
}

static struct read_known find_out(const struct design *d, const struct access *access, struct arena *a)
{
	struct read_kinds possible, kinds;

	read_possible(d, access, a, &possible);
	read_kinds(d, access, a, &kinds);
	return (struct read_known){
		.expected = possible.count == 1 && !possible.others ? possible.list[0] : NULL,
		.mixed = kinds.count > 1,
		.asks_caller = read_asks_caller(d, access, a),
		.time = read_time(d, access),
	};
}

const struct read_known *reads_new(struct arena *a, const struct design *d)
{
	struct read_known *list = arena_array(a, struct read_known, d->access_count);

	for (size_t i = 0; i < d->access_count; i++)
		list[i] = find_out(d, &d->accesses[i], a);
	return list;
}

struct read_known read_known(struct run *r, const struct access *access)
{
	const struct design *d = r->design;

	if (r->app && r->app->reads && access >= d->accesses && access < d->accesses + d->access_count)
		return r->app->reads[access - d->accesses];
	return find_out(d, access, r->arena);
}

bool read_depends_on_caller(struct run *r, const struct access *access)
{
	return read_known(r, access).asks_caller;
}

const struct entity *read_entity(const struct design *d, const struct access *access)
{
	struct read_kinds kinds;
	struct arena a;
	const struct entity *volatile e = NULL;

	arena_init(&a);
	ARENA_TRY(&a, {
		read_kinds(d, access, &a, &kinds);
		e = kinds.count == 1 && !kinds.others ? kinds.list[0] : NULL;
	}, {
		e = NULL;
	});
	arena_release(&a);
	return e;
}
