/* The audit log: unforgeable lines, a renamed file, a full buffer, a full disk. SPDX-License-Identifier: Apache-2.0
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/json_line.h"
#include "base/log.h"

static char dir[] = "/tmp/thorpe-audit-XXXXXX", path[64], moved[64];
static char why[200];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/thorpe-audit-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/audit", dir);
	snprintf(moved, sizeof(moved), "%s/audit.1", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_close();
	unlink(path);
	unlink(moved);
	return rmdir(dir);
}

/* The whole file, as a string of the test's. */
static char *text_of(const char *file)
{
	static char text[4 * 1024 * 1024];
	int fd = open(file, O_RDONLY);
	size_t n = 0;
	ssize_t got;

	assert_true(fd >= 0);
	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	return text;
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void write_name(const char *name)
{
	audit_write(
		&(struct audit_event){ .kind = "login", .outcome = "refused", .name = slice_str(name), .status = 401 });
}

static void an_event_is_a_line_with_what_it_has(void **state)
{
	static const char id[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV0123456789ABCDEFGHIJ";
	char *text;

	(void)state;
	assert_true(audit_open(path, why, sizeof(why)));
	log_set_request(id);
	audit_write(&(struct audit_event){ .kind = "operator",
					   .outcome = "ok",
					   .subject = SLICE("ann"),
					   .access_key = SLICE("AK"),
					   .address = SLICE("192.0.2.1"),
					   .design = SLICE("social"),
					   .action = SLICE("CreateTable"),
					   .target = SLICE("t"),
					   .status = 200 });
	log_set_request(NULL);
	write_name("bob");
	audit_close();
	text = text_of(path);
	assert_int_equal(lines_of(text), 2);
	assert_memory_equal(text, "{\"time\":\"20", 11);
	assert_memory_equal(text + 32, "Z\",", 3);
	assert_non_null(strstr(
		text,
		"\"request\":\"0123456789ABCDEFGHIJKLMNOPQRSTUV0123456789ABCDEFGHIJ\",\"kind\":\"operator\",\"outcome\":\"ok\","
		"\"subject\":\"ann\",\"access_key\":\"AK\",\"address\":\"192.0.2.1\",\"design\":\"social\","
		"\"action\":\"CreateTable\",\"target\":\"t\",\"status\":200}\n"));
	assert_non_null(strstr(text, "\"kind\":\"login\",\"outcome\":\"refused\",\"name\":\"bob\",\"status\":401}\n"));
}

static void a_name_cannot_forge_a_line(void **state)
{
	char *text;

	(void)state;
	assert_true(audit_open(path, why, sizeof(why)));
	write_name(
		"x\"}\n{\"kind\":\"login\",\"outcome\":\"ok\",\"name\":\"root\"}\r\n\t\x7f\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\\");
	write_name("\xff\xc0\xaf\xed\xa0\x80\xf5 caf\xc3\xa9 \xf0\x9f\x98\x80 \xe2\x82");
	audit_close();
	text = text_of(path);
	assert_int_equal(lines_of(text), 2);
	assert_non_null(strstr(text, "\"name\":\"x\\u0022}\\u000a{\\u0022kind\\u0022:"));
	assert_non_null(strstr(text, "\\u000d\\u000a\\u0009\\u007f\\u0085\\u2028\\u2029\\u005c\",\"status\":401}\n"));
	assert_non_null(strstr(
		text,
		"\"name\":\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd caf\xc3\xa9 \xf0\x9f\x98\x80 \\ufffd\\ufffd\","));
}

static void long_texts_are_cut_between_characters(void **state)
{
	char name[1000], *text, *from;

	(void)state;
	for (size_t i = 0; i + 3 < sizeof(name); i += 3)
		memcpy(name + i, "\xe2\x82\xac", 4);
	assert_true(audit_open(path, why, sizeof(why)));
	write_name(name);
	memset(name, '\x01', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	audit_write(&(struct audit_event){ .kind = "refused",
					   .outcome = "refused",
					   .name = slice_str(name),
					   .subject = slice_str(name),
					   .access_key = slice_str(name),
					   .address = slice_str(name),
					   .action = slice_str(name),
					   .why = slice_str(name),
					   .status = 403 });
	audit_close();
	text = text_of(path);
	assert_int_equal(lines_of(text), 2);
	from = strstr(text, "\"name\":\"") + 8;
	assert_int_equal(strcspn(from, "\"") % 3, 0);
	assert_true(strcspn(from, "\"") <= 200);
	from = strchr(text, '\n') + 1;
	assert_true(strlen(from) <= 2048);
	assert_string_equal(from + strlen(from) - 2, "}\n");
}

static void the_file_is_its_owners_and_is_appended_to(void **state)
{
	struct stat st;

	(void)state;
	umask(0);
	assert_true(audit_open(path, why, sizeof(why)));
	write_name("one");
	audit_close();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(audit_open(path, why, sizeof(why)));
	write_name("two");
	audit_close();
	assert_int_equal(lines_of(text_of(path)), 2);
}

static void await_file(const char *file)
{
	struct stat st;

	for (int i = 0; i < 10000 && (stat(file, &st) || !st.st_size); i++)
		usleep(1000);
}

static void a_renamed_file_is_reopened(void **state)
{
	(void)state;
	assert_true(audit_open(path, why, sizeof(why)));
	write_name("before");
	await_file(path);
	assert_int_equal(rename(path, moved), 0);
	audit_reopen();
	write_name("after");
	audit_close();
	assert_non_null(strstr(text_of(moved), "before"));
	assert_null(strstr(text_of(moved), "after"));
	assert_non_null(strstr(text_of(path), "after"));
	audit_reopen(); /* of none: nothing */
}

static void a_file_that_cannot_be_opened_is_reported(void **state)
{
	char there[80];

	(void)state;
	snprintf(there, sizeof(there), "%s/no/such/place", dir);
	assert_false(audit_open(there, why, sizeof(why)));
	assert_non_null(strstr(why, "No such file"));
	assert_false(audit_is_on());
	write_name("nothing happens");
}

/* The sum of what lines say is missing. */
static uint64_t told_missing(const char *text)
{
	uint64_t sum = 0;

	while ((text = strstr(text, "\"outcome\":\"dropped\",\"count\":"))) {
		text += strlen("\"outcome\":\"dropped\",\"count\":");
		sum += strtoull(text, NULL, 10);
	}
	return sum;
}

/* A pipe without a reader: the writer blocks, and events continue. */
static void lost_events_are_counted_and_reported(void **state)
{
	uint64_t before = audit_dropped(), missing;
	int ends[2], kept = dup(STDERR_FILENO);
	static char all[16 * 1024 * 1024];
	size_t n = 0;
	ssize_t got;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	assert_true(audit_open("-", why, sizeof(why)));
	while (audit_dropped() < before + 10)
		write_name("someone");
	missing = audit_dropped() - before;
	/* Now it is read, up to the line that says so. */
	while (told_missing(all) < missing && (got = read(ends[0], all + n, sizeof(all) - 1 - n)) > 0) {
		n += (size_t)got;
		all[n] = '\0';
	}
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_int_equal(told_missing(all), missing);
	assert_true(lines_of(all) > 1000);
	audit_close();
	close(ends[0]);
}

static void a_disk_that_is_full_is_counted_and_told(void **state)
{
	uint64_t before = audit_dropped();
	char full[] = "/dev/full";

	(void)state;
	if (access(full, W_OK))
		skip();
	assert_true(audit_open(full, why, sizeof(why)));
	write_name("lost");
	write_name("lost");
	audit_close();
	assert_int_equal(audit_dropped() - before, 2);
}

static void lost_events_are_reported_when_there_is_room_again(void **state)
{
	uint64_t before = audit_dropped();
	char *text;

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(symlink("/dev/full", path), 0);
	assert_true(audit_open(path, why, sizeof(why)));
	write_name("lost");
	for (int i = 0; i < 10000 && audit_dropped() == before; i++)
		usleep(1000);
	unlink(path);
	audit_reopen();
	audit_close();
	text = text_of(path);
	assert_null(strstr(text, "lost"));
	assert_non_null(strstr(text, "\"kind\":\"audit\",\"outcome\":\"dropped\",\"count\":1}\n"));
	assert_int_equal(lines_of(text), 1);
}

static void *write_many(void *unused)
{
	(void)unused;
	for (int i = 0; i < 500; i++)
		write_name("someone");
	return NULL;
}

static void many_threads_write_whole_lines(void **state)
{
	pthread_t threads[4];
	char *at;

	(void)state;
	assert_true(audit_open(path, why, sizeof(why)));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, write_many, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	audit_close();
	at = text_of(path);
	assert_int_equal(lines_of(at), 2000);
	for (; *at; at = strchr(at, '\n') + 1)
		assert_memory_equal(at, "{\"time\":", 8);
}

static void a_line_that_has_no_room_is_still_json(void **state)
{
	char small[JSON_LINE_LEAST];
	struct json_line l;
	size_t n;

	(void)state;
	json_line_begin(&l, small, sizeof(small));
	json_line_text(&l, "a", SLICE("\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"), 100);
	json_line_text(&l, "left out", SLICE("x"), 100);
	json_line_number(&l, "left out, too", 7);
	n = json_line_end(&l);
	assert_true(n <= sizeof(small));
	assert_memory_equal(small, "{\"a\":\"\\u0001", 12);
	assert_memory_equal(small + n - 3, "\"}\n", 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_is_a_line_with_what_it_has),
		TEST(a_name_cannot_forge_a_line),
		TEST(long_texts_are_cut_between_characters),
		TEST(the_file_is_its_owners_and_is_appended_to),
		TEST(a_renamed_file_is_reopened),
		TEST(a_file_that_cannot_be_opened_is_reported),
		TEST(lost_events_are_counted_and_reported),
		TEST(a_disk_that_is_full_is_counted_and_told),
		TEST(lost_events_are_reported_when_there_is_room_again),
		TEST(many_threads_write_whole_lines),
		TEST(a_line_that_has_no_room_is_still_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
