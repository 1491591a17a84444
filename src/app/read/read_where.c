/* From `where` and `filter` to a Query.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/read/read_where.h"

#define LAST_CHARACTER "\xf4\x8f\xbf\xbf" /* sorts after any text in a key */

bool query_projects(const struct design *d, const struct access *access, struct slice attribute)
{
	const struct design_index *i = access->from;

	return !i || index_carries(i, attribute) || is_key_attribute(&i->key, attribute) ||
	       is_key_attribute(&d->key, attribute);
}

/* ---- where ---- */

/* Brings a value to the key's type: parameters may be texts. */
static bool fit(struct run *r, const struct template *t, enum value_type type, struct value *v)
{
	struct error e = { 0 };
	char text[NUMBER_TEXT_MAX];
	struct number n;

	if (!value_present(*v) || value_type(*v) == type)
		return true;
	if (type == VALUE_N && value_type(*v) == VALUE_S) {
		if (!number_parse(value_bytes(*v), &n, r->arena, &e))
			return run_invalid(r, template_is_bare(t) ? t->parts[0].names[0] : t->text, "must be a number");
		*v = value_make_n(r->arena, &n);
		return true;
	}
	if (type == VALUE_S && value_type(*v) == VALUE_N) {
		n = value_number(*v);
		*v = value_make_s(r->arena, slice_make(text, number_format(&n, text)));
		return true;
	}
	return run_invalid(r, template_is_bare(t) ? t->parts[0].names[0] : t->text, "cannot be a key");
}

/* A value that is the whole key may contain '#'; one that is a part of the key may not. */
static bool fill(struct scope *s, const struct template *t, enum value_type type, struct value *out)
{
	return scope_fill(s, t, !template_is_bare(t), out) && fit(s->run, t, type, out);
}

/* One bound of two is given: the other becomes the end of the texts with the same beginning. */
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

static struct value variable(const struct scope *s, const struct name *at)
{
	for (size_t i = 0; i < s->variable_count; i++)
		if (s->variables[i].at == at)
			return s->variables[i].value;
	return VALUE_ABSENT;
}

/* The first placeholder without a value; NULL: all have one. */
static const struct name *missing_name(const struct scope *s, const struct template *t)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].names && !value_present(row_get(s->input, t->parts[i].at)) &&
		    !value_present(variable(s, t->parts[i].at)))
			return t->parts[i].at;
	return NULL;
}

static struct slice first_name(const struct template *t, struct slice otherwise)
{
	for (size_t i = 0; i < t->part_count; i++)
		if (t->parts[i].names)
			return t->parts[i].names[0];
	return otherwise;
}

static bool is_claim(const struct design *d, const struct name *name)
{
	for (size_t i = 0; i < d->callers.claim_count; i++)
		if (d->callers.claims[i].attribute.at == name)
			return true;
	return false;
}

static bool refuse_missing(struct pattern *p, struct scope *s, const struct where_rule *w)
{
	struct run *r = p->g->r;
	const struct name *name = missing_name(s, w->value);

	if (!name)
		name = missing_name(s, w->upper);
	if (name && (name == r->design->caller_at || (is_claim(r->design, name) && !r->caller.subject.n)))
		return run_fail(r, PROBLEM_UNAUTHENTICATED, "Log in first: this list is the caller's own");
	if (name && is_claim(r->design, name))
		return run_fail(r, PROBLEM_FORBIDDEN, "The token does not say what %.*s is", SLICE_ARG(name->text));
	if (name)
		return run_invalid(r, name->text, "is required");
	/* It has a value, but a format (slug, date) has removed all of it. */
	return run_invalid(r, first_name(w->value, w->attribute), "contains nothing to search for");
}

static bool add_condition(struct pattern *p, struct scope *s, const struct where_rule *w, struct query_plan *plan)
{
	struct dyn_condition c = { .attribute = w->attribute, .op = w->op };
	enum value_type type = w->at->key ? w->at->key->type : VALUE_S;
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
	if (plan->where_count < PLAN_MOST) {
		plan->at[plan->where_count] = w->at;
		plan->where[plan->where_count++] = c;
	}
	return true;
}

/* ---- filter ---- */

static bool knows_attribute(const struct design *d, const struct name *name)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		if (slots_attribute(e->slots, name) || key_has_rule(e->keys, e->key_count, name))
			return true;
		for (size_t k = 0; k < e->companion_count; k++)
			if (key_has_rule(e->companions[k].rules, e->companions[k].rule_count, name))
				return true;
	}
	return false;
}

/* To a filter a bare name is an attribute; one that is only a parameter becomes input.x. */
static const struct term *with_parameters(const struct design *d, const struct access *access, const struct term *t,
					  struct arena *a)
{
	const struct term **args;
	struct slice *names;
	struct term *copy;

	if (t->kind != TERM_PATH && !t->arg_count)
		return t;
	if (t->kind == TERM_PATH &&
	    (t->name_count != 1 || !access_has_parameter(access, t->at) || knows_attribute(d, t->at)))
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
		args[i] = with_parameters(d, access, t->args[i], a);
	copy->args = args;
	return copy;
}

const struct term *query_filter(const struct design *d, const struct access *access, struct arena *a)
{
	return access->filter ? with_parameters(d, access, access->filter, a) : NULL;
}

static bool add_filter(struct pattern *p, struct scope *s, struct query_plan *plan)
{
	struct term_scope bound = scope_bind(s);
	struct error e = { 0 };
	const char *why;

	if (!term_to_test(p->known->filter, &bound, &plan->filter, &why, &e))
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
	s = pattern_scope(p, NULL);
	if (p->access->walk_param.n) {
		if (!walk_params(p, step, &params, &out->none))
			return false;
		s.input = &params;
	}
	for (size_t i = 0; i < p->access->where_count; i++)
		if (!add_condition(p, &s, &p->access->where[i], out)) {
			if (!p->trusted || r->problem.type != PROBLEM_INVALID)
				return false;
			r->problem = (struct problem){ 0 }; /* no item has such a key */
			out->none = true;
		}
	return !p->access->filter || out->none || add_filter(p, &s, out);
}

const struct dyn_condition *query_condition(const struct query_plan *plan, const struct name *at)
{
	for (size_t i = 0; i < plan->where_count; i++)
		if (plan->at[i] == at)
			return &plan->where[i];
	return NULL;
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
	struct value_member members[PLAN_MOST];
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
		names_add(a, all, rules[i].at);
}

static void add_entity(struct arena *a, struct name_list *all, const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (!e->attributes[i].from_key)
			names_add(a, all, e->attributes[i].at);
	add_rules(a, all, e->keys, e->key_count);
}

static void add_companions(struct arena *a, struct name_list *all, const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].companion_count; k++)
			add_rules(a, all, d->entities[i].companions[k].rules, d->entities[i].companions[k].rule_count);
}

static const struct slice *texts_of(struct arena *a, const struct name_list *l)
{
	struct slice *texts = arena_array(a, struct slice, l->count);

	for (size_t i = 0; i < l->count; i++)
		texts[i] = l->list[i]->text;
	return texts;
}

static void find_projection(const struct design *d, const struct access *access, struct arena *a, struct read_known *out)
{
	struct name_list needed = { 0 }, projected = { 0 }, left_out = { 0 };

	for (size_t i = 0; i < out->possible.count; i++) {
		const struct entity *e = out->possible.list[i];

		add_entity(a, &projected, e);
		names_of_term(a, &needed, e, e->allow[ALLOW_READ]);
		names_of_term(a, &needed, e, e->allow[ALLOW_LIST]);
		names_of_term(a, &needed, e, e->allow[ALLOW_UPDATE]); /* shows private attributes */
		names_of_term(a, &needed, e, access->rank);
		names_of_term(a, &needed, e, access->allow);
		for (size_t k = 0; k < access->show_count; k++)
			names_of_term(a, &needed, e, access->show[k].derived);
	}
	if (out->possible.others)
		add_companions(a, &projected, d);
	if (d->ttl.n)
		names_add(a, &projected, d->ttl_at);
	for (size_t i = 0; i < access->without_count; i++)
		if (!names_have(&needed, access->without_at[i]))
			names_add(a, &left_out, access->without_at[i]);
	out->projected = texts_of(a, &projected);
	out->projected_count = projected.count;
	out->left_out = texts_of(a, &left_out);
	out->left_out_count = left_out.count;
}

/* Whether a row of the index has all that the rule reads. */
static bool suffices(const struct design *d, const struct access *access, const struct entity *e,
		     const struct term *rule, struct arena *a)
{
	struct name_list names = { 0 };

	if (rule)
		names_of_term(a, &names, e, rule);
	for (size_t i = 0; i < names.count; i++) {
		const struct attribute *attribute = slots_attribute(e->slots, names.list[i]);

		if (!entity_is_param(e, names.list[i]) && !(attribute && attribute->from_key) &&
		    !query_projects(d, access, names.list[i]->text))
			return false;
	}
	return true;
}

void query_projection(const struct design *d, const struct access *access, struct arena *a, struct read_known *out)
{
	if (access->kind != ACCESS_QUERY)
		return;
	if (access->without_count && !access->has_then)
		find_projection(d, access, a, out);
	if (!access->from || access->from->projection == PROJECT_ALL)
		return;
	out->suffices = arena_array(a, struct read_suffices, d->entity_count);
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		out->suffices[i] = (struct read_suffices){
			.list = suffices(d, access, e, read_row_rule(e, ALLOW_LIST, false), a),
			.read = suffices(d, access, e, read_row_rule(e, ALLOW_READ, false), a),
			.own = suffices(d, access, e, access->allow, a),
		};
	}
}
