/* Rules about the rule for everywhere: what reads across tenants, what is never shown, what tells of another tenant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"
#include "design/isolation.h"

static bool is_identity(const struct design *d, const struct name *at)
{
	EACH (struct entity, e, d->entities, d->entity_count)
		for (size_t i = 0; e->everywhere && i < e->param_count; i++)
			if (e->param_at[i] == at)
				return true;
	return false;
}

/* The partition of one item, or of the caller: what belongs to it is of one tenant. */
static bool is_of_one(const struct checker *c, const struct reach *r)
{
	for (size_t i = 0; i < r->space->key->hash_count; i++) {
		const struct where_rule *w = check_where(r->access, r->space->key->hash[i].name);

		for (size_t k = 0; w && w->value && k < w->value->part_count; k++) {
			const struct template_part *p = &w->value->parts[k];

			if (p->names && (p->at == c->d->caller_at || is_identity(c->d, p->at)))
				return true;
		}
	}
	return false;
}

static void mixes_tenants(struct checker *c, const struct reach *r)
{
	bool any = false;

	EACH (struct entry, x, r->entries, r->entry_count)
		any = any || x->shape->entity->everywhere;
	if (!any || !r->space || r->access->kind != ACCESS_QUERY || isolation_in_partition(c->d, r->access) ||
	    is_of_one(c, r))
		return;
	check_say(c, AT_SUBJECT,
		  "its partition has rows of every caller, and the rule for everywhere drops those of others");
}

static void companion_unseen(struct checker *c, const struct reach *r)
{
	if (r->access->kind != ACCESS_QUERY || isolation_by_key(c->d, r->access) || !r->access->path.n)
		return;
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct shape *s = x->shape;

		if (!s->companion || !s->entity->everywhere ||
		    isolation_carried(s->entity->everywhere, s->companion->rules, s->companion->rule_count))
			continue;
		check_say(c, AT_SUBJECT,
			  "only operators see its rows of %.*s: they lack what the rule for everywhere reads",
			  SLICE_ARG(s->name));
		return;
	}
}

static bool names_all(const struct term *rule, const struct key_rule *rules, size_t n)
{
	bool any = rule->kind != TERM_PATH || rule->of != TERM_OF_ITEM;

	for (size_t i = 0; rule->kind == TERM_PATH && i < n; i++)
		any = any || (rules[i].at->key && rules[i].at->of_table && template_reads(rules[i].template, rule->at));
	for (size_t i = 0; i < rule->arg_count; i++)
		any = any && names_all(rule->args[i], rules, n);
	return any;
}

static void guard_tells(struct checker *c, const struct entity *e)
{
	EACH (struct companion, k, e->companions, e->companion_count)
		if (e->everywhere && k->unique.n && !names_all(e->everywhere, k->rules, k->rule_count))
			check_say(c, k->place,
				  "%.*s is unique for all callers together: a 409 tells of an item that the rule "
				  "for everywhere hides",
				  SLICE_ARG(k->unique));
}

const struct rule check_rules_everywhere[] = {
	{ "mixes-tenants", SEVERITY_WARNING,
	  "Rows of all others are read and paid for, and a caller with few rows waits for those of all.",
	  "Put what the rule reads into the partition key, and ask for it: `TENANT#<caller.tenant>#…`.",
	  .access = mixes_tenants },
	{ "companion-unseen", SEVERITY_WARNING, "A row that does not show whose it is, is shown to nobody.",
	  "Let the companion carry it (`tenant: <tenant>`), or have it in the partition key: `TENANT#<caller.tenant>#…`.",
	  .access = companion_unseen },
	{ "guard-tells", SEVERITY_NOTE, "It is how one learns that somebody else's customer has an account.",
	  "Make it unique for each: put what the rule reads into the guard's key.", .entity = guard_tells },
	{ NULL },
};
