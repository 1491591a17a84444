/* Finding an account by the value of a login attribute: by its identity, by the companion that guards the attribute,
 * or by an access pattern.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/caller_internal.h"
#include "app/db/dyn.h"
#include "app/read/read.h"

/* ---- by the companion that keeps the attribute unique ---- */

static const struct key_rule *rule_for(const struct companion *c, const struct name *attribute)
{
	for (size_t i = 0; attribute && i < c->rule_count; i++)
		if (c->rules[i].at == attribute)
			return &c->rules[i];
	return NULL;
}

/* The part of a rule's template that is this placeholder; -1: none. */
static int part_of(const struct key_rule *rule, const struct name *name)
{
	for (size_t i = 0; i < rule->template->part_count; i++) {
		const struct template_part *p = &rule->template->parts[i];

		if (p->name_count == 1 && p->format == FORMAT_PLAIN && p->at == name)
			return (int)i;
	}
	return -1;
}

/* The value of the parameter in the companion's attributes; absent: none. */
static struct value carried(struct run *r, const struct companion *c, struct value item, const struct name *param)
{
	for (size_t i = 0; i < c->rule_count; i++) {
		const struct key_rule *rule = &c->rules[i];
		struct value v = value_get(item, rule->attribute);
		int part = part_of(rule, param);
		struct slice *values;

		if (part < 0 || !value_present(v))
			continue;
		if (rule->template->part_count == 1)
			return v;
		values = arena_array(r->arena, struct slice, rule->template->part_count);
		if (value_type(v) == VALUE_S && template_match(rule->template, value_bytes(v), values))
			return value_make_s(r->arena, values[part]);
	}
	return VALUE_ABSENT;
}

static bool is_guard(const struct entity *e, const struct companion *c, const struct name *attribute)
{
	if (!slice_equal(c->unique, attribute->text) || c->each_at)
		return false;
	for (size_t i = 0; i < e->param_count; i++) {
		bool has = false;

		for (size_t k = 0; k < c->rule_count && !has; k++)
			has = part_of(&c->rules[k], e->param_at[i]) >= 0;
		if (!has)
			return false;
	}
	return true;
}

/* The guard's key from the attribute alone; absent if it needs more. */
static bool guard_key(struct run *r, const struct companion *c, struct scope *s, struct value *out)
{
	struct value_member members[2];
	size_t n = 0;

	*out = VALUE_ABSENT;
	for (size_t i = 0; i < 2 && r->design->key_at[i]; i++) {
		const struct key_rule *rule = rule_for(c, r->design->key_at[i]);

		if (!rule)
			return true;
		members[n].name = rule->attribute;
		if (!scope_fill(s, rule->template, true, &members[n].value))
			return false;
		if (!value_present(members[n++].value))
			return true;
	}
	*out = value_make_map(r->arena, members, n);
	return true;
}

/* *tried: there is such a guard, and its answer is final. */
static bool by_guard(struct run *r, const struct entity *e, const struct name *attribute, struct scope *s, bool *tried,
		     struct row *account)
{
	for (size_t i = 0; i < e->companion_count && !*tried; i++) {
		const struct companion *c = &e->companions[i];
		struct value key, item, *args;

		if (!is_guard(e, c, attribute))
			continue;
		if (!guard_key(r, c, s, &key))
			return false;
		if (!value_present(key))
			continue;
		*tried = true;
		if (!dyn_get(r, key, true, &item))
			return false;
		if (!value_present(item) || entity_expired(r, item))
			return true;
		args = arena_array(r->arena, struct value, e->param_count);
		for (size_t p = 0; p < e->param_count; p++)
			args[p] = carried(r, c, item, e->param_at[p]);
		return entity_fetch(r, e, args, e->param_count, true, account);
	}
	return true;
}

/* ---- by an access pattern whose only parameter is the attribute ---- */

struct search {
	const struct entity *entity;
	const struct name *attribute;
	struct value value;
	struct row found;
	bool several;
};

static bool take_row(void *ctx, const struct row *row, bool *stop)
{
	struct search *s = ctx;

	if (row->entity != s->entity || !value_equal(row_get(row, s->attribute), s->value))
		return true;
	s->several = s->found.entity != NULL;
	*stop = s->several;
	s->found = *row;
	return true;
}

static const struct access *pattern_for(struct run *r, const struct entity *e, const struct name *attribute)
{
	const struct access *found = NULL;

	for (size_t i = 0; i < r->design->access_count; i++) {
		const struct access *a = &r->design->accesses[i];

		if ((a->kind == ACCESS_QUERY || a->kind == ACCESS_GET) && a->param_count == 1 &&
		    a->param_at[0] == attribute && !a->query_param_count && !a->count_only && !a->walk_param.n &&
		    !a->unite.n && !a->rank && read_entity(r->design, a) == e &&
		    (!found || (a->single && !found->single)))
			found = a;
	}
	return found;
}

/* An index may lag, or contain only a part of the item: reads the item itself. */
static bool by_pattern(struct run *r, const struct entity *e, const struct name *attribute, struct scope *s,
		       struct row *account)
{
	struct search search = { .entity = e, .attribute = attribute, .value = row_get(s->item, attribute) };
	const struct access *a = pattern_for(r, e, attribute);

	if (!a)
		return true;
	if (!read_each(a, s, NULL, 0, take_row, &search))
		return false;
	if (search.several || !search.found.entity)
		return true;
	return entity_fetch(r, e, entity_identity(r, &search.found), e->param_count, true, account);
}

bool caller_account(struct run *r, const struct entity *e, const struct name *attribute, struct value value,
		    struct row *account)
{
	struct row given;
	struct scope s = { .run = r, .item = &given };
	bool tried = e->param_count == 1 && e->param_at[0] == attribute;

	*account = (struct row){ 0 };
	row_init(&given, r->arena, NULL);
	row_set(&given, attribute, value);
	if (tried && !entity_fetch(r, e, &value, 1, true, account))
		return false;
	if (!tried && !by_guard(r, e, attribute, &s, &tried, account))
		return false;
	if (!tried && !by_pattern(r, e, attribute, &s, account))
		return false;
	/* Another account may have taken the name between the two reads. */
	if (account->entity && !value_equal(row_get(account, attribute), value))
		*account = (struct row){ 0 };
	return true;
}
