/* Deploying: the plan, doing it, being stopped in it, and services that refuse.
 * SPDX-License-Identifier: Apache-2.0 */
#include "deploy_helper.h"

#define WHOLE INDEXES STREAM TTL

static bool plans(const struct deploy_plan *p, enum deploy_act act, size_t table, const char *words)
{
	for (size_t i = 0; i < p->step_count; i++)
		if (p->steps[i].act == act && p->steps[i].table == table && slice_is(p->steps[i].words, words))
			return true;
	return false;
}

static bool remarks(const struct deploy_plan *p, enum deploy_weight weight, const char *part)
{
	for (size_t i = 0; i < p->remark_count; i++)
		if (p->remarks[i].weight == weight && has(p->remarks[i].words, part))
			return true;
	return false;
}

static bool said(const struct fixture *f, const char *part)
{
	for (size_t i = 0; i < f->said_count; i++)
		if (strstr(f->said[i], part))
			return true;
	return false;
}

static void where_nothing_is_everything_is_planned_and_nothing_is_done(void **state)
{
	struct fixture *f = *state;
	struct deploy_plan p = look(f, WHOLE);

	assert_true(plans(&p, DEPLOY_CREATE, 0, "the table: key PK, SK; on demand"));
	assert_int_equal(p.steps[0].detail_count, 5);
	assert_true(slice_is(p.steps[0].details[0], "index byKind: G1, G2 (number); with score"));
	assert_true(slice_is(p.steps[0].details[1], "index byScore: G2 (number), G1; keys only"));
	assert_true(slice_is(p.steps[0].details[2], "stream: new image"));
	assert_true(slice_is(p.steps[0].details[4], "tags: thorpe:design=notes"));
	assert_true(plans(&p, DEPLOY_RECOVERY, 0, "point-in-time recovery"));
	assert_true(plans(&p, DEPLOY_TTL, 0, "TTL: by until"));
	assert_true(plans(&p, DEPLOY_CREATE, 1, "the table: key PK, SK; on demand"));
	assert_true(plans(&p, DEPLOY_TTL, 1, "TTL: by expires"));
	assert_int_equal(p.step_count, 5);
	assert_int_equal(p.remark_count, 0);
	assert_int_equal(f->s.writes, 0);
}

static void it_is_made_as_planned_and_then_there_is_nothing_to_do(void **state)
{
	static const struct deploy_tag tags[] = { { SLICE("team"), SLICE("search") } };
	struct fixture *f = *state;
	struct deploy_plan p;
	struct slice table;

	f->options.tags = tags;
	f->options.tag_count = 1;
	run(f, WHOLE);
	table = describe(f, "DescribeTable", "Notes");
	assert_has(table, "\"IndexName\":\"byKind\"");
	assert_has(table, "\"IndexName\":\"byScore\"");
	assert_has(table, "\"StreamViewType\":\"NEW_IMAGE\"");
	assert_has(table, "\"DeletionProtectionEnabled\":true");
	assert_has(table, "PAY_PER_REQUEST");
	assert_has(describe(f, "DescribeTimeToLive", "Notes"), "\"AttributeName\":\"until\"");
	assert_has(describe(f, "DescribeTimeToLive", "Notes.thorpe"), "\"AttributeName\":\"expires\"");
	assert_has(describe(f, "DescribeTable", "Notes.thorpe"), "\"DeletionProtectionEnabled\":true");
	assert_true(f->s.recovery);
	p = look(f, WHOLE);
	assert_int_equal(p.step_count, 0);
	assert_int_equal(p.remark_count, 0);
	f->s.writes = 0;
	run(f, WHOLE);
	assert_int_equal(f->s.writes, 0);
	assert_true(said(f, "Notes: the table: key PK, SK; on demand"));
}

/* As an older design, or a hand, has left it. */
static void what_is_missing_is_added_one_at_a_time(void **state)
{
	static const struct deploy_tag tags[] = { { SLICE("team"), SLICE("search") } };
	struct fixture *f = *state;
	struct deploy_plan p;
	unsigned updates = 0, ttls = 0, tagged = 0;

	f->options = (struct deploy_options){ .no_recovery = true, .no_protection = true };
	run(f, "");
	f->options = (struct deploy_options){ .tags = tags, .tag_count = 1 };
	p = look(f, WHOLE);
	assert_true(plans(&p, DEPLOY_PROTECT, 0, "deletion protection"));
	assert_true(plans(&p, DEPLOY_PROTECT, 1, "deletion protection"));
	assert_true(plans(&p, DEPLOY_TAG, 0, "tags: team=search"));
	assert_true(plans(&p, DEPLOY_STREAM, 0, "stream: new image"));
	assert_true(plans(&p, DEPLOY_INDEX, 0, "index byKind: G1, G2 (number); with score"));
	assert_true(plans(&p, DEPLOY_INDEX, 0, "index byScore: G2 (number), G1; keys only"));
	assert_true(plans(&p, DEPLOY_TTL, 0, "TTL: by until"));
	f->s.writes = 0;
	run(f, WHOLE);
	for (unsigned i = 0; i < f->s.writes; i++) {
		updates += !strcmp(f->s.log[i], "UpdateTable");
		ttls += !strcmp(f->s.log[i], "UpdateTimeToLive");
		tagged += !strcmp(f->s.log[i], "TagResource");
	}
	assert_int_equal(updates, 5); /* two protections, a stream, two indexes: none was refused */
	assert_int_equal(ttls, 1);
	assert_int_equal(tagged, 2);
	assert_string_equal(f->s.log[0], "UpdateTable"); /* protection comes first */
	p = look(f, WHOLE);
	assert_int_equal(p.step_count, 0);
	assert_has(describe(f, "DescribeTable", "Notes"), "\"IndexStatus\":\"ACTIVE\"");
}

/* Nothing at all is done then: not even what could be. */
static void blocked(struct fixture *f, const char *was, const char *is, const char *part)
{
	struct deploy_failure failure;
	struct deploy_plan p;

	run(f, was);
	f->s.writes = 0;
	p = look(f, is);
	if (!remarks(&p, DEPLOY_OBSTACLE, part))
		fail_msg("no obstacle with '%s'", part);
	assert_int_equal(run_for(f, is, 0, &failure), DEPLOY_BLOCKED);
	assert_has(failure.words, part);
	assert_int_equal(f->s.writes, 0);
}

static void an_index_with_another_key_is_an_obstacle(void **state)
{
	blocked(*state, "indexes: {byKind: {key: [G1], projection: [score]}}\n", INDEXES TTL,
		"index byKind has the key G1");
}

static void an_index_with_other_attributes_is_an_obstacle(void **state)
{
	blocked(*state, "indexes: {byKind: {key: [G1, G2: number]}}\n", INDEXES TTL,
		"give the index of the design another name");
}

static void a_stream_with_another_view_is_an_obstacle(void **state)
{
	blocked(*state, "stream: keys only\n", STREAM INDEXES, "its stream shows KEYS_ONLY, the design says NEW_IMAGE");
}

static void another_ttl_attribute_is_an_obstacle(void **state)
{
	blocked(*state, "ttl: score\n", WHOLE, "its items expire by score, the design says until");
}

static void an_attribute_of_another_type_in_a_key_is_an_obstacle(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;
	struct backend_reply r;

	backend_call(
		f->s.real, &f->arena, "CreateTable",
		SLICE("{\"TableName\":\"Notes\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"PK\","
		      "\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"G1\","
		      "\"AttributeType\":\"N\"}],\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"SK\","
		      "\"KeyType\":\"RANGE\"}],\"GlobalSecondaryIndexes\":[{\"IndexName\":\"old\",\"KeySchema\":[{\"AttributeName\":"
		      "\"G1\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}}]}"),
		&r);
	assert_int_equal(r.status, 200);
	assert_int_equal(run_for(f, WHOLE, 0, &failure), DEPLOY_BLOCKED);
	assert_has(failure.words, "index byKind needs G1 as a S, and it is a N");
	assert_int_equal(f->s.writes, 0);
}

static void another_table_key_is_an_obstacle(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;
	struct backend_reply r;

	backend_call(f->s.real, &f->arena, "CreateTable",
		     SLICE("{\"TableName\":\"Notes\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"id\","
			   "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}"),
		     &r);
	assert_int_equal(r.status, 200);
	assert_int_equal(run_for(f, WHOLE, 0, &failure), DEPLOY_BLOCKED);
	assert_has(failure.words, "its key is id");
	assert_has(failure.words, "choose another name");
	assert_int_equal(f->s.writes, 0);
}

static void parts_the_design_does_not_have_are_kept_and_reported(void **state)
{
	struct fixture *f = *state;
	struct deploy_plan p;

	run(f, WHOLE "billing: {read: 7, write: 9}\n");
	p = look(f, "indexes: {" BY_KIND "}\n" STREAM);
	assert_int_equal(p.step_count, 0);
	assert_int_equal(p.obstacle_count, 0);
	assert_true(remarks(&p, DEPLOY_NOTE, "index byScore is not in the design"));
	assert_true(remarks(&p, DEPLOY_NOTE, "it has 7 read and 9 write units provisioned, the design says on demand"));
	assert_true(remarks(&p, DEPLOY_NOTE, "its items expire by until, the design has no `ttl`"));
}

/* DynamoDB refuses an index without units on a table that has some. */
static void a_new_index_is_billed_as_its_table_is(void **state)
{
	struct fixture *f = *state;
	struct slice table;
	const char *index;

	run(f, "billing: {read: 7, write: 9}\n");
	run(f, "indexes: {" BY_KIND "}\n");
	table = describe(f, "DescribeTable", "Notes");
	index = memmem(table.p, table.n, "\"GlobalSecondaryIndexes\"", 24);
	assert_non_null(index);
	assert_has(slice_make(index, (size_t)(table.p + table.n - index)), "\"WriteCapacityUnits\":9");
}

/* ---- stopped ---- */

static int tried_all_stops(struct fixture *f, const char *was, const char *is, bool after)
{
	struct deploy_failure failure;
	unsigned n;

	for (n = 1; n < 40; n++) {
		void *state = f;
		struct deploy_plan p;

		assert_int_equal(setup(&state), 0); /* the same fixture, new tables */
		f = state;
		if (was) {
			f->options = (struct deploy_options){ .no_recovery = true, .no_protection = true };
			run(f, was);
			f->options = (struct deploy_options){ 0 };
		}
		f->s.writes = 0;
		f->s.fails_at = n;
		f->s.fails_after = after;
		f->s.error = "AccessDeniedException";
		f->s.message = "stopped";
		if (run_for(f, is, 0, &failure) == DEPLOY_DONE)
			return (int)n; /* it needs fewer */
		assert_true(slice_is(failure.reply.message, "stopped"));
		f->s.fails_at = 0;
		run(f, is);
		p = look(f, is);
		assert_int_equal(p.step_count, 0);
		assert_int_equal(p.remark_count, 0);
		teardown(&state);
	}
	return 0;
}

static void wherever_it_is_stopped_it_goes_on(void **state)
{
	struct fixture *f = *state;
	int fresh, grown;

	teardown(state);
	fresh = tried_all_stops(f, NULL, WHOLE, false);
	teardown(state);
	assert_int_equal(fresh, tried_all_stops(f, NULL, WHOLE, true));
	teardown(state);
	grown = tried_all_stops(f, "", WHOLE, false);
	teardown(state);
	assert_int_equal(grown, tried_all_stops(f, "", WHOLE, true));
	assert_int_equal(fresh, 6); /* two tables, two TTLs, recovery */
	assert_int_equal(grown, 8); /* two protections, recovery, stream, two indexes, TTL */
}

/* ---- services that refuse ---- */

static void temporary_refusals_are_retried(void **state)
{
	/* clang-format off */
	static const struct {
		const char *operation, *error, *message;
	} all[] = {
		{ "CreateTable", "LimitExceededException", "Subscriber limit exceeded" },
		{ "UpdateTable", "LimitExceededException", "Only 1 online index can be created simultaneously per table" },
		{ "UpdateTable", "ResourceInUseException", "Table is being updated: Notes" },
		{ "UpdateContinuousBackups", "ContinuousBackupsUnavailableException", "Backups are being enabled for the table" },
		{ "UpdateTimeToLive", "ThrottlingException", "Rate exceeded" },
		{ "UpdateTimeToLive", "ServiceUnavailable", "no answer" },
	};
	/* clang-format on */
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		teardown(state);
		assert_int_equal(setup(state), 0);
		f->s.refused = all[i].operation;
		f->s.refusals = 3;
		f->s.error = all[i].error;
		f->s.message = all[i].message;
		f->options.no_protection = true;
		run(f, "");
		f->options.no_protection = false;
		run(f, WHOLE);
		assert_int_equal(f->s.refusals, 0);
		assert_int_equal(look(f, WHOLE).step_count, 0);
	}
}

static void permanent_refusals_are_reported(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;

	f->s.refused = "CreateTable";
	f->s.refusals = 1000000;
	f->s.error = "LimitExceededException";
	f->s.message = "too many tables";
	assert_int_equal(run_for(f, WHOLE, 200, &failure), DEPLOY_FAILED);
	assert_string_equal(failure.operation, "CreateTable");
	assert_true(slice_is(failure.reply.message, "too many tables"));
	f->s.error = "AccessDeniedException";
	f->s.writes = 0;
	assert_int_equal(run_for(f, WHOLE, 0, &failure), DEPLOY_FAILED);
	assert_int_equal(f->s.writes, 1); /* not tried again */
}

static void ttl_that_was_changed_lately_comes_last_and_says_when(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;
	struct deploy_plan p;

	f->s.refused = "UpdateTimeToLive";
	f->s.refusals = 1;
	f->s.error = "ValidationException";
	f->s.message = "Time to live has been modified multiple times within a fixed interval";
	assert_int_equal(run_for(f, WHOLE, 0, &failure), DEPLOY_FAILED);
	assert_has(failure.words, "once an hour");
	p = look(f, WHOLE);
	assert_true(plans(&p, DEPLOY_TTL, 0, "TTL: by until"));
	run(f, WHOLE);
}

static void features_a_service_lacks_are_skipped_and_reported(void **state)
{
	struct fixture *f = *state;
	struct deploy_plan p;

	f->s.lacks[0] = "UpdateContinuousBackups";
	f->s.lacks[1] = "DescribeContinuousBackups";
	f->s.lacks[2] = "ListTagsOfResource";
	f->s.lacks[3] = "DescribeTimeToLive";
	run(f, WHOLE);
	p = look(f, WHOLE);
	assert_int_equal(p.step_count, 0);
	assert_true(remarks(&p, DEPLOY_NOTE, "no point-in-time recovery"));
	assert_true(remarks(&p, DEPLOY_NOTE, "no tags"));
	assert_true(remarks(&p, DEPLOY_NOTE, "no TTL"));
}

static void a_service_that_tells_of_recovery_but_cannot_turn_it_on_is_found_out(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;
	struct deploy_plan p;
	struct deploy_want w;

	f->s.lacks[0] = "UpdateContinuousBackups";
	run(f, WHOLE);
	assert_true(said(f, "this endpoint has no UpdateContinuousBackups"));
	w = want(f, WHOLE);
	w.probes = true;
	assert_true(deploy_look(&f->s.backend, &w, &f->arena, &p, &failure));
	assert_int_equal(p.step_count, 0);
	assert_true(remarks(&p, DEPLOY_NOTE, "no point-in-time recovery"));
}

static void tags_may_be_shown_late(void **state)
{
	struct fixture *f = *state;

	f->options.no_protection = true;
	f->s.shown_late = 4;
	run(f, WHOLE);
	assert_int_equal(look(f, WHOLE).step_count, 0);
}

static void a_service_that_takes_and_does_nothing_is_not_asked_forever(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;

	f->s.ignored = "UpdateTimeToLive";
	assert_int_equal(run_for(f, WHOLE, 300, &failure), DEPLOY_FAILED);
	assert_has(failure.words, "the endpoint accepts UpdateTimeToLive, but does nothing");
}

static void a_refused_look_is_reported(void **state)
{
	struct fixture *f = *state;
	struct deploy_failure failure;

	f->s.refused = "DescribeTable";
	f->s.refusals = 1;
	f->s.error = "UnrecognizedClientException";
	f->s.message = "who?";
	assert_int_equal(run_for(f, WHOLE, 0, &failure), DEPLOY_FAILED);
	assert_string_equal(failure.operation, "DescribeTable");
	assert_true(slice_is(failure.table, "Notes"));
	assert_true(slice_is(failure.reply.error, "UnrecognizedClientException"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(where_nothing_is_everything_is_planned_and_nothing_is_done),
		TEST(it_is_made_as_planned_and_then_there_is_nothing_to_do),
		TEST(what_is_missing_is_added_one_at_a_time),
		TEST(an_index_with_another_key_is_an_obstacle),
		TEST(an_index_with_other_attributes_is_an_obstacle),
		TEST(a_stream_with_another_view_is_an_obstacle),
		TEST(another_ttl_attribute_is_an_obstacle),
		TEST(an_attribute_of_another_type_in_a_key_is_an_obstacle),
		TEST(another_table_key_is_an_obstacle),
		TEST(parts_the_design_does_not_have_are_kept_and_reported),
		TEST(a_new_index_is_billed_as_its_table_is),
		TEST(wherever_it_is_stopped_it_goes_on),
		TEST(temporary_refusals_are_retried),
		TEST(permanent_refusals_are_reported),
		TEST(ttl_that_was_changed_lately_comes_last_and_says_when),
		TEST(features_a_service_lacks_are_skipped_and_reported),
		TEST(a_service_that_tells_of_recovery_but_cannot_turn_it_on_is_found_out),
		TEST(tags_may_be_shown_late),
		TEST(a_service_that_takes_and_does_nothing_is_not_asked_forever),
		TEST(a_refused_look_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
