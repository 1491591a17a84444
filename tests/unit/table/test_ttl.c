/* TTL: what goes when its time has come, and what stays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#define NOW_S (FIXTURE_START_MS / 1000)

static void put_expiring(struct fixture *f, const char *pk, long long expiry)
{
	putf(f, "t", "{'pk':{'S':'%s'},'ttl':{'N':'%lld'}}", pk, expiry);
}

static bool is_there(struct fixture *f, const char *pk)
{
	char key[64];

	snprintf(key, sizeof(key), "{'pk':{'S':'%s'}}", pk);
	return get(f, "t", key) != NULL;
}

/* Until nothing is left to do. */
static void step_all(struct fixture *f)
{
	int steps = 0;

	while (db_step(f->db))
		assert_true(++steps < 1000);
}

static void make_ttl_table(struct fixture *f)
{
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NEW_AND_OLD);
	set_ttl(f, "t", "ttl", true);
	step_all(f);
}

static void expired_items_go_and_others_stay(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "past", NOW_S - 1);
	put_expiring(f, "future", NOW_S + 100);
	put(f, "t", "{'pk':{'S':'none'}}");
	put(f, "t", "{'pk':{'S':'text'},'ttl':{'S':'1'}}");
	assert_verified(f);
	step_all(f);
	assert_false(is_there(f, "past"));
	assert_true(is_there(f, "future"));
	assert_true(is_there(f, "none"));
	assert_true(is_there(f, "text"));
	f->now_ms += 101000;
	step_all(f);
	assert_false(is_there(f, "future"));
	assert_int_equal(table_of(f, "t")->stats->items, 2);
	assert_int_equal(db_metrics(f->db).ttl_deleted, 2);
	assert_verified(f);
}

static void what_expired_years_ago_stays(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "ancient", NOW_S - 6LL * 365 * 24 * 3600);
	put_expiring(f, "old", NOW_S - 4LL * 365 * 24 * 3600);
	step_all(f);
	assert_true(is_there(f, "ancient"));
	assert_false(is_there(f, "old"));
	assert_verified(f);
}

static void count_by_ttl(void *ctx, const struct stream_record *r)
{
	*(int *)ctx += r->event == EVENT_REMOVE && r->by_ttl;
}

static void the_stream_says_who_deleted(void **state)
{
	struct fixture *f = *state;
	const struct stream *s;
	struct error e = { 0 };
	int by_ttl = 0;
	uint64_t next;

	make_ttl_table(f);
	put_expiring(f, "past", NOW_S - 1);
	put_expiring(f, "mine", NOW_S + 100);
	del(f, "t", "{'pk':{'S':'mine'}}");
	step_all(f);
	s = table_of(f, "t")->stream;
	for (uint32_t shard = 0; shard < s->shards; shard++)
		assert_true(db_stream_read(f->db, &(struct stream_read){ s, shard, 0, 0, count_by_ttl, &by_ttl },
					   &f->arena, &next, &e));
	assert_int_equal(by_ttl, 1);
}

static void an_item_with_a_changed_expiry_stays(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "a", NOW_S - 1);
	put_expiring(f, "a", NOW_S + 1000);
	put_expiring(f, "b", NOW_S - 1);
	put(f, "t", "{'pk':{'S':'b'}}");
	/* What the sweep saw before the item was changed: the writer must look again. */
	const struct table *t = table_of(f, "t");
	struct write_action w = { .kind = WRITE_DELETE, .table = t, .by_ttl = true, .ttl_deadline = NOW_S };
	struct write_request r = { .arena = &f->arena, .mode = REQUEST_EACH, .actions = &w, .action_count = 1 };
	struct error e = { 0 };

	w.key_item = item_of(f, "{'pk':{'S':'a'}}");
	assert_true(table_key_of_key(t, w.key_item, &f->arena, &w.key, &e));
	db_submit_wait(f->db, &r);
	assert_int_equal(w.error.code, ERR_NONE);
	assert_false(value_present(w.old_item));
	step_all(f);
	assert_true(is_there(f, "a"));
	assert_true(is_there(f, "b"));
	assert_verified(f);
}

static void many_expire_in_chunks(void **state)
{
	struct fixture *f = *state;
	int steps = 0;

	make_ttl_table(f);
	for (int i = 0; i < 450; i++) {
		char pk[16];

		snprintf(pk, sizeof(pk), "%d", i);
		put_expiring(f, pk, NOW_S - i);
	}
	while (db_step(f->db))
		steps++;
	assert_true(steps > 1);
	assert_int_equal(table_of(f, "t")->stats->items, 0);
	assert_verified(f);
}

static void enabling_ttl_finds_the_items_already_there(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	put_expiring(f, "past", NOW_S - 1);
	put_expiring(f, "future", NOW_S + 1000);
	set_ttl(f, "t", "ttl", true);
	put_expiring(f, "new", NOW_S - 1);
	step_all(f);
	assert_false(table_of(f, "t")->ttl_backfilling);
	assert_false(is_there(f, "past"));
	assert_false(is_there(f, "new"));
	assert_true(is_there(f, "future"));
	assert_verified(f);
}

static void disabling_ttl_keeps_everything(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "a", NOW_S + 10);
	set_ttl(f, "t", "ttl", false);
	put_expiring(f, "b", NOW_S + 10);
	f->now_ms += 60000;
	step_all(f);
	assert_true(is_there(f, "a"));
	assert_true(is_there(f, "b"));
	assert_verified(f);
}

static void enabling_again_amid_a_backfill_begins_again(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < 450; i++) {
		char pk[16];

		snprintf(pk, sizeof(pk), "%d", i);
		put_expiring(f, pk, NOW_S + 10);
	}
	set_ttl(f, "t", "ttl", true);
	assert_true(db_step(f->db));
	assert_true(table_of(f, "t")->ttl_backfilling);
	set_ttl(f, "t", "ttl", false);
	set_ttl(f, "t", "ttl", true);
	step_all(f);
	assert_verified(f);
	f->now_ms += 60000;
	step_all(f);
	assert_int_equal(table_of(f, "t")->stats->items, 0);
}

static void expiry_survives_a_restart(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	put_expiring(f, "before", NOW_S + 10);
	set_ttl(f, "t", "ttl", true); /* its backfill is still to come */
	put_expiring(f, "after", NOW_S + 10);
	fixture_reopen(f);
	f->now_ms += 60000;
	step_all(f);
	assert_false(is_there(f, "before"));
	assert_false(is_there(f, "after"));
	assert_verified(f);
}

static void a_failing_disk_puts_the_sweep_off(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "past", NOW_S - 1);
	for (long n = 0; n < 4; n++) {
		store_fail_after(db_store(f->db), n);
		(void)db_step(f->db);
		store_fail_after(db_store(f->db), -1);
		assert_verified(f);
	}
	step_all(f);
	assert_false(is_there(f, "past"));
	assert_verified(f);
}

static void tokens_are_forgotten_after_their_time(void **state)
{
	struct fixture *f = *state;
	const struct table *t;
	struct write_action w = { .kind = WRITE_PUT };
	struct write_request r = {
		.arena = &f->arena, .mode = REQUEST_ALL, .actions = &w, .action_count = 1, .token = SLICE("token")
	};
	struct error e = { 0 };

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	t = table_of(f, "t");
	w.table = t;
	w.item = item_of(f, "{'pk':{'S':'a'}}");
	assert_true(table_key_of_item(t, w.item, &f->arena, &w.key, &e));
	db_submit_wait(f->db, &r);
	assert_int_equal(r.error.code, ERR_NONE);
	assert_false(r.replayed);
	assert_false(db_step(f->db));
	f->now_ms += 11 * 60 * 1000;
	assert_true(db_step(f->db));
	assert_false(db_step(f->db));
	db_submit_wait(f->db, &r);
	assert_int_equal(r.error.code, ERR_NONE);
	assert_false(r.replayed);
}

int main(void)
{
#define TEST(name)      cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_on_disk, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(expired_items_go_and_others_stay),
		TEST(what_expired_years_ago_stays),
		TEST(the_stream_says_who_deleted),
		TEST(an_item_with_a_changed_expiry_stays),
		TEST(many_expire_in_chunks),
		TEST(enabling_ttl_finds_the_items_already_there),
		TEST(disabling_ttl_keeps_everything),
		TEST(enabling_again_amid_a_backfill_begins_again),
		DISK_TEST(expiry_survives_a_restart),
		TEST(a_failing_disk_puts_the_sweep_off),
		TEST(tokens_are_forgotten_after_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
