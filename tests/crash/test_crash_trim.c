/* Dying while a stream is trimmed, which a server does only after a day: here the clock is moved.
 * Everything is done in processes of their own, because a crash point is read once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/wait.h>
#include "../unit/table/fixture.h"

#define DAY_MS (24 * 3600 * 1000LL)
#define OLD    30 /* records that are a day old */
#define NEW    7

static void put_some(struct fixture *f, int from, int count)
{
	for (int i = from; i < from + count; i++)
		putf(f, "t", "{'pk':{'S':'%d'}}", i);
}

/* Fills the stream with old and new records, then has the old ones trimmed. */
static void fill_and_trim(struct fixture *f)
{
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NEW_AND_OLD);
	put_some(f, 0, OLD);
	(void)db_step(f->db);
	f->now_ms += DAY_MS + 1000;
	put_some(f, OLD, NEW);
	(void)db_step(f->db);
}

static void count_record(void *ctx, const struct stream_record *r)
{
	(void)r;
	++*(size_t *)ctx;
}

/* The records still within the retention time are all there, and trimming goes on. */
static void check_what_is_left(struct fixture *f)
{
	const struct stream *s = table_of(f, "t")->stream;
	struct error e = { 0 };
	size_t count = 0;
	uint64_t next;

	f->now_ms += 2000; /* what the dead one knew of time is known */
	while (db_step(f->db))
		;
	for (uint32_t shard = 0; shard < s->shards; shard++)
		assert_true(db_stream_read(f->db, &(struct stream_read){ s, shard, 0, 0, count_record, &count },
					   &f->arena, &next, &e));
	assert_int_equal(count, NEW);
	for (int i = 0; i < OLD + NEW; i++) {
		struct slice key = arena_printf(&f->arena, "{'pk':{'S':'%d'}}", i);

		assert_non_null(get(f, "t", arena_cstr(&f->arena, key)));
	}
	assert_verified(f);
	put_some(f, OLD + NEW, 1);
}

static int run_child(const char *dir, const char *point, void (*body)(struct fixture *))
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct fixture f = { .now_ms = FIXTURE_START_MS };

		if (point)
			setenv("THORPE_CRASH_AT", point, 1);
		f.clock = (struct clock){ .now_ms = fixture_now, .ctx = &f };
		snprintf(f.dir, sizeof(f.dir), "%s", dir);
		arena_init(&f.arena);
		fixture_open(&f);
		body(&f);
		arena_release(&f.arena);
		db_close(f.db);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void die_at(const char *point)
{
	char dir[] = "/tmp/thorpe-trim-XXXXXX";
	int status;

	assert_non_null(mkdtemp(dir));
	status = run_child(dir, point, fill_and_trim);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	status = run_child(dir, NULL, check_what_is_left);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	fixture_remove_dir(dir);
}

static void dying_before_a_trim_loses_nothing_that_counts(void **state)
{
	(void)state;
	die_at("trim-found");
}

static void dying_after_a_trim_loses_nothing_that_counts(void **state)
{
	(void)state;
	die_at("trimmed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dying_before_a_trim_loses_nothing_that_counts),
		cmocka_unit_test(dying_after_a_trim_loses_nothing_that_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
