/* CreateTable's and UpdateTable's input: what is refused, in which words, and what comes of the
 * rest. SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "api/op/stream_token.h"
#include "api/op/table_spec.h"

#define PREFIX      "One or more parameter values were invalid: "
#define S(name)     "{\"AttributeName\":\"" name "\",\"AttributeType\":\"S\"}"
#define HASH(name)  "{\"AttributeName\":\"" name "\",\"KeyType\":\"HASH\"}"
#define RANGE(name) "{\"AttributeName\":\"" name "\",\"KeyType\":\"RANGE\"}"
#define ON_DEMAND   ",\"BillingMode\":\"PAY_PER_REQUEST\""
#define UNITS       "{\"ReadCapacityUnits\":1,\"WriteCapacityUnits\":1}"
#define PROVISIONED ",\"ProvisionedThroughput\":" UNITS
#define TABLE(definitions, keys, more) \
	"{\"TableName\":\"abc\",\"AttributeDefinitions\":[" definitions "],\"KeySchema\":[" keys "]" more "}"
#define INDEX(name, keys, more)                                                \
	"{\"IndexName\":\"" name "\",\"KeySchema\":[" keys "],\"Projection\":" \
	"{\"ProjectionType\":\"ALL\"}" more "}"
#define LOCAL(indexes)  ",\"LocalSecondaryIndexes\":[" indexes "]"
#define GLOBAL(indexes) ",\"GlobalSecondaryIndexes\":[" indexes "]"

static struct arena arena;

static int start(void **state)
{
	arena_init(&arena);
	return 0;
}

static int stop(void **state)
{
	arena_release(&arena);
	return 0;
}

static const struct json *parsed(const struct shape *s, const char *body)
{
	const struct json *j = json_parse(&arena, slice_str(body));
	struct error e = { 0 };

	assert_non_null(j);
	assert_true(shape_check(s, j, &arena, &e));
	return j;
}

static struct table create(const char *body)
{
	struct error e = { 0 };
	struct table t;

	assert_true(table_spec_parse(parsed(&shape_create_table, body), &arena, &t, &e));
	return t;
}

static void refuse_create(const char *body, const char *message)
{
	struct error e = { 0 };
	struct table t;

	assert_false(table_spec_parse(parsed(&shape_create_table, body), &arena, &t, &e));
	assert_string_equal(arena_cstr(&arena, e.message), message);
	assert_int_equal(e.code, ERR_VALIDATION);
}

/* ---- CreateTable ---- */

static void billing_mode_and_throughput_must_agree(void **state)
{
	refuse_create(TABLE(S("a"), HASH("a"), ""),
		      PREFIX "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode "
			     "is PROVISIONED");
	refuse_create(TABLE("", HASH("a"), ON_DEMAND PROVISIONED),
		      PREFIX "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
			     "BillingMode is PAY_PER_REQUEST");
	refuse_create(TABLE("", HASH("a"),
			    ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":1000000000001,"
			    "\"WriteCapacityUnits\":1000000000001}"),
		      "Given value 1000000000001 for ReadCapacityUnits is out of bounds");
}

static void every_key_attribute_needs_a_definition(void **state)
{
	refuse_create(TABLE("", HASH("a"), ON_DEMAND), "Invalid KeySchema: Some index key attribute have no definition");
	refuse_create(TABLE(S("a"), HASH("a") "," RANGE("a"), ON_DEMAND),
		      "Invalid KeySchema: Some index key attribute have no definition");
	refuse_create(TABLE(S("b"), HASH("a"), ON_DEMAND),
		      PREFIX "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], "
			     "AttributeDefinitions: [b]");
}

static void names_are_given_once(void **state)
{
	refuse_create(TABLE(S("a") "," S("a"), HASH("a"), ON_DEMAND),
		      PREFIX "Duplicate AttributeName in AttributeDefinitions: a");
	refuse_create(TABLE(S("a") "," S("b"), HASH("a"),
			    ON_DEMAND GLOBAL("{\"IndexName\":\"abc\",\"KeySchema\":[" HASH(
				    "b") "],"
					 "\"Projection\":{\"ProjectionType\":\"INCLUDE\","
					 "\"NonKeyAttributes\":[\"x\",\"y\",\"x\"]}}")),
		      PREFIX "Duplicate attribute in NonKeyAttributes: x");
}

static void every_definition_needs_a_key(void **state)
{
	refuse_create(TABLE(S("a") "," S("b"), HASH("a"), ON_DEMAND),
		      PREFIX "Number of attributes in KeySchema does not exactly match number of attributes "
			     "defined in AttributeDefinitions");
	refuse_create(TABLE(S("a") "," S("b") "," S("c"), HASH("a"), ON_DEMAND GLOBAL(INDEX("abc", HASH("b"), ""))),
		      PREFIX "Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c], keys "
			     "used: [a, b]");
}

static void a_key_is_a_hash_then_a_range(void **state)
{
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," RANGE("a"), ON_DEMAND),
		      "Both the Hash Key and the Range Key element in the KeySchema have the same name");
	refuse_create(TABLE(S("a") "," S("b"), RANGE("a") "," HASH("b"), ON_DEMAND),
		      "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," HASH("b"), ON_DEMAND),
		      "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
}

static void a_local_index_shares_the_hash_key(void **state)
{
	refuse_create(TABLE(S("a") "," S("b"), HASH("a"), ON_DEMAND LOCAL(INDEX("abc", RANGE("c"), ""))),
		      PREFIX "Table KeySchema does not have a range key, which is required when specifying a "
			     "LocalSecondaryIndex");
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," RANGE("b"), ON_DEMAND LOCAL(INDEX("abc", HASH("b"), ""))),
		      PREFIX "Index KeySchema does not have a range key for index: abc");
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," RANGE("b"),
			    ON_DEMAND LOCAL(INDEX("abc", HASH("b") "," RANGE("a"), ""))),
		      PREFIX "Index KeySchema does not have the same leading hash key as table KeySchema for "
			     "index: abc. index hash key: b, table hash key: a");
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," RANGE("b"), ON_DEMAND LOCAL("")),
		      PREFIX "List of LocalSecondaryIndexes is empty");
}

#define L(name) INDEX(name, HASH("a") "," RANGE("b"), "")
static void there_are_five_local_indexes_at_most(void **state)
{
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," RANGE("b"),
			    ON_DEMAND LOCAL(L("ab1") "," L("ab2") "," L("ab3") "," L("ab4") "," L("ab5") "," L("ab6"))),
		      PREFIX "Number of LocalSecondaryIndexes exceeds per-table limit of 5");
}

#define G(name) INDEX(name, HASH("a"), "")
#define G10(x)                                                                                                         \
	G(x "0")                                                                                                       \
	"," G(x "1") "," G(x "2") "," G(x "3") "," G(x "4") "," G(x "5") "," G(x "6") "," G(x "7") "," G(x "8") "," G( \
		x "9")
static void there_are_twenty_global_indexes_at_most(void **state)
{
	struct table t = create(TABLE(S("a"), HASH("a"), ON_DEMAND GLOBAL(G10("ab") "," G10("cd"))));

	assert_int_equal(t.index_count, 20);
	refuse_create(TABLE(S("a"), HASH("a"), ON_DEMAND GLOBAL(G10("ab") "," G10("cd") "," G("efg"))),
		      PREFIX "GlobalSecondaryIndex count exceeds the per-table limit of 20");
	refuse_create(TABLE(S("a"), HASH("a"), ON_DEMAND GLOBAL("")), PREFIX "List of GlobalSecondaryIndexes is empty");
}

static void index_names_are_unique_across_both_kinds(void **state)
{
	refuse_create(TABLE(S("a") "," S("b"), HASH("a") "," RANGE("b"), ON_DEMAND LOCAL(L("abc")) GLOBAL(G("abc"))),
		      PREFIX "Duplicate index name: abc");
}

static void index_capacity_follows_the_billing_mode(void **state)
{
	refuse_create(TABLE(S("a"), HASH("a"), ON_DEMAND GLOBAL(INDEX("abc", HASH("a"), PROVISIONED))),
		      PREFIX "ProvisionedThroughput should not be specified for index: abc when BillingMode is "
			     "PAY_PER_REQUEST");
	refuse_create(TABLE(S("a"), HASH("a"), PROVISIONED GLOBAL(G("abc"))),
		      PREFIX "ProvisionedThroughput must be specified for index: abc");
	refuse_create(TABLE(S("a"), HASH("a"),
			    PROVISIONED ",\"OnDemandThroughput\":"
					"{\"MaxReadRequestUnits\":5}"),
		      PREFIX "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
			     "BillingMode is PROVISIONED.");
	refuse_create(TABLE(S("a"), HASH("a"),
			    ON_DEMAND ",\"OnDemandThroughput\":"
				      "{\"MaxWriteRequestUnits\":0}"),
		      PREFIX "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of "
			     "valid range");
}

#define PROJECTED(projection)                                                  \
	TABLE(S("a"), HASH("a"),                                               \
	      ON_DEMAND ",\"GlobalSecondaryIndexes\":[{\"IndexName\":\"abc\"," \
			"\"KeySchema\":[" HASH("a") "],\"Projection\":{" projection "}}]")
static void a_projection_names_attributes_only_to_include_them(void **state)
{
	struct table t;

	refuse_create(PROJECTED(""), PREFIX "Unknown ProjectionType: null");
	refuse_create(PROJECTED("\"NonKeyAttributes\":[\"z\"]"), PREFIX "Unknown ProjectionType: null");
	refuse_create(PROJECTED("\"ProjectionType\":\"KEYS_ONLY\",\"NonKeyAttributes\":[\"z\"]"),
		      PREFIX "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified");
	refuse_create(PROJECTED("\"ProjectionType\":\"INCLUDE\""),
		      PREFIX "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
	t = create(PROJECTED("\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"y\",\"z\"]"));
	assert_int_equal(t.indexes[0].projection, PROJECT_INCLUDE);
	assert_int_equal(t.indexes[0].include_count, 2);
	assert_true(slice_is(t.indexes[0].include[1], "z"));
}

#define FIVE S("a") "," S("b") "," S("c") "," S("d") "," S("e")
static void a_global_key_has_four_hashes_then_four_ranges(void **state)
{
	struct table t =
		create(TABLE(FIVE, HASH("a"),
			     ON_DEMAND GLOBAL(INDEX("abc", HASH("b") "," HASH("c") "," RANGE("d") "," RANGE("e"), ""))));

	assert_int_equal(t.indexes[0].key.hash_count, 2);
	assert_int_equal(t.indexes[0].key.range_count, 2);
	assert_true(slice_is(t.indexes[0].key.range[1].name, "e"));
	refuse_create(TABLE(FIVE, HASH("a"), ON_DEMAND GLOBAL(INDEX("abc", HASH("b") "," RANGE("c") "," HASH("d"), ""))),
		      PREFIX "All HASH key attributes must precede RANGE key attributes in the KeySchema");
	refuse_create(TABLE(FIVE, HASH("a"),
			    ON_DEMAND GLOBAL(
				    INDEX("abc", HASH("a") "," HASH("b") "," HASH("c") "," HASH("d") "," HASH("e"), ""))),
		      PREFIX "The KeySchema exceeds the maximum allowed number of HASH key attributes");
	refuse_create(TABLE(FIVE, HASH("a"), ON_DEMAND GLOBAL(INDEX("abc", RANGE("b"), ""))),
		      "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
}

static void a_view_type_belongs_to_an_enabled_stream(void **state)
{
	struct table t = create(TABLE(S("a"), HASH("a"),
				      ON_DEMAND ",\"StreamSpecification\":{"
						"\"StreamEnabled\":true,\"StreamViewType\":\"OLD_IMAGE\"}"));

	assert_int_equal(t.stream->view, STREAM_OLD_IMAGE);
	refuse_create(TABLE(S("a"), HASH("a"),
			    ON_DEMAND ",\"StreamSpecification\":{"
				      "\"StreamEnabled\":false,\"StreamViewType\":\"OLD_IMAGE\"}"),
		      PREFIX "Table is being created with a stream disabled, UpdateViewType should not be "
			     "specified");
}

static void tags_are_distinct_and_not_reserved(void **state)
{
	refuse_create(TABLE(S("a"), HASH("a"),
			    ON_DEMAND ",\"Tags\":[{\"Key\":\"k\",\"Value\":\"\"},"
				      "{\"Key\":\"k\",\"Value\":\"\"}]"),
		      PREFIX "Duplicate tag key: k");
	refuse_create(TABLE(S("a"), HASH("a"), ON_DEMAND ",\"Tags\":[{\"Key\":\"aws:x\",\"Value\":\"\"}]"),
		      PREFIX "Tag keys must not start with aws: (aws:x)");
}

static void a_table_may_be_named_by_arn(void **state)
{
	struct table t = create("{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/some\","
				"\"AttributeDefinitions\":[" S("a") "],\"KeySchema\":[" HASH("a") "]" ON_DEMAND "}");

	assert_true(slice_is(t.name, "some"));
}

/* ---- UpdateTable ---- */

#define UPDATE(members) "{\"TableName\":\"abc\"," members "}"
#define CHANGES(list)   "\"GlobalSecondaryIndexUpdates\":[" list "]"

static struct table on_demand_table(void)
{
	return create(TABLE(S("a") "," S("b"), HASH("a"), ON_DEMAND GLOBAL(INDEX("old", HASH("b"), ""))));
}

static struct table_change update(const struct table *t, const char *body)
{
	const struct json *in = parsed(&shape_update_table, body);
	struct error e = { 0 };
	struct table_change c;

	assert_true(table_change_check(in, &arena, &e));
	assert_true(table_change_parse(in, t, &arena, &c, &e));
	return c;
}

static void refuse_check(const char *body, const char *message)
{
	struct error e = { 0 };

	assert_false(table_change_check(parsed(&shape_update_table, body), &arena, &e));
	assert_string_equal(arena_cstr(&arena, e.message), message);
}

static void refuse_update(const struct table *t, const char *body, enum err code, const char *message)
{
	const struct json *in = parsed(&shape_update_table, body);
	struct error e = { 0 };
	struct table_change c;

	assert_true(table_change_check(in, &arena, &e));
	assert_false(table_change_parse(in, t, &arena, &c, &e));
	assert_string_equal(arena_cstr(&arena, e.message), message);
	assert_int_equal(e.code, code);
}

static void an_update_must_change_something(void **state)
{
	refuse_check(UPDATE(CHANGES("")),
		     "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
		     "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
	refuse_check(UPDATE("\"BillingMode\":\"PROVISIONED\""),
		     PREFIX "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
	refuse_check(UPDATE(CHANGES("{}")),
		     PREFIX "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
			    "GlobalSecondaryIndexUpdate.Delete must not be null");
	refuse_check(UPDATE(CHANGES("{\"Delete\":{\"IndexName\":\"abc\"}},{\"Delete\":{\"IndexName\":\"abc\"}}")),
		     PREFIX "Only one global secondary index update per index is allowed simultaneously. "
			    "Index: abc");
	refuse_check(UPDATE("\"StreamSpecification\":{\"StreamEnabled\":false,"
			    "\"StreamViewType\":\"KEYS_ONLY\"}"),
		     PREFIX "If stream is being disabled, then UpdateViewType must not be specified");
}

static void an_on_demand_table_takes_no_throughput(void **state)
{
	struct table t = on_demand_table();

	refuse_update(&t, UPDATE("\"ProvisionedThroughput\":" UNITS), ERR_VALIDATION,
		      PREFIX "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
			     "BillingMode is PAY_PER_REQUEST");
}

static void going_provisioned_needs_every_index(void **state)
{
	struct table t = on_demand_table();
	struct table_change c;

	refuse_update(&t, UPDATE("\"BillingMode\":\"PROVISIONED\",\"ProvisionedThroughput\":" UNITS), ERR_VALIDATION,
		      PREFIX "ProvisionedThroughput must be specified for index: old");
	c = update(&t, UPDATE("\"BillingMode\":\"PROVISIONED\",\"ProvisionedThroughput\":" UNITS
			      "," CHANGES("{\"Update\":{\"IndexName\":\"old\",\"ProvisionedThroughput\":" UNITS "}}")));
	assert_true(c.has_billing);
	assert_false(c.on_demand);
	assert_int_equal(c.indexes[0].index.throughput.read, 1);
}

static void one_index_is_made_or_removed_at_a_time(void **state)
{
	struct table t = on_demand_table();

	refuse_update(&t,
		      UPDATE(CHANGES("{\"Delete\":{\"IndexName\":\"abc\"}},"
				     "{\"Delete\":{\"IndexName\":\"abd\"}}")),
		      ERR_LIMIT_EXCEEDED,
		      "Subscriber limit exceeded: Only 1 online index can be created or deleted "
		      "simultaneously per table");
}

static void a_new_index_brings_its_definitions(void **state)
{
	struct table t = on_demand_table();
	struct table_change c = update(&t, UPDATE("\"AttributeDefinitions\":[" S("b") "," S("n") "," S("x") "]," CHANGES(
						   "{\"Create\":" INDEX("new", HASH("n") "," RANGE("b"), "") "}")));

	assert_int_equal(c.attribute_count, 1); /* the table has a and b, nobody uses x */
	assert_true(slice_is(c.attributes[0].name, "n"));
	assert_int_equal(c.indexes[0].kind, GSI_CREATE);
	assert_int_equal(c.indexes[0].index.key.range[0].type, VALUE_S);
	refuse_update(&t, UPDATE(CHANGES("{\"Create\":" INDEX("new", HASH("n"), "") "}")), ERR_VALIDATION,
		      PREFIX "Some index key attributes are not defined in AttributeDefinitions. Keys: [n], "
			     "AttributeDefinitions: []");
	refuse_update(&t, UPDATE(CHANGES("{\"Create\":" INDEX("new", HASH("b"), "") "}")), ERR_VALIDATION,
		      PREFIX "Some index key attributes are not defined in AttributeDefinitions. Keys: [b], "
			     "AttributeDefinitions: []"); /* though the table knows it */
}

static void an_attribute_keeps_its_type(void **state)
{
	struct table t = on_demand_table();

	refuse_update(&t,
		      UPDATE("\"AttributeDefinitions\":[{\"AttributeName\":\"b\",\"AttributeType\":"
			     "\"N\"}]," CHANGES("{\"Create\":" INDEX("new", HASH("b"), "") "}")),
		      ERR_VALIDATION,
		      PREFIX "Attributes cannot be redefined. Please check that your attribute has the same "
			     "type as previously defined. Existing schema: Schema:[SchemaElement: "
			     "key{b:S:HASH}] New schema: Schema:[SchemaElement: key{b:N:HASH}]");
}

static void an_index_is_made_or_removed_not_both(void **state)
{
	refuse_check(UPDATE(CHANGES("{\"Create\":" INDEX("new", HASH("b"), "") ","
									       "\"Delete\":{\"IndexName\":\"old\"}}")),
		     PREFIX "Only one of GlobalSecondaryIndexUpdate.Update, "
			    "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete can "
			    "be specified");
}

static void settings_not_named_stay(void **state)
{
	struct table t = on_demand_table();
	struct table_change c = update(&t, UPDATE("\"DeletionProtectionEnabled\":true"));

	assert_true(c.has_deletion_protection && c.deletion_protection);
	assert_false(c.has_billing || c.has_throughput || c.has_stream || c.has_table_class || c.has_sse);
	assert_false(c.has_on_demand_limits);
	c = update(&t, UPDATE("\"StreamSpecification\":{\"StreamEnabled\":false}"));
	assert_true(c.has_stream);
	assert_int_equal(c.stream, STREAM_NONE);
}

/* ---- names of the Streams API ---- */

static void a_shard_iterator_comes_back_as_it_went(void **state)
{
	struct shard_iterator it = { .arn = SLICE("arn:aws:dynamodb:eu:0:table/a|b/stream/2026"),
				     .shard = { .era = 77, .number = 3 },
				     .before = 5,
				     .sequence = UINT64_MAX,
				     .at_end = true,
				     .issued_ms = 1763208000123 };
	struct shard_iterator back;

	assert_true(shard_iterator_parse(shard_iterator_text(&it, &arena), &arena, &back));
	assert_true(slice_equal(back.arn, it.arn));
	assert_true(back.shard.number == 3 && back.shard.era == 77 && back.before == 5);
	assert_true(back.sequence == UINT64_MAX && back.at_end);
	assert_int_equal(back.issued_ms, it.issued_ms);
}

static void other_iterators_are_refused(void **state)
{
	static const char *const wrong[] = { "", "A", "AAAA", "!!!!", "fHx8fA==" };
	struct shard_iterator back;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(shard_iterator_parse(slice_str(wrong[i]), &arena, &back));
}

static void a_shard_id_belongs_to_its_stream(void **state)
{
	struct stream s = { .created_ms = 1763208000123, .shards = 4 };
	struct slice id = shard_id_text(&s, (struct shard){ 0, 2 }, &arena);
	struct shard shard;

	assert_true(slice_is(id, "shardId-00000001763208000123-00000002"));
	assert_true(shard_id_parse(&s, true, id, &shard));
	assert_true(shard.era == 0 && shard.number == 2);
	assert_false(shard_id_parse(&s, true, shard_id_text(&s, (struct shard){ 0, 4 }, &arena), &shard));
	s.created_ms++;
	assert_false(shard_id_parse(&s, true, id, &shard));
}

static void a_sequence_number_has_21_digits(void **state)
{
	uint64_t v;

	assert_string_equal(sequence_text(42, &arena).p, "000000000000000000042");
	assert_true(sequence_parse(SLICE("000000000000000000042"), &v));
	assert_int_equal(v, 42);
	assert_false(sequence_parse(SLICE("000000000000000000x42"), &v));
	assert_false(sequence_parse(SLICE("99999999999999999999999"), &v));
	assert_false(sequence_parse(SLICE(""), &v));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(billing_mode_and_throughput_must_agree),
		TEST(every_key_attribute_needs_a_definition),
		TEST(every_definition_needs_a_key),
		TEST(names_are_given_once),
		TEST(a_key_is_a_hash_then_a_range),
		TEST(a_local_index_shares_the_hash_key),
		TEST(there_are_five_local_indexes_at_most),
		TEST(there_are_twenty_global_indexes_at_most),
		TEST(index_names_are_unique_across_both_kinds),
		TEST(index_capacity_follows_the_billing_mode),
		TEST(a_projection_names_attributes_only_to_include_them),
		TEST(a_global_key_has_four_hashes_then_four_ranges),
		TEST(a_view_type_belongs_to_an_enabled_stream),
		TEST(tags_are_distinct_and_not_reserved),
		TEST(a_table_may_be_named_by_arn),
		TEST(an_update_must_change_something),
		TEST(an_on_demand_table_takes_no_throughput),
		TEST(going_provisioned_needs_every_index),
		TEST(one_index_is_made_or_removed_at_a_time),
		TEST(a_new_index_brings_its_definitions),
		TEST(an_attribute_keeps_its_type),
		TEST(an_index_is_made_or_removed_not_both),
		TEST(settings_not_named_stay),
		TEST(a_shard_iterator_comes_back_as_it_went),
		TEST(other_iterators_are_refused),
		TEST(a_shard_id_belongs_to_its_stream),
		TEST(a_sequence_number_has_21_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
