/* The last step: numbers every name and stores it where it is used.
 *
 * Terms and templates were noted when they were read; everything else is found by walking the design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/load/load.h"
#include "design/slots.h"

struct load_named {
	struct load_named *next;
	const struct term *term; /* or */
	const struct template *template;
};

static void note(struct load *l, struct load_named what)
{
	struct load_named *n = arena_new(l->a, struct load_named);

	*n = what;
	n->next = NULL;
	*l->named_end = n;
	l->named_end = &n->next;
}

void load_names_of_term(struct load *l, const struct term *t)
{
	note(l, (struct load_named){ .term = t });
}

void load_names_of_template(struct load *l, const struct template *t)
{
	note(l, (struct load_named){ .template = t });
}

/* ---- numbering ---- */

struct naming {
	struct load *load;
	struct map *names;
};

static const struct name *number(struct naming *x, struct slice text)
{
	struct name *n;

	if (!text.n)
		return NULL;
	n = map_get(x->names, text);
	if (n)
		return n;
	n = arena_new(x->load->a, struct name);
	*n = (struct name){ .id = (uint32_t)x->names->n, .text = text };
	map_set(x->names, text, n);
	return n;
}

static const struct name *number_path(struct naming *x, const struct slice *names, enum term_of of)
{
	return number(x, names[of == TERM_OF_ITEM ? 0 : 1]);
}

static void visit_term(void *ctx, const struct term *t)
{
	struct naming *x = ctx;
	struct term *own = OURS(struct term, t);

	switch (t->kind) {
	case TERM_PATH: own->at = number_path(x, t->names, t->of); break;
	case TERM_FETCH: own->at = number(x, t->attribute); /* fall through */
	case TERM_EXISTS:
	case TERM_VISIBLE: own->entity = design_entity(x->load->d, t->name); break;
	default: break;
	}
}

static void visit_template(struct naming *x, const struct template *t)
{
	for (size_t i = 0; i < t->part_count; i++) {
		struct template_part *p = OURS(struct template_part, &t->parts[i]);

		if (p->names)
			p->at = number_path(x, p->names, p->of);
	}
}

/* ---- the design ---- */

static const struct name *const *number_all(struct naming *x, const struct slice *names, size_t n)
{
	const struct name **list = arena_array(x->load->a, const struct name *, n);

	for (size_t i = 0; i < n; i++)
		list[i] = number(x, names[i]);
	return list;
}

static void visit_rules(struct naming *x, const struct key_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		OURS(struct key_rule, &rules[i])->at = number(x, rules[i].attribute);
}

static void visit_assignments(struct naming *x, const struct assignment *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		OURS(struct assignment, &list[i])->at = number(x, list[i].attribute);
}

static void visit_reference(struct naming *x, const struct reference *r)
{
	OURS(struct reference, r)->to = design_entity(x->load->d, r->entity);
}

static void visit_attributes(struct naming *x, const struct attribute *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct attribute *a = OURS(struct attribute, &list[i]);

		a->at = number(x, a->name);
		a->copy_at = number(x, a->copy_attribute);
		a->copy_of = a->copy_entity.n ? design_entity(x->load->d, a->copy_entity) : NULL;
		a->after_at = number(x, a->after);
		a->kept_access = a->kept_by.n ? design_access(x->load->d, a->kept_by) : NULL;
		if (a->next)
			visit_reference(x, a->next);
	}
}

static void visit_key(struct naming *x, const struct key_attr *k, bool of_table)
{
	struct name *n = OURS(struct name, number(x, k->name));

	if (!n || n->key) /* the table comes first */
		return;
	n->key = k;
	n->of_table = of_table;
}

static void visit_schema(struct naming *x, const struct key_schema *k, bool of_table)
{
	for (size_t i = 0; i < key_attr_count(k); i++)
		visit_key(x, key_attr_at(k, i), of_table);
}

static const struct access *const *access_all(struct naming *x, const struct slice *names, size_t n)
{
	const struct access **list = arena_array(x->load->a, const struct access *, n);

	for (size_t i = 0; i < n; i++)
		list[i] = design_access(x->load->d, names[i]);
	return list;
}

/* Whether the ttl attribute can be in items of the entity. */
static bool may_expire(const struct design *d, const struct entity *e)
{
	if (!d->ttl.n)
		return false;
	for (size_t i = 0; i < e->key_count; i++)
		if (slice_equal(e->keys[i].attribute, d->ttl))
			return true;
	return entity_attribute(e, d->ttl) != NULL;
}

static const struct entity *entity_named(struct naming *x, struct slice name)
{
	return name.n ? design_entity(x->load->d, name) : NULL;
}

static const struct access *access_named(struct naming *x, struct slice name)
{
	return name.n ? design_access(x->load->d, name) : NULL;
}

static void visit_entity(struct naming *x, struct entity *e)
{
	e->param_at = number_all(x, e->params, e->param_count);
	e->may_expire = may_expire(x->load->d, e);
	visit_attributes(x, e->attributes, e->attribute_count);
	visit_rules(x, e->keys, e->key_count);
	visit_rules(x, e->login.secret, e->login.secret_count);
	for (size_t i = 0; i < e->companion_count; i++) {
		struct companion *c = OURS(struct companion, &e->companions[i]);

		c->each_at = number(x, c->each_variable);
		visit_rules(x, c->rules, c->rule_count);
	}
	e->login.by_at = number_all(x, e->login.by, e->login.by_count);
	e->login.subject_at = number(x, e->login.subject);
	e->login.role_at = number(x, e->login.role);
	e->found_access = access_named(x, e->found_by);
	for (size_t i = 0; i < e->count_count; i++) {
		OURS(struct count_rule, &e->counts[i])->at = number(x, e->counts[i].attribute);
		visit_reference(x, &e->counts[i].target);
	}
	for (size_t i = 0; i < e->require_count; i++)
		visit_reference(x, &e->requires[i].target);
	for (size_t i = 0; i < e->lives_count; i++)
		visit_reference(x, &e->lives[i].target);
	for (size_t i = 0; i < e->action_count; i++) {
		visit_assignments(x, e->actions[i].set, e->actions[i].set_count);
		visit_assignments(x, e->actions[i].add, e->actions[i].add_count);
		for (size_t k = 0; k < e->actions[i].require_count; k++)
			visit_reference(x, &e->actions[i].requires[k].target);
	}
	visit_assignments(x, e->delete_.set, e->delete_.set_count);
	e->delete_.refuse_access = access_all(x, e->delete_.refuse_while, e->delete_.refuse_count);
	e->delete_.then_access = access_all(x, e->delete_.then_remove, e->delete_.then_count);
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (e->allow[i])
			term_prepare(OURS(struct term, e->allow[i]));
}

static void visit_merge(struct naming *x, struct access *a)
{
	const struct access **parts = arena_array(x->load->a, const struct access *, a->merge_of_count);

	for (size_t i = 0; i < a->merge_of_count; i++)
		parts[i] = access_named(x, a->merge_of[i]);
	a->merge_parts = parts;
	a->merge_run = access_named(x, a->merge_pattern);
	a->merge_rows = access_named(x, a->merge_over);
	a->merge_by_at = number(x, a->merge_by);
	a->merge_else_at = number(x, a->merge_else);
	a->range_at = number(x, a->range_variable);
	visit_assignments(x, a->merge_with, a->merge_with_count);
}

static void visit_access(struct naming *x, struct access *a)
{
	const struct design *d = x->load->d;

	a->param_at = number_all(x, a->params, a->param_count);
	visit_attributes(x, a->query_params, a->query_param_count);
	a->of = entity_named(x, a->entity);
	a->get.to = entity_named(x, a->get.entity);
	a->from = a->index.n ? design_index(d, a->index) : NULL;
	a->key = a->from ? &a->from->key : &d->key;
	for (size_t i = 0; i < a->where_count; i++)
		OURS(struct where_rule, &a->where[i])->at = number(x, a->where[i].attribute);
	visit_rules(x, a->then.keys, a->then.key_count);
	a->then.of = entity_named(x, a->then.entity);
	a->without_at = number_all(x, a->without, a->without_count);
	a->walk_at = number(x, a->walk_param);
	a->tree_parent_at = number(x, a->tree_parent);
	a->tree_by_at = number(x, a->tree_by);
	a->unite_at = number(x, a->unite);
	visit_merge(x, a);
}

static void visit_callers(struct naming *x, struct callers *c)
{
	visit_assignments(x, c->permissions_with, c->permissions_with_count);
	c->permissions_access = access_named(x, c->permissions_pattern);
	c->permissions_of = entity_named(x, c->permissions_entity);
	c->permissions_at = number(x, c->permissions_attribute);
	c->permissions_ref_at = number(x, c->permissions_ref);
}

static void visit_processor(struct naming *x, struct processor *p)
{
	const struct design *d = x->load->d;

	p->of = design_entity(d, p->entity);
	if (p->effect == EFFECT_REMOVE_ALL)
		p->target_access = design_access(d, p->target);
	else if (p->target.n)
		p->target_entity = design_entity(d, p->target);
	p->rows_access = p->each_pattern.n ? design_access(d, p->each_pattern) : p->target_access;
	visit_reference(x, &p->target_ref);
	p->each_at = number(x, p->each_variable);
	visit_assignments(x, p->let, p->let_count);
	visit_assignments(x, p->each_with, p->each_with_count);
	visit_assignments(x, p->with, p->with_count);
}

static void visit_design(struct naming *x, struct design *d)
{
	visit_schema(x, &d->key, true);
	for (size_t i = 0; i < d->index_count; i++)
		visit_schema(x, &d->indexes[i].key, false);
	d->ttl_at = number(x, d->ttl);
	d->key_at[0] = d->key.hash_count ? number(x, d->key.hash[0].name) : NULL;
	d->key_at[1] = d->key.range_count ? number(x, d->key.range[0].name) : NULL;
	d->caller_at = number(x, SLICE("caller"));
	d->age_at = number(x, SLICE("age"));
	visit_callers(x, &d->callers);
	for (size_t i = 0; i < d->entity_count; i++)
		visit_entity(x, OURS(struct entity, &d->entities[i]));
	for (size_t i = 0; i < d->access_count; i++)
		visit_access(x, OURS(struct access, &d->accesses[i]));
	for (size_t i = 0; i < d->processor_count; i++)
		visit_processor(x, OURS(struct processor, &d->processors[i]));
}

/* The table's keys come before those of indexes only. */
static void list_keys(struct naming *x, struct design *d)
{
	const struct name **list = arena_array(x->load->a, const struct name *, x->names->n);

	for (int of_table = 1; of_table >= 0; of_table--)
		for (size_t i = 0; i < x->names->n; i++) {
			const struct name *n = x->names->entries[i].value;

			if (n->key && n->of_table == (of_table != 0))
				list[d->key_name_count++] = n;
		}
	d->key_names = list;
}

void load_names(struct load *l)
{
	struct naming x = { .load = l, .names = arena_new(l->a, struct map) };
	const struct slots *slots;

	map_init(x.names, l->a);
	for (const struct load_named *n = l->named; n; n = n->next) {
		if (n->term)
			term_walk(n->term, visit_term, &x);
		else
			visit_template(&x, n->template);
	}
	visit_design(&x, l->d);
	list_keys(&x, l->d);
	l->d->by_name = x.names;
	l->d->name_count = x.names->n;
	slots = slots_new(l->a, l->d);
	for (size_t i = 0; i < l->d->entity_count; i++)
		OURS(struct entity, &l->d->entities[i])->slots = &slots[i];
}
