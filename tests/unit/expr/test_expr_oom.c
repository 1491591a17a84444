/* Every allocation of compiling and evaluating fails once: the request is abandoned cleanly,
 * nothing leaks, and the cache works on. SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"
#include "base/alloc.h"

static struct expr_cache *cache;

static void one_request(struct arena *a)
{
	static const char names[] = "{\"#s\":\"status\",\"#l\":\"list\"}";
	static const char values[] = "{\":v\":{\"S\":\"x\"},\":l\":{\"L\":[{\"N\":\"1\"}]},"
				     "\":n\":{\"N\":\"1\"},\":e\":{\"M\":{}}}";
	static const char before[] = "{\"list\":{\"L\":[{\"S\":\"a\"}]},\"m\":{\"M\":{}}}";
	const struct projection *p;
	const struct condition *c;
	const struct update *u;
	struct expr_bindings *b;
	struct value old, new;
	struct error e;
	bool ok;

	ok = item_from_json(a, json_parse(a, slice_str(before)), &old, &e) &&
	     expr_bindings_new(a, cache, json_parse(a, slice_str(names)), json_parse(a, slice_str(values)), &b, &e) &&
	     update_compile(b, SLICE("SET #s = :v, #l = list_append(#l, :l), m.x = :e ADD c :n"), &u, &e) &&
	     condition_compile(b, CONDITION_EXPRESSION,
			       SLICE("attribute_not_exists(pk) AND NOT (size(#l) > :n OR #s IN (:v, a))"), &c, &e) &&
	     projection_compile(b, SLICE("#s, #l[0], #l[1], m.x"), &p, &e);
	if (!ok)
		return; /* json_parse() may say NULL when memory is out */
	assert_true(update_apply(u, old, a, &new, &e));
	assert_true(condition_holds(c, old, a));
	assert_true(value_present(projection_apply(p, new, a)));
	assert_true(value_present(update_touched(u, new, a)));
}

static bool request_with(long allocations)
{
	volatile bool ran_out = false;
	struct arena a;

	arena_init(&a);
	alloc_fail_after(allocations);
	ARENA_TRY(
		&a, { one_request(&a); }, { ran_out = true; });
	ran_out = ran_out || alloc_has_failed();
	alloc_fail_never();
	arena_release(&a);
	return !ran_out;
}

static void each_allocation_may_fail(void **state)
{
	long n = 0;

	(void)state;
	for (int warm = 0; warm < 2; warm++) {
		cache = expr_cache_new(8);
		assert_non_null(cache);
		if (warm)
			assert_true(request_with(1000000));
		for (n = 0; !request_with(n); n++)
			assert_true(n < 10000);
		assert_true(request_with(1000000));
		expr_cache_free(cache);
	}
}

static void a_cache_without_memory_is_none(void **state)
{
	(void)state;
	for (long n = 0; n < 2; n++) {
		alloc_fail_after(n);
		cache = expr_cache_new(8);
		alloc_fail_never();
		assert_null(cache);
	}
	expr_cache_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_may_fail),
		cmocka_unit_test(a_cache_without_memory_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
