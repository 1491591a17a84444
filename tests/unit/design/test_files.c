/* Attributes that hold files, and every kind of error «exactly» where it is. SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#define BASE                           \
	"design: shop\n"               \
	"table: Shop\n"                \
	"key: [PK, SK]\n"              \
	"stream: new and old images\n" \
	"entities:\n"                  \
	"  Thing:\n"                   \
	"    path: /things/<id>\n"     \
	"    keys: {PK: T#<id>, SK: T}\n"
#define ATTRIBUTES          \
	"    attributes:\n" \
	"      id: string\n"

static void files_have_types_and_a_length(void **state)
{
	const struct design *d =
		load_well(BASE ATTRIBUTES "      a: file image/png | image/webp up to 5 MB, required\n"
					  "      b: list of file image/* | video/mp4 up to 1 GB 0..10\n"
					  "      c: file up to 64 KB\n"
					  "      d: file application/pdf up to 3 MB, private, when c is present\n"
					  "      e: = c.size\n"
					  "    check:\n"
					  "      a.size < 1000: too long\n");
	const struct entity *e = design_entity(d, SLICE("Thing"));
	const struct attribute *a = entity_attribute(e, SLICE("a")), *b = entity_attribute(e, SLICE("b"));
	const struct attribute *c = entity_attribute(e, SLICE("c"));

	(void)state;
	assert_true(a->required && a->type == ATTR_MAP);
	assert_int_equal(a->file->type_count, 2);
	assert_int_equal(a->file->most, 5 << 20);
	assert_true(structure_member(a->members, SLICE("size"))->max == 5 << 20);
	assert_true(file_rule_allows(a->file, SLICE("image/webp")));
	assert_false(file_rule_allows(a->file, SLICE("image/gif")));
	assert_null(b->file);
	assert_ptr_equal(attribute_file(b), b->each->file);
	assert_true(b->has_max && b->max == 10);
	assert_true(file_rule_allows(b->each->file, SLICE("image/anything")));
	assert_false(file_rule_allows(b->each->file, SLICE("images/x")));
	assert_true(file_rule_allows(c->file, SLICE("text/html")));
	assert_int_equal(c->file->most, 64 << 10);
	SLICE_IS(file_rule_text(&arena, a->file), "image/png or image/webp of at most 5 MB");
	SLICE_IS(file_rule_text(&arena, b->each->file), "image/* or video/mp4 of at most 1 GB");
	SLICE_IS(file_rule_text(&arena, c->file), "of at most 64 KB");
	assert_true(entity_has_files(e) && design_has_files(d));
}

static void what_is_wrong_with_a_file_is_said_where_it_is(void **state)
{
	static const struct {
		const char *text, *rule, *says;
	} cases[] = {
		{ "      «a»: file\n", "wrong-value", "how long a file may be" },
		{ "      «a»: file image/png\n", "wrong-value", "how long a file may be" },
		{ "      a: file up to «5»\n", "wrong-value", "how long a file may be" },
		{ "      a: file up to «5 TB»\n", "wrong-value", "at most 1 GB" },
		{ "      a: file up to «2 GB»\n", "wrong-value", "at most 1 GB" },
		{ "      a: file up to «0 MB»\n", "wrong-value", "at most 1 GB" },
		{ "      a: file «png» up to 5 MB\n", "wrong-value", "expected a media type" },
		{ "      a: file «image/PNG» up to 5 MB\n", "wrong-value", "expected a media type" },
		{ "      a: file image/png | «image/png» up to 5 MB\n", "duplicate-key", "twice" },
		{ "      «a»: file up to 5 MB, compressed\n", "wrong-clause", "a file is uploaded" },
		{ "      «a»: file up to 5 MB, default x\n", "wrong-clause", "a file is uploaded" },
		{ "      a: {«b»: file up to 5 MB}\n", "wrong-clause", "'file' is for attributes of items" },
		{ "      a: file up to 5 MB\n      «b»: copy of Thing(id).a\n", "wrong-type",
		  "belongs to one attribute of one item" },
		{ "      a: file up to 5 MB\n    actions: {x: {set: {«a»: id}}}\n", "wrong-type", "only a client" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_error(arena_cstr(&arena, arena_printf(&arena, "%s%s", BASE ATTRIBUTES, cases[i].text)),
			     cases[i].rule, cases[i].says);
}

static void something_has_to_see_that_a_file_is_not_used(void **state)
{
	(void)state;
	expect_error("design: shop\n"
		     "table: Shop\n"
		     "key: [PK, SK]\n"
		     "entities:\n"
		     "  Thing:\n"
		     "    path: /things/<id>\n"
		     "    keys: {PK: T#<id>, SK: T}\n" ATTRIBUTES "      «a»: file up to 5 MB\n",
		     "no-stream", "stream: new and old images");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_have_types_and_a_length, begin, end),
		cmocka_unit_test_setup_teardown(what_is_wrong_with_a_file_is_said_where_it_is, begin, end),
		cmocka_unit_test_setup_teardown(something_has_to_see_that_a_file_is_not_used, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
