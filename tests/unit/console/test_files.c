/* The embedded files: each whole, found by its exact name and by no other.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <libdeflate.h>
#include "base/alloc.h"
#include "console/files.h"

static void each_file_unzips_to_the_size_it_had(void **state)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	const struct web_file *f;
	size_t count = 0;

	(void)state;
	for (; (f = console_file_at(count)); count++) {
		unsigned char *out = mem_alloc(f->bytes + 1);
		size_t n = 0;

		assert_non_null(out);
		assert_int_equal(libdeflate_gzip_decompress(d, f->data, f->stored, out, f->bytes + 1, &n),
				 LIBDEFLATE_SUCCESS);
		assert_int_equal(n, f->bytes);
		mem_free(out);
	}
	libdeflate_free_decompressor(d);
	assert_true(count > 0);
}

static void files_are_found_by_their_whole_names_only(void **state)
{
	static const char *const others[] = {
		"nothing", "index.htm", "index.html/",          "/index.html",   "../index.html",
		"assets",  "assets/",   "assets/../index.html", "index.html%00", "INDEX.HTML",
		"."
	};

	(void)state;
	for (size_t i = 0; console_file_at(i); i++)
		assert_ptr_equal(console_file(slice_str(console_file_at(i)->path)), console_file_at(i));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_null(console_file(slice_str(others[i])));
}

static void the_empty_name_is_the_page(void **state)
{
	const struct web_file *page = console_file(SLICE(""));

	(void)state;
	assert_non_null(page);
	assert_string_equal(page->path, "index.html");
	assert_string_equal(page->type, "text/html; charset=utf-8");
	assert_false(page->immutable);
}

/* What may be kept for ever is what gets another name when it changes. */
static void only_assets_are_immutable(void **state)
{
	(void)state;
	for (size_t i = 0; console_file_at(i); i++)
		assert_int_equal(console_file_at(i)->immutable, strncmp(console_file_at(i)->path, "assets/", 7) == 0);
}

static void etags_are_quoted_and_tell_files_apart(void **state)
{
	(void)state;
	for (size_t i = 0; console_file_at(i); i++) {
		const char *etag = console_file_at(i)->etag;

		assert_true(strlen(etag) > 10 && etag[0] == '"' && etag[strlen(etag) - 1] == '"');
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(etag, console_file_at(k)->etag);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_unzips_to_the_size_it_had),
		cmocka_unit_test(files_are_found_by_their_whole_names_only),
		cmocka_unit_test(the_empty_name_is_the_page),
		cmocka_unit_test(only_assets_are_immutable),
		cmocka_unit_test(etags_are_quoted_and_tell_files_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
