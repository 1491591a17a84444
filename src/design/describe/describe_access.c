/* Access patterns as DynamoDB requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/describe.h"

static void template_or_text(struct buf *b, const struct template *t)
{
	if (t)
		buf_put(b, t->text);
}

/* "PK = USER#<user_id>, SK = PROFILE"; of several forms each. */
static void put_keys(struct buf *b, const struct design *d, const struct key_rule *rules, size_t n)
{
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		if (!design_is_table_key(d, rules[i].attribute))
			continue;
		buf_printf(b, "%s%.*s = %.*s", first ? "" : ", ", SLICE_ARG(rules[i].attribute),
			   SLICE_ARG(rules[i].template->text));
		first = false;
		if (rules[i].when) {
			buf_lit(b, " when ");
			term_print(b, rules[i].when);
		}
	}
}

static void put_where(struct buf *b, const struct where_rule *w)
{
	static const char *const signs[] = {
		[WHERE_EQ] = "=", [WHERE_LT] = "<", [WHERE_LE] = "<=", [WHERE_GT] = ">", [WHERE_GE] = ">="
	};

	switch (w->op) {
	case WHERE_BEGINS:
		buf_printf(b, "begins_with(%.*s, ", SLICE_ARG(w->attribute));
		template_or_text(b, w->value);
		buf_byte(b, ')');
		break;
	case WHERE_BETWEEN:
		buf_printf(b, "%.*s between ", SLICE_ARG(w->attribute));
		template_or_text(b, w->value);
		buf_lit(b, " and ");
		template_or_text(b, w->upper);
		break;
	default:
		buf_printf(b, "%.*s %s ", SLICE_ARG(w->attribute), signs[w->op]);
		template_or_text(b, w->value);
		break;
	}
	if (w->optional)
		buf_lit(b, " (if given)");
}

static void put_get(struct buf *b, const struct design *d, const struct access *x)
{
	const struct entity *e = design_entity(d, x->get.entity);

	buf_str(b, x->kind == ACCESS_BATCH ? "BatchGetItem " : "GetItem ");
	if (e)
		put_keys(b, d, e->keys, e->key_count);
	for (size_t i = 0; !e && i < x->where_count; i++) {
		buf_str(b, i ? ", " : "");
		put_where(b, &x->where[i]);
	}
	if (e && x->kind == ACCESS_BATCH) {
		buf_printf(b, " for each %.*s(", SLICE_ARG(e->name));
		for (size_t i = 0; i < x->get.arg_count; i++) {
			buf_str(b, i ? ", " : "");
			term_print(b, x->get.args[i]);
		}
		buf_byte(b, ')');
	}
}

static void put_query(struct buf *b, const struct access *x)
{
	buf_printf(b, "Query %.*s: ", SLICE_ARG(x->index.n ? x->index : SLICE("the table")));
	for (size_t i = 0; i < x->where_count; i++) {
		buf_str(b, i ? ", " : "");
		put_where(b, &x->where[i]);
	}
	if (x->filter) {
		buf_lit(b, "; filter ");
		term_print(b, x->filter);
	}
	if (x->descending)
		buf_lit(b, "; ScanIndexForward = false");
}

static void put_named(struct buf *b, const struct design *d, struct slice name)
{
	const struct access *x = design_access(d, name);

	if (x)
		describe_access(b, d, x);
}

static void put_merge(struct buf *b, const struct design *d, const struct access *x)
{
	if (x->merge_of_count) {
		buf_lit(b, "merged: ");
		for (size_t i = 0; i < x->merge_of_count; i++) {
			buf_str(b, i ? " · " : "");
			put_named(b, d, x->merge_of[i]);
		}
		return;
	}
	if (x->merge_over.n) {
		buf_printf(b, "for each of %.*s%s (", SLICE_ARG(x->merge_over),
			   x->merge_levels ? ", level by level" : "");
		put_named(b, d, x->merge_over);
		buf_lit(b, "): ");
	} else if (x->range_list) {
		buf_printf(b, "for each %.*s in ", SLICE_ARG(x->range_variable));
		term_print(b, x->range_list);
		buf_lit(b, ": ");
	} else {
		buf_printf(b, "for %.*s from %lld to %lld: ", SLICE_ARG(x->range_variable), (long long)x->range_from,
			   (long long)x->range_to);
	}
	put_named(b, d, x->merge_pattern);
}

void describe_access(struct buf *b, const struct design *d, const struct access *x)
{
	switch (x->kind) {
	case ACCESS_GET:
	case ACCESS_BATCH: put_get(b, d, x); break;
	case ACCESS_QUERY: put_query(b, x); break;
	case ACCESS_MERGE: put_merge(b, d, x); break;
	}
	if (x->consistent)
		buf_lit(b, "; ConsistentRead");
	if (x->count_only)
		buf_lit(b, "; counted");
	if (x->walk_times)
		buf_printf(b, "; then the %s day, up to %lld times", x->walk_days > 0 ? "previous" : "next",
			   (long long)x->walk_times);
	if (x->rank) {
		buf_lit(b, "; ranked by ");
		term_print(b, x->rank);
	}
	if (x->has_then) {
		buf_lit(b, "; then BatchGetItem ");
		put_keys(b, d, x->then.keys, x->then.key_count);
	}
}
