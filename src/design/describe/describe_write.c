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

static void put_companion_key(struct buf *b, const struct design *d, const struct companion *c)
{
	bool first = true;

	for (size_t i = 0; i < c->rule_count; i++)
		if (design_is_table_key(d, c->rules[i].attribute)) {
			buf_printf(b, "%s%.*s", first ? "" : " / ", SLICE_ARG(c->rules[i].template->text));
			first = false;
		}
}

static void put_companions(struct buf *b, const struct design *d, const struct entity *e, enum allow_verb verb)
{
	for (size_t i = 0; i < e->companion_count; i++) {
		const struct companion *c = &e->companions[i];

		buf_str(b, verb == ALLOW_CREATE ? " + Put " : verb == ALLOW_DELETE ? " + Delete " : " + Put, Delete ");
		put_companion_key(b, d, c);
		if (c->unique.n && verb != ALLOW_DELETE)
			buf_lit(b, " if not there");
		if (c->each_list) {
			buf_printf(b, " for each %.*s in ", SLICE_ARG(c->each_variable));
			term_print(b, c->each_list);
		}
		if (c->when) {
			buf_lit(b, " when ");
			term_print(b, c->when);
		}
	}
}

static void put_counts(struct buf *b, const struct entity *e, enum allow_verb verb)
{
	for (size_t i = 0; i < e->count_count; i++) {
		const struct count_rule *c = &e->counts[i];

		buf_lit(b, " + Update ");
		describe_reference(b, &c->target);
		buf_printf(b, " ADD %.*s ", SLICE_ARG(c->attribute));
		buf_str(b, verb == ALLOW_DELETE ? "-" : verb == ALLOW_UPDATE ? "the difference of " : "");
		if (c->by)
			term_print(b, c->by);
		else
			buf_byte(b, '1');
		if (c->when) {
			buf_lit(b, " when ");
			term_print(b, c->when);
		}
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
	for (size_t i = 0; i < e->count_count; i++)
		if (same_reference(a, &e->counts[i].target, r))
			return true;
	return false;
}

static void put_requirements(struct buf *b, const struct entity *e, const struct requirement *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_counted(b->arena, e, &list[i].target))
			continue;
		buf_lit(b, " + ConditionCheck ");
		describe_reference(b, &list[i].target);
		if (list[i].if_) {
			buf_lit(b, " if ");
			term_print(b, list[i].if_);
		}
	}
}

static void put_key(struct buf *b, const struct design *d, const struct entity *e)
{
	bool first = true;

	for (size_t i = 0; i < e->key_count; i++)
		if (design_is_table_key(d, e->keys[i].attribute)) {
			buf_printf(b, "%s%.*s", first ? "" : " / ", SLICE_ARG(e->keys[i].template->text));
			first = false;
		}
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

static void put_markers(struct buf *b, const struct design *d, const struct entity *e, enum allow_verb verb)
{
	for (size_t i = 0; i < e->delete_.then_count; i++) {
		const struct access *x = design_access(d, e->delete_.then_remove[i]), *y;
		bool again = false;

		for (size_t k = 0; x && k < i; k++) {
			y = design_access(d, e->delete_.then_remove[k]);
			again = again || (y && same_params(x, y));
		}
		if (!x || again)
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

static bool has_more(struct arena *a, const struct entity *e, enum allow_verb verb, const struct action *action)
{
	struct buf looks;

	buf_init(&looks, a);
	return e->companion_count || e->count_count || e->require_count || (action && action->require_count) ||
	       describe_looks(&looks, e, verb, action);
}

static void put_action(struct buf *b, const struct design *d, const struct entity *e, const struct action *a)
{
	bool only_adds = a->add_count && !a->set_count && !a->input_count && !a->remove_count;

	buf_str(b, only_adds || !has_more(b->arena, e, ALLOW_UPDATE, a)
			   ? "UpdateItem "
			   : "UpdateItem, or with what follows from it TransactWriteItems: Update ");
	put_key(b, d, e);
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
	if (a->when) {
		buf_lit(b, " if ");
		term_print(b, a->when);
	}
	if (a->gather_seconds)
		buf_printf(b, ", gathered for %lld s", (long long)a->gather_seconds);
	if (!only_adds) {
		put_companions(b, d, e, ALLOW_UPDATE);
		put_counts(b, e, ALLOW_UPDATE);
		put_requirements(b, e, a->requires, a->require_count);
	}
	(void)describe_looks(b, e, ALLOW_UPDATE, a);
}

void describe_write(struct buf *b, const struct design *d, const struct entity *e, enum allow_verb verb,
		    const struct action *action)
{
	bool more = has_more(b->arena, e, verb, NULL) || (e->delete_.then_count && verb != ALLOW_UPDATE);

	if (action) {
		put_action(b, d, e, action);
		return;
	}
	switch (verb) {
	case ALLOW_CREATE:
		buf_str(b, more || e->login.secret_count ? "TransactWriteItems: Put " : "PutItem ");
		put_key(b, d, e);
		buf_lit(b, " if not there");
		if (e->login.secret_count)
			buf_lit(b, " + Put the credentials");
		put_companions(b, d, e, verb);
		put_counts(b, e, verb);
		put_requirements(b, e, e->requires, e->require_count);
		(void)describe_looks(b, e, verb, NULL);
		put_markers(b, d, e, verb);
		break;
	case ALLOW_UPDATE:
	case ALLOW_DELETE:
		if (verb == ALLOW_DELETE && !e->delete_.soft) {
			buf_str(b, more ? "TransactWriteItems: Delete " : "DeleteItem ");
			put_key(b, d, e);
		} else {
			buf_str(b, more ? "UpdateItem, or with what follows from it TransactWriteItems: Update "
					: "UpdateItem ");
			put_key(b, d, e);
		}
		put_companions(b, d, e, verb == ALLOW_DELETE && !e->delete_.soft ? verb : ALLOW_UPDATE);
		put_counts(b, e, verb == ALLOW_DELETE && !e->delete_.soft ? verb : ALLOW_UPDATE);
		if (verb == ALLOW_UPDATE)
			put_requirements(b, e, e->requires, e->require_count);
		(void)describe_looks(b, e, verb, NULL);
		if (verb == ALLOW_DELETE)
			put_markers(b, d, e, verb);
		for (size_t i = 0; verb == ALLOW_DELETE && i < e->delete_.refuse_count; i++)
			buf_printf(b, "; refused while %.*s has rows", SLICE_ARG(e->delete_.refuse_while[i]));
		for (size_t i = 0; verb == ALLOW_DELETE && i < e->delete_.then_count; i++)
			buf_printf(b, "; then removes %.*s", SLICE_ARG(e->delete_.then_remove[i]));
		break;
	default:
		buf_lit(b, "GetItem ");
		put_key(b, d, e);
		break;
	}
}
