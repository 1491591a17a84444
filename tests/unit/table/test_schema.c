/* Whether items and keys fit a table, with DynamoDB's words when they do not; and capacity units.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "table/internal.h"

#define INVALID "One or more parameter values were invalid: "

static struct fixture f; /* only its arena is used */
static struct index indexes[3];
static struct table t;

static const struct slice extra = { "extra", 5 };

static int setup(void **state)
{
	arena_init(&f.arena);
	indexes[0] = index_of("zeta", "g:S r:N", true, PROJECT_KEYS_ONLY);
	indexes[1] = index_of("alpha", "g:S h:B |", true, PROJECT_ALL);
	indexes[2] = index_of("local", "pk:S l:S", false, PROJECT_INCLUDE);
	indexes[2].include = &extra;
	indexes[2].include_count = 1;
	t = (struct table){ .id = 1,
			    .name = SLICE("Music"),
			    .key = key_schema_of("pk:S sk:N"),
			    .indexes = indexes,
			    .index_count = 3,
			    .has_local_indexes = true };
	return 0;
}

static int teardown(void **state)
{
	arena_release(&f.arena);
	return 0;
}

static void assert_refused(bool ok, const struct error *e, const char *text)
{
	assert_false(ok);
	assert_int_equal(e->code, ERR_VALIDATION);
	assert_string_equal(arena_cstr(&f.arena, e->message), text);
}

static void item_without_its_key_is_refused(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {
		{ "{'sk':{'N':'1'}}", INVALID "Missing the key pk in the item" },
		{ "{'pk':{'S':'a'}}", INVALID "Missing the key sk in the item" },
		{ "{'pk':{'N':'1'},'sk':{'N':'1'}}",
		  INVALID "Type mismatch for key pk expected: S actual: N" },
		{ "{'pk':{'S':''},'sk':{'N':'1'}}",
		  "One or more parameter values are not valid. The AttributeValue for a key "
		  "attribute "
		  "cannot contain an empty string value. Key: pk" },
	};
	/* clang-format on */
	struct item_key k;
	struct error e;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_refused(table_key_of_item(&t, item_of(&f, cases[i][0]), &f.arena, &k, &e), &e, cases[i][1]);
	assert_true(table_key_of_item(&t, item_of(&f, "{'pk':{'S':'a'},'sk':{'N':'1'}}"), &f.arena, &k, &e));
	assert_int_equal(k.pk.n, 1);
	assert_true(k.sk.n > 0);
}

static void key_must_be_exactly_the_key(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{'pk':{'S':'a'}}",
		"{'pk':{'S':'a'},'sk':{'S':'1'}}",
		"{'pk':{'S':'a'},'sk':{'N':'1'},'x':{'S':'a'}}",
		"{'pk':{'S':'a'},'x':{'N':'1'}}",
	};
	struct item_key k;
	struct error e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(table_key_of_key(&t, item_of(&f, bad[i]), &f.arena, &k, &e), &e,
			       "The provided key element does not match the schema");
	assert_true(table_key_of_key(&t, item_of(&f, "{'pk':{'S':'a'},'sk':{'N':'1'}}"), &f.arena, &k, &e));
}

static struct value with_long(const char *name, size_t n)
{
	char *p = arena_alloc(&f.arena, n);
	struct value item = item_of(&f, "{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'g'}}");

	memset(p, 'x', n);
	return value_map_with(&f.arena, item, slice_str(name), value_make_s(&f.arena, slice_make(p, n)));
}

static void keys_have_a_size_limit(void **state)
{
	struct item_key k;
	struct error e;

	assert_true(table_key_of_item(&t, with_long("pk", 2048), &f.arena, &k, &e));
	assert_refused(table_key_of_item(&t, with_long("pk", 2049), &f.arena, &k, &e), &e,
		       INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes");
	t.key.range[0].type = VALUE_S;
	assert_true(table_key_of_item(&t, with_long("sk", 1024), &f.arena, &k, &e));
	assert_refused(table_key_of_item(&t, with_long("sk", 1025), &f.arena, &k, &e), &e,
		       INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 "
			       "bytes");
}

static void index_keys_are_checked_when_present(void **state)
{
	struct error e;

	assert_true(table_check_index_keys(&t, item_of(&f, "{'pk':{'S':'a'}}"), &f.arena, &e));
	assert_refused(table_check_index_keys(&t, item_of(&f, "{'g':{'N':'1'}}"), &f.arena, &e), &e,
		       INVALID "Type mismatch for Index Key g Expected: S Actual: N IndexName: alpha");
	assert_refused(table_check_index_keys(&t, item_of(&f, "{'l':{'S':''}}"), &f.arena, &e), &e,
		       "One or more parameter values are not valid. A value specified for a secondary "
		       "index key is not supported. The AttributeValue for a key attribute cannot contain "
		       "an empty string value. IndexName: local, IndexKey: l");
	assert_refused(table_check_index_keys(&t, with_long("g", 2049), &f.arena, &e), &e,
		       INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes");
}

static void an_update_may_leave_an_old_fault_but_not_make_one(void **state)
{
	struct value old = item_of(&f, "{'g':{'N':'1'},'x':{'N':'1'}}");
	struct value same_fault = item_of(&f, "{'g':{'N':'1'},'x':{'N':'2'}}");
	struct value new_fault = item_of(&f, "{'g':{'N':'2'},'x':{'N':'1'}}");
	struct error e;

	assert_true(table_check_updated_index_keys(&t, old, same_fault, &f.arena, &e));
	assert_refused(table_check_updated_index_keys(&t, old, new_fault, &f.arena, &e), &e,
		       "The update expression attempted to update the secondary index key to unsupported "
		       "type");
	assert_refused(table_check_updated_index_keys(&t, VALUE_ABSENT, item_of(&f, "{'g':{'S':''}}"), &f.arena, &e), &e,
		       "One or more parameter values are not valid. The update expression attempted to "
		       "update a secondary index key to a value that is not supported. The AttributeValue "
		       "for a key attribute cannot contain an empty string value.");
	assert_refused(table_check_updated_index_keys(&t, old, with_long("l", 1025), &f.arena, &e), &e,
		       INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 "
			       "bytes");
}

static void an_index_holds_items_with_all_its_keys(void **state)
{
	assert_true(index_holds(&indexes[0], item_of(&f, "{'g':{'S':'a'},'r':{'N':'1'}}")));
	assert_false(index_holds(&indexes[0], item_of(&f, "{'g':{'S':'a'}}")));
	assert_false(index_holds(&indexes[0], item_of(&f, "{'g':{'S':'a'},'r':{'S':'1'}}")));
	assert_false(index_holds(&indexes[1], item_of(&f, "{'g':{'S':'a'},'h':{'B':''}}")));
	assert_true(index_holds(&indexes[1], item_of(&f, "{'g':{'S':'a'},'h':{'B':'AA=='}}")));
}

static void projections_take_keys_and_what_is_included(void **state)
{
	struct value item = item_of(&f, "{'pk':{'S':'a'},'sk':{'N':'1'},'g':{'S':'g'},'r':{'N':'2'},"
					"'l':{'S':'l'},'extra':{'S':'e'},'other':{'S':'o'}}");

	assert_string_equal(item_text(&f, index_projected(&t, &indexes[0], item, &f.arena)),
			    "{'g':{'S':'g'},'pk':{'S':'a'},'r':{'N':'2'},'sk':{'N':'1'}}");
	assert_true(value_equal(index_projected(&t, &indexes[1], item, &f.arena), item));
	assert_string_equal(item_text(&f, index_projected(&t, &indexes[2], item, &f.arena)),
			    "{'extra':{'S':'e'},'l':{'S':'l'},'pk':{'S':'a'},'sk':{'N':'1'}}");
	assert_string_equal(item_text(&f, table_key_item(&t, NULL, item, &f.arena)), "{'pk':{'S':'a'},'sk':{'N':'1'}}");
	for (size_t i = 0; i < 3; i++) {
		struct value kept = index_projected(&t, &indexes[i], item, &f.arena);
		struct value_iter it = value_iter(item);

		while (value_next(&it))
			assert_int_equal(index_has_attribute(&t, &indexes[i], it.name),
					 value_present(value_get(kept, it.name)));
	}
}

static void items_end_at_400_kilobytes(void **state)
{
	struct value most = with_long("v", 400 * 1024 - 11);
	struct value more = with_long("v", 400 * 1024);
	struct error e;

	assert_true(item_size(most) <= 400 * 1024);
	assert_true(table_check_item_size(most, false, &f.arena, &e));
	assert_refused(table_check_item_size(more, false, &f.arena, &e), &e,
		       "Item size has exceeded the maximum allowed size");
	assert_refused(table_check_item_size(more, true, &f.arena, &e), &e,
		       "Item size to update has exceeded the maximum allowed size");
}

static void arns_name_the_table(void **state)
{
	struct stream s = { .label = SLICE("2027-01-15T08:00:00.000") };
	struct slice arn;

	t.region = SLICE("eu-west-1");
	arn = table_arn(&t, &f.arena);
	assert_string_equal(arena_cstr(&f.arena, arn), "arn:aws:dynamodb:eu-west-1:000000000000:table/Music");
	assert_true(slice_is(table_name_of_arn(arn), "Music"));
	assert_true(slice_is(table_name_of_arn(index_arn(&t, &indexes[0], &f.arena)), "Music"));
	assert_true(slice_is(table_name_of_arn(stream_arn(&t, &s, &f.arena)), "Music"));
	assert_true(slice_is(table_name_of_arn(SLICE("Music")), "Music"));
	assert_true(slice_is(table_name_of_arn(SLICE("arn:aws:s3:::bucket")), "arn:aws:s3:::bucket"));
}

static void a_definition_survives_its_text(void **state)
{
	struct key_attr attributes[] = { { SLICE("pk"), VALUE_S }, { SLICE("sk"), VALUE_N } };
	struct stream closed = { .id = 8,
				 .label = SLICE("l"),
				 .view = STREAM_OLD_IMAGE,
				 .shards = 2,
				 .created_ms = 1,
				 .closed_ms = 2,
				 .first_sequence = UINT64_MAX - 1,
				 .closed_sequence = UINT64_MAX };
	struct stream open = { .id = 9, .label = SLICE("m"), .view = STREAM_NEW_AND_OLD, .shards = 4 };
	struct tag tags[] = { { SLICE("k\"ey"), SLICE("välue") } };
	struct table out;
	struct slice text;

	t.attributes = attributes;
	t.attribute_count = 2;
	t.closed_streams = &closed;
	t.closed_stream_count = 1;
	t.stream = &open;
	t.tags = tags;
	t.tag_count = 1;
	t.ttl = TTL_ENABLED;
	t.ttl_attribute = SLICE("e");
	t.throughput = (struct throughput){ 5, 6, 7, 8, 9 };
	t.deletion_protection = true;
	indexes[0].status = STATUS_CREATING;
	indexes[0].backfilling = true;
	text = table_to_text(&t, &f.arena);
	assert_true(table_from_text(text, &f.arena, &out));
	assert_true(slice_equal(table_to_text(&out, &f.arena), text));
	assert_true(out.closed_streams[0].closed_sequence == UINT64_MAX);
	assert_true(out.has_local_indexes);
	assert_int_equal(out.indexes[0].status, STATUS_CREATING);
	assert_true(slice_is(out.indexes[2].include[0], "extra"));
	assert_false(table_from_text(SLICE("{}"), &f.arena, &out));
	assert_false(table_from_text(SLICE("[1"), &f.arena, &out));
}

static void units_round_up(void **state)
{
	struct capacity c = { .table_units = 1 }, d = { .table_units = 2 };

	assert_true(capacity_write_units(0) == 1);
	assert_true(capacity_write_units(1024) == 1);
	assert_true(capacity_write_units(1025) == 2);
	assert_true(capacity_read_units(0, true) == 1);
	assert_true(capacity_read_units(4097, true) == 2);
	assert_true(capacity_read_units(4096, false) == 0.5);
	c.index_units[3] = 2;
	capacity_add(&c, &d);
	capacity_scale(&c, 2);
	assert_true(capacity_total(&c) == 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(item_without_its_key_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(key_must_be_exactly_the_key, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_have_a_size_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(index_keys_are_checked_when_present, setup, teardown),
		cmocka_unit_test_setup_teardown(an_update_may_leave_an_old_fault_but_not_make_one, setup, teardown),
		cmocka_unit_test_setup_teardown(an_index_holds_items_with_all_its_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(projections_take_keys_and_what_is_included, setup, teardown),
		cmocka_unit_test_setup_teardown(items_end_at_400_kilobytes, setup, teardown),
		cmocka_unit_test_setup_teardown(arns_name_the_table, setup, teardown),
		cmocka_unit_test_setup_teardown(a_definition_survives_its_text, setup, teardown),
		cmocka_unit_test_setup_teardown(units_round_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
