/* Any text as a term and as a template: what is one is printed, read again, evaluated, and as a
 * filter means the same as it does by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "design/row.h"
#include "design/term/template.h"
#include "design/term/term.h"
#include "expr/expr.h"
#include "value/codec.h"

static const char stored[] = "{\"a\":{\"S\":\"xyz\"},\"b\":{\"N\":\"41\"},\"c\":{\"SS\":[\"a\",\"c\"]},"
			     "\"l\":{\"L\":[{\"N\":\"1\"},{\"S\":\"The Größe\"}]},\"t\":{\"BOOL\":true},"
			     "\"m\":{\"M\":{\"k\":{\"N\":\"1\"}}},\"d\":{\"B\":\"AAAA\"},\"n\":{\"NULL\":true},"
			     "\"at\":{\"S\":\"2026-11-15T12:00:00Z\"}}";

static void check(bool holds)
{
	if (!holds)
		abort();
}

static bool fetch(void *ctx, const struct term *t, const struct value *args, bool *there, struct value *v,
		  struct error *e)
{
	*there = t->name.n % 2;
	*v = *there ? value_get(*(const struct value *)ctx, t->attribute) : VALUE_ABSENT;
	return true;
}

static bool yes(void *ctx, struct slice s)
{
	return s.n % 2;
}

static const struct json *object(struct arena *a, const struct buf *members)
{
	return members->n ? json_parse(a, arena_printf(a, "{%.*s}", SLICE_ARG(buf_slice(members)))) : NULL;
}

/* DynamoDB has limits of its own: what exceeds them is not a fault of the filter. */
static void run_filter(const struct term *t, const struct term_scope *s, struct value item, struct arena *a)
{
	struct expr_bindings *b;
	const struct condition *c;
	struct term_filter f;
	struct error e = { 0 };
	const char *why;
	bool holds;

	term_filter_init(&f, a, "f");
	if (!term_to_filter(t, s, &f, &why, &e)) {
		check(f.text.n == 0 && f.names.n == 0 && f.values.n == 0);
		return;
	}
	check(expr_bindings_new(a, NULL, object(a, &f.names), object(a, &f.values), &b, &e));
	if (!condition_compile(b, FILTER_EXPRESSION, buf_slice(&f.text), &c, &e)) {
		check(memmem(e.message.p, e.message.n, "exceed", 6) != NULL);
		return;
	}
	check(expr_bindings_check_used(b, &e));
	if (term_holds(t, s, &holds, &e))
		check(condition_holds(c, item, a) == holds);
}

static void run_term(struct slice text, struct value item, struct arena *a)
{
	struct row row = row_of(item);
	struct term_scope s = { .ctx = &item,
				.item = &row,
				.fetch = fetch,
				.has_role = yes,
				.may = yes,
				.caller = SLICE("xyz"),
				.now_ms = 1794744000000,
				.arena = a };
	struct place p = { 1, 1, 0 };
	const struct term *t, *again;
	struct buf one, two;
	struct findings f;
	struct value v;
	struct error e;

	findings_init(&f, a);
	t = term_parse(a, text, p, &f);
	check((t == NULL) == (f.count == 1));
	if (!t)
		return;
	buf_init(&one, a);
	buf_init(&two, a);
	term_print(&one, t);
	again = term_parse(a, buf_slice(&one), p, &f);
	if (!again) { /* numbers written out may be longer than a term may be */
		check(one.n > 16384);
		return;
	}
	term_print(&two, again);
	check(slice_equal(buf_slice(&one), buf_slice(&two)));
	if (term_value(t, &s, &v, &e))
		check(!value_present(v) || value_is_valid(v, VALUE_LEVELS_MAX + 1));
	run_filter(t, &s, item, a);
}

static void run_template(struct slice text, struct value item, struct arena *a)
{
	struct row row = row_of(item);
	struct term_scope s = { .item = &row, .arena = a };
	const struct template *t;
	struct slice *values;
	struct findings f;
	struct value v;
	struct error e;

	findings_init(&f, a);
	t = template_parse(a, text, (struct place){ 1, 1, 0 }, &f);
	check((t == NULL) == (f.count == 1));
	if (!t)
		return;
	values = arena_array(a, struct slice, t->part_count);
	(void)template_match(t, text, values);
	if (template_fill(t, &s, true, &v, &e) == TEMPLATE_OK) {
		check(value_is_valid(v, VALUE_LEVELS_MAX + 1));
		check(value_type(v) != VALUE_S || slice_starts(value_bytes(v), template_prefix(t)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_make(data, size);
	struct value item;
	struct arena a;
	struct error e;

	arena_init(&a);
	check(item_from_json(&a, json_parse(&a, slice_str(stored)), &item, &e));
	run_term(text, item, &a);
	run_template(text, item, &a);
	arena_release(&a);
	return 0;
}
