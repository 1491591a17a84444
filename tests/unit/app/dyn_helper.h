/* What the tests of database requests share: a table, items from JSON with single quotes, and a backend whose replies
 * are given beforehand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_DYN_HELPER_H
#define THORPE_TESTS_DYN_HELPER_H

#include "app_fixture.h"
#include "app/db/dyn.h"
#include "value/codec.h"

#define UNUSED       __attribute__((unused))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct app_fixture fixture;
static struct run *r;

UNUSED static int setup(void **state)
{
	app_fixture_open(&fixture, "entities:\n"
				   "  Note:\n"
				   "    path: /notes/<id>\n"
				   "    attributes: {id: 'string, id', kind: string, score: integer, expires_at: epoch}\n"
				   "    keys: {PK: NOTE#<id>, SK: NOTE}\n"
				   "    keys when kind is present: {GSI1PK: KIND#<kind>, GSI1SK: <score>}\n"
				   "    keys when score is present: {GSI2PK: ALL, GSI2SK: <score>}\n");
	r = app_fixture_run(&fixture, NULL);
	return 0;
}

UNUSED static int teardown(void **state)
{
	app_fixture_close(&fixture);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNUSED static const struct json *json(const char *text)
{
	char *copy = arena_cstr(r->arena, slice_str(text));
	const struct json *j;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	j = json_parse(r->arena, slice_str(copy));
	if (!j)
		fail_msg("not JSON: %s", copy);
	return j;
}

UNUSED static struct value item(const char *text)
{
	struct error e = { 0 };
	struct value v;

	if (!item_from_json(r->arena, json(text), &v, &e))
		fail_msg("%s: %.*s", text, SLICE_ARG(e.message));
	return v;
}

UNUSED static struct value s(const char *text)
{
	return value_make_s(r->arena, slice_str(text));
}

UNUSED static struct value n(int64_t i)
{
	return value_make_i64(r->arena, i);
}

UNUSED static struct value key(const char *pk, const char *sk)
{
	struct value_member m[] = { { SLICE("PK"), s(pk) }, { SLICE("SK"), s(sk) } };

	return value_make_map(r->arena, m, 2);
}

UNUSED static void assert_item(struct value v, const char *text)
{
	struct value expected = text ? item(text) : VALUE_ABSENT;
	struct buf b;

	if (value_present(v) == value_present(expected) && (!text || value_equal(v, expected)))
		return;
	buf_init(&b, r->arena);
	if (value_present(v))
		item_to_json(&b, v);
	fail_msg("%.*s is not %s", SLICE_ARG(buf_slice(&b)), text ? text : "absent");
}

UNUSED static void assert_problem(enum problem_type type, const char *detail)
{
	if (r->problem.type != type || !slice_is(r->problem.detail, detail))
		fail_msg("%s: %.*s", problem_name(r->problem.type), SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
}

UNUSED static void assert_has(struct slice text, const char *part)
{
	if (!memmem(text.p, text.n, part, strlen(part)))
		fail_msg("no %s in %.*s", part, SLICE_ARG(text));
}

UNUSED static void assert_lacks(struct slice text, const char *part)
{
	if (memmem(text.p, text.n, part, strlen(part)))
		fail_msg("%s in %.*s", part, SLICE_ARG(text));
}

UNUSED static void put(const char *text)
{
	struct dyn_refusal refusal;

	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = item(text) }, 1, SLICE(""), &refusal),
			 DYN_DONE);
}

UNUSED static struct value get(const char *pk, const char *sk)
{
	struct value v;

	assert_true(dyn_get(r, key(pk, sk), true, &v));
	return v;
}

UNUSED static const struct test *filter(const char *text)
{
	struct term_scope scope = { .arena = r->arena, .now_ms = r->now_ms };
	const struct test *test;
	struct findings findings;
	struct error e = { 0 };
	const char *why;
	const struct term *t;

	findings_init(&findings, r->arena);
	t = term_parse(r->arena, slice_str(text), (struct place){ 0 }, &findings);
	assert_non_null(t);
	assert_true(term_to_test(t, &scope, &test, &why, &e));
	return test;
}

/* ---- a backend of canned replies: "200 {…}" or "400 ErrorName {…}" ---- */
struct canned {
	struct backend backend;
	const char *const *replies; /* the last one is given again and again */
	int calls;
	const char *operation;
	struct slice body; /* the last request */
};

UNUSED static void canned_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			       struct backend_reply *reply)
{
	struct canned *c = (struct canned *)b;
	const char *text = *c->replies, *brace = strchr(text, '{');

	if (c->replies[1])
		c->replies++;
	c->calls++;
	c->operation = operation;
	c->body = body;
	*reply = (struct backend_reply){ .status = text[0] == '2' ? 200 : 400, .body = json(brace) };
	if (reply->status == 200)
		return;
	reply->error = slice_make(text + 4, (size_t)(brace - text - 5));
	reply->message = SLICE("because");
	if (json_get(reply->body, "message"))
		reply->message = json_get(reply->body, "message")->string;
}

UNUSED static void canned_init(struct canned *c, const char *const *replies)
{
	*c = (struct canned){ .backend = { canned_call }, .replies = replies };
	r->backend = &c->backend;
}

#endif
