/* The legacy forms: filters, Expected, KeyConditions, AttributeUpdates, AttributesToGet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#define INVALID "One or more parameter values were invalid: "
#define ITEM                                                                                    \
	"{'s':{'S':'str'},'n':{'N':'5'},'ss':{'SS':['a']},'l':{'L':[{'S':'x'}]},'nul':{'NULL':" \
	"true}}"

static const char *holds(const struct condition *c)
{
	return condition_holds(c, item(ITEM), &arena) ? "yes" : "no";
}

static const char *filter(const char *text, const char *operator)
{
	const struct condition *c;
	struct error e = { 0 };

	if (!condition_from_filter(&arena, json(text), slice_str(operator), &c, &e))
		return message(&e);
	return holds(c);
}

static const char *expected(const char *text, const char *operator)
{
	const struct condition *c;
	struct error e = { 0 };

	if (!condition_from_expected(&arena, json(text), slice_str(operator), &c, &e))
		return message(&e);
	return holds(c);
}

#define C(attr, op, list) "{'" attr "':{'ComparisonOperator':'" op "','AttributeValueList':[" list "]}}"

struct row {
	const char *text, *wanted;
};

static void filters_compare(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "{}", "yes" },
		{ C("n", "EQ", "{'N':'5.0'}"), "yes" },
		{ C("n", "NE", "{'N':'5'}"), "no" },
		{ C("zz", "NE", "{'N':'5'}"), "yes" },
		{ C("n", "LE", "{'N':'5'}"), "yes" },
		{ C("n", "LT", "{'N':'5'}"), "no" },
		{ C("n", "GE", "{'N':'5'}"), "yes" },
		{ C("n", "GT", "{'S':'4'}"), "no" },
		{ C("n", "IN", "{'N':'1'},{'N':'5'}"), "yes" },
		{ C("n", "BETWEEN", "{'N':'1'},{'N':'9'}"), "yes" },
		{ C("n", "NOT_NULL", ""), "yes" },
		{ "{'zz':{'ComparisonOperator':'NULL'}}", "yes" },
		{ C("nul", "NULL", ""), "no" },
		{ C("s", "CONTAINS", "{'S':'t'}"), "yes" },
		{ C("ss", "CONTAINS", "{'S':'a'}"), "yes" },
		{ C("l", "CONTAINS", "{'S':'x'}"), "yes" },
		{ C("s", "NOT_CONTAINS", "{'S':'q'}"), "yes" },
		{ C("n", "NOT_CONTAINS", "{'S':'q'}"), "yes" },
		{ C("zz", "NOT_CONTAINS", "{'S':'q'}"), "no" },
		{ C("s", "BEGINS_WITH", "{'S':'st'}"), "yes" },
		{ C("l", "EQ", "{'L':[{'S':'x'}]}"), "yes" },
		/* of duplicate names the last counts */
		{ "{'n':{'ComparisonOperator':'NULL'},'n':{'ComparisonOperator':'NOT_NULL'}}",
		  "yes" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, filter(rows[i].text, ""), rows[i].wanted);
}

static void filter_arguments_are_checked(void **state)
{
	static const struct row rows[] = {
		{ C("a", "EQ", ""), INVALID "Invalid number of argument(s) for the EQ ComparisonOperator" },
		{ C("a", "BETWEEN", "{'S':'a'}"),
		  INVALID "Invalid number of argument(s) for the BETWEEN ComparisonOperator" },
		{ C("a", "IN", ""), INVALID "Invalid number of argument(s) for the IN ComparisonOperator" },
		{ C("a", "NULL", "{'S':'a'}"), INVALID "Invalid number of argument(s) for the NULL ComparisonOperator" },
		{ C("a", "IN", "{'S':'a'},{'N':'1'}"),
		  INVALID "AttributeValues inside AttributeValueList must be of same type" },
		{ C("a", "LT", "{'SS':['a']}"), INVALID "ComparisonOperator LT is not valid for SS AttributeValue type" },
		{ C("a", "BEGINS_WITH", "{'N':'1'}"),
		  INVALID "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type" },
		{ C("a", "CONTAINS", "{'L':[]}"),
		  INVALID "ComparisonOperator CONTAINS is not valid for L AttributeValue type" },
		{ C("a", "BETWEEN", "{'S':'z'},{'S':'a'}"),
		  "The BETWEEN condition was provided a range where the lower bound is greater "
		  "than the "
		  "upper bound" },
		{ C("a", "EQ", "{}"), "Supplied AttributeValue is empty, must contain exactly one of the supported "
				      "datatypes" },
		{ C("", "EQ", "{'S':'a'}"), "Empty attribute name" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, filter(rows[i].text, ""), rows[i].wanted);
}

static void conditional_operator_joins_two_or_more(void **state)
{
	const char *two = "{'n':{'ComparisonOperator':'NOT_NULL'},'zz':{'ComparisonOperator':'NOT_NULL'}}";

	(void)state;
	expect("default", filter(two, ""), "no");
	expect("AND", filter(two, "AND"), "no");
	expect("OR", filter(two, "OR"), "yes");
	expect("one", filter("{'n':{'ComparisonOperator':'NULL'}}", "OR"),
	       "ConditionalOperator can only be used when Filter or Expected has two or more "
	       "elements");
	expect("none", expected("{}", "OR"), "ConditionalOperator cannot be used without Filter or Expected");
}

/* `each`, for attributes a0, a1, …, in one object. */
static const char *many(int n, const char *each)
{
	struct buf b;

	buf_init(&b, &arena);
	buf_str(&b, "{");
	for (int i = 0; i < n; i++)
		buf_printf(&b, "%s'a%d':%s", i ? "," : "", i, each);
	buf_str(&b, "}");
	buf_byte(&b, 0);
	return b.p;
}

#define TOO_MANY INVALID "Too many conditions and values; at most 1000 can be given"

static void a_thousand_conditions_and_values_are_enough(void **state)
{
	const char *null = "{'ComparisonOperator':'NULL'}", *absent = "{'Exists':false}";
	const char *in = "{'ComparisonOperator':'IN','AttributeValueList':[{'N':'1'},{'N':'2'}]}";

	(void)state;
	expect("conditions", filter(many(1000, null), ""), "yes");
	expect("too many conditions", filter(many(1001, null), ""), TOO_MANY);
	expect("conditions with values", filter(many(333, in), ""), "no");
	expect("too many with values", filter(many(334, in), ""), TOO_MANY);
	expect("expected", expected(many(1000, absent), ""), "yes");
	expect("too many expected", expected(many(1001, absent), ""), TOO_MANY);
}

static void expected_compares_or_asks_for_existence(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "{'zz':{'Exists':false}}", "yes" },
		{ "{'n':{'Exists':false}}", "no" },
		{ "{'n':{'Exists':true,'Value':{'N':'5'}}}", "yes" },
		{ "{'n':{'Value':{'N':'6'}}}", "no" },
		{ "{'n':{'ComparisonOperator':'GT','Value':{'N':'4'}}}", "yes" },
		{ C("s", "BEGINS_WITH", "{'S':'s'}"), "yes" },
		{ "{'a':{}}",
		  INVALID "Value must be provided when Exists is null for Attribute: a" },
		{ "{'a':{'Exists':true}}",
		  INVALID "Value must be provided when Exists is true for Attribute: a" },
		{ "{'a':{'Exists':false,'Value':{'S':'x'}}}",
		  INVALID "Value cannot be used when Exists is false for Attribute: a" },
		{ "{'a':{'Value':{'S':'x'},'AttributeValueList':[]}}",
		  INVALID "Value and AttributeValueList cannot be used together for Attribute: a" },
		{ "{'a':{'AttributeValueList':[]}}",
		  INVALID "AttributeValueList can only be used with a ComparisonOperator for "
			  "Attribute: a" },
		{ "{'a':{'ComparisonOperator':'EQ'}}", INVALID
		  "Value or AttributeValueList must be used with ComparisonOperator: EQ for "
		  "Attribute: a" },
		{ "{'a':{'ComparisonOperator':'NULL','Exists':false}}", INVALID
		  "Exists and ComparisonOperator cannot be used together for Attribute: a" },
		{ "{'a':{'ComparisonOperator':'NULL','Value':{'S':'x'}}}",
		  INVALID "Invalid number of argument(s) for the NULL ComparisonOperator" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, expected(rows[i].text, ""), rows[i].wanted);
}

static void key_conditions_become_terms(void **state)
{
	struct key_term *t;
	struct error e = { 0 };
	size_t n;

	(void)state;
	assert_true(key_terms_from_conditions(
		&arena,
		json("{'pk':{'ComparisonOperator':'EQ','AttributeValueList':[{'S':'x'}]},"
		     "'sk':{'ComparisonOperator':'BETWEEN','AttributeValueList':[{'S':'a'},{'S':'b'"
		     "}]}}"),
		&t, &n, &e));
	assert_int_equal(n, 2);
	assert_int_equal(t[0].op, KEY_EQ);
	assert_int_equal(t[1].op, KEY_BETWEEN);
	assert_true(slice_is(t[1].name, "sk"));
	assert_true(slice_is(value_bytes(t[1].upper), "b"));
	assert_false(t[0].not_indexable || t[1].not_indexable);
	assert_true(key_terms_from_conditions(&arena, json(C("pk", "NE", "{'S':'x'}")), &t, &n, &e));
	assert_true(t[0].not_indexable);
	assert_true(key_terms_from_conditions(&arena, json("{'pk':{'ComparisonOperator':'NULL'}}"), &t, &n, &e));
	assert_true(t[0].not_indexable);
}

static const char *updated(const char *text)
{
	const struct update *u;
	struct error e = { 0 };
	struct value v;

	if (!update_from_attribute_updates(&arena, json(text), &u, &e) ||
	    !update_apply(u, item("{'l':{'L':[{'S':'a'}]},'n':{'N':'10'},'ss':{'SS':['a','b']}}"), &arena, &v, &e))
		return message(&e);
	return printed(v);
}

static void attribute_updates_put_add_and_delete(void **state)
{
	static const struct row rows[] = {
		{ "{}", "{'l':{'L':[{'S':'a'}]},'n':{'N':'10'},'ss':{'SS':['a','b']}}" },
		{ "{'n':{'Value':{'S':'x'}},'l':{'Action':'DELETE'}}", "{'n':{'S':'x'},'ss':{'SS':['a','b']}}" },
		{ "{'n':{'Action':'ADD','Value':{'N':'-3'}},'l':{'Action':'ADD','Value':{'L':[{'N':"
		  "'1'}]}},"
		  "'ss':{'Action':'DELETE','Value':{'SS':['a','b']}}}",
		  "{'l':{'L':[{'S':'a'},{'N':'1'}]},'n':{'N':'7'}}" },
		{ "{'l':{'Action':'DELETE'},'zz':{'Action':'ADD','Value':{'N':'1'}},'n':{'Action':'"
		  "PUT',"
		  "'Value':{'BOOL':true}}}",
		  "{'n':{'BOOL':true},'ss':{'SS':['a','b']},'zz':{'N':'1'}}" },
		{ "{'a':{'Action':'PUT'}}",
		  INVALID "Only DELETE action is allowed when no attribute value is specified" },
		{ "{'a':{'Action':'ADD','Value':{'S':'x'}}}", INVALID "ADD action is not supported for the type S" },
		{ "{'a':{'Action':'DELETE','Value':{'N':'1'}}}",
		  INVALID "DELETE action with value is not supported for the type N" },
		{ "{'n':{'Action':'ADD','Value':{'SS':['a']}}}", "Type mismatch for attribute to update" },
		{ "{'n':{'Action':'DELETE','Value':{'SS':['a']}}}", "Type mismatch for attribute to update" },
		{ "{'l':{'Action':'ADD','Value':{'N':'1'}}}", "Type mismatch for attribute to update" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, updated(rows[i].text), rows[i].wanted);
}

static void a_thousand_additions_are_enough(void **state)
{
	const char *add = "{'Action':'ADD','Value':{'N':'1'}}";
	const struct update *u;
	struct error e = { 0 };

	(void)state;
	assert_true(update_from_attribute_updates(&arena, json(many(1000, add)), &u, &e));
	assert_false(update_from_attribute_updates(&arena, json(many(1001, add)), &u, &e));
	expect("too many", message(&e), INVALID "Too many ADD and DELETE actions; at most 1000 can be given");
	assert_true(
		update_from_attribute_updates(&arena, json(many(5000, "{'Action':'PUT','Value':{'N':'1'}}")), &u, &e));
}

static void attributes_to_get_are_distinct_names(void **state)
{
	const struct projection *p;
	struct error e = { 0 };

	(void)state;
	assert_true(projection_from_attributes(&arena, json("['n','zz','s']"), &p, &e));
	expect("names", printed(projection_apply(p, item(ITEM), &arena)), "{'n':{'N':'5'},'s':{'S':'str'}}");
	assert_false(projection_from_attributes(&arena, json("['n','s','n']"), &p, &e));
	expect("twice", message(&e), INVALID "Duplicate value in attribute name: n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(filters_compare),
		TEST(filter_arguments_are_checked),
		TEST(conditional_operator_joins_two_or_more),
		TEST(a_thousand_conditions_and_values_are_enough),
		TEST(expected_compares_or_asks_for_existence),
		TEST(key_conditions_become_terms),
		TEST(attribute_updates_put_add_and_delete),
		TEST(a_thousand_additions_are_enough),
		TEST(attributes_to_get_are_distinct_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
