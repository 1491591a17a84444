/* Files in a directory, and what their first bytes say. SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "media/media.h"

#define ID "01ARZ3NDEKTSV4RRFFQ69G5FAV"

static struct media *open_new(int64_t most)
{
	char why[256];
	struct media *m = media_open(&(struct media_options){ .most = most }, why, sizeof(why));

	assert_non_null(m);
	return m;
}

static struct media_name name(const char *id)
{
	return (struct media_name){ SLICE("shop"), slice_str(id) };
}

static enum media_end put(struct media *m, const char *id, const char *text, int64_t size)
{
	struct media_upload *u = NULL;
	enum media_end end = media_upload_begin(m, name(id), size, &u);

	if (end == MEDIA_DONE)
		end = media_upload_write(u, slice_str(text)) ? media_upload_finish(u) : MEDIA_TROUBLE;
	media_upload_drop(u);
	return end;
}

static void a_file_is_there_as_a_whole_once_until_it_is_removed(void **state)
{
	struct media *m = open_new(0);
	struct media_look look;
	struct slice bytes;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_int_equal(media_read(m, &a, name(ID), &bytes), MEDIA_NONE);
	assert_int_equal(media_look_at(m, &a, name(ID), &look), MEDIA_NONE);
	assert_int_equal(put(m, ID, "hello", 5), MEDIA_DONE);
	assert_int_equal(put(m, ID, "other", 5), MEDIA_THERE);
	assert_int_equal(media_read(m, &a, name(ID), &bytes), MEDIA_DONE);
	assert_true(slice_is(bytes, "hello"));
	assert_int_equal(media_look_at(m, &a, name(ID), &look), MEDIA_DONE);
	assert_int_equal(look.size, 5);
	assert_memory_equal(look.head, "hello", 5);
	assert_int_equal(media_remove(m, &a, name(ID)), MEDIA_DONE);
	assert_int_equal(media_remove(m, &a, name(ID)), MEDIA_DONE);
	assert_true(slice_is(bytes, "hello")); /* who reads it goes on */
	assert_int_equal(media_read(m, &a, name(ID), &bytes), MEDIA_NONE);
	arena_release(&a);
	media_close(m);
}

static void of_two_uploads_at_once_one_is_the_file(void **state)
{
	struct media *m = open_new(0);
	struct media_upload *x, *y;

	(void)state;
	assert_int_equal(media_upload_begin(m, name(ID), 1, &x), MEDIA_DONE);
	assert_int_equal(media_upload_begin(m, name(ID), 1, &y), MEDIA_DONE);
	assert_true(media_upload_write(x, SLICE("x")));
	assert_true(media_upload_write(y, SLICE("y")));
	assert_int_equal(media_upload_finish(y), MEDIA_DONE);
	assert_int_equal(media_upload_finish(x), MEDIA_THERE);
	media_upload_drop(x);
	media_upload_drop(y);
	media_close(m);
}

static void an_upload_has_no_more_bytes_than_it_said(void **state)
{
	struct media *m = open_new(0);
	struct media_upload *u;

	(void)state;
	assert_int_equal(media_upload_begin(m, name(ID), 5, &u), MEDIA_DONE);
	assert_true(media_upload_write(u, SLICE("four")));
	assert_false(media_upload_write(u, SLICE("!!")));
	assert_int_equal(media_upload_length(u), 4);
	assert_true(slice_is(media_upload_head(u), "four"));
	media_upload_drop(u);
	media_close(m);
}

static void only_ids_and_names_of_designs_become_paths(void **state)
{
	static const char *const ids[] = { "",
					   ".",
					   "..",
					   "../../etc/passwd",
					   "01ARZ3NDEKTSV4RRFFQ69G5FA/",
					   "01ARZ3NDEKTSV4RRFFQ69G5FAVX",
					   "01ARZ3NDEK/../4RRFFQ69G5FA" };
	static const char *const designs[] = { "", "..", "a/b", "shop/../..", "a b" };
	struct media *m = open_new(0);
	struct media_upload *u;
	struct slice bytes;
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		assert_int_equal(media_read(m, &a, name(ids[i]), &bytes), MEDIA_NONE);
		assert_int_equal(media_upload_begin(m, name(ids[i]), 1, &u), MEDIA_NONE);
		media_upload_drop(u);
	}
	for (size_t i = 0; i < sizeof(designs) / sizeof(*designs); i++)
		assert_int_equal(media_read(m, &a, (struct media_name){ slice_str(designs[i]), SLICE(ID) }, &bytes),
				 MEDIA_NONE);
	arena_release(&a);
	media_close(m);
}

static void files_and_uploads_share_the_room_that_there_is(void **state)
{
	struct media *m = open_new(10);
	struct media_upload *u;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_int_equal(put(m, ID, "hello", 5), MEDIA_DONE);
	assert_int_equal(media_upload_begin(m, name("01ARZ3NDEKTSV4RRFFQ69G5FAW"), 5, &u), MEDIA_DONE);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAX", "x", 1), MEDIA_FULL);
	media_upload_drop(u);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAX", "x", 1), MEDIA_DONE);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAY", "hello", 5), MEDIA_FULL);
	assert_int_equal(media_remove(m, &a, name(ID)), MEDIA_DONE);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAY", "hello", 5), MEDIA_DONE);
	arena_release(&a);
	media_close(m);
}

static void one_file_is_uploaded_by_few_at_once(void **state)
{
	struct media *m = open_new(0);
	struct media_upload *u[4];

	(void)state;
	assert_int_equal(media_upload_begin(m, name(ID), 5, &u[0]), MEDIA_DONE);
	assert_int_equal(media_upload_begin(m, name(ID), 5, &u[1]), MEDIA_DONE);
	assert_int_equal(media_upload_begin(m, name(ID), 5, &u[2]), MEDIA_TROUBLE);
	assert_int_equal(media_upload_begin(m, name("01ARZ3NDEKTSV4RRFFQ69G5FAX"), 5, &u[3]), MEDIA_DONE);
	media_upload_drop(u[2]);
	media_upload_drop(u[0]);
	assert_int_equal(put(m, ID, "hello", 5), MEDIA_DONE);
	media_upload_drop(u[1]);
	media_upload_drop(u[3]);
	media_close(m);
}

/* No byte of them is on the disk yet. */
static void uploads_share_the_room_of_the_disk(void **state)
{
	struct media *m = open_new(0);
	struct media_upload *x, *y;
	struct statvfs v;
	int64_t much;

	(void)state;
	assert_int_equal(statvfs("/tmp", &v), 0);
	much = (int64_t)(v.f_bavail * v.f_frsize) / 10 * 6;
	assert_int_equal(media_upload_begin(m, name(ID), much, &x), MEDIA_DONE);
	assert_int_equal(media_upload_begin(m, name("01ARZ3NDEKTSV4RRFFQ69G5FAX"), much, &y), MEDIA_FULL);
	media_upload_drop(y);
	assert_true(media_upload_write(x, SLICE("some")));
	media_upload_drop(x);
	assert_int_equal(media_upload_begin(m, name("01ARZ3NDEKTSV4RRFFQ69G5FAX"), much, &y), MEDIA_DONE);
	media_upload_drop(y);
	media_close(m);
}

static void what_a_kill_has_left_takes_no_room(void **state)
{
	char where[] = "/tmp/thorpe-test-XXXXXX", path[128], why[256];
	struct media_options o = { .where = where, .most = 6 };
	struct media *m;
	struct arena a;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(where));
	snprintf(path, sizeof(path), "%s/.uploads", where);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.uploads/" ID "-1-1", where);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fputs("half", f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	m = media_open(&o, why, sizeof(why));
	assert_non_null(m);
	assert_int_equal(put(m, ID, "hello", 5), MEDIA_DONE);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAX", "xy", 2), MEDIA_FULL);
	arena_init(&a);
	assert_int_equal(media_remove(m, &a, name(ID)), MEDIA_DONE);
	arena_release(&a);
	media_close(m);
	static const char *const left[] = { "/.uploads/" ID "-1-1", "/shop/AV", "/shop", "/.uploads", "" };
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		snprintf(path, sizeof(path), "%s%s", where, left[i]);
		assert_int_equal(remove(path), 0);
	}
}

static void what_is_there_counts_when_a_directory_is_opened(void **state)
{
	char where[] = "/tmp/thorpe-test-XXXXXX", path[128], why[256];
	struct media_options o = { .where = where, .most = 6 };
	struct media *m;
	struct arena a;

	(void)state;
	assert_non_null(mkdtemp(where));
	m = media_open(&o, why, sizeof(why));
	assert_non_null(m);
	assert_int_equal(put(m, ID, "hello", 5), MEDIA_DONE);
	media_close(m);
	m = media_open(&o, why, sizeof(why));
	assert_non_null(m);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAX", "xy", 2), MEDIA_FULL);
	arena_init(&a);
	assert_int_equal(media_remove(m, &a, name(ID)), MEDIA_DONE);
	assert_int_equal(put(m, "01ARZ3NDEKTSV4RRFFQ69G5FAX", "xy", 2), MEDIA_DONE);
	assert_int_equal(media_remove(m, &a, name("01ARZ3NDEKTSV4RRFFQ69G5FAX")), MEDIA_DONE);
	arena_release(&a);
	media_close(m);
	static const char *const left[] = { "/shop/AV", "/shop/AX", "/shop", "/.uploads", "" };
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		snprintf(path, sizeof(path), "%s%s", where, left[i]);
		assert_int_equal(rmdir(path), 0); /* and nothing else */
	}
}

static void the_first_bytes_say_what_a_file_cannot_be(void **state)
{
	(void)state;
	assert_true(media_kind_fits(SLICE("image/png"), SLICE("\x89PNG\r\n\x1a\nrest")));
	assert_false(media_kind_fits(SLICE("image/png"), SLICE("\x89PNG\r\n")));
	assert_false(media_kind_fits(SLICE("image/png"), SLICE("<html>")));
	assert_true(media_kind_fits(SLICE("image/gif"), SLICE("GIF87a")));
	assert_true(media_kind_fits(SLICE("image/gif"), SLICE("GIF89a")));
	assert_true(media_kind_fits(SLICE("image/webp"), slice_make("RIFF\0\0\0\0WEBPVP8 ", 16)));
	assert_true(media_kind_fits(SLICE("video/mp4"), slice_make("\0\0\0\x18"
								   "ftypmp42",
								   12)));
	assert_false(media_kind_fits(SLICE("video/mp4"), SLICE("")));
	assert_true(media_kind_fits(SLICE("text/html"), SLICE("<html>"))); /* not known */
	assert_true(media_kind_is_shown(SLICE("image/png")));
	assert_false(media_kind_is_shown(SLICE("image/svg+xml")));
	assert_false(media_kind_is_shown(SLICE("text/html")));
	assert_false(media_kind_is_shown(SLICE("application/pdf")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_there_as_a_whole_once_until_it_is_removed),
		cmocka_unit_test(of_two_uploads_at_once_one_is_the_file),
		cmocka_unit_test(an_upload_has_no_more_bytes_than_it_said),
		cmocka_unit_test(only_ids_and_names_of_designs_become_paths),
		cmocka_unit_test(files_and_uploads_share_the_room_that_there_is),
		cmocka_unit_test(one_file_is_uploaded_by_few_at_once),
		cmocka_unit_test(uploads_share_the_room_of_the_disk),
		cmocka_unit_test(what_a_kill_has_left_takes_no_room),
		cmocka_unit_test(what_is_there_counts_when_a_directory_is_opened),
		cmocka_unit_test(the_first_bytes_say_what_a_file_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
