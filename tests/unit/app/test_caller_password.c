/* bcrypt: known hashes, our own, and what is not a password.
 * SPDX-License-Identifier: Apache-2.0 */
#include "caller_helper.h"

#define NOTES                                         \
	"entities:\n  Note:\n    path: /notes/<id>\n" \
	"    attributes: {id: 'string, id'}\n    keys: {PK: NOTE#<id>, SK: N}\n"

static struct app_fixture f;

static int setup(void **state)
{
	(void)state;
	app_fixture_open(&f, NOTES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	app_fixture_close(&f);
	return 0;
}

/* From the test suites of OpenBSD, jBCrypt and crypt_blowfish. */
static void known_hashes_are_understood(void **state)
{
	static const struct {
		const char *password, *hash;
	} known[] = {
		{ "a", "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe" },
		{ "abc", "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i" },
		{ "abcdefghijklmnopqrstuvwxyz", "$2a$06$.rCVZVOThsIa97pEDOxvGuRRgzG64bvtJ0938xuqzv18d3ZpQhstC" },
		{ "~!@#$%^&*()      ~!@#$%^&*()PNBFRD", "$2a$06$fPIsBO8qRqkjj273rfaOI.HtSV9jLDpTbZn782DC6/t7qT67P6FfO" },
		{ "U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW" },
		{ "\xff\xff\xa3", "$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e" },
		{ "U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(caller_check_password(slice_str(known[i].password), slice_str(known[i].hash)));
		assert_false(caller_check_password(SLICE("something else"), slice_str(known[i].hash)));
		assert_false(caller_check_password(SLICE(""), slice_str(known[i].hash)));
	}
}

static void a_password_fits_its_own_hash_only(void **state)
{
	struct run *r = app_fixture_run(&f, NULL);
	struct value one, two;

	(void)state;
	assert_true(caller_hash_password(r, SLICE("correct horse"), &one));
	assert_true(caller_hash_password(r, SLICE("correct horse"), &two));
	assert_true(slice_starts(value_bytes(one), SLICE("$2b$10$")));
	assert_int_equal(value_bytes(one).n, 60);
	assert_false(value_equal(one, two)); /* salted */
	assert_true(caller_check_password(SLICE("correct horse"), value_bytes(one)));
	assert_false(caller_check_password(SLICE("correct hors"), value_bytes(one)));
	assert_false(caller_check_password(SLICE("correct horse\0"), value_bytes(one)));
	assert_false(caller_check_password(SLICE("correct horse\0x"), value_bytes(one)));
}

static void refuse(struct slice password)
{
	struct run *r = app_fixture_run(&f, NULL);
	struct value hash;

	assert_false(caller_hash_password(r, password, &hash));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_int_equal(r->problem.part_count, 1);
	assert_true(slice_is(r->problem.parts[0].attribute, "password"));
}

static void a_password_has_8_to_72_bytes(void **state)
{
	struct run *r = app_fixture_run(&f, NULL);
	struct value hash;
	char text[80];

	(void)state;
	memset(text, 'x', sizeof(text));
	refuse(SLICE(""));
	refuse(SLICE("1234567"));
	refuse(slice_make(text, 73));
	refuse(SLICE("12345678\0x"));
	assert_true(caller_hash_password(r, slice_make(text, 72), &hash));
	assert_true(caller_check_password(slice_make(text, 72), value_bytes(hash)));
	/* bcrypt itself would not look at the rest. */
	assert_false(caller_check_password(slice_make(text, 73), value_bytes(hash)));
	assert_false(caller_check_password(slice_make(text, 71), value_bytes(hash)));
}

static void an_invalid_hash_matches_no_password(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"*0",
		"*1",
		"$1$salt$qJH7.N4xYta3aEG/dfqo/0",
		"$2b$10$",
		"$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", /* hours of work */
		"$2b$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
		"$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
		"$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe",
		"$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeWx",
		"$2b$05$????????????????????????????????????????????????????x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(caller_check_password(SLICE("U*U"), slice_str(wrong[i])));
		assert_false(caller_check_password(SLICE(""), slice_str(wrong[i])));
	}
}

static void without_memory_nothing_fits(void **state)
{
	(void)state;
	alloc_fail_after(0);
	assert_false(caller_check_password(SLICE("U*U"),
					   SLICE("$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")));
	alloc_fail_never();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_hashes_are_understood),  cmocka_unit_test(a_password_fits_its_own_hash_only),
		cmocka_unit_test(a_password_has_8_to_72_bytes), cmocka_unit_test(an_invalid_hash_matches_no_password),
		cmocka_unit_test(without_memory_nothing_fits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
