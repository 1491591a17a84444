/* Keys and records on disk: what is written is read back, and sorts as it should.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "table/layout.h"
#include "value/key.h"

static struct arena arena;

static int setup(void **state)
{
	arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	arena_release(&arena);
	return 0;
}

static void assert_slice(struct slice s, const char *text)
{
	assert_int_equal(s.n, strlen(text));
	assert_memory_equal(s.p, text, s.n);
}

static const struct item_key key = { { "part", 4 }, { "so\0rt", 5 } };

static void item_keys_come_back(void **state)
{
	struct slice k = layout_item_key(&arena, 7, key);
	struct item_key out;
	uint32_t table;

	assert_true(layout_read_item_key(k, &table, &out));
	assert_int_equal(table, 7);
	assert_slice(out.pk, "part");
	assert_true(slice_equal(out.sk, key.sk));
	assert_true(slice_starts(k, layout_item_partition(&arena, 7, key.pk)));
	assert_true(slice_starts(k, layout_item_from_hash(&arena, 7, layout_hash_of(k))));
	assert_true(layout_hash_of(k) == key_hash(key.pk));
}

static void truncated_keys_are_refused(void **state)
{
	struct slice k = layout_item_key(&arena, 7, (struct item_key){ .pk = key.pk });
	struct slice ttl = layout_ttl_key(&arena, 7, 5, (struct item_key){ .pk = key.pk });
	struct item_key out;
	uint32_t table;
	int64_t expiry;

	for (size_t n = 0; n < k.n; n++)
		assert_false(layout_read_item_key(slice_make(k.p, n), &table, &out));
	for (size_t n = 0; n < ttl.n; n++)
		assert_false(layout_read_ttl_key(slice_make(ttl.p, n), &table, &expiry, &out));
}

static struct value two_strings(const char *a, const char *b)
{
	struct value_member m[] = {
		{ SLICE("a"), value_make_s(&arena, slice_str(a)) },
		{ SLICE("b"), value_make_s(&arena, slice_str(b)) },
	};

	return value_make_map(&arena, m, 2);
}

static void index_keys_sort_by_range_and_give_the_table_key(void **state)
{
	struct index i = { .id = 9, .key = key_schema_of("a:S b:S") };
	struct slice low = layout_index_key(&arena, &i, two_strings("p", "1"), key);
	struct slice mid = layout_index_key(&arena, &i, two_strings("p", "10"), key);
	struct slice high = layout_index_key(&arena, &i, two_strings("p", "2"), key);
	struct slice hash = SLICE("p");
	struct item_key out;
	struct buf prefix;

	assert_true(slice_cmp(low, mid) < 0);
	assert_true(slice_cmp(mid, high) < 0);
	buf_init(&prefix, &arena);
	layout_index_partition(&prefix, &i, &hash);
	assert_true(slice_starts(mid, buf_slice(&prefix)));
	assert_true(layout_read_index_key(&arena, &i, mid, &out));
	assert_slice(out.pk, "part");
	assert_true(slice_equal(out.sk, key.sk));
}

static void partitions_of_several_attributes_do_not_mix(void **state)
{
	struct index i = { .id = 9, .key = key_schema_of("a:S b:S |") };
	struct slice one = layout_index_key(&arena, &i, two_strings("xy", "z"), key);
	struct slice other = layout_index_key(&arena, &i, two_strings("x", "yz"), key);

	assert_int_equal(i.key.hash_count, 2);
	assert_int_not_equal(slice_cmp(one, other), 0);
	assert_false(layout_hash_of(one) == layout_hash_of(other));
}

static void stream_records_come_back(void **state)
{
	struct stream_record out, r = {
		.event = EVENT_REMOVE,
		.by_ttl = true,
		.created_ms = 1234,
		.size_bytes = 77,
		.keys = two_strings("k", "l"),
		.old_image = two_strings("o", "p"),
	};
	struct slice bytes = layout_stream_record(&arena, &r);
	uint32_t stream, shard;
	uint64_t sequence;

	assert_true(layout_read_stream_record(bytes, &out));
	assert_int_equal(out.event, EVENT_REMOVE);
	assert_true(out.by_ttl);
	assert_int_equal(out.created_ms, 1234);
	assert_int_equal(out.size_bytes, 77);
	assert_true(value_equal(out.keys, r.keys));
	assert_true(value_equal(out.old_image, r.old_image));
	assert_false(value_present(out.new_image));
	for (size_t n = 0; n < bytes.n; n++)
		assert_false(layout_read_stream_record(slice_make(bytes.p, n), &out));
	assert_true(layout_read_stream_key(layout_stream_key(&arena, 3, 2, UINT64_MAX), &stream, &shard, &sequence));
	assert_int_equal(stream, 3);
	assert_int_equal(shard, 2);
	assert_true(sequence == UINT64_MAX);
}

static void ttl_keys_sort_by_expiry(void **state)
{
	struct slice k = layout_ttl_key(&arena, 7, 1000, key);
	struct item_key out;
	uint32_t table;
	int64_t expiry;

	assert_true(slice_cmp(layout_ttl_from(&arena, 7, 1000), k) < 0);
	assert_true(slice_cmp(k, layout_ttl_from(&arena, 7, 1001)) < 0);
	assert_true(layout_read_ttl_key(k, &table, &expiry, &out));
	assert_int_equal(table, 7);
	assert_int_equal(expiry, 1000);
	assert_slice(out.pk, "part");
}

static void expiry_is_a_number_cut_to_seconds(void **state)
{
	/* clang-format off */
	static const struct {
		const char *n;
		bool expires;
		int64_t at;
	} cases[] = {
		{ "100", true, 100 }, { "1.5e3", true, 1500 }, { "99.999", true, 99 },
		{ "0.000001", true, 0 }, { "0", true, 0 }, { "-1", false, 0 },
		{ "1e30", false, 0 }, { "1e-130", true, 0 },
	};
	/* clang-format on */
	struct table t = { .ttl = TTL_ENABLED, .ttl_attribute = SLICE("e") };
	struct error e;
	int64_t at;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct number n;
		struct value item;

		assert_true(number_parse(slice_str(cases[i].n), &n, &arena, &e));
		item = value_make_map(&arena, &(struct value_member){ SLICE("e"), value_make_n(&arena, &n) }, 1);
		assert_int_equal(layout_ttl_of_item(&t, item, &at), cases[i].expires);
		if (cases[i].expires)
			assert_int_equal(at, cases[i].at);
		t.ttl = TTL_DISABLED;
		assert_false(layout_ttl_of_item(&t, item, &at));
		t.ttl = TTL_ENABLED;
	}
	assert_false(layout_ttl_of_item(&t, two_strings("1", "2"), &at));
	assert_false(layout_ttl_of_item(&t, VALUE_ABSENT, &at));
}

static void token_records_come_back(void **state)
{
	uint8_t digest[32], out[32];
	struct slice token, k = layout_token_expiry_key(&arena, 5000, SLICE("tok"));
	int64_t at;

	memset(digest, 0xab, sizeof(digest));
	assert_true(layout_read_token_record(layout_token_record(&arena, 5000, digest), &at, out));
	assert_int_equal(at, 5000);
	assert_memory_equal(digest, out, sizeof(out));
	assert_true(layout_read_token_expiry_key(k, &at, &token));
	assert_slice(token, "tok");
	assert_true(slice_cmp(k, layout_token_expiry_from(&arena, 5001)) < 0);
	assert_false(layout_read_token_expiry_key(layout_token_key(&arena, SLICE("token")), &at, &token));
}

static void counters_come_back(void **state)
{
	int64_t items, bytes;
	uint64_t v;

	assert_true(layout_read_stats_record(layout_stats_record(&arena, 3, 1 << 20), &items, &bytes));
	assert_int_equal(items, 3);
	assert_int_equal(bytes, 1 << 20);
	assert_true(layout_read_u64_record(layout_u64_record(&arena, 42), &v));
	assert_int_equal(v, 42);
	assert_false(layout_read_u64_record(SLICE("short"), &v));
	assert_false(layout_read_stats_record(SLICE("short"), &items, &bytes));
}

static void after_prefix_is_above_everything_with_it(void **state)
{
	assert_slice(layout_after_prefix(&arena, SLICE("ab")), "ac");
	assert_slice(layout_after_prefix(&arena, slice_make("a\xff", 2)), "b");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(item_keys_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(truncated_keys_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(index_keys_sort_by_range_and_give_the_table_key, setup, teardown),
		cmocka_unit_test_setup_teardown(partitions_of_several_attributes_do_not_mix, setup, teardown),
		cmocka_unit_test_setup_teardown(stream_records_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(ttl_keys_sort_by_expiry, setup, teardown),
		cmocka_unit_test_setup_teardown(expiry_is_a_number_cut_to_seconds, setup, teardown),
		cmocka_unit_test_setup_teardown(token_records_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(counters_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(after_prefix_is_above_everything_with_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
