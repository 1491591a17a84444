/* From `where` and `filter` to a Query.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_where.h"

#define LAST_CHARACTER "\xf4\x8f\xbf\xbf" /* sorts behind whatever a key holds */

const struct key_schema *query_schema(const struct pattern *p)
{
	const struct design *d = p->g->r->design;
	const struct design_index *i = p->access->index.n ? design_index(d, p->access->index) : NULL;

	return i ? &i->key : &d->key;
}

static bool is_among(struct slice name, const struct slice *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_equal(name, list[i]))
			return true;
	return false;
}

bool query_projects(const struct pattern *p, struct slice attribute)
{
	const struct design *d = p->g->r->design;
	const struct design_index *i = p->access->index.n ? design_index(d, p->access->index) : NULL;

	return !i || i->projection == PROJECT_ALL || is_key_attribute(&i->key, attribute) ||
	       is_key_attribute(&d->key, attribute) ||
	       (i->projection == PROJECT_INCLUDE && is_among(attribute, i->include, i->include_count));
}

/* ---- where ---- */

static enum value_type key_type(const struct key_schema *k, struct slice name)
{
	for (size_t i = 0; i < k->hash_count; i++)
		if (slice_equal(k->hash[i].name, name))
			return k->hash[i].type;
	for (size_t i = 0; i < k->range_count; i++)
		if (slice_equal(k->range[i].name, name))
			return k->range[i].type;
	return VALUE_S;
}

static bool is_bare(const struct template *t)
{
	return t->part_count == 1 && t->parts[0].names && t->parts[0].format == FORMAT_PLAIN;
}

/* Of the key's type: parameters come as texts, attributes as they are. */
static bool fit(struct run *r, const struct template *t, enum value_type type, struct value *v)
{
	struct error e = { 0 };
	char text[NUMBER_TEXT_MAX];
	struct number n;

	if (!value_present(*v) || value_type(*v) == type)
		return true;
	if (type == VALUE_N && value_type(*v) == VALUE_S) {
		if (!number_parse(value_bytes(*v), &n, r->arena, &e))
			return run_invalid(r, is_bare(t) ? t->parts[0].names[0] : t->text, "must be a number");
		*v = value_make_n(r->arena, &n);
		return true;
	}
	if (type == VALUE_S && value_type(*v) == VALUE_N) {
		n = value_number(*v);
		*v = value_make_s(r->arena, slice_make(text, number_format(&n, text)));
		return true;
	}
	return run_invalid(r, is_bare(t) ? t->parts[0].names[0] : t->text, "cannot be a key");
}

/* A value that is the whole key may have '#' in it; what is only a part of one may not. */
static bool fill(struct scope *s, const struct template *t, enum value_type type, struct value *out)
{
	return scope_fill(s, t, !is_bare(t), out) && fit(s->run, t, type, out);
}

/* One bound of two is given: the other end of what begins alike. */
static void open_end(struct run *r, const struct where_rule *w, struct dyn_condition *c)
{
	struct slice prefix = template_prefix(value_present(c->value) ? w->upper : w->value);

	if (value_present(c->value)) {
		c->upper = value_make_s(r->arena, arena_printf(r->arena, "%.*s" LAST_CHARACTER, SLICE_ARG(prefix)));
		if (value_type(c->value) != VALUE_S)
			c->op = WHERE_GE;
	} else {
		c->value = prefix.n ? value_make_s(r->arena, prefix) : c->upper;
		c->op = prefix.n ? WHERE_BETWEEN : WHERE_LE;
	}
}

static struct slice missing_name(struct scope *s, const struct template *t)
{
	for (size_t i = 0; t && i < t->part_count; i++) {
		struct slice name = t->parts[i].names ? t->parts[i].names[0] : SLICE("");

		if (name.n && !value_present(row_find(s->input, name)))
			return name;
	}
	return SLICE("");
}

static struct slice first_name(const struct template *t, struct slice otherwise)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].names)
			return t->parts[i].names[0];
	return otherwise;
}

static bool refuse_missing(struct pattern *p, struct scope *s, const struct where_rule *w)
{
	struct slice name = missing_name(s, w->value);

	if (!name.n)
		name = missing_name(s, w->upper);
	if (slice_is(name, "caller"))
		return run_fail(p->g->r, PROBLEM_UNAUTHENTICATED, "Log in first: this list is the caller's own");
	if (name.n)
		return run_invalid(p->g->r, name, "is required");
	/* It is there, and a format (slug, date) has left nothing of it. */
	return run_invalid(p->g->r, first_name(w->value, w->attribute), "has nothing in it to look for");
}

static bool add_condition(struct pattern *p, struct scope *s, const struct where_rule *w, struct query_plan *plan)
{
	struct dyn_condition c = { .attribute = w->attribute, .op = w->op };
	enum value_type type = key_type(query_schema(p), w->attribute);
	bool whole;

	if (!fill(s, w->value, type, &c.value) || (w->upper && !fill(s, w->upper, type, &c.upper)))
		return false;
	whole = value_present(c.value) && (!w->upper || value_present(c.upper));
	if (!whole && w->optional && w->upper && (value_present(c.value) || value_present(c.upper))) {
		open_end(s->run, w, &c);
		whole = true;
	}
	if (!whole && w->optional)
		return true;
	if (!whole && !p->trusted)
		return refuse_missing(p, s, w);
	if (!whole || (w->op != WHERE_BEGINS && type != VALUE_N && !value_bytes(c.value).n))
		plan->none = true;
	if (plan->where_count < KEY_HASH_MAX + KEY_RANGE_MAX)
		plan->where[plan->where_count++] = c;
	return true;
}

/* ---- filter ---- */

static bool knows_attribute(const struct design *d, struct slice name)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		if (entity_attribute(e, name))
			return true;
		for (size_t k = 0; k < e->key_count; k++)
			if (slice_equal(e->keys[k].attribute, name))
				return true;
		for (size_t k = 0; k < e->companion_count; k++)
			for (size_t n = 0; n < e->companions[k].rule_count; n++)
				if (slice_equal(e->companions[k].rules[n].attribute, name))
					return true;
	}
	return false;
}

static bool is_parameter(const struct access *a, struct slice name)
{
	for (size_t i = 0; i < a->query_param_count; i++)
		if (slice_equal(a->query_params[i].name, name))
			return true;
	return is_among(name, a->params, a->param_count);
}

/* A filter takes a bare name for an attribute; one that is a parameter and nothing else becomes input.x. */
static const struct term *with_parameters(const struct pattern *p, const struct term *t)
{
	struct arena *a = p->g->r->arena;
	const struct term **args;
	struct slice *names;
	struct term *copy;

	if (t->kind != TERM_PATH && !t->arg_count)
		return t;
	if (t->kind == TERM_PATH && (t->name_count != 1 || !is_parameter(p->access, t->names[0]) ||
				     knows_attribute(p->g->r->design, t->names[0])))
		return t;
	copy = arena_new(a, struct term);
	*copy = *t;
	if (t->kind == TERM_PATH) {
		names = arena_array(a, struct slice, 2);
		names[0] = SLICE("input");
		names[1] = t->names[0];
		copy->names = names;
		copy->name_count = 2;
		copy->of = TERM_OF_INPUT;
		return copy;
	}
	args = arena_array(a, const struct term *, t->arg_count);
	for (size_t i = 0; i < t->arg_count; i++)
		args[i] = with_parameters(p, t->args[i]);
	copy->args = args;
	return copy;
}

static bool add_filter(struct pattern *p, struct scope *s, struct query_plan *plan)
{
	struct term_scope bound = scope_bind(s);
	struct error e = { 0 };
	const char *why;

	if (!term_to_test(with_parameters(p, p->access->filter), &bound, &plan->filter, &why, &e))
		return why ? run_fail(s->run, PROBLEM_INTERNAL, "The filter of '%.*s': %s", SLICE_ARG(p->access->name),
				      why)
			   : scope_error(s, &e);
	return !s->failed;
}

/* ---- all together ---- */

bool query_plan(struct pattern *p, int64_t step, struct query_plan *out)
{
	struct run *r = p->g->r;
	struct row params;
	struct scope s;

	memset(out, 0, sizeof(*out));
	s = pattern_scope(p, VALUE_ABSENT);
	if (p->access->walk_param.n) {
		if (!walk_params(p, step, &params))
			return false;
		s.input = &params;
	}
	for (size_t i = 0; i < p->access->where_count; i++)
		if (!add_condition(p, &s, &p->access->where[i], out)) {
			if (!p->trusted || r->problem.type != PROBLEM_INVALID)
				return false;
			r->problem = (struct problem){ 0 }; /* what cannot be a key is not there */
			out->none = true;
		}
	return !p->access->filter || out->none || add_filter(p, &s, out);
}

struct dyn_query query_request(const struct pattern *p, const struct query_plan *plan)
{
	return (struct dyn_query){
		.index = p->access->index,
		.where = plan->where,
		.where_count = plan->where_count,
		.filter = plan->filter,
		.descending = p->descending,
		.consistent = (p->access->consistent || p->trusted) && !p->access->index.n,
	};
}

bool query_key(struct pattern *p, struct value *key)
{
	const struct key_schema *k = &p->g->r->design->key;
	struct value_member members[KEY_HASH_MAX + KEY_RANGE_MAX];
	struct query_plan plan;

	*key = VALUE_ABSENT;
	if (!query_plan(p, 0, &plan))
		return false;
	if (plan.none || plan.where_count != (size_t)k->hash_count + k->range_count)
		return true;
	for (size_t i = 0; i < plan.where_count; i++)
		members[i] = (struct value_member){ plan.where[i].attribute, plan.where[i].value };
	*key = value_make_map(p->g->r->arena, members, plan.where_count);
	return true;
}

/* ---- projection ---- */

static void add_rules(struct arena *a, struct name_list *all, const struct key_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		names_add(a, all, rules[i].attribute);
}

static void add_entity(struct arena *a, struct name_list *all, const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (!e->attributes[i].from_key)
			names_add(a, all, e->attributes[i].name);
	add_rules(a, all, e->keys, e->key_count);
}

static void add_companions(struct arena *a, struct name_list *all, const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].companion_count; k++)
			add_rules(a, all, d->entities[i].companions[k].rules, d->entities[i].companions[k].rule_count);
}

void query_projection(const struct pattern *p, const struct slice **without, size_t *without_count,
		      const struct slice **all, size_t *all_count)
{
	struct run *r = p->g->r;
	struct name_list names = { 0 }, needed = { 0 }, left_out = { 0 };
	struct read_kinds kinds;

	read_possible(r->design, p->access, r->arena, &kinds);
	for (size_t i = 0; i < kinds.count; i++) {
		const struct entity *e = kinds.list[i];

		add_entity(r->arena, &names, e);
		names_of_term(r->arena, &needed, e, e->allow[ALLOW_READ]);
		names_of_term(r->arena, &needed, e, e->allow[ALLOW_LIST]);
		names_of_term(r->arena, &needed, e, e->allow[ALLOW_UPDATE]); /* who may sees what is private */
		names_of_term(r->arena, &needed, e, p->access->rank);
		names_of_term(r->arena, &needed, e, p->access->allow);
	}
	if (kinds.others)
		add_companions(r->arena, &names, r->design);
	if (r->design->ttl.n)
		names_add(r->arena, &names, r->design->ttl);
	for (size_t i = 0; i < p->access->without_count; i++)
		if (!is_among(p->access->without[i], needed.list, needed.count))
			names_add(r->arena, &left_out, p->access->without[i]);
	*without = left_out.list;
	*without_count = left_out.count;
	*all = names.list;
	*all_count = names.count;
}
