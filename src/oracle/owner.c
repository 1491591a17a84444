/* Whose a companion is, or credentials are, told from what they carry: their templates read backwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"

static bool is_number(const struct attribute *a)
{
	return a && (a->type == ATTR_NUMBER || a->type == ATTR_INTEGER || a->type == ATTR_EPOCH);
}

static void take(struct run *r, const struct entity *e, struct slice name, struct slice text, struct row *out)
{
	const struct attribute *a = entity_attribute(e, name);
	struct error error = { 0 };
	struct number n;

	if (!a)
		return; /* the variable of a list */
	if (!is_number(a))
		row_put(out, name, value_make_s(r->arena, text));
	else if (number_parse(text, &n, r->arena, &error))
		row_put(out, name, value_make_n(r->arena, &n));
}

/* What the rule's template says of the owner; false: it has not made this value. */
static bool read_back(struct run *r, const struct entity *e, const struct key_rule *rule, struct value v,
		      struct row *out)
{
	const struct template *t = rule->template;
	struct slice *texts = arena_array(r->arena, struct slice, t->part_count);

	if (!value_present(v))
		return !design_is_table_key(r->design, rule->attribute);
	if (!template_could(r, t, v))
		return false;
	if (value_type(v) != VALUE_S) {
		row_put(out, t->parts[0].names[0], v);
		return true;
	}
	if (!template_match(t, value_bytes(v), texts))
		return false;
	for (size_t i = 0; i < t->part_count; i++)
		if (t->parts[i].names && t->parts[i].name_count == 1 && t->parts[i].format == FORMAT_PLAIN)
			take(r, e, t->parts[i].names[0], texts[i], out);
	return true;
}

static bool is_of(struct run *r, const struct entity *e, const struct key_rule *rules, size_t n, struct value item,
		  struct value *key)
{
	struct value *args = arena_array(r->arena, struct value, e->param_count);
	struct row f;

	row_init(&f, r->arena, NULL);
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
