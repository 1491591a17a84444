/* The rule for everywhere, proved from keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/isolation.h"

/* ---- the rule: attributes that equal claims ---- */

/* tenant = caller.tenant; false: another kind of rule. */
static bool is_pair(const struct term *t, const struct name **attribute, size_t *claim)
{
	const struct term *path = NULL, *of = NULL;

	for (size_t i = 0; t->kind == TERM_EQ && i < 2; i++) {
		if (t->args[i]->kind == TERM_PATH && t->args[i]->of == TERM_OF_ITEM && t->args[i]->name_count == 1)
			path = t->args[i];
		if (t->args[i]->kind == TERM_CLAIM)
			of = t->args[i];
	}
	if (!path || !of || !of->claim)
		return false;
	*attribute = path->at;
	*claim = of->claim;
	return true;
}

/* ---- one key ---- */

static bool is_part(const struct template_part *p, const struct name *at)
{
	return p->names && p->at == at && p->format == FORMAT_PLAIN;
}

/* Whether one text can never be made by both. */
static bool are_apart(const struct template *x, const struct template *y)
{
	struct slice a = template_prefix(x), b = template_prefix(y);

	return a.n && b.n && !slice_starts(a, b) && !slice_starts(b, a);
}

/* Whether the items with keys by this rule that the query finds have the claim's value in the attribute. */
static bool agrees(const struct template *asked, const struct key_rule *rule, const struct name *claim,
		   const struct name *attribute)
{
	if (are_apart(asked, rule->template))
		return true;
	if (!template_alike(asked, rule->template))
		return false;
	for (size_t i = 0; i < asked->part_count; i++)
		if (is_part(&asked->parts[i], claim) && is_part(&rule->template->parts[i], attribute))
			return true;
	return false;
}

static bool all_agree(const struct key_rule *rules, size_t n, const struct where_rule *w, const struct name *claim,
		      const struct name *attribute)
{
	EACH (struct key_rule, r, rules, n)
		if (r->at == w->at && !agrees(w->value, r, claim, attribute))
			return false;
	return true;
}

static bool where_proves(const struct design *d, const struct where_rule *w, const struct term *rule)
{
	const struct name *attribute;
	size_t claim;

	if (w->op != WHERE_EQ || !is_pair(rule, &attribute, &claim))
		return false;
	EACH (struct entity, e, d->entities, d->entity_count) {
		const struct name *at = d->callers.claims[claim - 1].attribute.at;

		if (!e->everywhere)
			continue;
		if (!all_agree(e->keys, e->key_count, w, at, attribute) || entity_attribute(e, w->attribute))
			return false;
		EACH (struct companion, c, e->companions, e->companion_count)
			if (!all_agree(c->rules, c->rule_count, w, at, attribute))
				return false;
	}
	return template_reads(w->value, d->callers.claims[claim - 1].attribute.at);
}

static bool is_hash(const struct access *a, const struct name *at)
{
	const struct key_schema *k = a->key;

	for (size_t i = 0; k && i < k->hash_count; i++)
		if (slice_equal(k->hash[i].name, at->text))
			return true;
	return false;
}

static bool proves(const struct design *d, const struct access *a, const struct term *rule)
{
	if (rule->kind == TERM_AND)
		return proves(d, a, rule->args[0]) && proves(d, a, rule->args[1]);
	EACH (struct where_rule, w, a->where, a->where_count)
		if (is_hash(a, w->at) && where_proves(d, w, rule))
			return true;
	return false;
}

bool isolation_by_key(const struct design *d, const struct access *a)
{
	return d->everywhere.rule && a->kind == ACCESS_QUERY && proves(d, a, d->everywhere.rule);
}

/* ---- one tenant's rows ---- */

/* Whether the items of the partition have the attribute in its key, whatever the parameter is called. */
static bool is_in_key(const struct design *d, const struct where_rule *w, const struct name *attribute)
{
	bool any = false;

	EACH (struct entity, e, d->entities, d->entity_count)
		EACH (struct key_rule, r, e->everywhere ? e->keys : NULL, e->everywhere ? e->key_count : 0)
			any = any || (r->at == w->at && template_alike(w->value, r->template) &&
				      template_reads(r->template, attribute));
	return any;
}

static bool mentions(const struct design *d, const struct access *a, const struct name *attribute, size_t claim)
{
	const struct name *of = d->callers.claims[claim - 1].attribute.at;

	EACH (struct where_rule, w, a->where, a->where_count)
		if (is_hash(a, w->at) && w->op == WHERE_EQ &&
		    (template_reads(w->value, of) || is_in_key(d, w, attribute)))
			return true;
	return false;
}

static bool fixes(const struct design *d, const struct access *a, const struct term *rule)
{
	const struct name *attribute;
	size_t claim;

	if (rule->kind == TERM_AND)
		return fixes(d, a, rule->args[0]) && fixes(d, a, rule->args[1]);
	return !is_pair(rule, &attribute, &claim) || mentions(d, a, attribute, claim);
}

bool isolation_in_partition(const struct design *d, const struct access *a)
{
	return fixes(d, a, d->everywhere.rule);
}

/* ---- companions ---- */

struct carrying {
	const struct key_rule *rules;
	size_t n;
	bool lacks;
};

static void look_for(void *ctx, const struct term *t)
{
	struct carrying *x = ctx;
	bool has = false;

	if (t->kind != TERM_PATH || t->of != TERM_OF_ITEM)
		return;
	EACH (struct key_rule, r, x->rules, x->n)
		has = has || (r->at == t->at && template_is_bare(r->template) && r->template->parts[0].at == t->at);
	x->lacks = x->lacks || !has;
}

bool isolation_carried(const struct term *rule, const struct key_rule *rules, size_t n)
{
	struct carrying x = { rules, n, false };

	term_walk(rule, look_for, &x);
	return !x.lacks;
}

/* ---- for people ---- */

static void put_name(struct buf *out, const char *what, struct slice name, bool *first)
{
	if (*first)
		buf_printf(out, "  %-9s", what);
	else
		buf_lit(out, ", ");
	*first = false;
	buf_put(out, name);
}

static void end_list(struct buf *out, bool first)
{
	if (!first)
		buf_byte(out, '\n');
}

static void put_accesses(const struct design *d, struct buf *out, const char *what, bool by_key)
{
	bool first = true;

	EACH (struct access, a, d->accesses, d->access_count)
		/* What `then` leads to is judged row by row, whatever the key proves of the rows. */
		if (a->path.n && (isolation_by_key(d, a) && !a->has_then) == by_key)
			put_name(out, what, a->name, &first);
	end_list(out, first);
}

void isolation_report(const struct design *d, struct buf *out)
{
	bool first = true;

	if (!d->everywhere.rule)
		return;
	buf_lit(out, "everywhere: ");
	term_print(out, d->everywhere.rule);
	buf_byte(out, '\n');
	EACH (struct entity, e, d->entities, d->entity_count)
		if (e->everywhere)
			put_name(out, "entities", e->name, &first);
	end_list(out, first);
	put_accesses(d, out, "by key", true);
	put_accesses(d, out, "by row", false);
	EACH (struct exception, x, d->everywhere.exceptions, d->everywhere.exception_count) {
		buf_lit(out, "  except   ");
		for (size_t i = 0; x->verbs != ~0u && i < ALLOW_VERBS; i++)
			if (x->verbs >> i & 1)
				buf_printf(out, "%s ", allow_verb_names[i]);
		buf_printf(out, "%.*s: %.*s\n", SLICE_ARG(x->entity->name), SLICE_ARG(x->reason));
	}
}
