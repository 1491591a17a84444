/* The writer when memory or the disk fails at each possible point, or the process is killed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/wait.h>
#include "writes.h"

#define KEY_A "{'pk':{'S':'a'},'sk':{'S':'1'}}"
#define BIG   6000 /* above what an arena takes from its blocks: each copy is an allocation to fail */
#define KEY_B "{'pk':{'S':'b'},'sk':{'S':'1'}}"

static const char *item_a(struct fixture *f, const char *g)
{
	char big[BIG + 1];

	memset(big, 'x', BIG);
	big[BIG] = '\0';
	return arena_cstr(&f->arena,
			  arena_printf(&f->arena,
				       "{'pk':{'S':'a'},'sk':{'S':'1'},'g':{'S':'%s'},'l':{'S':'%s'},'ttl':{'N':'%zu'},"
				       "'big':{'S':'%s'}}",
				       g, g, 90 + strlen(g), big));
}

/* A table where one write touches every kind of record. */
static void make_rich_table(struct fixture *f)
{
	struct index x[] = { index_of("g", "g:S", true, PROJECT_KEYS_ONLY),
			     index_of("l", "pk:S l:S", false, PROJECT_ALL) };

	make_table(f, "t", "pk:S sk:S", x, 2, STREAM_NEW_AND_OLD);
	set_ttl(f, "t", "ttl", true);
	while (db_step(f->db))
		;
	put(f, "t", item_a(f, "before"));
}

/* Both changes of the transaction, or none; and the database is right in itself. */
static void assert_whole(struct fixture *f, bool happened)
{
	char *a = get(f, "t", KEY_A), *b = get(f, "t", KEY_B);

	assert_non_null(strstr(a, happened ? "'g':{'S':'after'}" : "'g':{'S':'before'}"));
	assert_true((b != NULL) == happened);
	assert_int_equal(atomic_load(&table_of(f, "t")->stats->items), happened ? 2 : 1);
	assert_verified(f);
}

struct transaction {
	struct write_action w[2];
	struct write_request r;
	struct arena arena;
};

static void prepare(struct fixture *f, struct transaction *x)
{
	arena_init(&x->arena);
	x->w[0] = action(f, WRITE_PUT, "t", item_a(f, "after"));
	only_if(f, &x->w[0], "g = :old", "{':old':{'S':'before'}}");
	x->w[1] = action(f, WRITE_UPDATE, "t", KEY_B);
	with_update(f, &x->w[1], "ADD n :one", "{':one':{'N':'1'}}");
	x->r = (struct write_request){
		.arena = &x->arena, .mode = REQUEST_ALL, .actions = x->w, .action_count = 2, .token = SLICE("token")
	};
}

static void undo(struct fixture *f)
{
	del(f, "t", KEY_B);
	put(f, "t", item_a(f, "before"));
	f->now_ms += 11 * 60 * 1000; /* the token expires */
	(void)db_step(f->db);
}

/* By the writer's thread, or by this one, which may wait; false: an allocation failed meanwhile. */
static bool submit_failing(struct fixture *f, struct write_request *r, bool alone, long n)
{
	bool failed;

	if (!alone) {
		submit_together(f, r, 1, n);
		return !writer_fail_never(f);
	}
	alloc_fail_after(n);
	db_submit_wait(f->db, r);
	failed = alloc_has_failed();
	alloc_fail_never();
	return !failed;
}

static void memory_fails_at_each_point(struct fixture *f, bool alone)
{
	bool failed = true;
	int rounds = 0;

	make_rich_table(f);
	for (long n = 0; failed; n++, rounds++) {
		struct transaction x;
		bool ok;

		prepare(f, &x);
		failed = !submit_failing(f, &x.r, alone, n);
		ok = x.r.error.code == ERR_NONE;
		arena_release(&x.arena);
		assert_true(ok || failed);
		assert_whole(f, ok);
		if (ok)
			undo(f);
		arena_clear(&f->arena);
	}
	assert_true(rounds > 3);
}

static void memory_failing_at_each_point_fails_the_request_only(void **state)
{
	memory_fails_at_each_point(*state, false);
}

static void memory_failing_for_a_thread_that_writes_itself_fails_its_request_only(void **state)
{
	memory_fails_at_each_point(*state, true);
}

/* So many writes that the batch's own memory has to grow. */
static void memory_failing_under_a_large_transaction_leaves_nothing_of_it(void **state)
{
	struct fixture *f = *state;
	bool failed = true;

	make_rich_table(f);
	for (long n = 0; failed; n++) {
		struct write_action w[60];
		struct write_request r[2];
		struct arena arena;
		bool ok;

		arena_init(&arena);
		for (int i = 0; i < 60; i++)
			w[i] = action(f, WRITE_PUT, "t",
				      arena_cstr(&f->arena, arena_printf(&f->arena,
									 "{'pk':{'S':'p%d'},'sk':{'S':'1'"
									 "},'g':{'S':'1'},'l':{'S':'1'},"
									 "'ttl':{'N':'9'}}",
									 i)));
		for (int i = 0; i < 2; i++) /* the second one looks for what the first may have left */
			r[i] = (struct write_request){
				.arena = &arena, .mode = REQUEST_ALL, .actions = w, .action_count = 60
			};
		r[1].actions = arena_alloc(&f->arena, sizeof(w));
		memcpy(r[1].actions, w, sizeof(w));
		submit_together(f, r, 2, n);
		failed = writer_fail_never(f);
		ok = r[0].error.code == ERR_NONE || r[1].error.code == ERR_NONE;
		assert_true(ok || failed);
		assert_int_equal(atomic_load(&table_of(f, "t")->stats->items), ok ? 61 : 1);
		assert_verified(f);
		for (int i = 0; ok && i < 60; i++)
			write_one(f, WRITE_DELETE, "t", w[i].key_item);
		arena_release(&arena);
		arena_clear(&f->arena);
	}
}

static void the_store_failing_at_each_call_changes_nothing(void **state)
{
	struct fixture *f = *state;
	bool ok = false;
	int rounds = 0;

	make_rich_table(f);
	for (long n = 0; !ok; n++, rounds++) {
		struct transaction x;

		prepare(f, &x);
		store_fail_after(db_store(f->db), n);
		db_submit_wait(f->db, &x.r);
		store_fail_after(db_store(f->db), -1);
		ok = x.r.error.code == ERR_NONE;
		if (!ok)
			assert_int_equal(x.r.error.code, ERR_INTERNAL);
		arena_release(&x.arena);
		assert_whole(f, ok);
		arena_clear(&f->arena);
	}
	assert_true(rounds > 4);
}

/* T7: a request that only read saw a change that never happened. */
static void after_a_failed_write_every_request_in_the_batch_fails(void **state)
{
	struct fixture *f = *state;
	struct write_action w[2];
	struct write_request r[2] = { 0 };
	struct db_metrics before, after;

	make_rich_table(f);
	before = db_metrics(f->db);
	w[0] = action(f, WRITE_PUT, "t", KEY_B);
	w[1] = action(f, WRITE_PUT, "t", KEY_B);
	only_if(f, &w[1], "attribute_not_exists(pk)", NULL);
	for (int i = 0; i < 2; i++)
		r[i] = (struct write_request){ .mode = REQUEST_EACH, .actions = &w[i], .action_count = 1 };
	store_fail_after(db_store(f->db), 2); /* two reads, then the write */
	submit_together(f, r, 2, -1);
	store_fail_after(db_store(f->db), -1);
	assert_error(f, &r[0].error, ERR_INTERNAL,
		     "The write was refused: the disk of the database failed; Thorpe must be restarted");
	assert_int_equal(r[1].error.code, ERR_INTERNAL);
	after = db_metrics(f->db);
	assert_true(after.write_errors == before.write_errors + 1);
	assert_true(after.last_sequence == before.last_sequence);
	assert_null(get(f, "t", KEY_B));
	assert_whole(f, false);
	put(f, "t", KEY_B);
	assert_verified(f);
}

static void one_request_out_of_memory_leaves_the_others_of_its_batch(void **state)
{
	struct fixture *f = *state;
	bool some_failed = false;

	make_rich_table(f);
	for (long n = 0; n < 12; n++) {
		struct write_action w[8];
		struct write_request r[8] = { 0 };
		int64_t stored = 1;

		for (int i = 0; i < 8; i++) {
			char *item = arena_cstr(&f->arena,
						arena_printf(&f->arena,
							     "{'pk':{'S':'b%d'},'sk':{'S':'1'},'g':{'S':'g%d'}}", i, i));

			w[i] = action(f, WRITE_PUT, "t", item);
			r[i] = (struct write_request){ .mode = REQUEST_EACH, .actions = &w[i], .action_count = 1 };
		}
		submit_together(f, r, 8, n);
		writer_fail_never(f);
		for (int i = 0; i < 8; i++)
			stored += r[i].error.code == ERR_NONE;
		some_failed |= stored > 1 && stored < 9;
		assert_int_equal(atomic_load(&table_of(f, "t")->stats->items), stored);
		assert_verified(f);
		for (int i = 0; i < 8; i++)
			write_one(f, WRITE_DELETE, "t", w[i].key_item);
		arena_clear(&f->arena);
	}
	assert_true(some_failed);
}

/* ---- kill -9 ---- */
/* Writes transactions of two items and tells, after each, how many are acknowledged. A program of
 * its own (exec), because RocksDB's threads would be missing after a mere fork. */
static int child_main(const char *dir)
{
	struct fixture f = { .now_ms = FIXTURE_START_MS };

	f.clock = (struct clock){ fixture_now, &f };
	snprintf(f.dir, sizeof(f.dir), "%s", dir);
	arena_init(&f.arena);
	fixture_open(&f);
	for (uint32_t i = 1;; i++) {
		struct write_action w[2];

		w[0] = action(&f, WRITE_UPDATE, "t", "{'pk':{'S':'one'},'sk':{'S':'n'}}");
		w[1] = action(&f, WRITE_UPDATE, "t", "{'pk':{'S':'two'},'sk':{'S':'n'}}");
		for (int k = 0; k < 2; k++)
			with_update(&f, &w[k], "ADD n :one SET g = :g, l = :g",
				    i % 2 ? "{':one':{'N':'1'},':g':{'S':'odd'}}"
					  : "{':one':{'N':'1'},':g':{'S':'even'}}");
		if (submit(&f, REQUEST_ALL, w, 2).error.code != ERR_NONE)
			return 1;
		if (write(STDOUT_FILENO, &i, sizeof(i)) != sizeof(i))
			return 1;
		arena_clear(&f.arena);
	}
}

static int64_t counter(struct fixture *f, const char *pk)
{
	const struct table *t = table_of(f, "t");
	struct item_key k = { slice_str(pk), SLICE("n") };
	struct value item;
	struct number n;
	struct error e;
	int64_t v;

	assert_true(db_get(&(struct db_at){ f->db, NULL, t }, k, &f->arena, &item, &e));
	if (!value_present(item))
		return 0;
	n = value_number(value_get(item, SLICE("n")));
	assert_true(number_to_i64(&n, &v));
	return v;
}

static void kill_child_after(const char *dir, uint32_t acknowledged)
{
	uint32_t seen = 0;
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execl("/proc/self/exe", "child", dir, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	while (seen < acknowledged)
		if (read(fds[0], &seen, sizeof(seen)) != sizeof(seen))
			fail_msg("the child ended early");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fds[0]);
}

static void what_was_acknowledged_survives_a_kill(void **state)
{
	struct fixture *f = *state;
	int64_t least = 0;

	make_rich_table(f);
	for (uint32_t round = 1; round <= 5; round++) {
		arena_clear(&f->arena);
		db_close(f->db);
		kill_child_after(f->dir, round * 3);
		fixture_open(f);
		least += round * 3;
		assert_true(counter(f, "one") >= least);
		assert_int_equal(counter(f, "one"), counter(f, "two"));
		least = counter(f, "one");
		assert_verified(f);
	}
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(memory_failing_at_each_point_fails_the_request_only),
		TEST(memory_failing_for_a_thread_that_writes_itself_fails_its_request_only),
		TEST(memory_failing_under_a_large_transaction_leaves_nothing_of_it),
		TEST(the_store_failing_at_each_call_changes_nothing),
		TEST(after_a_failed_write_every_request_in_the_batch_fails),
		TEST(one_request_out_of_memory_leaves_the_others_of_its_batch),
		cmocka_unit_test_setup_teardown(what_was_acknowledged_survives_a_kill, fixture_setup_on_disk,
						fixture_teardown),
	};

	if (argc == 2)
		return child_main(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
