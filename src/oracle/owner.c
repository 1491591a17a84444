/* The owner of a companion or of credentials, from the values they carry: their templates read backwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"

static void take_attribute(struct run *r, const struct entity *e, const struct name *n, struct slice text,
			   struct row *out)
{
	const struct attribute *a = slots_attribute(e->slots, n);
	struct error error = { 0 };
	struct number number;

	if (!a)
		return; /* the variable of a list */
	if (!attribute_is_number(a))
		row_set(out, n, value_make_s(r->arena, text));
	else if (number_parse(text, &number, r->arena, &error))
		row_set(out, n, value_make_n(r->arena, &number));
}

/* Reads the owner's attributes from the value. False: the rule's template cannot have made it. */
static bool read_back(struct run *r, const struct entity *e, const struct key_rule *rule, struct value v,
		      struct row *out)
{
	const struct template *t = rule->template;
	struct slice *texts = arena_array(r->arena, struct slice, t->part_count);
	size_t literals;

	if (!value_present(v))
		return !rule->at->of_table;
	if (!key_matches(r, t, v, &literals))
		return false;
	if (value_type(v) != VALUE_S) {
		row_set(out, t->parts[0].at, v);
		return true;
	}
	if (!template_match(t, value_bytes(v), texts))
		return false;
	for (size_t i = 0; i < t->part_count; i++)
		if (t->parts[i].names && t->parts[i].name_count == 1 && t->parts[i].format == FORMAT_PLAIN)
			take_attribute(r, e, t->parts[i].at, texts[i], out);
	return true;
}

static bool is_of(struct run *r, const struct entity *e, const struct key_rule *rules, size_t n, struct value item,
		  struct value *key)
{
	struct value *args = arena_array(r->arena, struct value, e->param_count);
	struct row f;

	row_init(&f, r->arena, e);
	for (size_t i = 0; i < n; i++)
		if (!read_back(r, e, &rules[i], value_get(item, rules[i].attribute), &f))
			return false;
	for (size_t i = 0; i < e->param_count; i++) {
		args[i] = row_get(&f, e->param_at[i]);
		if (!value_present(args[i]))
			return false;
	}
	if (entity_locate(r, e, args, e->param_count, key))
		return value_present(*key);
	r->problem = (struct problem){ 0 };
	return false;
}

bool owner_find(struct run *r, struct value item, struct owner_found *out)
{
	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *e = &r->design->entities[i];

		*out = (struct owner_found){ .entity = e };
		for (size_t k = 0; k < e->companion_count; k++) {
			out->rule = &e->companions[k];
			if (is_of(r, e, out->rule->rules, out->rule->rule_count, item, &out->key))
				return true;
		}
		out->rule = NULL;
		if (e->login.present && e->login.secret_count &&
		    is_of(r, e, e->login.secret, e->login.secret_count, item, &out->key))
			return true;
	}
	return false;
}
