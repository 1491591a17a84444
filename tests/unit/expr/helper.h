/* What the tests of expressions share: a fresh arena per test, and JSON in and out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_EXPR_HELPER_H
#define THORPE_TESTS_EXPR_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "expr/expr.h"
#include "value/codec.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct arena arena;

__attribute__((unused)) static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

__attribute__((unused)) static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Single quotes stand for double ones. NULL stays NULL. */
__attribute__((unused)) static const struct json *json(const char *text)
{
	const struct json *j;
	char *copy;

	if (!text)
		return NULL;
	copy = arena_cstr(&arena, slice_str(text));
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	j = json_parse(&arena, slice_str(copy));
	if (!j)
		fail_msg("not JSON: %s", copy);
	return j;
}

__attribute__((unused)) static struct value item(const char *text)
{
	struct error e = { 0 };
	struct value v = VALUE_ABSENT;

	if (!item_from_json(&arena, json(text), &v, &e))
		fail_msg("%s: %.*s", text, SLICE_ARG(e.message));
	return v;
}

__attribute__((unused)) static struct expr_bindings *bindings(const char *names, const char *values)
{
	struct expr_bindings *b = NULL;
	struct error e = { 0 };

	if (!expr_bindings_new(&arena, NULL, json(names), json(values), &b, &e))
		fail_msg("bindings: %.*s", SLICE_ARG(e.message));
	return b;
}

/* An item as JSON with single quotes; "-" when absent. */
__attribute__((unused)) static const char *printed(struct value v)
{
	struct buf b;

	if (!value_present(v))
		return "-";
	buf_init(&b, &arena);
	item_to_json(&b, v);
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i] == '"')
			b.p[i] = '\'';
	buf_byte(&b, 0);
	return b.p;
}

__attribute__((unused)) static const char *message(const struct error *e)
{
	return arena_cstr(&arena, e->message);
}

__attribute__((unused)) static void expect(const char *what, const char *got, const char *wanted)
{
	if (strcmp(got, wanted) != 0)
		fail_msg("%s\n  gives  %s\n  wanted %s", what, got, wanted);
}

#endif
