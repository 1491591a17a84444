/* Servers that share the shards of a stream.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "process/checkpoint.h"
#include "process/lease.h"

#define SERVERS 4
#define SHARDS  6
#define SECOND  INT64_C(1000000)

static struct app_fixture f;
static struct leases *server[SERVERS];
static struct shard shards[SHARDS];
static struct shard_list list;
static int64_t now_us;

static const char notes[] = "entities:\n"
			    "  Note:\n"
			    "    path: /notes/<id>\n"
			    "    attributes: {id: 'string, required, fixed'}\n"
			    "    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
			    "    allow: {read, create: anyone}\n";

static int setup(void **state)
{
	static const char *const ids[SHARDS] = { "shard-1", "shard-2", "shard-3", "shard-4", "shard-5", "shard-6" };

	(void)state;
	app_fixture_open(&f, notes);
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	for (size_t i = 0; i < SHARDS; i++)
		shards[i] = (struct shard){ .id = slice_str(ids[i]) };
	list = (struct shard_list){ .list = shards, .count = SHARDS };
	now_us = 1000 * SECOND;
	for (size_t i = 0; i < SERVERS; i++)
		assert_non_null(server[i] = lease_new(APP_FIXTURE_NOW));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < SERVERS; i++)
		lease_free(server[i]);
	app_fixture_close(&f);
	return 0;
}

/* Those of the mask have a round, one after the other; then the time of a round is over. */
static void rounds(int count, unsigned mask)
{
	while (count--) {
		for (size_t i = 0; i < SERVERS; i++)
			if (mask >> i & 1)
				assert_true(lease_round(server[i], app_fixture_run(&f, "!"), &list, now_us));
		now_us += LEASE_ROUND_MS * 1000;
	}
}

static size_t owned(size_t which)
{
	size_t n = 0;

	for (size_t i = 0; i < list.count; i++)
		n += lease_is_mine(server[which], shards[i].id, now_us);
	return n;
}

/* Every shard is exactly one's, of those in the mask. */
static void are_shared(unsigned mask, size_t most)
{
	for (size_t i = 0; i < list.count; i++) {
		size_t n = 0;

		for (size_t k = 0; k < SERVERS; k++)
			n += (mask >> k & 1) && lease_is_mine(server[k], shards[i].id, now_us);
		assert_int_equal(n, 1);
	}
	for (size_t k = 0; k < SERVERS; k++)
		assert_true(owned(k) <= most || !(mask >> k & 1));
}

static void one_server_has_all(void **state)
{
	(void)state;
	assert_int_equal(owned(0), 0);
	rounds(1, 1);
	assert_int_equal(owned(0), SHARDS);
	rounds(20, 1);
	assert_int_equal(owned(0), SHARDS);
}

static void a_second_and_a_third_get_their_part(void **state)
{
	(void)state;
	rounds(2, 1);
	rounds(6, 3);
	are_shared(3, 3);
	rounds(6, 7);
	are_shared(7, 2);
	rounds(10, 7);
	are_shared(7, 2); /* and it stays so */
}

static void a_dead_servers_shards_are_taken_over_within_ten_seconds(void **state)
{
	int64_t died;

	(void)state;
	rounds(12, 7);
	are_shared(7, 2);
	died = now_us;
	for (int i = 0; i < 10 && owned(0) + owned(1) < SHARDS; i++)
		rounds(1, 3);
	assert_true(now_us - died < 10 * SECOND);
	are_shared(3, 3);
}

static void a_late_server_keeps_its_shards(void **state)
{
	(void)state;
	rounds(6, 3);
	are_shared(3, 3);
	rounds(2, 1); /* the other one misses these */
	assert_int_equal(owned(0), 3);
	assert_int_equal(owned(1), 3);
	rounds(1, 3);
	are_shared(3, 3);
}

static void a_server_without_heartbeat_owns_nothing(void **state)
{
	(void)state;
	rounds(1, 1);
	assert_int_equal(owned(0), SHARDS);
	now_us += LEASE_EXPIRE_MS * 1000;
	assert_int_equal(owned(0), 0);
}

static void a_server_that_was_away_gets_back_nothing_that_another_has_taken(void **state)
{
	(void)state;
	rounds(4, 3);
	rounds(8, 1); /* the other one hangs */
	assert_int_equal(owned(0), SHARDS);
	rounds(1, 2);
	assert_true(owned(1) <= 1); /* what it has asked for since, not what it had */
	rounds(6, 3);
	are_shared(3, 3);
}

static void a_server_that_leaves_makes_room_at_once(void **state)
{
	(void)state;
	rounds(6, 3);
	are_shared(3, 3);
	lease_leave(server[0], app_fixture_run(&f, "!"));
	assert_int_equal(owned(0), 0);
	rounds(1, 2);
	assert_int_equal(owned(1), SHARDS);
}

static void shards_come_and_go(void **state)
{
	(void)state;
	list.count = 2;
	rounds(4, 3);
	are_shared(3, 1);
	list.count = SHARDS;
	rounds(4, 3);
	are_shared(3, 3);
	list.count = 1;
	rounds(4, 3);
	are_shared(3, 1);
}

/* DynamoDB makes new shards every few hours and forgets old ones after a day. */
static void shards_that_are_forgotten_leave_room_for_new_ones(void **state)
{
	(void)state;
	list.count = 3;
	for (int turn = 0; turn < 4; turn++) {
		list.list = shards + turn % 2 * 3;
		rounds(2, 1);
		for (size_t i = 0; i < list.count; i++)
			assert_true(lease_is_mine(server[0], list.list[i].id, now_us));
		for (size_t i = 0; i < list.count; i++)
			assert_false(lease_is_mine(server[0], shards[(turn + 1) % 2 * 3 + i].id, now_us));
	}
}

static void more_servers_than_shards_share_them(void **state)
{
	(void)state;
	list.count = 2;
	rounds(8, 15);
	are_shared(15, 1);
}

static void nothing_is_taken_while_the_table_does_not_answer(void **state)
{
	struct design away = *f.design;
	struct run *r = app_fixture_run(&f, "!");

	(void)state;
	rounds(2, 1);
	away.table = SLICE("Elsewhere");
	r->design = &away;
	assert_false(lease_round(server[1], r, &list, now_us));
	assert_int_equal(owned(1), 0);
	assert_false(lease_round(server[0], r, &list, now_us));
	assert_int_equal(owned(0), SHARDS); /* until they expire */
}

/* Lets another server have its round right before a shard is taken. */
static void meddling_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			  struct backend_reply *reply)
{
	static bool is_meddling;

	(void)b;
	if (!is_meddling && !strcmp(operation, "PutItem") && memmem(body.p, body.n, "shard#", 6)) {
		is_meddling = true;
		assert_true(lease_round(server[1], app_fixture_run(&f, "!"), &list, now_us));
		is_meddling = false;
	}
	backend_call(f.backend, a, operation, body, reply);
}

static void of_two_that_take_a_shard_at_once_one_gets_it(void **state)
{
	struct backend meddler = { .call = meddling_call };
	struct run *r;

	(void)state;
	list.count = 1;
	rounds(2, 4); /* which dies */
	now_us += LEASE_EXPIRE_MS * 1000;
	rounds(1, 3); /* both have heard of it */
	now_us += LEASE_EXPIRE_MS * 1000;
	r = app_fixture_run(&f, "!");
	r->backend = &meddler;
	assert_true(lease_round(server[0], r, &list, now_us));
	assert_int_equal(owned(1), 1);
	are_shared(3, 1);
}

/* Does what it is asked, and says that it does not know whether it did. */
static void losing_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			struct backend_reply *reply)
{
	(void)b;
	backend_call(f.backend, a, operation, body, reply);
	if (!strcmp(operation, "PutItem") && memmem(body.p, body.n, "shard#", 6))
		*reply = (struct backend_reply){ .status = 500,
						 .body = reply->body,
						 .error = SLICE("InternalServerError"),
						 .message = SLICE("lost") };
}

/* A round of one server that learns of none of the shards that it takes or gives back. */
static void round_without_replies(size_t which)
{
	struct backend loser = { .call = losing_call };
	struct run *r = app_fixture_run(&f, "!");

	r->backend = &loser;
	(void)!lease_round(server[which], r, &list, now_us);
	now_us += LEASE_ROUND_MS * 1000;
}

static void a_shard_taken_with_a_lost_reply_is_read(void **state)
{
	(void)state;
	round_without_replies(0);
	rounds(1, 1);
	assert_int_equal(owned(0), SHARDS);
}

static void a_shard_taken_with_a_lost_reply_has_no_other_owner(void **state)
{
	(void)state;
	rounds(2, 2);
	assert_int_equal(owned(1), SHARDS);
	round_without_replies(0); /* one of them is its, and neither knows */
	rounds(1, 2);
	assert_int_equal(owned(1), SHARDS - 1);
	rounds(8, 3);
	are_shared(3, 3);
}

static void leaving_with_a_lost_reply_still_leaves(void **state)
{
	struct backend loser = { .call = losing_call };
	struct run *r;

	(void)state;
	rounds(6, 3);
	r = app_fixture_run(&f, "!");
	r->backend = &loser;
	lease_leave(server[0], r);
	assert_int_equal(owned(0), 0);
	rounds(1, 2);
	assert_int_equal(owned(1), SHARDS);
}

/* What server `which` sees of another: what it told last; NULL: it does not live. */
static const char *told_of(struct lease_view *v, size_t index)
{
	return index < v->server_count ? v->servers[index].told : NULL;
}

static void all_servers_see_the_owners_and_get_the_orders(void **state)
{
	struct lease_view *v;

	(void)state;
	assert_null(lease_view(server[0]));
	assert_true(lease_tell(server[0], SLICE("much")) && lease_tell(server[1], SLICE("little")) &&
		    lease_tell(server[1], SLICE("nothing")));
	rounds(8, 3);
	for (size_t k = 0; k < 2; k++) {
		v = lease_view(server[k]);
		assert_int_equal(v->server_count, 2);
		assert_true(v->servers[0].is_this && !v->servers[1].is_this);
		assert_string_equal(told_of(v, 0), k ? "nothing" : "much");
		assert_string_equal(told_of(v, 1), k ? "much" : "nothing");
		assert_int_equal(v->shard_count, SHARDS);
		for (size_t i = 0; i < SHARDS; i++) {
			assert_true(slice_is(shards[i].id, v->shards[i].id));
			assert_int_equal(!strcmp(v->shards[i].owner, v->servers[0].id),
					 lease_is_mine(server[k], shards[i].id, now_us));
			assert_int_equal(!strcmp(v->shards[i].owner, v->servers[1].id),
					 lease_is_mine(server[!k], shards[i].id, now_us));
		}
		lease_view_unref(v);
	}
	/* The other one dies: until then it is as it said. */
	for (int i = 0; i < 10 && owned(0) < SHARDS; i++)
		rounds(1, 1);
	v = lease_view(server[0]);
	assert_int_equal(v->server_count, 1);
	for (size_t i = 0; i < SHARDS; i++)
		assert_string_equal(v->shards[i].owner, v->servers[0].id);
	lease_view_unref(v);
}

#define lease_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		lease_test(one_server_has_all),
		lease_test(a_second_and_a_third_get_their_part),
		lease_test(a_dead_servers_shards_are_taken_over_within_ten_seconds),
		lease_test(a_late_server_keeps_its_shards),
		lease_test(a_server_without_heartbeat_owns_nothing),
		lease_test(a_server_that_was_away_gets_back_nothing_that_another_has_taken),
		lease_test(a_server_that_leaves_makes_room_at_once),
		lease_test(shards_come_and_go),
		lease_test(shards_that_are_forgotten_leave_room_for_new_ones),
		lease_test(more_servers_than_shards_share_them),
		lease_test(nothing_is_taken_while_the_table_does_not_answer),
		lease_test(of_two_that_take_a_shard_at_once_one_gets_it),
		lease_test(a_shard_taken_with_a_lost_reply_is_read),
		lease_test(a_shard_taken_with_a_lost_reply_has_no_other_owner),
		lease_test(leaving_with_a_lost_reply_still_leaves),
		lease_test(all_servers_see_the_owners_and_get_the_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
