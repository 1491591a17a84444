/* A directory as an app: its files by their names, nothing from outside it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "console/app_files.h"
#include "wire/gzip.h"

static char dir[64];
static char why[512];
static struct arena arena;

static void put(const char *name, const char *text, size_t n)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static void make_folder(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int begin(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/thorpe-app-XXXXXX");
	arena_init(&arena);
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	arena_release(&arena);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void files_are_read_with_type_and_tag(void **state)
{
	static char page[4000];
	struct gzip gzip = { 0 };
	const struct web_file *f;
	struct app_files files;
	struct slice whole;

	(void)state;
	memset(page, 'x', sizeof(page));
	put("index.html", page, sizeof(page));
	make_folder("a b");
	put("a b/index.html", "inside", 6);
	put("a b/\xc3\xa9.js", "1", 1);
	put("empty.css", "", 0);
	put("app.js.map", "{}", 2);
	put(".secret", "x", 1);
	assert_true(app_files_load(&files, &arena, dir, why, sizeof(why)));
	assert_int_equal(files.files.n, 4);

	f = app_file(&files, &arena, SLICE(""));
	assert_string_equal(f->type, "text/html; charset=utf-8");
	assert_false(f->plain);
	assert_int_equal(f->bytes, sizeof(page));
	assert_int_equal(gunzip(&gzip, &arena, slice_make(f->data, f->stored), 5000, &whole), GUNZIP_OK);
	assert_memory_equal(whole.p, page, sizeof(page));
	gzip_release(&gzip);

	f = app_file(&files, &arena, SLICE("a b/"));
	assert_true(f->plain);
	assert_int_equal(f->stored, 6);
	assert_memory_equal(f->data, "inside", 6);
	f = app_file(&files, &arena, SLICE("a b/\xc3\xa9.js"));
	assert_string_equal(f->type, "text/javascript; charset=utf-8");
	assert_int_equal(app_file(&files, &arena, SLICE("empty.css"))->bytes, 0);
	assert_string_not_equal(app_file(&files, &arena, SLICE(""))->etag, f->etag);
}

static void other_names_find_nothing(void **state)
{
	static const char *const others[] = { "index.htm", "/index.html",   "a/../index.html", ".secret",
					      "a",         "../index.html", "INDEX.HTML",      "a//" };
	struct app_files files;

	(void)state;
	put("index.html", "x", 1);
	put(".secret", "x", 1);
	make_folder("a");
	assert_true(app_files_load(&files, &arena, dir, why, sizeof(why)));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_null(app_file(&files, &arena, slice_str(others[i])));
}

static void refuse(const char *where, const char *because)
{
	struct app_files files;

	assert_false(app_files_load(&files, &arena, where, why, sizeof(why)));
	if (!strstr(why, because))
		fail_msg("'%s' does not say '%s'", why, because);
}

static void what_is_no_app_is_refused(void **state)
{
	char path[512];

	(void)state;
	refuse("/tmp/thorpe-there-is-no-such-app", "is the app built?");
	refuse(dir, "there is no index.html");
	put("index.html", "x", 1);
	snprintf(path, sizeof(path), "%s/index.html", dir);
	refuse(path, "Not a directory");
}

static void links_out_of_it_are_refused(void **state)
{
	char path[512];

	(void)state;
	put("index.html", "x", 1);
	snprintf(path, sizeof(path), "%s/passwords", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refuse(dir, "passwords: is a symbolic link");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc", path), 0);
	refuse(dir, "passwords: is a symbolic link");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuse(dir, "passwords: is neither a file nor a directory");
}

static void what_is_too_deep_is_refused(void **state)
{
	char path[256] = "";
	size_t n = 0;

	(void)state;
	put("index.html", "x", 1);
	for (int i = 0; i < APP_DEPTH_MOST; i++) {
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%sd", i ? "/" : "");
		make_folder(path);
	}
	refuse(dir, "nested too deeply");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_are_read_with_type_and_tag, begin, end),
		cmocka_unit_test_setup_teardown(other_names_find_nothing, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_app_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(links_out_of_it_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(what_is_too_deep_is_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
