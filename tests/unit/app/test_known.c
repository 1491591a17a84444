/* Tokens seen before: taken as they were found, and no longer than they hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "caller_helper.h"

#define NOTES                                         \
	"entities:\n  Note:\n    path: /notes/<id>\n" \
	"    attributes: {id: 'string, id'}\n    keys: {PK: NOTE#<id>, SK: N}\n"

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

static struct slice mint(struct slice subject, int64_t seconds)
{
	const struct slice roles[] = { SLICE("admin"), SLICE("editor") };
	struct token_request q = {
		.subject = subject, .roles = roles, .role_count = 2, .now_ms = f.now_ms, .seconds = seconds
	};

	return caller_token(&f.app.arena, f.app.design->name, f.app.app.secret, &q);
}

static bool is_remembered(struct slice token)
{
	return known_find(f.app.app.callers->known, &f.app.arena, token, f.now_ms) != NULL;
}

static void the_second_time_it_is_the_same_caller(void **state)
{
	struct slice token = mint(SLICE("alice"), 3600);
	struct run *first, *second;

	(void)state;
	assert_false(is_remembered(token));
	first = accept_token(&f, token);
	assert_true(is_remembered(token));
	second = accept_token(&f, token);
	SLICE_IS(second->caller.subject, "alice");
	assert_int_equal(second->caller.role_count, 2);
	SLICE_IS(second->caller.roles[0], "admin");
	SLICE_IS(second->caller.roles[1], "editor");
	assert_false(second->caller.operator_);
	assert_int_equal(first->caller.expires_ms, second->caller.expires_ms);
}

static void it_ends_when_the_token_does(void **state)
{
	struct slice token = mint(SLICE("alice"), 100);

	(void)state;
	accept_token(&f, token);
	f.now_ms += 159999; /* clocks may differ by a minute */
	assert_true(is_remembered(token));
	accept_token(&f, token);
	f.now_ms += 1;
	assert_false(is_remembered(token));
	refuse_token(&f, token, "expired");
}

static void it_is_not_taken_before_the_token_is(void **state)
{
	struct slice key = slice_make(f.app.app.callers->token_key, JWT_KEY_BYTES);
	struct slice claims = arena_printf(
		&f.app.arena,
		"{\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"a\",\"minted\":true,\"nbf\":%lld,\"exp\":%lld}",
		(long long)NOW_S, (long long)NOW_S + 3600);
	struct slice token = hs256(&f.app.arena, "{\"alg\":\"HS256\"}", arena_cstr(&f.app.arena, claims), key);

	(void)state;
	accept_token(&f, token);
	assert_true(is_remembered(token));
	f.now_ms -= 61000;
	assert_false(is_remembered(token));
	refuse_token(&f, token, "not valid yet");
}

static void another_token_is_another(void **state)
{
	struct slice token = mint(SLICE("alice"), 3600);
	char *forged = arena_cstr(&f.app.arena, token);

	(void)state;
	accept_token(&f, token);
	forged[token.n - 1] = forged[token.n - 1] == 'A' ? 'Q' : 'A'; /* of the signature */
	refuse_token(&f, slice_make(forged, token.n), "not signed here");
	refuse_token(&f, slice_make(token.p, token.n - 1), "");
	assert_true(is_remembered(token));
}

static void a_refused_token_is_not_remembered(void **state)
{
	struct slice token = mint(SLICE("alice"), -3600);

	(void)state;
	refuse_token(&f, token, "expired");
	assert_false(is_remembered(token));
}

static void many_tokens_share_the_room_there_is(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct slice subject = arena_printf(&f.app.arena, "user%d", i % 700), token = mint(subject, 3600);
		struct run *r = accept_token(&f, token);

		assert_true(slice_equal(r->caller.subject, subject));
		r = accept_token(&f, token);
		assert_true(slice_equal(r->caller.subject, subject));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_second_time_it_is_the_same_caller), TEST(it_ends_when_the_token_does),
		TEST(it_is_not_taken_before_the_token_is),   TEST(another_token_is_another),
		TEST(a_refused_token_is_not_remembered),     TEST(many_tokens_share_the_room_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
