/* Access patterns as DynamoDB requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/describe.h"

/* "PK = USER#<user_id>, SK = PROFILE"; of several forms each. */
static void put_keys(struct buf *b, const struct design *d, const struct key_rule *rules, size_t n)
{
	const char *comma = "";

	EACH (struct key_rule, r, rules, n) {
		if (!design_is_table_key(d, r->attribute))
			continue;
		buf_printf(b, "%s%.*s = %.*s", comma, SLICE_ARG(r->attribute), SLICE_ARG(r->template->text));
		comma = ", ";
		describe_term(b, " when ", r->when);
	}
}

static void put_where(struct buf *b, const struct where_rule *w)
{
	static const char *const signs[] = {
		[WHERE_EQ] = "=", [WHERE_LT] = "<", [WHERE_LE] = "<=", [WHERE_GT] = ">", [WHERE_GE] = ">="
	};

	struct slice name = w->attribute, value = w->value->text;

	if (w->op == WHERE_BEGINS)
		buf_printf(b, "begins_with(%.*s, %.*s)", SLICE_ARG(name), SLICE_ARG(value));
	else if (w->op == WHERE_BETWEEN)
		buf_printf(b, "%.*s between %.*s and %.*s", SLICE_ARG(name), SLICE_ARG(value),
			   SLICE_ARG(w->upper->text));
	else
		buf_printf(b, "%.*s %s %.*s", SLICE_ARG(name), signs[w->op], SLICE_ARG(value));
	if (w->optional)
		buf_lit(b, " (if given)");
}

static void put_conditions(struct buf *b, const struct access *x)
{
	EACH (struct where_rule, w, x->where, x->where_count) {
		buf_str(b, w != x->where ? ", " : "");
		put_where(b, w);
	}
}

static void put_get(struct buf *b, const struct design *d, const struct access *x)
{
	const struct entity *e = x->get.to;

	buf_str(b, x->kind == ACCESS_BATCH ? "BatchGetItem " : "GetItem ");
	if (e)
		put_keys(b, d, e->keys, e->key_count);
	else
		put_conditions(b, x);
	if (e && x->kind == ACCESS_BATCH) {
		buf_lit(b, " for each ");
		describe_reference(b, &x->get);
	}
}

static void put_query(struct buf *b, const struct access *x)
{
	buf_printf(b, "Query %.*s: ", SLICE_ARG(x->index.n ? x->index : SLICE("the table")));
	put_conditions(b, x);
	describe_term(b, "; filter ", x->filter);
	if (x->descending)
		buf_lit(b, "; ScanIndexForward = false");
}

static void put_merge(struct buf *b, const struct design *d, const struct access *x)
{
	if (x->merge_of_count) {
		buf_lit(b, "merged: ");
		for (size_t i = 0; i < x->merge_of_count; i++) {
			buf_str(b, i ? " · " : "");
			describe_access(b, d, x->merge_parts[i]);
		}
		return;
	}
	if (x->merge_over.n) {
		buf_printf(b, "for each of %.*s%s (", SLICE_ARG(x->merge_over),
			   x->merge_levels ? ", level by level" : "");
		describe_access(b, d, x->merge_rows);
		buf_lit(b, "): ");
	} else if (x->range_list) {
		buf_printf(b, "for each %.*s in ", SLICE_ARG(x->range_variable));
		term_print(b, x->range_list);
		buf_lit(b, ": ");
	} else {
		buf_printf(b, "for %.*s from %lld to %lld: ", SLICE_ARG(x->range_variable), (long long)x->range_from,
			   (long long)x->range_to);
	}
	describe_access(b, d, x->merge_run);
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
		buf_printf(b, "; then the %s %s, up to %lld times", x->walk_step < 0 ? "previous" : "next",
			   time_unit_names[x->walk_unit], (long long)x->walk_times);
	describe_term(b, "; ranked by ", x->rank);
	if (x->has_then) {
		buf_lit(b, "; then BatchGetItem ");
		put_keys(b, d, x->then.keys, x->then.key_count);
	}
	EACH (struct attribute, a, x->show, x->show_count) {
		buf_str(b, a == x->show ? "; shows " : ", ");
		buf_printf(b, "%.*s = ", SLICE_ARG(a->name));
		term_print(b, a->derived);
	}
}
