/* Our own tokens: read back as they were made, and every way of forging one refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/upward.h"
#include "caller_helper.h"

#define NOTES                                         \
	"entities:\n  Note:\n    path: /notes/<id>\n" \
	"    attributes: {id: 'string, id'}\n    keys: {PK: NOTE#<id>, SK: N}\n"

#define HEAD "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"

static struct callers_fixture f;

static int setup(void **state)
{
	(void)state;
	callers_open(&f, NOTES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	callers_close(&f);
	return 0;
}

static struct slice mint(struct token_request q)
{
	q.now_ms = q.now_ms ? q.now_ms : f.now_ms;
	q.seconds = q.seconds ? q.seconds : 3600;
	return caller_token(&f.app.arena, f.app.design->name, f.app.app.secret, &q);
}

static struct slice key(void)
{
	return slice_make(f.app.app.callers->token_key, JWT_KEY_BYTES);
}

static struct slice claims_with(const char *more)
{
	struct slice claims = arena_printf(&f.app.arena, "{\"minted\":true,%s}", more);

	return hs256(&f.app.arena, HEAD, arena_cstr(&f.app.arena, claims), key());
}

static void a_token_has_its_subject(void **state)
{
	const struct slice roles[] = { SLICE("admin"), SLICE("editor") };
	struct token_request q = { .subject = SLICE("al\"ice é"), .roles = roles, .role_count = 2 };
	struct run *r = accept_token(&f, mint(q));

	(void)state;
	SLICE_IS(r->caller.subject, "al\"ice é");
	assert_int_equal(r->caller.role_count, 2);
	assert_false(r->caller.operator_);
	assert_true(run_has_role(r, SLICE("admin")));
	assert_true(run_has_role(r, SLICE("editor")));
	assert_true(run_has_role(r, SLICE("user")));
	assert_false(run_has_role(r, SLICE("owner")));
	assert_false(run_has_role(r, SLICE("adm")));
}

static void an_operator_has_every_role_and_permission(void **state)
{
	struct run *r = accept_token(&f, mint((struct token_request){ .operator_ = true }));
	bool may;

	(void)state;
	assert_true(r->caller.operator_);
	assert_true(run_has_role(r, SLICE("anything")));
	assert_true(caller_may(r, SLICE("site:write"), &may));
	assert_true(may);
}

static void an_anonymous_caller_has_no_role(void **state)
{
	bool ok, may;
	struct run *r = read_header(&f, SLICE(""), &ok);

	(void)state;
	assert_true(ok);
	assert_false(run_has_role(r, SLICE("user")));
	assert_true(caller_may(r, SLICE("site:write"), &may));
	assert_false(may);
}

static void the_scheme_may_be_in_any_case(void **state)
{
	struct slice token = mint((struct token_request){ .subject = SLICE("alice") });
	bool ok;
	struct run *r = read_header(&f, arena_printf(&f.app.arena, "bEARER   %.*s ", SLICE_ARG(token)), &ok);

	(void)state;
	assert_true(ok);
	SLICE_IS(r->caller.subject, "alice");
	read_header(&f, SLICE("Basic YWxpY2U6eA=="), &ok);
	assert_false(ok);
	read_header(&f, SLICE("Bearer "), &ok);
	assert_false(ok);
	read_header(&f, SLICE("Bearer"), &ok);
	assert_false(ok);
}

static void unsigned_tokens_are_refused(void **state)
{
	const char *claims = "{\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":99999999999}";
	static const char *const heads[] = { "{\"alg\":\"none\"}",  "{\"alg\":\"None\"}",  "{\"alg\":\"\"}",
					     "{\"alg\":\"HS512\"}", "{\"alg\":\"RS256\"}", "{\"alg\":\"ES256\"}",
					     "{\"alg\":\"PS256\"}" };

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct slice part = signed_part(&f.app.arena, heads[i], claims);

		refuse_token(&f, arena_printf(&f.app.arena, "%.*s.", SLICE_ARG(part)), "cannot be read");
		refuse_token(&f, with_signature(&f.app.arena, part, SLICE("x")), "not accepted");
		/* Also when the MAC is right for a header that says something else. */
		refuse_token(&f, hs256(&f.app.arena, heads[i], claims, key()), "not accepted");
	}
	refuse_token(&f, hs256(&f.app.arena, "{\"typ\":\"JWT\"}", claims, key()), "cannot be read");
	refuse_token(&f, hs256(&f.app.arena, "{\"alg\":\"HS256\",\"crit\":[\"x\"]}", claims, key()), "cannot be read");
}

static void a_changed_token_is_refused(void **state)
{
	struct slice token = mint((struct token_request){ .subject = SLICE("alice") });
	char *copy = arena_cstr(&f.app.arena, token);

	(void)state;
	for (size_t i = 0; i < token.n; i++) {
		struct run *r;
		bool ok;

		copy[i] = copy[i] == 'A' ? 'B' : 'A';
		r = read_header(&f, arena_printf(&f.app.arena, "Bearer %s", copy), &ok);
		if (ok)
			fail_msg("with a change at %zu it still passes", i);
		assert_int_equal(r->problem.type, PROBLEM_UNAUTHENTICATED);
		copy[i] = token.p[i];
	}
}

static void a_truncated_token_is_refused(void **state)
{
	struct slice token = mint((struct token_request){ .subject = SLICE("alice") });

	(void)state;
	for (size_t n = 1; n < token.n; n++)
		refuse_token(&f, slice_make(token.p, n), "");
	refuse_token(&f, arena_printf(&f.app.arena, "%.*s.x", SLICE_ARG(token)), "cannot be read");
	refuse_token(&f, arena_printf(&f.app.arena, "%.*s=", SLICE_ARG(token)), "cannot be read");
}

static void another_key_is_refused(void **state)
{
	uint8_t other[CALLER_SECRET_BYTES] = { 1 };
	struct token_request q = { .subject = SLICE("alice"), .now_ms = f.now_ms, .seconds = 60 };

	(void)state;
	refuse_token(&f, caller_token(&f.app.arena, f.app.design->name, other, &q), "not signed here");
	refuse_token(&f, caller_token(&f.app.arena, SLICE("other"), f.app.app.secret, &q), "not signed here");
	refuse_token(&f, hs256(&f.app.arena, HEAD, "{}", SLICE("")), "not signed here");
}

static void times_are_checked_with_a_minute_of_leeway(void **state)
{
	struct slice token = mint((struct token_request){ .subject = SLICE("alice"), .seconds = 10 });

	(void)state;
	f.now_ms += 69999;
	accept_token(&f, token);
	f.now_ms += 1;
	refuse_token(&f, token, "expired");
	f.now_ms = APP_FIXTURE_NOW;
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\""), "no expiry");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":\"99999999999\""),
		     "no expiry");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":-1e300"), "expired");
	accept_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":9.9e10"));
	accept_token(&f,
		     claims_with(
			     "\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":99999999999,\"nbf\":1768473059"));
	refuse_token(&f,
		     claims_with(
			     "\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":99999999999,\"nbf\":1768473061"),
		     "yet");
	refuse_token(&f,
		     claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":99999999999,\"nbf\":null"),
		     "yet");
}

static void tokens_for_another_audience_are_refused(void **state)
{
	(void)state;
	refuse_token(&f, claims_with("\"iss\":\"x\",\"aud\":\"test\",\"sub\":\"a\",\"exp\":99999999999"),
		     "another audience");
	refuse_token(&f, claims_with("\"aud\":\"test\",\"sub\":\"a\",\"exp\":99999999999"), "another audience");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"tes\",\"sub\":\"a\",\"exp\":99999999999"),
		     "another audience");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"sub\":\"a\",\"exp\":99999999999"), "another audience");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":[],\"sub\":\"a\",\"exp\":99999999999"),
		     "another audience");
	accept_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":[\"x\",\"test\"],\"sub\":\"a\",\"exp\":99999999999"));
}

static void a_token_without_a_subject_is_an_operators_or_anonymous(void **state)
{
	(void)state;
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"exp\":99999999999"), "no subject");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":7,\"exp\":99999999999"), "no subject");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"exp\":99999999999,\"operator\":\"true\""),
		     "no subject");
	refuse_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"exp\":99999999999,\"operator\":1"),
		     "no subject");
	accept_token(&f, claims_with("\"iss\":\"thorpe\",\"aud\":\"test\",\"exp\":99999999999,\"operator\":true"));
}

static void without_an_outside_issuer_nothing_blocks(void **state)
{
	struct slice token = signed_part(&f.app.arena, "{\"alg\":\"RS256\",\"kid\":\"a\"}", "{}");

	(void)state;
	assert_false(caller_may_block(&f.app.app, arena_printf(&f.app.arena, "Bearer %.*s.AAAA", SLICE_ARG(token))));
	assert_false(caller_may_block(&f.app.app, SLICE("")));
}

static void a_huge_token_is_refused_unread(void **state)
{
	char *p = arena_alloc(&f.app.arena, 100000);

	(void)state;
	memset(p, 'e', 100000);
	refuse_token(&f, slice_make(p, 100000), "cannot be read");
	memset(p, '.', 100000);
	refuse_token(&f, slice_make(p, 100000), "cannot be read");
	refuse_token(&f, SLICE("."), "cannot be read");
	refuse_token(&f, SLICE(".."), "cannot be read");
	refuse_token(&f, SLICE("e30.e30.e30"), "cannot be read");
	refuse_token(&f, SLICE("W10.W10.W10"), "cannot be read");
}

static void running_out_of_memory_leaves_nothing_behind(void **state)
{
	uint8_t secret[CALLER_SECRET_BYTES] = { 0 };

	(void)state;
	for (long n = 0; n < 20; n++) {
		struct callers_state *s;

		alloc_fail_after(n);
		s = callers_new(f.app.design, secret);
		alloc_fail_never();
		callers_free(s);
		if (s)
			return;
	}
	fail_msg("it never succeeded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_token_has_its_subject, setup, teardown),
		cmocka_unit_test_setup_teardown(an_operator_has_every_role_and_permission, setup, teardown),
		cmocka_unit_test_setup_teardown(an_anonymous_caller_has_no_role, setup, teardown),
		cmocka_unit_test_setup_teardown(the_scheme_may_be_in_any_case, setup, teardown),
		cmocka_unit_test_setup_teardown(unsigned_tokens_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_changed_token_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_truncated_token_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(another_key_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(times_are_checked_with_a_minute_of_leeway, setup, teardown),
		cmocka_unit_test_setup_teardown(tokens_for_another_audience_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_token_without_a_subject_is_an_operators_or_anonymous, setup, teardown),
		cmocka_unit_test_setup_teardown(without_an_outside_issuer_nothing_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(a_huge_token_is_refused_unread, setup, teardown),
		cmocka_unit_test_setup_teardown(running_out_of_memory_leaves_nothing_behind, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
