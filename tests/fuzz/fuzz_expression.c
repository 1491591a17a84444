/* Any text as any kind of expression: compiled, and evaluated against one item.
 * The first byte picks the kind, the rest is the text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "expr/expr.h"
#include "value/codec.h"

static const char names[] = "{\"#a\":\"a\",\"#b\":\"b.c\"}";
static const char values[] = "{\":s\":{\"S\":\"x\"},\":n\":{\"N\":\"1\"},\":m\":{\"N\":\"-9e125\"},"
			     "\":l\":{\"L\":[{\"S\":\"x\"}]},\":t\":{\"S\":\"N\"},\":z\":{\"SS\":[\"a\",\"b\"]},"
			     "\":y\":{\"NS\":[\"1\"]},\":o\":{\"BOOL\":true},\":u\":{\"NULL\":true},"
			     "\":p\":{\"M\":{\"k\":{\"B\":\"AAAA\"}}},\":b\":{\"B\":\"AA==\"}}";
static const char stored[] = "{\"a\":{\"S\":\"xyz\"},\"b\":{\"N\":\"41\"},\"c\":{\"SS\":[\"a\",\"c\"]},"
			     "\"l\":{\"L\":[{\"N\":\"1\"},{\"M\":{\"k\":{\"S\":\"v\"}}},{\"L\":[]}]},"
			     "\"m\":{\"M\":{\"k\":{\"N\":\"1\"},\"l\":{\"L\":[{\"S\":\"q\"}]}}},\"d\":{\"B\":\"AAAA\"}}";

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void run_update(struct expr_bindings *b, struct slice text, struct value item, struct arena *a)
{
	const struct update *u;
	struct error e;
	struct value new, part;

	if (!update_compile(b, text, &u, &e) || !update_apply(u, item, a, &new, &e))
		return;
	check(value_is_valid(new, VALUE_LEVELS_MAX + 1));
	part = update_touched(u, new, a);
	check(!value_present(part) || value_is_valid(part, VALUE_LEVELS_MAX + 1));
}

static void run(uint8_t kind, struct slice text, struct arena *a)
{
	const struct condition *c;
	const struct projection *p;
	struct expr_bindings *b;
	struct key_term *terms;
	struct value item;
	struct error e;
	size_t n;

	check(item_from_json(a, json_parse(a, slice_str(stored)), &item, &e));
	check(expr_bindings_new(a, NULL, json_parse(a, slice_str(names)), json_parse(a, slice_str(values)), &b, &e));
	switch (kind % 4) {
	case 0:
		if (condition_compile(b, FILTER_EXPRESSION, text, &c, &e)) {
			(void)condition_holds(c, item, a);
			(void)condition_holds(c, VALUE_ABSENT, a);
		}
		break;
	case 1: run_update(b, text, item, a); break;
	case 2:
		if (projection_compile(b, text, &p, &e))
			check(value_is_valid(projection_apply(p, item, a), VALUE_LEVELS_MAX + 1));
		break;
	default:
		if (key_condition_compile(b, text, &c, &e))
			(void)!key_condition_terms(a, c, &terms, &n, &e);
		break;
	}
	(void)!expr_bindings_check_used(b, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;

	if (size == 0)
		return 0;
	arena_init(&a);
	run(data[0], slice_make(data + 1, size - 1), &a);
	arena_release(&a);
	return 0;
}
