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

static void note_named(struct load *l, struct load_named what)
{
	struct load_named *n = arena_new(l->a, struct load_named);

	*n = what;
	n->next = NULL;
	*l->named_end = n;
	l->named_end = &n->next;
}

void load_names_of_term(struct load *l, const struct term *t)
{
	note_named(l, (struct load_named){ .term = t });
}

void load_names_of_template(struct load *l, const struct template *t)
{
	note_named(l, (struct load_named){ .template = t });
}

/* ---- numbering ---- */

struct naming {
	struct load *load;
	struct map *names;
};

static const struct name *number_name(struct naming *x, struct slice text)
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

static const struct name *number_claim(struct naming *x, struct slice name)
{
	return number_name(x, arena_printf(x->load->a, "caller.%.*s", SLICE_ARG(name)));
}

static const struct name *number_path(struct naming *x, const struct slice *names, enum term_of of)
{
	return number_name(x, names[of == TERM_OF_ITEM ? 0 : 1]);
}

static void visit_term(void *ctx, const struct term *t)
{
	struct naming *x = ctx;
	struct term *own = OURS(struct term, t);

	switch (t->kind) {
	case TERM_PATH: own->at = t->of == TERM_OF_ELEMENT ? NULL : number_path(x, t->names, t->of); break;
	case TERM_FETCH: own->at = number_name(x, t->attribute); /* fall through */
	case TERM_EXISTS:
	case TERM_VISIBLE: own->entity = design_entity(x->load->d, t->name); break;
	default: break;
	}
}

static void visit_template(struct naming *x, const struct template *t)
{
	EACH (struct template_part, p, t->parts, t->part_count) {
		struct template_part *own = OURS(struct template_part, p);

		if (p->names && p->name_count == 2 && slice_is(p->names[0], "caller")) {
			own->at = number_claim(x, p->names[1]);
			own->names = &own->at->text; /* one name, of a variable */
			own->name_count = 1;
		} else if (p->names) {
			own->at = number_path(x, p->names, p->of);
		}
	}
}

/* ---- the design ---- */

static const struct name *const *number_all(struct naming *x, const struct slice *names, size_t n)
{
	const struct name **list = arena_array(x->load->a, const struct name *, n);

	for (size_t i = 0; i < n; i++)
		list[i] = number_name(x, names[i]);
	return list;
}

static void visit_rules(struct naming *x, const struct key_rule *rules, size_t n)
{
	EACH (struct key_rule, r, rules, n)
		OURS(struct key_rule, r)->at = number_name(x, r->attribute);
}

static void visit_assignments(struct naming *x, const struct assignment *list, size_t n)
{
	EACH (struct assignment, s, list, n)
		OURS(struct assignment, s)->at = number_name(x, s->attribute);
}

static void visit_attributes(struct naming *x, const struct attribute *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct attribute *a = OURS(struct attribute, &list[i]);

		a->at = number_name(x, a->name);
		a->copy_at = number_name(x, a->copy_attribute);
		a->after_at = number_name(x, a->after);
	}
}

static void visit_key(struct naming *x, const struct key_attr *k, bool of_table)
{
	struct name *n = OURS(struct name, number_name(x, k->name));

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

/* Whether the ttl attribute can be in items of the entity. */
static bool may_expire(const struct design *d, const struct entity *e)
{
	if (!d->ttl.n)
		return false;
	return load_entity_has(e, d->ttl);
}

static void visit_also(struct naming *x, const struct also_rule *list, size_t n)
{
	EACH (struct also_rule, r, list, n) {
		OURS(struct also_rule, r)->each.at = number_name(x, r->each.variable);
		visit_assignments(x, r->with, r->with_count);
		visit_assignments(x, r->add, r->add_count);
	}
}

static void visit_action(struct naming *x, struct action *a)
{
	visit_assignments(x, a->set, a->set_count);
	visit_assignments(x, a->add, a->add_count);
	visit_also(x, a->also, a->also_count);
	EACH (struct requirement, r, a->requires, a->require_count)
		OURS(struct requirement, r)->each.at = number_name(x, r->each.variable);
	a->remove_at = number_all(x, a->remove, a->remove_count);
	a->input_at = number_all(x, a->input, a->input_count);
	a->append_at = number_all(x, a->append, a->append_count);
	a->cut_at = number_all(x, a->cut, a->cut_count);
}

static void visit_letter(struct naming *x, const struct letter *letter)
{
	const struct letter_text *texts[] = { &letter->subject, &letter->text };

	for (size_t i = 0; i < 2; i++)
		EACH (struct letter_part, p, texts[i]->parts, texts[i]->count)
			if (p->is == LETTER_ATTRIBUTE)
				OURS(struct letter_part, p)->at = number_name(x, p->text);
}

static void visit_entity(struct naming *x, struct entity *e)
{
	e->param_at = number_all(x, e->params, e->param_count);
	e->may_expire = may_expire(x->load->d, e);
	visit_attributes(x, e->attributes, e->attribute_count);
	visit_attributes(x, e->show, e->show_count);
	visit_rules(x, e->keys, e->key_count);
	visit_rules(x, e->login.secret, e->login.secret_count);
	EACH (struct companion, c, e->companions, e->companion_count) {
		OURS(struct companion, c)->each_at = number_name(x, c->each_variable);
		visit_rules(x, c->rules, c->rule_count);
	}
	e->login.by_at = number_all(x, e->login.by, e->login.by_count);
	e->login.password_at = number_name(x, e->login.password);
	e->login.subject_at = number_name(x, e->login.subject);
	e->login.role_at = number_name(x, e->login.role);
	e->login.mail.address_at = number_name(x, e->login.mail.address);
	e->login.mail.verified_at = number_name(x, e->login.mail.verified);
	visit_letter(x, &e->login.mail.reset_letter);
	visit_letter(x, &e->login.mail.proof_letter);
	EACH (struct login_claim, k, e->login.claims, e->login.claim_count)
		OURS(struct login_claim, k)->at = number_name(x, k->attribute);
	e->version_at = number_name(x, e->version);
	EACH (struct count_rule, c, e->counts, e->count_count) {
		OURS(struct count_rule, c)->at = number_name(x, c->attribute);
		OURS(struct count_rule, c)->each.at = number_name(x, c->each.variable);
	}
	EACH (struct requirement, r, e->requires, e->require_count)
		OURS(struct requirement, r)->each.at = number_name(x, r->each.variable);
	visit_also(x, e->also, e->also_count);
	EACH (struct action, a, e->actions, e->action_count)
		visit_action(x, OURS(struct action, a));
	visit_assignments(x, e->delete_.set, e->delete_.set_count);
	e->delete_.remove_at = number_all(x, e->delete_.remove, e->delete_.remove_count);
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (e->allow[i])
			term_prepare(OURS(struct term, e->allow[i]));
}

static void visit_access_key(struct naming *x, struct access *a)
{
	const struct name **list;

	a->key_count = key_attr_count(a->key);
	list = arena_array(x->load->a, const struct name *, a->key_count);
	for (size_t i = 0; i < a->key_count; i++)
		list[i] = number_name(x, key_attr_at(a->key, i)->name);
	a->key_at = list;
}

static void visit_access(struct naming *x, struct access *a)
{
	a->param_at = number_all(x, a->params, a->param_count);
	visit_attributes(x, a->query_params, a->query_param_count);
	visit_attributes(x, a->show, a->show_count);
	a->key = a->from ? &a->from->key : &x->load->d->key;
	visit_access_key(x, a);
	EACH (struct where_rule, w, a->where, a->where_count)
		OURS(struct where_rule, w)->at = number_name(x, w->attribute);
	visit_rules(x, a->then.keys, a->then.key_count);
	a->without_at = number_all(x, a->without, a->without_count);
	a->walk_at = number_name(x, a->walk_param);
	a->tree_parent_at = number_name(x, a->tree_parent);
	a->tree_by_at = number_name(x, a->tree_by);
	a->unite_at = number_name(x, a->unite);
	a->merge_by_at = number_name(x, a->merge_by);
	a->merge_else_at = number_name(x, a->merge_else);
	a->range_at = number_name(x, a->range_variable);
	visit_assignments(x, a->merge_with, a->merge_with_count);
}

static void visit_callers(struct naming *x, struct callers *c)
{
	EACH (struct claim, k, c->claims, c->claim_count)
		OURS(struct claim, k)->attribute.at = number_claim(x, k->attribute.name);
	visit_assignments(x, c->permissions_with, c->permissions_with_count);
	c->permissions_at = number_name(x, c->permissions_attribute);
	c->permissions_ref_at = number_name(x, c->permissions_ref);
}

static void visit_processor(struct naming *x, struct processor *p)
{
	if (p->target_ref.to)
		p->target_entity = p->target_ref.to;
	if (!p->rows_access && !p->each_list && p->parts == 1)
		p->rows_access = p->target_access;
	p->target_at = number_name(x, p->target_attribute);
	p->each_at = number_name(x, p->each_variable);
	visit_assignments(x, p->let, p->let_count);
	visit_assignments(x, p->each_with, p->each_with_count);
	visit_assignments(x, p->with, p->with_count);
	visit_assignments(x, p->add, p->add_count);
	EACH (struct extreme, e, p->extremes, p->extreme_count)
		visit_assignments(x, e->list, e->count);
}

static void visit_design(struct naming *x, struct design *d)
{
	visit_schema(x, &d->key, true);
	EACH (struct design_index, i, d->indexes, d->index_count)
		visit_schema(x, &i->key, false);
	d->ttl_at = number_name(x, d->ttl);
	d->key_at[0] = d->key.hash_count ? number_name(x, d->key.hash[0].name) : NULL;
	d->key_at[1] = d->key.range_count ? number_name(x, d->key.range[0].name) : NULL;
	d->caller_at = number_name(x, SLICE("caller"));
	d->age_at = number_name(x, SLICE("age"));
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
