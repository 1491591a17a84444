/* The schema of designs: every word has a shape, and nothing keeps it from being written.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "design/load/load.h"
#include "json/json.h"

static void see_word(void *ctx, const struct load_word *w, const char *of)
{
	size_t *seen = ctx;

	++*seen;
	if (w->type == WORD_OWN && !w->shape)
		fail_msg("'%s' of %s has a reader and no shape: add .shape to its row (design/load/shape.h)", w->name,
			 of);
	if (w->type != WORD_OWN && w->shape)
		fail_msg("'%s' of %s has a type, which says its shape: leave .shape out", w->name, of);
}

static void every_word_with_a_reader_has_a_shape(void **state)
{
	size_t seen = 0;

	(void)state;
	load_each_word(see_word, &seen);
	assert_true(seen > 90);
}

static void it_is_json(void **state)
{
	const struct json *j;
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	buf_init(&b, &a);
	design_schema(&b);
	j = json_parse(&a, buf_slice(&b));
	assert_true(json_is(json_get(j, "properties"), JSON_OBJECT));
	assert_true(json_is(json_get(j, "$defs"), JSON_OBJECT));
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_with_a_reader_has_a_shape),
		cmocka_unit_test(it_is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
