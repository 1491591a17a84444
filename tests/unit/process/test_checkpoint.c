/* What processors remember.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/db/dyn.h"
#include "process/checkpoint.h"

static struct app_fixture f;

static const char notes[] = "entities:\n"
			    "  Note:\n"
			    "    path: /notes/<id>\n"
			    "    attributes: {id: 'string, required, fixed', text: string}\n"
			    "    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
			    "    allow: {read, create: anyone}\n";

static int setup(void **state)
{
	struct run *r;

	(void)state;
	app_fixture_open(&f, notes);
	r = app_fixture_run(&f, "!");
	assert_true(checkpoint_provision(r));
	assert_true(checkpoint_provision(r)); /* again is fine */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	app_fixture_close(&f);
	return 0;
}

static struct position position(const char *sequence, const char *progress, bool stored)
{
	return (struct position){ .processor = SLICE("tell all"),
				  .shard = SLICE("shard-1"),
				  .sequence = slice_str(sequence),
				  .progress = slice_str(progress),
				  .stored = stored };
}

static void is_at(const char *sequence, const char *progress)
{
	struct position at;

	assert_true(checkpoint_load(app_fixture_run(&f, "!"), SLICE("tell all"), SLICE("shard-1"), &at));
	assert_true(at.stored);
	assert_true(slice_is(at.sequence, sequence));
	assert_true(slice_is(at.progress, progress));
	assert_int_equal(at.time_ms, APP_FIXTURE_NOW);
}

static bool moves(struct position was, struct position now)
{
	struct run *r = app_fixture_run(&f, "!");
	bool ok = checkpoint_save(r, &was, &now);

	if (!ok)
		assert_int_equal(r->problem.type, PROBLEM_CONFLICT);
	return ok;
}

/* ---- positions ---- */

static void a_position_moves_from_where_it_is_only(void **state)
{
	struct position at, none = position("", "", false);

	(void)state;
	assert_true(checkpoint_load(app_fixture_run(&f, "!"), SLICE("tell all"), SLICE("shard-1"), &at));
	assert_false(at.stored);
	assert_int_equal(at.sequence.n, 0);
	assert_true(moves(none, position("10", "", true)));
	is_at("10", "");
	assert_false(moves(none, position("11", "", true)));
	assert_true(moves(position("10", "", true), position("12", "", true)));
	assert_false(moves(position("10", "", true), position("13", "", true)));
	is_at("12", "");
}

static void progress_is_part_of_the_position(void **state)
{
	(void)state;
	assert_true(moves(position("", "", false), position("", "row 99", true)));
	is_at("", "row 99");
	assert_false(moves(position("", "", true), position("5", "", true)));
	assert_true(moves(position("", "row 99", true), position("", "row 198", true)));
	assert_true(moves(position("", "row 198", true), position("5", "", true)));
	is_at("5", "");
}

static void a_position_can_be_set_whatever_it_is(void **state)
{
	struct position at, to = position("3", "", true);

	(void)state;
	assert_true(moves(position("", "", false), position("10", "", true)));
	assert_true(checkpoint_force(app_fixture_run(&f, "!"), &to));
	is_at("3", "");
	to = position("", "", true);
	assert_true(checkpoint_force(app_fixture_run(&f, "!"), &to));
	assert_true(checkpoint_load(app_fixture_run(&f, "!"), SLICE("tell all"), SLICE("shard-1"), &at));
	assert_false(at.stored);
	to = position("", "since 1000", true);
	assert_true(checkpoint_force(app_fixture_run(&f, "!"), &to));
	is_at("", "since 1000");
}

static struct value note(struct arena *a, const char *id, const char *text)
{
	struct value_member m[] = {
		{ SLICE("PK"), value_make_s(a, arena_printf(a, "NOTE#%s", id)) },
		{ SLICE("SK"), value_make_s(a, SLICE("NOTE")) },
		{ SLICE("text"), value_make_s(a, slice_str(text)) },
	};

	return value_make_map(a, m, 3);
}

static void an_effect_and_its_position_are_one(void **state)
{
	struct position was = position("", "", false), now = position("1", "", true);
	struct run *r = app_fixture_run(&f, "!");
	struct dyn_write put = { .kind = DYN_PUT };
	struct dyn_refusal refusal;
	struct value there;

	(void)state;
	put.item = note(r->arena, "a", "x");
	r->riders = checkpoint_move(r, &was, &now);
	r->rider_count = 1;
	assert_int_equal(dyn_write(r, &put, 1, SLICE(""), &refusal), DYN_DONE);
	is_at("1", "");
	/* Another processor that believes nothing has been done yet. */
	put.item = note(r->arena, "b", "x");
	r->riders = checkpoint_move(r, &was, &now);
	r->rider_count = 1;
	assert_int_equal(dyn_write(r, &put, 1, SLICE(""), &refusal), DYN_FAILED);
	assert_true(r->rider_lost);
	r = app_fixture_run(&f, "!");
	assert_true(dyn_get(r, dyn_key_of(r, put.item), true, &there));
	assert_false(value_present(there));
}

/* ---- parked changes ---- */

static bool park(const char *sequence, const char *text)
{
	struct run *r = app_fixture_run(&f, "!");
	struct dyn_refusal refusal;
	struct parked p = {
		.processor = SLICE("tell all"),
		.shard = SLICE("shard-1"),
		.sequence = slice_str(sequence),
		.reason = SLICE("why not"),
		.progress = SLICE("row 7"),
		.tries = 9,
		.parked_at_ms = APP_FIXTURE_NOW,
	};

	p.change = (struct change){ .sequence = p.sequence, .events = ON_CREATED, .created_ms = APP_FIXTURE_NOW - 5000 };
	p.change.new_image = note(r->arena, sequence, text);
	p.change.key = dyn_key_of(r, p.change.new_image);
	return dyn_write(r, checkpoint_park(r, &p), 1, SLICE(""), &refusal) == DYN_DONE;
}

static void a_parked_change_is_kept_whole(void **state)
{
	struct run *r = app_fixture_run(&f, "!");
	struct parked p;
	int64_t count;

	(void)state;
	assert_true(park("000000000000000000042", "hello"));
	assert_true(checkpoint_parked_one(r, SLICE("tell all"), SLICE("000000000000000000042"), &p));
	assert_true(slice_is(p.reason, "why not"));
	assert_true(slice_is(p.progress, "row 7"));
	assert_true(slice_is(p.shard, "shard-1"));
	assert_int_equal(p.tries, 9);
	assert_int_equal(p.parked_at_ms, APP_FIXTURE_NOW);
	assert_int_equal(p.change.events, ON_CREATED);
	assert_int_equal(p.change.created_ms, APP_FIXTURE_NOW - 5000);
	assert_true(slice_is(p.change.sequence, "000000000000000000042"));
	assert_non_null(p.change.entity);
	assert_true(slice_is(value_bytes(value_get(p.change.new_image, SLICE("text"))), "hello"));
	assert_false(value_present(p.change.old_image));
	assert_false(p.cut);
	assert_true(checkpoint_parked_count(r, SLICE("tell all"), &count));
	assert_int_equal(count, 1);
	assert_true(checkpoint_parked_count(r, SLICE("tell"), &count));
	assert_int_equal(count, 0);
	assert_true(checkpoint_unpark(r, SLICE("tell all"), p.sequence));
	assert_true(checkpoint_unpark(r, SLICE("tell all"), p.sequence));
	assert_false(checkpoint_parked_one(r, SLICE("tell all"), p.sequence, &p));
	assert_int_equal(r->problem.type, PROBLEM_NOT_FOUND);
}

static void parked_changes_come_in_pages(void **state)
{
	struct slice after = { 0 };
	struct parked_page page;
	size_t all = 0;

	(void)state;
	for (int i = 0; i < 7; i++)
		assert_true(park(arena_printf(&f.arena, "%021d%c", i, 0).p, "x"));
	do {
		assert_true(checkpoint_parked(app_fixture_run(&f, "!"), SLICE("tell all"), after, 3, &page));
		after = page.next;
		for (size_t i = 0; i < page.count; i++)
			assert_int_equal(strtol(page.list[i].sequence.p, NULL, 10), all++);
	} while (after.n);
	assert_int_equal(all, 7);
}

static void what_is_too_large_is_parked_without_its_images(void **state)
{
	char *text = arena_zalloc(&f.arena, 390001);
	struct parked p;

	(void)state;
	memset(text, 'x', 390000);
	assert_true(park("000000000000000000001", text));
	assert_true(
		checkpoint_parked_one(app_fixture_run(&f, "!"), SLICE("tell all"), SLICE("000000000000000000001"), &p));
	assert_true(p.cut);
	assert_false(value_present(p.change.new_image));
	assert_true(value_present(p.change.key));
}

/* ---- shards that are gone ---- */

#define DAY (24 * 3600 * INT64_C(1000))

/* A position at the end of a shard, or not, and the keeper's mark, as they were written so long ago. */
static void leave_behind_at(const char *shard, int64_t age_ms, bool ended)
{
	struct run *r = app_fixture_run(&f, "!");
	struct position now = {
		.processor = SLICE("tell all"), .shard = slice_str(shard), .sequence = SLICE("10"), .ended = ended
	};

	r->now_ms -= age_ms;
	assert_true(checkpoint_force(r, &now));
	now.shard = arena_printf(r->arena, "seen#%s", shard);
	assert_true(checkpoint_force(r, &now));
}

static void leave_behind(const char *shard, int64_t age_ms)
{
	leave_behind_at(shard, age_ms, true);
}

/* Both are there, or neither. */
static bool is_left(const char *shard)
{
	struct run *r = app_fixture_run(&f, "!");
	struct position at, seen;

	assert_true(checkpoint_load(r, SLICE("tell all"), slice_str(shard), &at));
	assert_true(checkpoint_load(r, SLICE("tell all"), arena_printf(r->arena, "seen#%s", shard), &seen));
	assert_true(at.stored == seen.stored);
	return at.stored;
}

static struct checkpoint_swept sweep(struct shard *shards, size_t n)
{
	struct shard_list list = { .list = shards, .count = n };
	struct checkpoint_swept out, none;

	assert_true(checkpoint_sweep(app_fixture_run(&f, "!"), &list, SLICE("another"), &none));
	assert_true(!none.removed && !none.lost);
	assert_true(checkpoint_sweep(app_fixture_run(&f, "!"), &list, SLICE("tell all"), &out));
	return out;
}

static size_t swept(struct shard *shards, size_t n)
{
	struct checkpoint_swept out = sweep(shards, n);

	assert_int_equal(out.lost, 0);
	return out.removed;
}

static void the_state_of_a_shard_is_removed_long_after_the_shard(void **state)
{
	struct shard shards[] = { { .id = SLICE("child"), .parent = SLICE("parent") },
				  { .id = SLICE("listed"), .closed = true } };

	(void)state;
	leave_behind("gone", 3 * DAY);
	leave_behind("a gone one", 3 * DAY);
	leave_behind("gone since yesterday", DAY);
	leave_behind("parent", 3 * DAY);
	leave_behind("listed", 3 * DAY);
	leave_behind("child", 3 * DAY);
	assert_int_equal(swept(shards, 0), 0);
	assert_true(is_left("gone"));
	assert_int_equal(swept(shards, 2), 4);
	assert_false(is_left("gone"));
	assert_false(is_left("a gone one"));
	assert_true(is_left("gone since yesterday"));
	assert_true(is_left("parent"));
	assert_true(is_left("listed"));
	assert_true(is_left("child"));
	assert_int_equal(swept(shards, 2), 0);
	assert_int_equal(swept(shards + 1, 1), 4); /* the child is forgotten, too */
	assert_false(is_left("parent"));
}

/* A shard that went before its processor was done with it: told once, and only then is its position removed. */
static void a_processor_that_was_not_done_with_a_shard_that_is_gone_has_missed_something(void **state)
{
	struct shard shards[] = { { .id = SLICE("child"), .parent = SLICE("parent") } };
	struct run *r = app_fixture_run(&f, "!");
	struct position replay = { .processor = SLICE("tell all"), .shard = SLICE("parent") };
	struct checkpoint_swept out;
	bool ended;

	(void)state;
	leave_behind_at("gone", 3 * DAY, false);
	leave_behind_at("gone a moment ago", DAY / 2, false);
	leave_behind_at("parent", 3 * DAY, false);
	leave_behind_at("child", 3 * DAY, false);
	out = sweep(shards, 1);
	assert_int_equal(out.lost, 1);
	assert_int_equal(out.removed, 1); /* the mark */
	assert_true(checkpoint_has_ended(r, SLICE("tell all"), SLICE("gone"), &ended) && ended);
	assert_true(checkpoint_has_ended(r, SLICE("tell all"), SLICE("parent"), &ended) && !ended);
	assert_int_equal(swept(shards, 1), 0);
	/* A replay that has never come to it. */
	r->now_ms -= 2 * DAY;
	replay.progress = checkpoint_since(r->arena, 1);
	assert_true(checkpoint_force(r, &replay));
	shards[0].parent = SLICE("");
	assert_int_equal(sweep(shards, 1).lost, 1);
}

static void a_change_that_is_being_done_again_is_no_shard(void **state)
{
	struct shard shard = { .id = SLICE("listed") };
	struct run *r = app_fixture_run(&f, "!");
	struct position now = { .processor = SLICE("tell all"), .shard = SLICE("retry#10"), .sequence = SLICE("10") },
			at;

	(void)state;
	r->now_ms -= 3 * DAY;
	assert_true(checkpoint_force(r, &now));
	assert_int_equal(swept(&shard, 1), 0);
	assert_true(checkpoint_load(app_fixture_run(&f, "!"), SLICE("tell all"), SLICE("retry#10"), &at) && at.stored);
}

/* ---- switches ---- */

static void switches_stay(void **state)
{
	struct processor_switch w;

	(void)state;
	assert_true(checkpoint_switch(app_fixture_run(&f, "!"), SLICE("tell all"), &w));
	assert_false(w.paused);
	assert_int_equal(w.replay_from_ms, 0);
	w = (struct processor_switch){ .paused = true, .replay_from_ms = 1700000000000 };
	assert_true(checkpoint_set_switch(app_fixture_run(&f, "!"), SLICE("tell all"), &w));
	assert_true(checkpoint_switch(app_fixture_run(&f, "!"), SLICE("tell all"), &w));
	assert_true(w.paused);
	assert_int_equal(w.replay_from_ms, 1700000000000);
	assert_true(checkpoint_switch(app_fixture_run(&f, "!"), SLICE("another"), &w));
	assert_false(w.paused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_position_moves_from_where_it_is_only, setup, teardown),
		cmocka_unit_test_setup_teardown(progress_is_part_of_the_position, setup, teardown),
		cmocka_unit_test_setup_teardown(a_position_can_be_set_whatever_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(an_effect_and_its_position_are_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_parked_change_is_kept_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(parked_changes_come_in_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_too_large_is_parked_without_its_images, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_processor_that_was_not_done_with_a_shard_that_is_gone_has_missed_something, setup, teardown),
		cmocka_unit_test_setup_teardown(the_state_of_a_shard_is_removed_long_after_the_shard, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_that_is_being_done_again_is_no_shard, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_stay, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
