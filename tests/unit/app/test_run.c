/* Problems: how a request comes to have one, and which.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"

static void each_problem_has_a_status_a_name_and_a_title(void **state)
{
	assert_int_equal(problem_status(PROBLEM_MALFORMED), 400);
	assert_int_equal(problem_status(PROBLEM_TAKEN), 409);
	assert_int_equal(problem_status(PROBLEM_BUSY), 503);
	assert_string_equal(problem_name(PROBLEM_EXISTS), "already-exists");
	assert_string_equal(problem_title(PROBLEM_CHANGED), "It has changed since you read it");
}

static void a_failure_replaces_the_one_before(void **state)
{
	assert_false(run_invalid(r, SLICE("stars"), "between %d and %d", 1, 5));
	assert_false(run_fail(r, PROBLEM_NOT_FOUND, "there is no %s", "bob"));
	assert_int_equal(r->problem.part_count, 0);
	assert_problem(PROBLEM_NOT_FOUND, "there is no bob");
}

static void several_invalid_values_are_reported_at_once(void **state)
{
	for (int i = 0; i < 20; i++)
		assert_false(run_invalid(r, arena_printf(r->arena, "a%d", i), "is %d", i));
	assert_int_equal(r->problem.part_count, 20);
	assert_true(slice_is(r->problem.parts[19].attribute, "a19"));
	assert_true(slice_is(r->problem.parts[19].detail, "is 19"));
	assert_problem(PROBLEM_INVALID, "a0: is 0");
}

static void a_sentence_about_the_whole_stays_when_parts_follow(void **state)
{
	assert_false(run_fail(r, PROBLEM_INVALID, "no such day"));
	assert_false(run_invalid(r, SLICE("day"), "31 at most"));
	assert_int_equal(r->problem.part_count, 1);
	assert_problem(PROBLEM_INVALID, "no such day");
}

static void errors_of_terms_become_problems(void **state)
{
	struct error validation = { ERR_VALIDATION, SLICE("division by zero"), { 0 } };
	struct error internal = { ERR_INTERNAL, SLICE("secret"), { 0 } };

	assert_false(run_error(r, &validation));
	assert_problem(PROBLEM_INVALID, "division by zero");
	assert_false(run_error(r, &internal));
	assert_problem(PROBLEM_INTERNAL, "the server could not finish this request");
}

static void the_problem_of_a_fetch_is_kept(void **state)
{
	struct error e = { ERR_INTERNAL, SLICE("fetch failed"), { 0 } };

	assert_false(run_fail(r, PROBLEM_BUSY, "later"));
	assert_false(run_error(r, &e));
	assert_problem(PROBLEM_BUSY, "later");
}

static void errors_of_the_database_become_problems(void **state)
{
	static const struct {
		const char *error, *message;
		enum problem_type type;
	} cases[] = {
		{ "ThrottlingException", "m", PROBLEM_BUSY },
		{ "ProvisionedThroughputExceededException", "m", PROBLEM_BUSY },
		{ "TransactionConflictException", "m", PROBLEM_BUSY },
		{ "TransactionCanceledException", "m", PROBLEM_BUSY },
		{ "ValidationException", "Item size has exceeded the maximum allowed size", PROBLEM_TOO_LARGE },
		{ "ValidationException", "Transaction payload size cannot exceed 4MB", PROBLEM_TOO_LARGE },
		{ "ItemCollectionSizeLimitExceededException", "m", PROBLEM_TOO_LARGE },
		{ "ValidationException", "Expression size has exceeded the maximum allowed size", PROBLEM_INVALID },
		{ "ValidationException", "The table does not have the specified index: GSI1", PROBLEM_INTERNAL },
		{ "ValidationException", "Cannot read from backfilling global secondary index: GSI1", PROBLEM_INTERNAL },
		{ "ResourceNotFoundException", "m", PROBLEM_INTERNAL },
		{ "InternalServerError", "m", PROBLEM_INTERNAL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct backend_reply reply = { .status = 400,
					       .error = slice_str(cases[i].error),
					       .message = slice_str(cases[i].message) };

		r->problem = (struct problem){ 0 };
		assert_false(run_backend_error(r, &reply));
		if (r->problem.type != cases[i].type)
			fail_msg("%s is %s", cases[i].error, problem_name(r->problem.type));
		assert_int_equal(r->problem.retry_after, cases[i].type == PROBLEM_BUSY ? 1 : 0);
		if (cases[i].type == PROBLEM_INTERNAL) /* its text does not leave */
			assert_false(slice_is(r->problem.detail, "m") ||
				     memmem(r->problem.detail.p, r->problem.detail.n, "GSI1", 4));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_problem_has_a_status_a_name_and_a_title),
		TEST(a_failure_replaces_the_one_before),
		TEST(several_invalid_values_are_reported_at_once),
		TEST(a_sentence_about_the_whole_stays_when_parts_follow),
		TEST(errors_of_terms_become_problems),
		TEST(the_problem_of_a_fetch_is_kept),
		TEST(errors_of_the_database_become_problems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
