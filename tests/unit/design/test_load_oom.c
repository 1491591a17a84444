/* Each allocation of loading a design fails once: it is abandoned cleanly and nothing leaks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"
#include "base/alloc.h"

static bool loads_with(const char *path, long allocations, bool *well)
{
	volatile bool ran_out = false;
	struct arena a;

	arena_init(&a);
	alloc_fail_after(allocations);
	ARENA_TRY(
		&a,
		{
			struct findings f;
			struct source s;
			struct buf b;

			findings_init(&f, &a);
			*well = design_load_file(&a, path, &s, &f) != NULL;
			buf_init(&b, &a);
			findings_print(&b, &f, &s);
			findings_json(&b, &f, &s);
		},
		{ ran_out = true; });
	alloc_fail_never();
	arena_release(&a);
	return !ran_out;
}

static void each_allocation_may_fail(const char *path)
{
	bool well = false;
	long n = 0;

	while (!loads_with(path, n, &well))
		n++;
	assert_true(n > 10);
	assert_true(well);
}

static void loading_may_run_out_of_memory_anywhere(void **state)
{
	(void)state;
	each_allocation_may_fail(THORPE_ROOT "/designs/social.yaml");
	each_allocation_may_fail(THORPE_ROOT "/designs/perfectit.yaml");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(loading_may_run_out_of_memory_anywhere) };

	(void)begin, (void)end, (void)no_env;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
