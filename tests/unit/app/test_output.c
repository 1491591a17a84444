/* Items as plain JSON: what is shown, to whom, in which order; problems; ETags.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/entity/output.h"
#include "app/entity/packed.h"
#include "value/codec.h"
#include <xxhash.h>

static const char design_text[] =
	"design: test\ntitle: Test\ntable: Test\nkey: [PK, SK]\nttl: expires_at\nindexes:\n"
	"  GSI1: {key: [GSI1PK, GSI1SK]}\n  GSI2: {key: [GSI2PK, GSI2SK]}\n  byWord: {key: [word, GSI2SK]}\n"
	"entities:\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes:\n"
	"      title: string\n"
	"      id: string, from the key\n"
	"      owner: string\n"
	"      mail: string, private\n"
	"      hash: string, hidden\n"
	"      steps: list, compressed\n"
	"      votes: counter\n"
	"      score: = votes * 2\n"
	"      level: = score + 1\n"
	"      set: set of string\n"
	"      price: number\n"
	"      blob: binary\n"
	"      until: epoch\n"
	"    keys: {PK: NOTE#<id>, SK: NOTE, entityType: NOTE, GSI1PK: A#<id>, GSI1SK: A, GSI2PK: B#<id>, GSI2SK: B}\n"
	"    keys when until is present: {entityType: NOTE, expires_at: <until>}\n"
	"    companions:\n"
	"      - {PK: X#<id>, SK: X, hash: <hash>, mail: <mail>, title: <title>}\n"
	"      - {for: word in words(title), PK: Y#<id>, SK: Y#<word>, word: <word>, GSI1PK: <word>, GSI2SK: Y#<word>}\n"
	"    allow: {read: anyone, update: owner = caller}\n";

static int setup(void **state)
{
	static struct app_fixture f;

	app_fixture_open(&f, design_text);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	app_fixture_close(*state);
	return 0;
}

static const struct entity *note(struct app_fixture *f)
{
	return design_entity(f->design, SLICE("Note"));
}

/* An item in DynamoDB's JSON. */
static struct value item(struct app_fixture *f, const char *json)
{
	struct error e = { 0 };
	struct value v;

	assert_true(item_from_json(&f->arena, json_parse(&f->arena, slice_str(json)), &v, &e));
	return v;
}

#define ITEM                                                                                                         \
	"{\"PK\":{\"S\":\"NOTE#n1\"},\"SK\":{\"S\":\"NOTE\"},\"entityType\":{\"S\":\"NOTE\"},\"id\":{\"S\":\"n1\"}," \
	"\"GSI1PK\":{\"S\":\"A#n1\"},\"title\":{\"S\":\"Hi \\\"you\\\"\"},\"owner\":{\"S\":\"alice\"},"              \
	"\"mail\":{\"S\":\"a@x\"},\"hash\":{\"S\":\"$2b$\"},\"votes\":{\"N\":\"3\"},\"score\":{\"N\":\"6\"}}"

static void shows(struct app_fixture *f, const char *who, const struct entity *e, struct value v, bool tag,
		  const char *without, const char *expected)
{
	struct run *r = app_fixture_run(f, who);
	const struct name *left_out = design_named(r->design, slice_str(without ? without : ""));
	struct row laid = e ? row_lay(r->arena, e, v) : row_of(v);
	struct buf b;

	buf_init(&b, &f->arena);
	assert_true(output_row(r, &laid, tag, &left_out, without != NULL, &b));
	if (!slice_is(buf_slice(&b), expected))
		fail_msg("got %.*s", SLICE_ARG(buf_slice(&b)));
}

static void test_attributes_come_in_the_entitys_order_without_keys_and_secrets(void **state)
{
	struct app_fixture *f = *state;

	shows(f, NULL, note(f), item(f, ITEM), false, NULL,
	      "{\"title\":\"Hi \\\"you\\\"\",\"id\":\"n1\",\"owner\":\"alice\",\"votes\":3,\"score\":6,\"entityType\":\"NOTE\"}");
	shows(f, NULL, note(f), item(f, ITEM), true, "title",
	      "{\"@type\":\"Note\",\"id\":\"n1\",\"owner\":\"alice\",\"votes\":3,\"score\":6,\"entityType\":\"NOTE\"}");
	shows(f, NULL, note(f), item(f, "{}"), false, NULL, "{}");
}

static void test_private_attributes_are_for_callers_that_may_update(void **state)
{
	struct app_fixture *f = *state;
	struct value v = item(f, "{\"owner\":{\"S\":\"alice\"},\"mail\":{\"S\":\"a@x\"},\"hash\":{\"S\":\"h\"}}");

	shows(f, "alice", note(f), v, false, NULL, "{\"owner\":\"alice\",\"mail\":\"a@x\"}");
	shows(f, "!", note(f), v, false, NULL, "{\"owner\":\"alice\",\"mail\":\"a@x\"}");
	shows(f, "bob", note(f), v, false, NULL, "{\"owner\":\"alice\"}");
	shows(f, NULL, note(f), v, false, NULL, "{\"owner\":\"alice\"}");
}

static void test_companions_are_shown_without_what_is_secret_anywhere(void **state)
{
	struct app_fixture *f = *state;
	struct value v =
		item(f, "{\"PK\":{\"S\":\"X#1\"},\"SK\":{\"S\":\"X\"},\"GSI2SK\":{\"S\":\"q\"},\"hash\":{\"S\":\"h\"},"
			"\"mail\":{\"S\":\"a@x\"},\"title\":{\"S\":\"t\"},\"other\":{\"NULL\":true}}");

	shows(f, "alice", NULL, v, true, NULL, "{\"other\":null,\"title\":\"t\"}");
	shows(f, "!", NULL, v, false, NULL, "{\"mail\":\"a@x\",\"other\":null,\"title\":\"t\"}");
}

static void test_a_companion_tells_a_value_that_is_a_key_of_an_index(void **state)
{
	struct app_fixture *f = *state;
	struct value v =
		item(f,
		     "{\"PK\":{\"S\":\"Y#1\"},\"SK\":{\"S\":\"Y#tea\"},\"word\":{\"S\":\"tea\"},\"GSI1PK\":{\"S\":\"tea\"},"
		     "\"GSI2SK\":{\"S\":\"Y#tea\"}}");

	shows(f, "alice", NULL, v, false, NULL, "{\"word\":\"tea\"}");
}

static void test_every_type_has_its_plain_form(void **state)
{
	struct app_fixture *f = *state;
	struct value v =
		item(f,
		     "{\"a\":{\"N\":\"0.12345678901234567890123456789012345678\"},\"b\":{\"B\":\"AAEC\"},\"c\":{\"NS\":"
		     "[\"2\",\"-1\"]},\"d\":{\"BS\":[\"AA==\"]},\"e\":{\"L\":[{\"BOOL\":false},{\"M\":{\"x\":{\"S\":\"\\n\"}}}]},"
		     "\"f\":{\"SS\":[\"q\"]},\"g\":{\"N\":\"1e30\"},\"h\":{\"M\":{}}}");

	shows(f, NULL, NULL, v, false, NULL,
	      "{\"a\":0.12345678901234567890123456789012345678,\"b\":\"AAEC\",\"c\":[-1,2],\"d\":[\"AA==\"],\"e\":[false,{\"x\":\"\\n\"}],"
	      "\"f\":[\"q\"],\"g\":1000000000000000000000000000000,\"h\":{}}");
}

/* Texts of all lengths, alone and followed by more of the item, with each character in turn escaped. */
static void test_texts_are_copied_whatever_their_length(void **state)
{
	struct app_fixture *f = *state;
	struct arena a;

	for (size_t n = 0; n < 70; n++)
		for (size_t at = 0; at <= n; at += 1 + n / 20) {
			char text[80];
			struct value list[3];
			struct buf wanted, got;

			arena_init(&a);
			memset(text, 'x', sizeof(text));
			if (at < n)
				text[at] = "\"\\\n\x01"[at % 4];
			text[n] = '"'; /* not part of it */
			list[0] = list[1] = list[2] = value_make_s(&a, slice_make(text, n));
			buf_init(&wanted, &a);
			buf_byte(&wanted, '[');
			for (int i = 0; i < 3; i++) {
				json_string(&wanted, slice_make(text, n));
				buf_byte(&wanted, i < 2 ? ',' : ']');
			}
			buf_init(&got, &a);
			output_value(&got, value_make_list(&a, list, 3));
			assert_true(slice_equal(buf_slice(&got), buf_slice(&wanted)));
			got.n = wanted.n = 0;
			output_value(&got, list[0]);
			json_string(&wanted, slice_make(text, n));
			assert_true(slice_equal(buf_slice(&got), buf_slice(&wanted)));
			arena_release(&a);
		}
	(void)f;
}

/* Room is asked for wherever a value ends: many of each kind, one after another. */
static void test_long_values_of_every_kind_are_whole(void **state)
{
	static const char *const kinds[] = { "true", "null", "7", "[]", "{}", "\"\"", "[[[1]]]", "[\"AA==\"]" };
	struct app_fixture *f = *state;
	struct error e = { 0 };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t n = 1; n < 2000; n = n * 3 + 1) {
			static const char *const wire[] = { "{\"BOOL\":true}",
							    "{\"NULL\":true}",
							    "{\"N\":\"7\"}",
							    "{\"L\":[]}",
							    "{\"M\":{}}",
							    "{\"S\":\"\"}",
							    "{\"L\":[{\"L\":[{\"L\":[{\"N\":\"1\"}]}]}]}",
							    "{\"BS\":[\"AA==\"]}" };
			struct buf in, wanted, got;
			struct value v;

			buf_init(&in, &f->arena);
			buf_init(&wanted, &f->arena);
			buf_init(&got, &f->arena);
			buf_str(&in, "{\"a\":{\"L\":[");
			buf_str(&wanted, "{\"a\":[");
			for (size_t i = 0; i < n; i++) {
				buf_printf(&in, "%s%s", i ? "," : "", wire[k]);
				buf_printf(&wanted, "%s%s", i ? "," : "", kinds[k]);
			}
			buf_str(&in, "]}}");
			buf_str(&wanted, "]}");
			assert_true(item_from_json(&f->arena, json_parse(&f->arena, buf_slice(&in)), &v, &e));
			output_value(&got, v);
			assert_true(slice_equal(buf_slice(&got), buf_slice(&wanted)));
		}
}

static void test_an_item_laid_out_is_written_the_same(void **state)
{
	struct app_fixture *f = *state;
	struct run *r = app_fixture_run(f, "alice");
	struct value v = item(f, ITEM);
	struct row laid = row_lay(r->arena, note(f), v), again = row_lay(r->arena, note(f), v);
	struct buf x, y;

	buf_init(&x, r->arena);
	buf_init(&y, r->arena);
	assert_true(output_item(r, note(f), v, &x) && output_row(r, &laid, false, NULL, 0, &y));
	assert_true(slice_equal(buf_slice(&x), buf_slice(&y)));
	assert_true(slice_equal(output_etag(r, &again), output_etag(r, &laid)));
}

static void test_compressed_ones_come_out_as_they_went_in(void **state)
{
	struct app_fixture *f = *state;
	struct value packed = packed_make(&f->arena, SLICE("[1,{\"a\":\"b\"}]"));
	struct value v = value_make_map(&f->arena, &(struct value_member){ SLICE("steps"), packed }, 1);

	shows(f, NULL, note(f), v, false, NULL, "{\"steps\":[1,{\"a\":\"b\"}]}");
}

static void test_broken_compressed_ones_are_null(void **state)
{
	struct app_fixture *f = *state;
	struct slice good = value_bytes(packed_make(&f->arena, SLICE("[1,2,3,4,5,6]")));
	char *large = arena_zalloc(&f->arena, PACKED_MOST_OUT + 1);
	/* clang-format off */
	const struct slice broken[] = {
		SLICE(""), SLICE("abc"), SLICE("not gzip at all"), { good.p, good.n - 3 },
		value_bytes(packed_make(&f->arena, SLICE("[1,"))),
		value_bytes(packed_make(&f->arena, slice_make(large, PACKED_MOST_OUT + 1))),
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct value_member m = { SLICE("steps"), value_make_b(&f->arena, broken[i]) };

		shows(f, NULL, note(f), value_make_map(&f->arena, &m, 1), false, NULL, "{\"steps\":null}");
	}
}

static void test_problems_are_rfc_9457(void **state)
{
	struct app_fixture *f = *state;
	struct run *r = app_fixture_run(f, NULL);
	struct buf b;

	run_invalid(r, SLICE("stars"), "between 1 and 5");
	run_invalid(r, SLICE("t\xfftle"), "a string");
	r->problem.detail = (struct slice){ 0 };
	buf_init(&b, &f->arena);
	output_problem(&r->problem, &b);
	assert_true(slice_is(
		buf_slice(&b),
		"{\"type\":\"urn:thorpe:invalid\",\"title\":\"Some values are not valid\",\"status\":422,\"errors\":["
		"{\"attribute\":\"stars\",\"detail\":\"between 1 and 5\"},{\"attribute\":\"t?tle\",\"detail\":\"a string\"}]}"));
	r = app_fixture_run(f, NULL);
	run_fail(r, PROBLEM_TAKEN, "someone has %s", "a@x");
	r->problem.attribute = SLICE("email");
	buf_init(&b, &f->arena);
	output_problem(&r->problem, &b);
	assert_true(slice_is(buf_slice(&b),
			     "{\"type\":\"urn:thorpe:taken\",\"title\":\"Someone else has it\",\"status\":409,"
			     "\"detail\":\"someone has a@x\",\"attribute\":\"email\"}"));
}

static struct slice tag_of(struct app_fixture *f, struct value v)
{
	struct run *r = app_fixture_run(f, NULL);
	struct row item = row_lay(r->arena, note(f), v);

	return output_etag(r, &item);
}

static struct slice tag_with(struct app_fixture *f, const char *name, const char *value)
{
	struct value v = item(f, ITEM);

	if (name)
		v = value_map_with(&f->arena, v, slice_str(name), value_make_s(&f->arena, slice_str(value)));
	return tag_of(f, v);
}

static void test_etags_change_with_the_item_but_not_with_its_counters(void **state)
{
	struct app_fixture *f = *state;
	struct slice tag = tag_with(f, NULL, NULL);

	assert_int_equal(tag.n, 34);
	assert_true(tag.p[0] == '"' && tag.p[33] == '"');
	assert_true(slice_equal(tag, tag_with(f, NULL, NULL)));
	assert_true(slice_equal(tag, tag_with(f, "votes", "9")));
	assert_true(slice_equal(tag, tag_with(f, "score", "18")));
	assert_true(slice_equal(tag, tag_with(f, "level", "19")));
	assert_true(slice_equal(tag, tag_with(f, "GSI1PK", "elsewhere")));
	assert_false(slice_equal(tag, tag_with(f, "title", "other")));
	assert_false(slice_equal(tag, tag_with(f, "mail", "b@x")));
}

/* Clients keep them, and a new version must not make them ask again: over the attributes that count, by name. */
static void test_etags_stay_what_they_have_been(void **state)
{
	static const char *const counted[] = { "title", "id", "owner", "mail", "steps", "set", "price", "blob", "until" };
	struct app_fixture *f = *state;
	struct value v = item(f, ITEM);
	struct buf bytes, wanted;
	XXH128_canonical_t hash;

	buf_init(&bytes, &f->arena);
	for (struct value_iter it = value_iter(v); value_next(&it);)
		for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++)
			if (slice_is(it.name, counted[i])) {
				buf_varint(&bytes, it.name.n);
				buf_put(&bytes, it.name);
				buf_add(&bytes, it.value.p, it.value.n);
			}
	XXH128_canonicalFromHash(&hash, XXH3_128bits_withSeed(bytes.p, bytes.n,
							      XXH3_64bits(f->app.secret, sizeof(f->app.secret))));
	buf_init(&wanted, &f->arena);
	buf_byte(&wanted, '"');
	buf_hex(&wanted, slice_make(hash.digest, sizeof(hash.digest)));
	buf_byte(&wanted, '"');
	assert_true(slice_equal(tag_of(f, v), buf_slice(&wanted)));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_attributes_come_in_the_entitys_order_without_keys_and_secrets),
		T(test_private_attributes_are_for_callers_that_may_update),
		T(test_companions_are_shown_without_what_is_secret_anywhere),
		T(test_a_companion_tells_a_value_that_is_a_key_of_an_index),
		T(test_every_type_has_its_plain_form),
		T(test_texts_are_copied_whatever_their_length),
		T(test_long_values_of_every_kind_are_whole),
		T(test_an_item_laid_out_is_written_the_same),
		T(test_compressed_ones_come_out_as_they_went_in),
		T(test_broken_compressed_ones_are_null),
		T(test_problems_are_rfc_9457),
		T(test_etags_change_with_the_item_but_not_with_its_counters),
		T(test_etags_stay_what_they_have_been),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
