/* Claims: what a token says of its caller besides the subject and the roles; `caller.tenant` in terms and templates.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/after/load_type.h"

/* ---- callers: {claims: {tenant: slug from custom:tenant}} ---- */

/* Only a form: a claim is not stored, and nothing makes it. */
static bool is_plain(const struct attribute *a)
{
	bool made = a->required || a->id || a->now || a->touched || a->counter || a->sequence || a->fixed ||
		    a->managed || a->hidden || a->private_ || a->compressed || a->the_caller || a->unique ||
		    a->from_key || a->default_ || a->derived || a->copy_entity.n || a->after.n || a->next || a->when;

	return !made && a->type != ATTR_MAP && a->type != ATTR_BINARY && a->type != ATTR_SET;
}

static bool read_claim(struct load *l, const struct yaml_entry *e, struct claim *out)
{
	struct yaml_entry type = *e;
	struct load_span rest, head;

	if (!load_is_name(e->key.text))
		load_error(l, e->key.place, "bad-name", "the name of a claim has letters, digits and '_'");
	if (!load_is_scalar(l, &e->value, "a type, as in slug, or slug from custom:tenant"))
		return false;
	rest = load_whole(&e->value);
	out->from = e->key.text;
	if (span_split_word(&rest, "from", &head)) {
		out->from = span_text(rest);
		type.value.text.n = head.from + head.n;
	}
	load_attribute(l, &type, NULL, NULL, &out->attribute);
	if (!out->from.n)
		load_expected(l, &e->value, "the name of the claim after 'from'");
	if (!is_plain(&out->attribute))
		load_error(l, e->key.place, "wrong-clause",
			   "a claim has a type of text, number or list, and at most 'lower' and 'matches'");
	return true;
}

const struct load_shape load_claims_shape = { SHAPE_MAP, "claims and their types, as in tenant: slug from custom:tenant",
					      "[A-Za-z_][A-Za-z0-9_]*", .of = &load_any_shape };

void load_claims(struct load *l, void *into, const struct yaml *y)
{
	struct callers *c = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of claims and their types", &count);
	struct claim *list = arena_array(l->a, struct claim, count);

	for (size_t i = 0; i < count; i++)
		c->claim_count += read_claim(l, &entries[i], &list[c->claim_count]);
	c->claims = list;
}

/* ---- login: {claims: {tenant: tenant_id}} ---- */

const struct load_shape load_login_claims_shape = { SHAPE_MAP, "claims and attributes of the account",
						    .of = &load_any_shape };

void load_login_claims(struct load *l, void *into, const struct yaml *y)
{
	struct login *login = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of claims and attributes of the account", &count);
	struct login_claim *list = arena_array(l->a, struct login_claim, count);

	for (size_t i = 0; i < count; i++) {
		list[i].claim = entries[i].key.text;
		list[i].place = entries[i].key.place;
		list[i].attribute =
			load_name(l, &entries[i].value, "the name of an attribute of the account", NAME_ATTRIBUTE);
	}
	login->claims = list;
	login->claim_count = count;
}

/* ---- looking them up ---- */

size_t load_find_claim(struct load *l, struct slice name, struct place p)
{
	const struct callers *c = &l->d->callers;
	struct load_names known = { .a = l->a };
	struct finding *f;

	for (size_t i = 0; i < c->claim_count; i++)
		if (slice_equal(c->claims[i].attribute.name, name))
			return i + 1;
	for (size_t i = 0; i < c->claim_count; i++)
		load_names_add(&known, c->claims[i].attribute.name);
	f = load_unknown(l, p, "unknown-claim", "claim", name, &known);
	if (!c->claim_count)
		f->repair =
			arena_printf(l->a,
				     "declare it in callers: {claims: {%.*s: string}}, or read it from the account, as in "
				     "User(caller).%.*s",
				     SLICE_ARG(name), SLICE_ARG(name));
	return 0;
}

static void check_login(struct load *l, const struct entity *e)
{
	EACH (struct login_claim, x, e->login.claims, e->login.claim_count) {
		const struct attribute *a = entity_attribute(e, x->attribute);
		size_t at = load_find_claim(l, x->claim, x->place);

		OURS(struct login_claim, x)->index = at;
		if (a && at &&
		    !type_comparable(type_of_attribute(a).is,
				     type_of_attribute(&l->d->callers.claims[at - 1].attribute).is))
			load_error(l, x->place, "wrong-type", "'%.*s' is %s, and the claim '%.*s' is %s",
				   SLICE_ARG(a->name), type_name(l->a, type_of_attribute(a).is), SLICE_ARG(x->claim),
				   type_name(l->a, type_of_attribute(&l->d->callers.claims[at - 1].attribute).is));
	}
}

void load_check_claims(struct load *l)
{
	EACH (struct entity, e, l->d->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		check_login(l, e);
	}
	l->subject = SLICE("");
}
