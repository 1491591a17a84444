/* Attribute values between JSON and the binary form: round trips, and DynamoDB's complaints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"
#include "base/alloc.h"

#define EMPTY                                \
	"Supplied AttributeValue is empty, " \
	"must contain exactly one of the supported datatypes"
#define SEVERAL                                                     \
	"Supplied AttributeValue has more than one datatypes set, " \
	"must contain exactly one of the supported datatypes"
#define INVALID      "One or more parameter values were invalid: "
#define NOT_NUMERIC  "The parameter cannot be converted to a numeric value"
#define STRUCTURE    "Start of structure or map found where not expected"
#define CLASS        "com.amazonaws.dynamodb.v20120810.AttributeValue"
#define MAP_EXPECTED "Unrecognized collection type java.util.Map<java.lang.String, " CLASS ">"
#define BASE64       "Invalid last non-pad Base64 character dectected"
#define NESTING                                           \
	"Nesting Levels have exceeded supported limits: " \
	"Attributes in the item have nested levels beyond supported limit"

static void comes_back_as_it_was(void **state)
{
	static const char *const same[] = {
		"{\"S\":\"\"}",
		"{\"S\":\"h\xc3\xa9llo \\\"\\\\\\n\\u0000\"}",
		"{\"N\":\"-12.5\"}",
		"{\"N\":\"0\"}",
		"{\"B\":\"\"}",
		"{\"B\":\"AA==\"}",
		"{\"B\":\"AAE=\"}",
		"{\"B\":\"+/+/\"}",
		"{\"SS\":[\"\",\"a\",\"b\"]}",
		"{\"NS\":[\"-1\",\"0\",\"10\"]}",
		"{\"BS\":[\"\",\"AA==\",\"/w==\"]}",
		"{\"BOOL\":true}",
		"{\"BOOL\":false}",
		"{\"NULL\":true}",
		"{\"L\":[]}",
		"{\"M\":{}}",
		"{\"L\":[{\"S\":\"a\"},{\"L\":[{\"N\":\"1\"}]}]}",
		"{\"M\":{\"a\":{\"M\":{\"b\":{\"SS\":[\"x\"]}}},\"z\":{\"NULL\":true}}}",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		struct value v = from_text(same[i]);

		assert_true(value_is_valid(v, 31));
		assert_string_equal(to_text(v), same[i]);
	}
}

/* Text is copied in large steps, which may reach beyond it: of any length, with the special character anywhere, in
 * front of little or much else, it must come out right. */
static void is_escaped_wherever_it_must_be(void **state)
{
	static const char *const after[] = { "", ",{\"BOOL\":true}", ",{\"S\":\"a\\nb\"}",
					     ",{\"S\":\"as long as a step or two are, and longer\"}" };

	for (size_t n = 0; n < 70; n++) {
		for (size_t at = 0; at <= n; at++) { /* at n: none */
			char text[200], copy[100];

			memset(copy, 'x', n);
			copy[n] = 0;
			snprintf(text, sizeof(text), "{\"L\":[{\"S\":\"%.*s%s%s\"}%s]}", (int)at, copy,
				 at < n ? (n % 2 ? "\\u001F" : "\\\"") : "", at < n ? copy + at + 1 : "", after[n % 4]);
			assert_string_equal(to_text(from_text(text)), text);
			arena_clear(&arena);
		}
	}
}

static void takes_a_normal_form(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"N\":\"1.5E2\"}", "{\"N\":\"150\"}" },
		{ "{\"NS\":[\"10\",\"9\",\"-1.0\"]}", "{\"NS\":[\"-1\",\"9\",\"10\"]}" },
		{ "{\"SS\":[\"b\",\"a\"]}", "{\"SS\":[\"a\",\"b\"]}" },
		{ "{\"BOOL\":\"YES\"}", "{\"BOOL\":true}" },
		{ "{\"BOOL\":\"0\"}", "{\"BOOL\":false}" },
		{ "{\"NULL\":\"true\"}", "{\"NULL\":true}" },
		{ "{\"S\":null,\"N\":\"1\"}", "{\"N\":\"1\"}" },
		{ "{\"X\":5,\"S\":\"a\"}", "{\"S\":\"a\"}" },
		{ "{\"S\":\"a\",\"S\":\"b\"}", "{\"S\":\"b\"}" },
		{ "{\"M\":{\"b\":{\"S\":\"1\"},\"a\":{\"S\":\"2\"},\"b\":{\"S\":\"3\"}}}",
		  "{\"M\":{\"a\":{\"S\":\"2\"},\"b\":{\"S\":\"3\"}}}" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(to_text(from_text(cases[i][0])), cases[i][1]);
}

static void assert_refused(const char *attribute, enum err code, const char *message)
{
	const char *item = arena_cstr(&arena, arena_printf(&arena, "{\"a\":%s}", attribute));
	struct error e = { 0 };
	struct value v;

	if (item_from_json(&arena, parse(item), &v, &e))
		fail_msg("%s was accepted", item);
	assert_slice(e.message, message);
	assert_int_equal(e.code, code);
	e = (struct error){ 0 };
	assert_false(value_from_json(&arena, parse(attribute), &v, &e));
	assert_slice(e.message, message);
	assert_int_equal(e.code, code);
}

struct refusal {
	const char *json, *message;
};

static void values_that_are_not_allowed(void **state)
{
	/* clang-format off */
	static const struct refusal cases[] = {
		{ "{}", EMPTY },
		{ "{\"a\":\"\"}", EMPTY },
		{ "null", EMPTY },
		{ "{\"S\":null}", EMPTY },
		{ "{\"M\":{\"a\":{}}}", EMPTY },
		{ "{\"M\":{\"a\":null}}", EMPTY },
		{ "{\"L\":[{}]}", EMPTY },
		{ "{\"L\":[{\"a\":{}}]}", EMPTY },
		{ "{\"S\":\"a\",\"N\":\"1\"}", SEVERAL },
		{ "{\"NULL\":\"no\"}",
		  INVALID "Null attribute value types must have the value of true" },
		{ "{\"NULL\":false}",
		  INVALID "Null attribute value types must have the value of true" },
		{ "{\"SS\":[]}", INVALID "An string set  may not be empty" },
		{ "{\"NS\":[]}", INVALID "An number set  may not be empty" },
		{ "{\"BS\":[]}", INVALID "Binary sets should not be empty" },
		{ "{\"M\":{\"x\":{\"SS\":[]}}}", INVALID "An string set  may not be empty" },
		{ "{\"SS\":[\"a\",\"a\"]}",
		  INVALID "Input collection [a, a] contains duplicates." },
		{ "{\"SS\":[\"a\",\"b\",\"a\"]}",
		  INVALID "Input collection [a, b, a] contains duplicates." },
		{ "{\"BS\":[\"Yg==\",\"Yg==\"]}",
		  INVALID "Input collection [Yg==, Yg==]of type BS contains duplicates." },
		{ "{\"NS\":[\"1\",\"1.0\"]}", "Input collection contains duplicates" },
		{ "{\"SS\":[null]}",
		  INVALID "An string set may not have a null string as a member" },
		{ "{\"S\":\"\",\"N\":\"\"}", NOT_NUMERIC },
		{ "{\"S\":\"a\",\"N\":\"b\"}", NOT_NUMERIC ": b" },
		{ "{\"NS\":[\"1\",\"\"]}", NOT_NUMERIC },
		{ "{\"NS\":[\"1\",\"b\"]}", NOT_NUMERIC ": b" },
		{ "{\"M\":{\"\":{\"S\":\"a\"}}}", "Empty attribute name" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_refused(cases[i].json, ERR_VALIDATION, cases[i].message);
}

static void shapes_that_are_wrong(void **state)
{
	/* clang-format off */
	static const struct refusal cases[] = {
		{ "\"23\"", "Unexpected value type in payload" },
		{ "true", "Unexpected value type in payload" },
		{ "34.56", "Unexpected value type in payload" },
		{ "[]", "Unrecognized collection type class " CLASS },
		{ "{\"S\":true}", "TRUE_VALUE cannot be converted to String" },
		{ "{\"S\":false}", "FALSE_VALUE cannot be converted to String" },
		{ "{\"S\":-2147483648}", "NUMBER_VALUE cannot be converted to String" },
		{ "{\"N\":23}", "NUMBER_VALUE cannot be converted to String" },
		{ "{\"N\":34.56}", "DECIMAL_VALUE cannot be converted to String" },
		{ "{\"N\":9999999999999999999}", "NUMBER_VALUE cannot be converted to String" },
		{ "{\"S\":[]}", "Unrecognized collection type class java.lang.String" },
		{ "{\"S\":{}}", STRUCTURE },
		{ "{\"B\":true}", "only base-64-encoded strings are convertible to bytes" },
		{ "{\"B\":34.56}", "only base-64-encoded strings are convertible to bytes" },
		{ "{\"B\":[]}", "Unrecognized collection type class java.nio.ByteBuffer" },
		{ "{\"B\":{}}", STRUCTURE },
		{ "{\"B\":\"23456\"}",
		  "Base64 encoded length is expected a multiple of 4 bytes but found: 5" },
		{ "{\"B\":\"=+/=\"}", BASE64 },
		{ "{\"B\":\"+/+=\"}", BASE64 },
		{ "{\"B\":\"A===\"}", BASE64 },
		{ "{\"B\":\"!!!!\"}", BASE64 },
		{ "{\"B\":\"AA==AAAA\"}", BASE64 },
		{ "{\"B\":\"AAA\\n\"}", BASE64 },
		{ "{\"BOOL\":\"23\"}", "Unexpected token received from parser" },
		{ "{\"BOOL\":23}", "NUMBER_VALUE cannot be converted to Boolean" },
		{ "{\"BOOL\":34.56}", "DECIMAL_VALUE cannot be converted to Boolean" },
		{ "{\"NULL\":[]}", "Unrecognized collection type class java.lang.Boolean" },
		{ "{\"NULL\":{}}", STRUCTURE },
		{ "{\"SS\":\"23\"}", "Unexpected field type" },
		{ "{\"NS\":{}}", STRUCTURE },
		{ "{\"SS\":[23]}", "NUMBER_VALUE cannot be converted to String" },
		{ "{\"BS\":[true]}", "only base-64-encoded strings are convertible to bytes" },
		{ "{\"L\":34.56}", "Unexpected field type" },
		{ "{\"L\":{}}", STRUCTURE },
		{ "{\"L\":[\"23\"]}", "Unexpected value type in payload" },
		{ "{\"L\":[{\"BS\":[{}]}]}", STRUCTURE },
		{ "{\"M\":\"23\"}", "Unexpected field type" },
		{ "{\"M\":[]}",
		  MAP_EXPECTED },
		{ "{\"M\":{\"a\":[]}}", "Unrecognized collection type class " CLASS },
		{ "{\"M\":{\"a\":{\"BS\":[\"=+/=\"]}}}", BASE64 },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_refused(cases[i].json, ERR_SERIALIZATION, cases[i].message);
}

static void an_item_must_be_an_object(void **state)
{
	struct error e = { 0 };
	struct value v;

	assert_false(item_from_json(&arena, parse("[]"), &v, &e));
	assert_slice(e.message, MAP_EXPECTED);
	assert_false(item_from_json(&arena, parse("\"23\""), &v, &e));
	assert_slice(e.message, "Unexpected field type");
	assert_int_equal(e.code, ERR_SERIALIZATION);
}

static void a_wrong_shape_wins_then_the_first_in_order(void **state)
{
	assert_refused("{\"M\":{\"a\":{\"N\":\"x\"},\"b\":{\"S\":5}}}", ERR_SERIALIZATION,
		       "NUMBER_VALUE cannot be converted to String");
	assert_refused("{\"M\":{\"z\":{\"N\":\"x\"},\"b\":{\"SS\":[]}}}", ERR_VALIDATION, NOT_NUMERIC ": x");
	assert_refused("{\"M\":{\"b\":{\"SS\":[]},\"a\":{\"N\":\"x\"}}}", ERR_VALIDATION,
		       INVALID "An string set  may not be empty");
	assert_refused("{\"M\":{\"z\":{\"L\":[{\"N\":\"y\"}]},\"b\":{\"SS\":[]}}}", ERR_VALIDATION, NOT_NUMERIC ": y");
}

/* `inner` inside `wraps` containers, maps and lists in turn. */
static const char *nested(int wraps, const char *inner)
{
	struct buf b;

	buf_init(&b, &arena);
	for (int i = 0; i < wraps; i++)
		buf_str(&b, i % 2 ? "{\"L\":[" : "{\"M\":{\"n\":");
	buf_str(&b, inner);
	for (int i = wraps; i-- > 0;)
		buf_str(&b, i % 2 ? "]}" : "}}");
	return arena_cstr(&arena, buf_slice(&b));
}

static void a_scalar_may_stand_in_31_containers(void **state)
{
	const char *deepest = nested(31, "{\"S\":\"leaf\"}");
	struct value v = from_text(deepest);

	assert_string_equal(to_text(v), deepest);
	assert_true(value_is_valid(v, 31));
	assert_false(value_is_valid(v, 30));
	assert_refused(nested(32, "{\"S\":\"leaf\"}"), ERR_VALIDATION, NESTING);
	assert_refused(nested(31, "{\"M\":{}}"), ERR_VALIDATION, NESTING);
	assert_refused(nested(100, "{\"N\":\"x\"}"), ERR_VALIDATION, NESTING);
	assert_refused(nested(400, "{\"S\":5}"), ERR_VALIDATION, NESTING);
}

static void names_have_a_length_limit(void **state)
{
	char *name = arena_alloc(&arena, 65536);
	struct json_member member = { { name, 65535 }, *parse("{\"S\":\"\"}") };
	struct json item = { .type = JSON_OBJECT, .count = 1, .members = &member };
	struct error e = { 0 };
	struct value v;

	memset(name, 'n', 65536);
	assert_true(item_from_json(&arena, &item, &v, &e));
	member.name.n = 65536;
	assert_false(item_from_json(&arena, &item, &v, &e));
	assert_slice(e.message, INVALID "Attribute name is too large, must be less than 65536 bytes");
}

static void large_items_survive(void **state)
{
	struct buf b;
	struct value v;

	buf_init(&b, &arena);
	buf_byte(&b, '{');
	for (int i = 0; i < 500; i++)
		buf_printf(&b, "\"%d\":{\"L\":[{\"S\":\"%0300d\"},{\"NS\":[\"%d\",\"-%d\"]}]},", (i * 37) % 500, i, i,
			   i + 1);
	buf_str(&b, "\"SS\":{\"SS\":[");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%s\"%d\"", i ? "," : "", (i * 77) % 1000);
	buf_str(&b, "]}}");
	v = item_from_text(arena_cstr(&arena, buf_slice(&b)));
	assert_true(value_is_valid(v, 2));
	assert_int_equal(value_count(v), 501);
	assert_int_equal(value_count(value_get(v, SLICE("SS"))), 1000);
	buf_init(&b, &arena);
	item_to_json(&b, v);
	assert_true(value_equal(item_from_text(arena_cstr(&arena, buf_slice(&b))), v));
}

/* Every allocation of decoding and encoding fails once: control leaves by ARENA_TRY, no leak. */
static void running_out_of_memory_leaves_cleanly(void **state)
{
	const struct json *j = parse(nested(20, "{\"NS\":[\"1\",\"2\",\"3\"]}"));
	volatile bool done = false;

	for (long n = 0; !done; n++) {
		struct arena small;
		volatile bool failed = false;

		arena_init(&small);
		alloc_fail_after(n);
		ARENA_TRY(&small, {
			struct error e;
			struct value v;
			struct buf b;

			buf_init(&b, &small);
			for (int i = 0; i < 200; i++) {
				assert_true(value_from_json(&small, j, &v, &e));
				value_to_json(&b, v);
			}
		}, { failed = true; });
		done = !alloc_has_failed();
		alloc_fail_never();
		assert_int_equal(failed, !done);
		arena_release(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(comes_back_as_it_was),
		WITH_ARENA(is_escaped_wherever_it_must_be),
		WITH_ARENA(takes_a_normal_form),
		WITH_ARENA(values_that_are_not_allowed),
		WITH_ARENA(shapes_that_are_wrong),
		WITH_ARENA(an_item_must_be_an_object),
		WITH_ARENA(a_wrong_shape_wins_then_the_first_in_order),
		WITH_ARENA(a_scalar_may_stand_in_31_containers),
		WITH_ARENA(names_have_a_length_limit),
		WITH_ARENA(large_items_survive),
		WITH_ARENA(running_out_of_memory_leaves_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
