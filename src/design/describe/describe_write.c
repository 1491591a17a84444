/* Writes as DynamoDB requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/describe.h"

void describe_reference(struct buf *b, const struct reference *r)
{
	buf_printf(b, "%.*s(", SLICE_ARG(r->entity));
	for (size_t i = 0; i < r->arg_count; i++) {
		buf_str(b, i ? ", " : "");
		term_print(b, r->args[i]);
	}
	buf_byte(b, ')');
}

void describe_term(struct buf *b, const char *words, const struct term *t)
{
	if (!t)
		return;
	buf_str(b, words);
	term_print(b, t);
}

static void put_key(struct buf *b, const struct design *d, const struct key_rule *rules, size_t n)
{
	const char *slash = "";

	EACH (struct key_rule, r, rules, n)
		if (design_is_table_key(d, r->attribute)) {
			buf_printf(b, "%s%.*s", slash, SLICE_ARG(r->template->text));
			slash = " / ";
		}
}

static void put_companions(struct buf *b, const struct design *d, const struct entity *e, enum allow_verb verb)
{
	EACH (struct companion, c, e->companions, e->companion_count) {
		buf_str(b, verb == ALLOW_CREATE ? " + Put " : verb == ALLOW_DELETE ? " + Delete " : " + Put, Delete ");
		put_key(b, d, c->rules, c->rule_count);
		if (c->unique.n && verb != ALLOW_DELETE)
			buf_lit(b, " if not there");
		if (c->each_list)
			buf_printf(b, " for each %.*s", SLICE_ARG(c->each_variable));
		describe_term(b, " in ", c->each_list);
		describe_term(b, " when ", c->when);
	}
}

static void put_each(struct buf *b, const struct each_rule *each)
{
	if (each->list)
		buf_printf(b, " for each %.*s", SLICE_ARG(each->variable));
	describe_term(b, " in ", each->list);
}

static void put_counts(struct buf *b, const struct entity *e, enum allow_verb verb)
{
	EACH (struct count_rule, c, e->counts, e->count_count) {
		buf_lit(b, " + Update ");
		describe_reference(b, &c->target);
		buf_printf(b, " ADD %.*s ", SLICE_ARG(c->attribute));
		buf_str(b, verb == ALLOW_DELETE ? "-" : verb == ALLOW_UPDATE ? "the difference of " : "");
		if (c->by)
			term_print(b, c->by);
		else
			buf_byte(b, '1');
		put_each(b, &c->each);
		describe_term(b, " when ", c->when);
	}
}

static void put_assignments(struct buf *b, const char *word, const struct assignment *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_printf(b, "%s%.*s ", i ? ", " : word, SLICE_ARG(list[i].attribute));
		term_print(b, list[i].term);
	}
}

void describe_also(struct buf *b, const struct also_rule *x)
{
	static const char *const kinds[] = { [ALSO_PUT] = "Put ", [ALSO_UPDATE] = "Update ", [ALSO_DELETE] = "Delete " };

	buf_str(b, kinds[x->kind]);
	if (x->kind == ALSO_PUT)
		buf_printf(b, "%.*s if not there", SLICE_ARG(x->target));
	else
		describe_reference(b, &x->to_ref);
	for (size_t i = 0; x->kind == ALSO_UPDATE && i < x->with_count; i++) {
		buf_printf(b, "%s%.*s = ", i ? ", " : " SET ", SLICE_ARG(x->with[i].attribute));
		term_print(b, x->with[i].term);
	}
	put_assignments(b, " ADD ", x->add, x->add_count);
	put_each(b, &x->each);
	describe_term(b, " when ", x->when);
}

static void put_also(struct buf *b, const struct also_rule *list, size_t n, int event)
{
	EACH (struct also_rule, x, list, n) {
		if (event && !(x->events & event))
			continue;
		buf_lit(b, " + ");
		describe_also(b, x);
		if (x->kind != ALSO_UPDATE || x->with_count)
			buf_lit(b, " with what follows from it");
	}
}

static bool same_reference(struct arena *a, const struct reference *x, const struct reference *y)
{
	struct buf p, q;

	buf_init(&p, a);
	buf_init(&q, a);
	describe_reference(&p, x);
	describe_reference(&q, y);
	return slice_equal(buf_slice(&p), buf_slice(&q));
}

/* On an item that is counted on as well it is a condition of that update. */
static bool is_counted(struct arena *a, const struct entity *e, const struct reference *r)
{
	EACH (struct count_rule, c, e->counts, e->count_count)
		if (same_reference(a, &c->target, r))
			return true;
	return false;
}

static void put_requirements(struct buf *b, const struct entity *e, const struct requirement *list, size_t n)
{
	EACH (struct requirement, r, list, n) {
		/* A new reference to an item with `refuse while` sets an attribute there (app/write/joined.h). */
		bool joins = r->target.to && r->target.to->delete_.refuse_count;

		if (is_counted(b->arena, e, &r->target))
			continue;
		buf_str(b, joins ? " + Update " : " + ConditionCheck ");
		describe_reference(b, &r->target);
		if (joins)
			buf_lit(b, " SET thorpe:joined");
		describe_term(b, " if ", r->if_);
		put_each(b, &r->each);
		if (r->of && r->of->tree)
			buf_printf(b, " + ConditionCheck %.*s of each further ancestor", SLICE_ARG(r->of->name));
	}
}

/* The references that the action sets. */
static void put_touched(struct buf *b, const struct entity *e, const struct action *a)
{
	EACH (struct requirement, r, e->requires, e->require_count)
		if (r->of && (is_assigned(a->set, a->set_count, r->of->name) ||
			      slice_among(a->input, a->input_count, r->of->name)))
			put_requirements(b, e, r, 1);
}

/* ---- markers of deletions (app/write/deleting.h): one for each set of parameters ---- */

static void put_marker_values(struct buf *b, const struct access *x)
{
	for (size_t i = 0; i < x->param_count; i++)
		buf_printf(b, "%s%.*s=<%.*s>", i ? "&" : "", SLICE_ARG(x->params[i]), SLICE_ARG(x->params[i]));
}

static bool same_params(const struct access *x, const struct access *y)
{
	if (x->param_count != y->param_count)
		return false;
	for (size_t i = 0; i < x->param_count; i++)
		if (!slice_equal(x->params[i], y->params[i]))
			return false;
	return true;
}

static const struct attribute *made_here(const struct entity *e, const struct access *x)
{
	for (size_t i = 0; i < x->param_count; i++) {
		const struct attribute *a = entity_attribute(e, x->params[i]);

		if (a && a->id)
			return a;
	}
	return NULL;
}

static void put_markers(struct buf *b, const struct entity *e, enum allow_verb verb)
{
	for (size_t i = 0; i < e->delete_.then_count; i++) {
		const struct access *x = e->delete_.then_access[i];
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again = again || same_params(x, e->delete_.then_access[k]);
		if (again)
			continue;
		buf_printf(b, " + %s DELETING#%.*s / ", verb == ALLOW_DELETE ? "Put" : "ConditionCheck",
			   SLICE_ARG(e->name));
		put_marker_values(b, x);
		if (verb == ALLOW_DELETE)
			continue;
		buf_lit(b, " if not there");
		if (made_here(e, x))
			buf_printf(b, " (when %.*s is given)", SLICE_ARG(made_here(e, x)->name));
	}
}

/* A write that ends or begins a name asks whether a rename from it or to it is under way; one that changes it says so. */
static void put_rename(struct buf *b, const struct entity *e, enum allow_verb verb)
{
	if (!e->rename.then_count)
		return;
	if (verb == ALLOW_UPDATE)
		buf_lit(b, "; with another identity Delete there + Put here + Put ");
	else
		buf_lit(b, " + ConditionCheck ");
	buf_printf(b, "RENAMING#%.*s / ", SLICE_ARG(e->name));
	for (size_t i = 0; i < e->param_count; i++)
		buf_printf(b, "%s%.*s=<%.*s>", i ? "&" : "", SLICE_ARG(e->params[i]), SLICE_ARG(e->params[i]));
	buf_str(b, verb == ALLOW_UPDATE ? ", of both, if not there" : " if not there");
	EACH (struct slice, name, e->rename.then_move, verb == ALLOW_UPDATE ? e->rename.then_count : 0)
		buf_printf(b, "; then moves %.*s", SLICE_ARG(*name));
}

static bool has_more(struct arena *a, const struct entity *e, enum allow_verb verb, const struct action *action)
{
	struct buf looks;

	buf_init(&looks, a);
	return e->companion_count || e->also_count || (action && action->also_count) || e->count_count ||
	       e->require_count || (action && action->require_count) || describe_looks(&looks, e, verb, action);
}

static void put_action(struct buf *b, const struct design *d, const struct entity *e, const struct action *a)
{
	bool only_adds = a->add_count && !a->set_count && !a->input_count && !a->remove_count && !a->also_count &&
			 (a->gather_seconds || !e->also_count);

	buf_str(b, only_adds || !has_more(b->arena, e, ALLOW_UPDATE, a)
			   ? "UpdateItem "
			   : "UpdateItem, or with what follows from it TransactWriteItems: Update ");
	put_key(b, d, e->keys, e->key_count);
	for (size_t i = 0; i < a->set_count; i++) {
		buf_printf(b, "%s%.*s = ", i ? ", " : " SET ", SLICE_ARG(a->set[i].attribute));
		term_print(b, a->set[i].term);
	}
	for (size_t i = 0; i < a->input_count; i++)
		buf_printf(b, "%s%.*s", i || a->set_count ? ", " : " SET ", SLICE_ARG(a->input[i]));
	for (size_t i = 0; i < a->remove_count; i++)
		buf_printf(b, "%s%.*s", i ? ", " : " REMOVE ", SLICE_ARG(a->remove[i]));
	for (size_t i = 0; i < a->add_count; i++) {
		buf_printf(b, "%s%.*s ", i ? ", " : " ADD ", SLICE_ARG(a->add[i].attribute));
		term_print(b, a->add[i].term);
	}
	describe_term(b, " if ", a->when);
	if (a->gather_seconds)
		buf_printf(b, ", gathered for %lld s", (long long)a->gather_seconds);
	if (!only_adds) {
		put_companions(b, d, e, ALLOW_UPDATE);
		put_counts(b, e, ALLOW_UPDATE);
		put_requirements(b, e, a->requires, a->require_count);
		put_touched(b, e, a);
		put_also(b, a->also, a->also_count, 0);
		put_also(b, e->also, e->also_count, ON_UPDATED);
	}
	(void)describe_looks(b, e, ALLOW_UPDATE, a);
}

void describe_write(struct buf *b, const struct design *d, const struct entity *e, enum allow_verb verb,
		    const struct action *action)
{
	bool more = has_more(b->arena, e, verb, NULL) ||
		    ((e->delete_.then_count || e->rename.then_count) && verb != ALLOW_UPDATE);
	enum allow_verb request = verb == ALLOW_DELETE && e->delete_.soft ? ALLOW_UPDATE : verb;

	if (action) {
		put_action(b, d, e, action);
		return;
	}
	if (request == ALLOW_CREATE)
		buf_str(b, more || e->login.secret_count ? "TransactWriteItems: Put " : "PutItem ");
	else if (request == ALLOW_DELETE)
		buf_str(b, more ? "TransactWriteItems: Delete " : "DeleteItem ");
	else if (request == ALLOW_UPDATE)
		buf_str(b,
			more ? "UpdateItem, or with what follows from it TransactWriteItems: Update " : "UpdateItem ");
	else
		buf_lit(b, "GetItem ");
	put_key(b, d, e->keys, e->key_count);
	if (request == ALLOW_READ || request == ALLOW_LIST)
		return;
	if (verb == ALLOW_CREATE)
		buf_str(b, e->login.secret_count ? " if not there + Put the credentials" : " if not there");
	put_companions(b, d, e, request);
	put_counts(b, e, request);
	if (verb != ALLOW_DELETE)
		put_requirements(b, e, e->requires, e->require_count);
	put_also(b, e->also, e->also_count,
		 request == ALLOW_CREATE   ? ON_CREATED
		 : request == ALLOW_DELETE ? ON_DELETED
					   : ON_UPDATED);
	(void)describe_looks(b, e, verb, NULL);
	if (verb != ALLOW_UPDATE)
		put_markers(b, e, verb);
	put_rename(b, e, verb);
	if (verb != ALLOW_DELETE)
		return;
	EACH (struct slice, name, e->delete_.refuse_while, e->delete_.refuse_count)
		buf_printf(b, "; refused while %.*s has rows", SLICE_ARG(*name));
	EACH (struct slice, name, e->delete_.then_remove, e->delete_.then_count)
		buf_printf(b, "; then removes %.*s", SLICE_ARG(*name));
}
