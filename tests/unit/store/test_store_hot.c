/* Ranges that are read again and again: given from memory, and never older than what has been written.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"
#include "store/hot.h"

#define FROM SLICE("partition--1")
#define TO   SLICE("partition--1~")

/* The values of "partition--1", each followed by a blank. */
static const char *values(struct fixture *x, bool backwards, size_t most)
{
	struct store_iter *it =
		store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS },
			   &(struct store_walk){ FROM, TO, .backwards = backwards, .most = most }, &x->arena);
	struct buf b;

	buf_init(&b, &x->arena);
	for (size_t n = 0; n < most && store_iter_next(it); n++) {
		buf_put(&b, store_iter_value(it));
		buf_byte(&b, ' ');
	}
	assert_true(store_iter_ok(it, &x->arena, &x->error));
	store_iter_close(it);
	return arena_cstr(&x->arena, buf_slice(&b));
}

static void read_until_hot(struct fixture *x)
{
	for (int i = 0; i < 3; i++) {
		values(x, false, 20);
		values(x, true, 20);
		values(x, false, SIZE_MAX);
		values(x, true, SIZE_MAX);
	}
}

static void put_abc(struct fixture *x)
{
	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "partition--1a", "a");
	fixture_put(x, STORE_ITEMS, "partition--1b", "b");
	fixture_put(x, STORE_ITEMS, "partition--1c", "c");
	fixture_put(x, STORE_ITEMS, "partition--2a", "another");
}

static struct hot_walk walk_of(const char *from, const char *to)
{
	return (struct hot_walk){ .family = STORE_ITEMS, .from = slice_str(from), .to = slice_str(to) };
}

/* Whether the range is there, in the state that the store's own walk would find it. */
static bool is_hot(struct fixture *x, bool backwards, size_t most)
{
	struct hot_walk w = walk_of("partition--1", "partition--1~");
	const struct hot_run *r;

	w.backwards = backwards;
	r = hot_find(x->store->hot, &w, most);
	if (r)
		hot_let_go(r);
	return r != NULL;
}

static void a_range_is_kept_when_it_is_read_again(void **state)
{
	struct fixture *x = *state;

	put_abc(x);
	assert_string_equal(values(x, false, 20), "a b c ");
	assert_string_equal(values(x, false, 20), "a b c ");
	assert_true(is_hot(x, false, 20));
	assert_true(is_hot(x, false, SIZE_MAX)); /* there is no more */
	assert_false(is_hot(x, true, 20));
	assert_string_equal(values(x, false, 20), "a b c ");
	assert_string_equal(values(x, false, 2), "a b ");
}

static void what_is_written_shows_at_once(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	put_abc(x);
	read_until_hot(x);
	fixture_put(x, STORE_ITEMS, "partition--1b", "new");
	assert_string_equal(values(x, false, 20), "a new c ");
	assert_string_equal(values(x, true, 20), "c new a ");
	read_until_hot(x);
	store_batch_delete(b, x->store, STORE_ITEMS, SLICE("partition--1a"));
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("partition--1d"), SLICE("d"));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	assert_string_equal(values(x, false, SIZE_MAX), "new c d ");
	assert_string_equal(values(x, true, SIZE_MAX), "d c new ");
	store_batch_free(b);
}

static void a_batch_forgets_what_it_touched_when_it_is_cleared(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	put_abc(x);
	read_until_hot(x);
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("partition--1b"), SLICE("never"));
	store_batch_clear(b);
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("partition--3"), SLICE("elsewhere"));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	assert_true(is_hot(x, false, 20));
	assert_string_equal(values(x, false, 20), "a b c ");
	store_batch_free(b);
}

static void a_range_that_was_empty_is_not_when_something_comes(void **state)
{
	struct fixture *x = *state;

	fixture_open_memory(x);
	read_until_hot(x);
	assert_string_equal(values(x, false, 20), "");
	fixture_put(x, STORE_ITEMS, "partition--1a", "a");
	assert_string_equal(values(x, false, 20), "a ");
	assert_string_equal(values(x, true, 20), "a ");
}

static void a_deleted_range_is_gone(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	put_abc(x);
	read_until_hot(x);
	store_batch_delete_range(b, x->store, STORE_ITEMS, SLICE("partition--1"), SLICE("partition--2"));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	assert_false(is_hot(x, false, 20));
	store_batch_free(b);
}

static void a_failed_write_changes_nothing(void **state)
{
	struct fixture *x = *state;

	put_abc(x);
	read_until_hot(x);
	store_fail_after(x->store, 0);
	assert_false(fixture_try_put(x, STORE_ITEMS, "partition--1a", "never"));
	store_fail_after(x->store, -1);
	assert_string_equal(values(x, false, 20), "a b c ");
}

/* A page of a long partition is kept, as long as no more of it is asked for. */
static void a_page_of_a_long_range_serves_shorter_pages_only(void **state)
{
	struct fixture *x = *state;

	fixture_open_memory(x);
	for (int i = 0; i < 200; i++) {
		char key[32], value[16];

		snprintf(key, sizeof(key), "partition--1%03d", i);
		snprintf(value, sizeof(value), "%d", i);
		fixture_put(x, STORE_ITEMS, key, value);
	}
	for (int i = 0; i < 12; i++) /* walks backwards try the front first */
		assert_string_equal(values(x, true, 3), "199 198 197 ");
	assert_true(is_hot(x, true, 3));
	assert_false(is_hot(x, true, 4));
	assert_string_equal(values(x, true, 2), "199 198 ");
	assert_string_equal(values(x, true, 4), "199 198 197 196 ");
	for (int i = 0; i < 12; i++)
		assert_string_equal(values(x, false, 3), "0 1 2 ");
	for (int i = 0; i < 3; i++) { /* more than is kept: the walk goes on behind what was looked at to keep it */
		assert_int_equal(strlen(values(x, false, SIZE_MAX)), 10 * 2 + 90 * 3 + 100 * 4);
		assert_int_equal(strlen(values(x, true, SIZE_MAX)), 10 * 2 + 90 * 3 + 100 * 4);
		assert_int_equal(strlen(values(x, false, 100)), 10 * 2 + 90 * 3);
		assert_memory_equal(values(x, true, 70) + 69 * 4, "130 ", 5);
	}
	assert_false(is_hot(x, false, SIZE_MAX));
}

static void a_view_sees_its_own_moment(void **state)
{
	struct fixture *x = *state;
	struct store_view *v;
	struct store_iter *it;

	put_abc(x);
	v = store_view(x->store, &x->arena);
	fixture_put(x, STORE_ITEMS, "partition--1a", "new");
	read_until_hot(x);
	for (int i = 0; i < 3; i++) {
		it = store_iter(&(struct store_at){ x->store, v, STORE_ITEMS },
				&(struct store_walk){ FROM, TO, .most = 1 }, &x->arena);
		assert_true(store_iter_next(it));
		assert_true(slice_is(store_iter_value(it), "a"));
		store_iter_close(it);
	}
	assert_string_equal(values(x, false, 1), "new ");
}

static void a_held_run_outlives_its_slot(void **state)
{
	struct fixture *x = *state;
	struct store_iter *it;

	put_abc(x);
	read_until_hot(x);
	it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS }, &(struct store_walk){ FROM, TO, .most = 20 },
			&x->arena);
	assert_true(store_iter_next(it));
	fixture_put(x, STORE_ITEMS, "partition--1b", "new");
	assert_string_equal(values(x, false, 20), "a new c ");
	assert_true(slice_is(store_iter_value(it), "a"));
	assert_true(store_iter_next(it));
	assert_true(slice_is(store_iter_value(it), "b"));
	store_iter_close(it);
}

static void memory_has_an_end(void **state)
{
	struct hot *h = hot_new(256 << 10);
	char large[4000];
	size_t there = 0;

	(void)state;
	memset(large, 'x', sizeof(large));
	for (int i = 0; i < 1000; i++) {
		char from[32], to[32];
		struct hot_walk w;
		struct hot_entry e = { SLICE("key"), slice_make(large, sizeof(large)) };

		snprintf(from, sizeof(from), "p%011d", i);
		snprintf(to, sizeof(to), "p%011d~", i);
		w = walk_of(from, to);
		assert_null(hot_find(h, &w, 1));
		assert_false(w.wanted);
		assert_null(hot_find(h, &w, 1));
		assert_true(w.wanted);
		hot_keep(h, &w, &e, 1, true);
	}
	for (int i = 0; i < 1000; i++) {
		char from[32], to[32];
		struct hot_walk w;
		const struct hot_run *r;

		snprintf(from, sizeof(from), "p%011d", i);
		snprintf(to, sizeof(to), "p%011d~", i);
		w = walk_of(from, to);
		r = hot_find(h, &w, 1);
		if (!r)
			continue;
		assert_int_equal(r->entries[0].value.n, sizeof(large));
		hot_let_go(r);
		there++;
	}
	assert_in_range(there, 20, (256 << 10) / sizeof(large));
	hot_free(h);
}

/* What is too large for a small cache does not empty it. */
static void a_run_that_cannot_be_kept_displaces_nothing(void **state)
{
	struct hot *h = hot_new(64 << 10);
	struct hot_walk small = walk_of("partition--1", "partition--1~");
	struct hot_entry e = { SLICE("key"), SLICE("value") };
	char large[5000] = { 0 };
	const struct hot_run *r;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_null(hot_find(h, &small, 1));
	hot_keep(h, &small, &e, 1, true);
	e.value = slice_make(large, sizeof(large));
	for (int i = 0; i < 200; i++) {
		char from[32];
		struct hot_walk w;

		snprintf(from, sizeof(from), "p%011d", i);
		w = walk_of(from, "p99999999999");
		for (int again = 0; again < 2; again++)
			assert_null(hot_find(h, &w, 1));
		hot_keep(h, &w, &e, 1, true);
		assert_null(hot_find(h, &w, 1));
	}
	r = hot_find(h, &small, 1);
	assert_non_null(r);
	hot_let_go(r);
	hot_free(h);
}

static void nothing_is_kept_without_memory(void **state)
{
	struct fixture *x = *state;

	put_abc(x);
	values(x, false, 20);
	arena_alloc(&x->arena, 1); /* its block is there */
	alloc_fail_after(0);
	assert_string_equal(values(x, false, 20), "a b c ");
	alloc_fail_never();
	assert_false(is_hot(x, false, 20));
	assert_string_equal(values(x, false, 20), "a b c ");
}

static void what_was_read_before_a_write_is_not_kept_after_it(void **state)
{
	struct hot *h = hot_new(256 << 10);
	struct hot_walk w = walk_of("partition--1", "partition--1~");
	struct hot_entry e = { SLICE("key"), SLICE("old") };
	struct hot_touched t = { 0 };
	const struct hot_run *held;

	(void)state;
	hot_touch(&t, SLICE("partition--1b"));
	assert_null(hot_find(h, &w, 1));
	assert_null(hot_find(h, &w, 1));
	hot_write_begins(h, &t);
	hot_keep(h, &w, &e, 1, true);
	assert_null(hot_find(h, &w, 1));
	assert_false(w.wanted); /* a write is under way */
	hot_keep(h, &w, &e, 1, true);
	hot_write_ended(h, &t);
	assert_null(hot_find(h, &w, 1));
	assert_true(w.wanted);
	hot_keep(h, &w, &e, 1, true);
	held = hot_find(h, &w, 1);
	assert_non_null(held);
	hot_touched_release(&t);
	hot_free(h);
	assert_true(slice_is(held->entries[0].value, "old"));
	hot_let_go(held);
}

/* ---- concurrent readers and a writer ---- */

#define ROUNDS 3000

struct race {
	struct store *store;
	atomic_int written; /* acknowledged */
	atomic_bool end;
	atomic_int wrong;
};

static int value_of(struct store *s, bool backwards)
{
	struct store_iter *it;
	struct arena a;
	int n;

	arena_init(&a);
	it = store_iter(&(struct store_at){ s, NULL, STORE_ITEMS },
			&(struct store_walk){ FROM, TO, .backwards = backwards, .most = 8 }, &a);
	if (!store_iter_next(it))
		abort();
	n = (int)strtol(arena_cstr(&a, store_iter_value(it)), NULL, 10);
	store_iter_close(it);
	arena_release(&a);
	return n;
}

static void *read_on(void *arg)
{
	struct race *r = arg;

	for (int i = 0; !atomic_load(&r->end); i++) {
		int least = atomic_load(&r->written), n = value_of(r->store, i & 1), most = atomic_load(&r->written) + 1;

		if (n < least || n > most)
			atomic_fetch_add(&r->wrong, 1);
	}
	return NULL;
}

static void readers_see_every_acknowledged_write(void **state)
{
	struct fixture *x = *state;
	struct race r = { 0 };
	pthread_t readers[3];

	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "partition--1a", "0");
	r.store = x->store;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, &r), 0);
	for (int i = 1; i <= ROUNDS; i++) {
		char value[16];

		snprintf(value, sizeof(value), "%d", i);
		fixture_put(x, STORE_ITEMS, "partition--1a", value);
		atomic_store(&r.written, i);
		while (i % 64 == 0 && !is_hot(x, false, 8)) /* let them find it unchanged until it is kept */
			sched_yield();
	}
	atomic_store(&r.end, true);
	for (int i = 0; i < 3; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(atomic_load(&r.wrong), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(value_of(x->store, false), ROUNDS);
	assert_true(is_hot(x, false, 8)); /* and what was written last is kept as well */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(a_range_is_kept_when_it_is_read_again),
		store_test(what_is_written_shows_at_once),
		store_test(a_batch_forgets_what_it_touched_when_it_is_cleared),
		store_test(a_range_that_was_empty_is_not_when_something_comes),
		store_test(a_deleted_range_is_gone),
		store_test(a_failed_write_changes_nothing),
		store_test(a_page_of_a_long_range_serves_shorter_pages_only),
		store_test(a_view_sees_its_own_moment),
		store_test(a_held_run_outlives_its_slot),
		store_test(memory_has_an_end),
		store_test(a_run_that_cannot_be_kept_displaces_nothing),
		store_test(nothing_is_kept_without_memory),
		store_test(what_was_read_before_a_write_is_not_kept_after_it),
		store_test(readers_see_every_acknowledged_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
