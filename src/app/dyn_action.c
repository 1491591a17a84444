/* One writing action as DynamoDB spells it: what it does and under which condition.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_action.h"

#include "value/codec.h"

enum dyn_write_kind dyn_action_kind(const struct dyn_write *w)
{
	bool changes = w->set_count || w->remove_count || w->add_count;

	return w->kind == DYN_UPDATE && !changes ? DYN_CHECK : w->kind;
}

/* ---- the update ---- */

struct clause { /* SET a, b, c */
	struct dyn_request *q;
	const char *word;
	bool any;
};

/* What goes before an element. */
static void next_element(struct clause *c)
{
	struct buf *b = &c->q->body;

	if (c->any) {
		buf_lit(b, ", ");
		return;
	}
	if (b->n && b->p[b->n - 1] != '"')
		buf_byte(b, ' ');
	buf_str(b, c->word);
	c->any = true;
}

static void put_set(struct dyn_request *q, const struct dyn_write *w)
{
	struct clause c = { q, "SET ", false };

	for (size_t i = 0; i < w->set_count; i++) {
		if (!value_present(w->set[i].value))
			continue;
		next_element(&c);
		dyn_put_name(q, w->set[i].name);
		buf_lit(&q->body, " = ");
		dyn_put_value(q, w->set[i].value);
	}
}

static void put_remove(struct dyn_request *q, const struct dyn_write *w)
{
	struct clause c = { q, "REMOVE ", false };

	for (size_t i = 0; i < w->set_count; i++) {
		if (value_present(w->set[i].value))
			continue;
		next_element(&c);
		dyn_put_name(q, w->set[i].name);
	}
	for (size_t i = 0; i < w->remove_count; i++) {
		next_element(&c);
		dyn_put_name(q, w->remove[i]);
	}
}

static void put_add(struct dyn_request *q, const struct dyn_write *w)
{
	struct clause c = { q, "ADD ", false };

	for (size_t i = 0; i < w->add_count; i++) {
		next_element(&c);
		dyn_put_name(q, w->add[i].name);
		buf_byte(&q->body, ' ');
		dyn_put_value(q, w->add[i].value);
	}
}

void dyn_put_update(struct dyn_request *q, const struct dyn_write *w)
{
	put_set(q, w);
	put_remove(q, w);
	put_add(q, w);
}

/* ---- the condition ---- */

static void put_function(struct dyn_request *q, const char *function, struct slice name)
{
	buf_str(&q->body, function);
	buf_byte(&q->body, '(');
	dyn_put_name(q, name);
	buf_byte(&q->body, ')');
}

static struct slice hash_name(const struct dyn_request *q, const struct dyn_write *w)
{
	return w->table.n ? SLICE("PK") : q->run->design->key.hash[0].name;
}

static void put_not_there(struct dyn_request *q, const struct dyn_write *w)
{
	struct arena *a = q->run->arena;

	if (!w->or_expired.n) {
		put_function(q, "attribute_not_exists", hash_name(q, w));
		return;
	}
	buf_byte(&q->body, '(');
	put_function(q, "attribute_not_exists", hash_name(q, w));
	buf_lit(&q->body, " OR ");
	dyn_put_name(q, w->or_expired);
	buf_lit(&q->body, " <= ");
	dyn_put_value(q, value_make_i64(a, q->run->now_ms / 1000));
	buf_byte(&q->body, ')');
}

static void put_equal(struct dyn_request *q, const struct value_member *m)
{
	if (!value_present(m->value)) {
		put_function(q, "attribute_not_exists", m->name);
		return;
	}
	dyn_put_name(q, m->name);
	buf_lit(&q->body, " = ");
	dyn_put_value(q, m->value);
}

/* A check needs a condition, even when nothing is asked: one that always holds. */
static void put_anything(struct dyn_request *q, const struct dyn_write *w)
{
	put_function(q, "attribute_exists", hash_name(q, w));
	buf_lit(&q->body, " OR ");
	put_function(q, "attribute_not_exists", hash_name(q, w));
}

static void next_condition(struct dyn_request *q, bool *any)
{
	if (*any)
		buf_lit(&q->body, " AND ");
	*any = true;
}

void dyn_put_condition(struct dyn_request *q, const struct dyn_write *w)
{
	bool any = false;

	if (w->must_exist) {
		next_condition(q, &any);
		put_function(q, "attribute_exists", hash_name(q, w));
	}
	if (w->must_not_exist) {
		next_condition(q, &any);
		put_not_there(q, w);
	}
	for (size_t i = 0; i < w->equal_count; i++) {
		next_condition(q, &any);
		put_equal(q, &w->equal[i]);
	}
	for (size_t i = 0; w->also && i < w->also_count; i++) {
		if (!w->also[i].text.n)
			continue;
		next_condition(q, &any);
		dyn_put_filter(q, &w->also[i]);
	}
	if (!any && dyn_action_kind(w) == DYN_CHECK)
		put_anything(q, w);
}

/* ---- the members ---- */

static void put_expressions(struct dyn_request *q, const struct dyn_write *w)
{
	size_t before, from;

	if (dyn_action_kind(w) == DYN_UPDATE) {
		buf_lit(&q->body, ",\"UpdateExpression\":\"");
		dyn_put_update(q, w);
		buf_byte(&q->body, '"');
	}
	before = q->body.n;
	buf_lit(&q->body, ",\"ConditionExpression\":\"");
	from = q->body.n;
	dyn_put_condition(q, w);
	if (q->body.n == from)
		q->body.n = before;
	else
		buf_lit(&q->body, "\",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"");
}

void dyn_put_action(struct dyn_request *q, const struct dyn_write *w)
{
	enum dyn_write_kind kind = dyn_action_kind(w);

	if (w->table.n)
		dyn_put_other_table(q, w->table);
	else
		dyn_put_table(q);
	if (kind == DYN_PUT) {
		buf_lit(&q->body, ",\"Item\":");
		item_to_json(&q->body, w->item);
	} else {
		buf_lit(&q->body, ",\"Key\":");
		item_to_json(&q->body, w->key);
	}
	put_expressions(q, w);
	dyn_put_placeholders(q);
}
