/* `thorpe token`, and the secret it shares with a server.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "caller_helper.h"
#include "cli/commands.h"
#include "cli/secret.h"

#define NOTES                                         \
	"entities:\n  Note:\n    path: /notes/<id>\n" \
	"    attributes: {id: 'string, id'}\n    keys: {PK: NOTE#<id>, SK: N}\n"

static char dir[] = "/tmp/thorpe-token-XXXXXX", path[128], design[128];

static int setup(void **state)
{
	FILE *file;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/" SECRET_FILE, dir);
	snprintf(design, sizeof(design), "%s/test.yaml", dir);
	file = fopen(design, "w");
	fputs(APP_FIXTURE_HEAD NOTES, file);
	return fclose(file);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(design);
	return rmdir(dir); /* so nothing else was left in it */
}

static int remove_secret(void **state)
{
	(void)state;
	return unlink(path) == 0 || errno == ENOENT ? 0 : -1;
}

/* Runs the command; what it printed is in `out`. */
static int run(char *out, size_t size, const char *const *args)
{
	int count = 0, saved, status, fds[2];
	char *argv[16];
	ssize_t n;

	for (; args[count]; count++)
		argv[count] = (char *)args[count];
	fflush(stdout);
	assert_int_equal(pipe(fds), 0);
	saved = dup(1);
	dup2(fds[1], 1);
	status = command_run(&command_token, count, argv);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	close(fds[1]);
	n = read(fds[0], out, size - 1);
	close(fds[0]);
	out[n > 0 ? n : 0] = 0;
	return status;
}

#define RUN(out, ...) run(out, sizeof(out), (const char *const[]){ __VA_ARGS__, NULL })

static void a_printed_token_is_accepted_by_the_server(void **state)
{
	struct callers_fixture f;
	uint8_t secret[SECRET_BYTES];
	char out[4096], why[256];
	struct run *r;

	(void)state;
	assert_int_equal(RUN(out, design, "--subject", "alice", "--role", "admin", "--role=editor", "--data", dir,
			     "--expires", "2h"),
			 0);
	assert_int_equal(out[strlen(out) - 1], '\n');
	out[strlen(out) - 1] = 0;
	assert_null(strpbrk(out, " \n"));
	assert_true(secret_load(dir, NULL, false, secret, why, sizeof(why)));
	callers_open(&f, NOTES);
	callers_free(f.app.app.callers);
	f.app.app.callers = callers_new(f.app.design, secret);
	f.now_ms = clock_now_ms(&clock_system);
	r = accept_token(&f, slice_str(out));
	SLICE_IS(r->caller.subject, "alice");
	assert_int_equal(r->caller.role_count, 2);
	SLICE_IS(r->caller.roles[1], "editor");
	assert_false(r->caller.operator_);
	f.now_ms += 7200000 - 1000;
	accept_token(&f, slice_str(out));
	f.now_ms += 62000;
	refuse_token(&f, slice_str(out), "expired");
	f.now_ms -= 7000000;
	assert_int_equal(RUN(out, "test", "--operator", "--secret-file", path), 0);
	out[strlen(out) - 1] = 0;
	assert_true(accept_token(&f, slice_str(out))->caller.operator_);
	assert_int_equal(RUN(out, "other", "--operator", "--data", dir), 0);
	out[strlen(out) - 1] = 0;
	refuse_token(&f, slice_str(out), "not signed here");
	callers_close(&f);
}

static void the_webhook_secret_of_a_design_is_printed(void **state)
{
	char out[4096], other[4096];

	(void)state;
	assert_int_equal(RUN(out, design, "--webhook-secret", "--data", dir), 0);
	assert_int_equal(strlen(out), 6 + 64 + 1);
	assert_true(!strncmp(out, "whsec_", 6));
	assert_int_equal(RUN(other, "test", "--webhook-secret", "--secret-file", path), 0);
	assert_string_equal(out, other);
	assert_int_equal(RUN(other, "other", "--webhook-secret", "--data", dir), 0);
	assert_string_not_equal(out, other);
	assert_int_equal(RUN(out, "test", "--webhook-secret", "--operator", "--data", dir), 2);
}

static void missing_parts_are_reported(void **state)
{
	char out[4096];

	(void)state;
	assert_int_equal(RUN(out, "--operator"), 2);
	assert_int_equal(RUN(out, "test", "--data", dir), 2);
	assert_int_equal(RUN(out, "test", "--subject", "", "--data", dir), 2);
	assert_int_equal(RUN(out, "test", "--subject", "\xff", "--data", dir), 2);
	assert_int_equal(RUN(out, "test", "--subject", "a", "--role", "\xff", "--data", dir), 2);
	assert_int_equal(RUN(out, "Test", "--subject", "a", "--data", dir), 1);
	assert_int_equal(RUN(out, "no/such.yaml", "--subject", "a", "--data", dir), 1);
	assert_int_equal(RUN(out, "test", "--subject", "a", "--data", "/no/such/directory"), 1);
	assert_int_equal(RUN(out, "test", "--subject", "a", "--secret-file", "/no/such/directory/x"), 1);
	for (size_t i = 0; i < 8; i++) {
		static const char *const wrong[] = { "", "0", "-1", "1w", "h", "1 h", "99999999999999999999", "3661d" };

		assert_int_equal(RUN(out, "test", "--subject", "a", "--expires", wrong[i], "--data", dir), 2);
		assert_string_equal(out, "");
	}
	assert_int_equal(RUN(out, "--help"), 0);
	assert_non_null(strstr(out, "Usage: thorpe token DESIGN"));
}

static void the_secret_is_made_once_and_for_its_owner_alone(void **state)
{
	uint8_t one[SECRET_BYTES], two[SECRET_BYTES];
	char why[256], text[128] = "";
	struct stat st;
	FILE *file;

	(void)state;
	assert_false(secret_load(dir, NULL, false, one, why, sizeof(why)));
	assert_non_null(strstr(why, "there is no"));
	assert_true(secret_load(dir, NULL, true, one, why, sizeof(why)));
	assert_true(secret_load(dir, NULL, true, two, why, sizeof(why)));
	assert_memory_equal(one, two, SECRET_BYTES);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_size, 65);
	file = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_int_equal(strspn(text, "0123456789abcdef"), 64);
}

static void a_secret_in_memory_is_another_each_time(void **state)
{
	uint8_t one[SECRET_BYTES], two[SECRET_BYTES];
	char why[256];

	(void)state;
	assert_true(secret_load(NULL, NULL, true, one, why, sizeof(why)));
	assert_true(secret_load(NULL, NULL, true, two, why, sizeof(why)));
	assert_memory_not_equal(one, two, SECRET_BYTES);
	assert_int_equal(access(path, F_OK), -1);
}

static void write_secret(const char *text)
{
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
}

static void a_damaged_secret_is_not_replaced(void **state)
{
	static const char *const wrong[] = { "", "\n", "abc\n",
					     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g\n",
					     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0\n" };
	uint8_t secret[SECRET_BYTES];
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		write_secret(wrong[i]);
		assert_false(secret_load(dir, NULL, true, secret, why, sizeof(why)));
		assert_non_null(strstr(why, "hexadecimal"));
	}
	write_secret("000102030405060708090A0B0C0D0E0F101112131415161718191a1b1c1d1e1f"); /* as an editor may leave it */
	assert_true(secret_load(dir, NULL, true, secret, why, sizeof(why)));
	for (uint8_t i = 0; i < SECRET_BYTES; i++)
		assert_int_equal(secret[i], i);
}

static void *load_in_thread(void *out)
{
	char why[256];

	return secret_load(dir, NULL, true, out, why, sizeof(why)) ? out : NULL;
}

static void servers_that_create_it_at_the_same_moment_get_the_same(void **state)
{
	uint8_t secrets[4][SECRET_BYTES];
	pthread_t threads[4];
	void *loaded;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, load_in_thread, secrets[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &loaded);
		assert_non_null(loaded);
		assert_memory_equal(secrets[i], secrets[0], SECRET_BYTES);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, remove_secret)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_printed_token_is_accepted_by_the_server),
		TEST(the_webhook_secret_of_a_design_is_printed),
		TEST(missing_parts_are_reported),
		TEST(the_secret_is_made_once_and_for_its_owner_alone),
		TEST(a_secret_in_memory_is_another_each_time),
		TEST(a_damaged_secret_is_not_replaced),
		TEST(servers_that_create_it_at_the_same_moment_get_the_same),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
