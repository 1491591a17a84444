/* The same for CloudFormation, Terraform and IAM; tags; what it costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include "deploy_helper.h"

#define WHOLE INDEXES STREAM TTL

/* ---- CloudFormation ---- */

static bool is_one_of(struct slice name, const char *words)
{
	for (const char *at = words; *at;) {
		size_t n = strcspn(at, " ");

		if (name.n == n && !memcmp(name.p, at, n))
			return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

static void assert_members(const struct json *obj, const char *words)
{
	assert_true(json_is(obj, JSON_OBJECT));
	for (size_t i = 0; i < obj->count; i++)
		if (!is_one_of(obj->members[i].name, words))
			fail_msg("%.*s is none of: %s", SLICE_ARG(obj->members[i].name), words);
}

static void assert_keys(const struct json *schema)
{
	assert_true(json_is(schema, JSON_ARRAY) && schema->count);
	for (size_t i = 0; i < schema->count; i++)
		assert_members(&schema->items[i], "AttributeName KeyType");
}

/* The names of
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html */
static void assert_table(const struct json *resource)
{
	const struct json *p = json_get(resource, "Properties"), *indexes = json_get(p, "GlobalSecondaryIndexes");

	assert_members(resource, "Type DeletionPolicy UpdateReplacePolicy Properties");
	assert_true(slice_is(json_get(resource, "Type")->string, "AWS::DynamoDB::Table"));
	assert_true(slice_is(json_get(resource, "DeletionPolicy")->string, "Retain"));
	assert_members(
		p,
		"AttributeDefinitions BillingMode ContributorInsightsSpecification DeletionProtectionEnabled "
		"GlobalSecondaryIndexes ImportSourceSpecification KeySchema KinesisStreamSpecification LocalSecondaryIndexes "
		"OnDemandThroughput PointInTimeRecoverySpecification ProvisionedThroughput ResourcePolicy SSESpecification "
		"StreamSpecification TableClass TableName Tags TimeToLiveSpecification WarmThroughput");
	assert_keys(json_get(p, "KeySchema"));
	for (size_t i = 0; i < json_get(p, "AttributeDefinitions")->count; i++)
		assert_members(&json_get(p, "AttributeDefinitions")->items[i], "AttributeName AttributeType");
	for (size_t i = 0; json_is(indexes, JSON_ARRAY) && i < indexes->count; i++) {
		assert_members(&indexes->items[i],
			       "ContributorInsightsSpecification IndexName KeySchema OnDemandThroughput Projection "
			       "ProvisionedThroughput WarmThroughput");
		assert_keys(json_get(&indexes->items[i], "KeySchema"));
		assert_members(json_get(&indexes->items[i], "Projection"), "NonKeyAttributes ProjectionType");
	}
	if (json_get(p, "StreamSpecification"))
		assert_members(json_get(p, "StreamSpecification"), "StreamViewType ResourcePolicy");
	assert_members(json_get(p, "TimeToLiveSpecification"), "AttributeName Enabled");
	if (json_get(p, "PointInTimeRecoverySpecification"))
		assert_members(json_get(p, "PointInTimeRecoverySpecification"),
			       "PointInTimeRecoveryEnabled RecoveryPeriodInDays");
	for (size_t i = 0; i < json_get(p, "Tags")->count; i++)
		assert_members(&json_get(p, "Tags")->items[i], "Key Value");
}

static void the_template_has_both_tables_in_the_words_of_cloudformation(void **state)
{
	struct fixture *f = *state;
	struct deploy_want w = want(f, WHOLE);
	struct slice text = deploy_cloudformation(&w, &f->arena);
	const struct json *template = json_parse(&f->arena, text), *resources = json_get(template, "Resources"), *p;

	assert_non_null(template);
	assert_members(template, "AWSTemplateFormatVersion Description Resources Outputs");
	assert_members(resources, "Table ThorpeTable ServerPolicy");
	assert_table(json_get(resources, "Table"));
	assert_table(json_get(resources, "ThorpeTable"));
	p = json_get(json_get(resources, "Table"), "Properties");
	assert_true(slice_is(json_get(p, "TableName")->string, "Notes"));
	assert_int_equal(json_get(p, "GlobalSecondaryIndexes")->count, 2);
	assert_int_equal(json_get(p, "AttributeDefinitions")->count, 4);
	assert_true(json_get(p, "DeletionProtectionEnabled")->boolean);
	p = json_get(json_get(resources, "ThorpeTable"), "Properties");
	assert_true(slice_is(json_get(p, "TableName")->string, "Notes.thorpe"));
	assert_true(slice_is(json_get(json_get(p, "TimeToLiveSpecification"), "AttributeName")->string, "expires"));
	assert_members(json_get(json_get(resources, "ServerPolicy"), "Properties"), "Description PolicyDocument");
	assert_members(json_get(template, "Outputs"), "TableArn StreamArn ThorpeTableArn ServerPolicyArn");
}

static void a_design_without_a_stream_has_no_output_of_one(void **state)
{
	struct fixture *f = *state;
	struct deploy_want w = want(f, TTL "billing: {read: 3, write: 4}\n");
	struct slice text = deploy_cloudformation(&w, &f->arena), terraform = deploy_terraform(&w, &f->arena);

	assert_false(has(text, "StreamArn"));
	assert_false(has(text, "Stream"));
	assert_false(has(text, "/index/"));
	assert_has(text, "\"WriteCapacityUnits\": 4");
	assert_has(text, "\"BillingMode\": \"PROVISIONED\"");
	assert_false(has(terraform, "stream"));
	assert_has(terraform, "  billing_mode                = \"PROVISIONED\"\n"
			      "  read_capacity               = 3\n  write_capacity              = 4\n");
}

/* ---- Terraform ---- */

static void assert_balanced(struct slice text)
{
	int depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '\\' && quoted)
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && strchr("{[(", c))
			depth++;
		else if (!quoted && strchr("}])", c))
			assert_true(--depth >= 0);
		else if (c == '\n')
			assert_false(quoted);
	}
	assert_int_equal(depth, 0);
}

static void terraform_gets_the_same(void **state)
{
	struct fixture *f = *state;
	struct deploy_want w = want(f, WHOLE);
	struct slice text = deploy_terraform(&w, &f->arena);

	assert_balanced(text);
	assert_has(text, "resource \"aws_dynamodb_table\" \"table\" {\n"
			 "  name                        = \"Notes\"\n"
			 "  billing_mode                = \"PAY_PER_REQUEST\"\n"
			 "  hash_key                    = \"PK\"\n"
			 "  range_key                   = \"SK\"\n"
			 "  stream_enabled              = true\n"
			 "  stream_view_type            = \"NEW_IMAGE\"\n"
			 "  deletion_protection_enabled = true\n");
	assert_has(text, "  attribute {\n    name = \"G2\"\n    type = \"N\"\n  }\n");
	assert_has(text, "    name               = \"byKind\"\n"
			 "    projection_type    = \"INCLUDE\"\n"
			 "    non_key_attributes = [\"score\"]\n\n"
			 "    key_schema {\n      attribute_name = \"G1\"\n      key_type       = \"HASH\"\n    }\n");
	assert_has(text, "  ttl {\n    enabled        = true\n    attribute_name = \"expires\"\n  }\n");
	assert_has(text, "  point_in_time_recovery {\n    enabled = true\n  }\n");
	assert_has(text, "\"${aws_dynamodb_table.table.arn}/index/*\"");
	assert_has(text, "output \"stream_arn\" {\n  value = aws_dynamodb_table.table.stream_arn\n}\n");
}

static void names_are_no_templates_for_terraform(void **state)
{
	struct fixture *f = *state;
	struct design d = *design(f, TTL);
	struct deploy_want w;
	struct slice text;

	d.ttl = SLICE("a\"b\\${c}%{d}\n$");
	deploy_want(&d, &f->options, &f->arena, &w);
	text = deploy_terraform(&w, &f->arena);
	assert_has(text, "attribute_name = \"a\\\"b\\\\$${c}%%{d}\\u000a$\"\n");
	assert_balanced(text);
}

/* ---- IAM ---- */

static void servers_get_the_least_rights(void **state)
{
	struct fixture *f = *state;
	struct deploy_want w = want(f, WHOLE);
	struct slice text = deploy_policy(&w, false, "eu-west-1", &f->arena);

	assert_non_null(json_parse(&f->arena, text));
	assert_has(text, "\"arn:aws:dynamodb:eu-west-1:*:table/Notes\"");
	assert_has(text, "\"arn:aws:dynamodb:eu-west-1:*:table/Notes.thorpe\"");
	assert_has(text, "\"arn:aws:dynamodb:eu-west-1:*:table/Notes/stream/*\"");
	assert_has(text, "dynamodb:ConditionCheckItem");
	assert_false(has(text, "CreateTable"));
	assert_false(has(text, "UpdateTable"));
	assert_false(has(text, "DeleteTable"));
	assert_false(has(text, "Scan"));
	assert_false(has(text, "dynamodb:*"));
	text = deploy_policy(&w, true, "cn-north-1", &f->arena);
	assert_has(text, "\"arn:aws-cn:dynamodb:cn-north-1:*:table/Notes\"");
	assert_has(text, "dynamodb:CreateTable");
	assert_false(has(text, "PutItem"));
	assert_false(has(text, "Delete"));
}

/* ---- tags ---- */

static void tags_are_as_aws_takes_them(void **state)
{
	/* clang-format off */
	static const struct {
		const char *key, *value;
		bool valid;
	} all[] = {
		{ "team", "search", true },
		{ "cost centre:1/2=@+-_.", "", true },
		{ "größe", "x", true },
		{ "", "x", false },
		{ "aws:x", "x", false },
		{ "a\"b", "x", false },
		{ "a", "x\n", false },
		{ "a", "x{", false },
	};
	/* clang-format on */
	char long_key[130];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct deploy_tag t = { slice_str(all[i].key), slice_str(all[i].value) };

		if (deploy_tag_is_valid(&t) != all[i].valid)
			fail_msg("%s=%s", all[i].key, all[i].value);
	}
	memset(long_key, 'k', 129);
	assert_false(deploy_tag_is_valid(&(struct deploy_tag){ slice_make(long_key, 129), SLICE("") }));
	assert_true(deploy_tag_is_valid(&(struct deploy_tag){ slice_make(long_key, 128), SLICE("") }));
}

/* ---- cost ---- */

#define LIST                             \
	"access:\n"                      \
	"  notes of kind:\n"             \
	"    path: /kinds/<kind>\n"      \
	"    query: byKind\n"            \
	"    where: {G1: KIND#<kind>}\n" \
	"    limit: 16\n"

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * fmax(1, fabs(b)))
		fail_msg("%f, expected %f", a, b);
}

static struct deploy_cost cost_of(struct fixture *f, const char *head, struct deploy_load l)
{
	struct deploy_want w = want(f, head);
	struct deploy_cost c;

	deploy_cost(&w, NULL, &l, &f->arena, &c);
	return c;
}

/* A note is one action, twice as a transaction, and an entry in each of two indexes: 4 units. Reading before it is 1
 * unit, a page of 16 KB four, half of that when eventually consistent. */
static void declared_traffic_is_counted_with_its_indexes(void **state)
{
	struct fixture *f = *state;
	struct deploy_load l = { .reads = -1, .writes = -1, .storage_gb = -1 };
	struct deploy_cost c =
		cost_of(f, WHOLE LIST "traffic: {create Note: 10 a second, notes of kind: 100 a second}\n", l);
	double gb = 10 * 1124 * 2628000.0 / 1e9; /* a month of notes in the table; the same in each index */

	assert_true(c.declared);
	near(c.write_units, 40);
	near(c.read_units, 210);
	near(c.writes, 40 * 2.628 * 0.625);
	near(c.reads, 210 * 2.628 * 0.125);
	near(c.growth_gb, 3 * gb);
	near(c.storage_gb, 1.5 * gb);
	near(c.storage, 1.5 * gb * 0.25);
	near(c.recovery, 0.5 * gb * 0.2);
	near(c.stream, 4 * 10 * 26.28 * 0.02); /* as often as can be */
	near(c.total, c.writes + c.reads + c.storage + c.recovery + c.stream + c.beside);
}

static void larger_items_take_more_units(void **state)
{
	struct fixture *f = *state;
	struct deploy_load l = { .reads = -1, .writes = -1, .storage_gb = -1, .item_bytes = 5000 };
	struct deploy_cost c = cost_of(f, WHOLE LIST "traffic: {create Note: 10 a second}\n", l);

	near(c.write_units, 40 * 5);
	near(c.read_units, 10 * 2);
}

static void given_traffic_replaces_the_declared(void **state)
{
	struct fixture *f = *state;
	struct deploy_load l = { .reads = 5, .writes = 2, .storage_gb = 30 };
	struct deploy_cost c = cost_of(f, WHOLE LIST "traffic: {create Note: 1000 a second}\n", l);

	near(c.write_units, 8);
	near(c.read_units, 5 * 2);
	near(c.stream, 4 * (1 + 2) * 26.28 * 0.02);
	near(c.storage, 30 * 0.25);
	near(c.recovery, 10 * 0.2);
}

static void provisioned_units_cost_whether_used_or_not(void **state)
{
	struct fixture *f = *state;
	struct deploy_load l = { .reads = -1, .writes = -1, .storage_gb = -1 };
	struct deploy_cost c;

	f->options.no_recovery = true;
	c = cost_of(f, INDEXES "billing: {read: 10, write: 20}\n", l);
	assert_false(c.declared);
	near(c.writes, 3 * 20 * 0.00065 * 730);
	near(c.reads, 3 * 10 * 0.00013 * 730);
	near(c.recovery + c.stream + c.beside, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_template_has_both_tables_in_the_words_of_cloudformation),
		TEST(a_design_without_a_stream_has_no_output_of_one),
		TEST(terraform_gets_the_same),
		TEST(names_are_no_templates_for_terraform),
		TEST(servers_get_the_least_rights),
		TEST(tags_are_as_aws_takes_them),
		TEST(declared_traffic_is_counted_with_its_indexes),
		TEST(larger_items_take_more_units),
		TEST(given_traffic_replaces_the_declared),
		TEST(provisioned_units_cost_whether_used_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
