/* What the tests of the store share: a directory of their own, one-line puts and gets, and this
 * program run again as another process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_STORE_FIXTURE_H
#define THORPE_TESTS_STORE_FIXTURE_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "store/internal.h"

struct fixture {
	char root[128]; /* made for this test, removed after it */
	char dir[160];  /* inside it; not made yet */
	char why[600];
	struct arena arena;
	struct error error;
	struct store *store;
};

static inline int fixture_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline int fixture_setup(void **state)
{
	struct fixture *x = mem_zalloc(sizeof(*x));
	const char *tmp = getenv("TMPDIR");

	if (!x ||
	    snprintf(x->root, sizeof(x->root), "%s/thorpe-store-XXXXXX", tmp ? tmp : "/tmp") >= (int)sizeof(x->root) ||
	    !mkdtemp(x->root))
		return -1;
	snprintf(x->dir, sizeof(x->dir), "%s/data", x->root);
	arena_init(&x->arena);
	*state = x;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *x = *state;

	arena_release(&x->arena);
	store_close(x->store);
	nftw(x->root, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	mem_free(x);
	return 0;
}

static inline enum store_open_result fixture_try_open(struct fixture *x, const char *dir, bool read_only)
{
	struct store_options o = { .dir = dir, .read_only = read_only };

	assert_null(x->store);
	memset(x->why, 0, sizeof(x->why));
	return store_open(&o, &x->store, x->why, sizeof(x->why));
}

static inline void fixture_open(struct fixture *x)
{
	if (fixture_try_open(x, x->dir, false) != STORE_OPENED)
		fail_msg("%s", x->why);
}

static inline void fixture_open_memory(struct fixture *x)
{
	if (fixture_try_open(x, NULL, false) != STORE_OPENED)
		fail_msg("%s", x->why);
}

static inline void fixture_close(struct fixture *x)
{
	arena_release(&x->arena);
	store_close(x->store);
	x->store = NULL;
}

static inline bool fixture_try_put(struct fixture *x, enum store_family f, const char *key, const char *value)
{
	struct store_batch *b = store_batch_new();
	bool ok;

	assert_non_null(b);
	store_batch_put(b, x->store, f, slice_str(key), slice_str(value));
	ok = store_write(x->store, b, true, &x->arena, &x->error);
	store_batch_free(b);
	return ok;
}

static inline void fixture_put(struct fixture *x, enum store_family f, const char *key, const char *value)
{
	if (!fixture_try_put(x, f, key, value))
		fail_msg("%.*s", SLICE_ARG(x->error.message));
}

/* NULL when it is not there. */
static inline const char *fixture_get(struct fixture *x, const struct store_view *v, enum store_family f,
				      const char *key)
{
	struct slice value;
	bool found;

	if (!store_get(&(struct store_at){ x->store, v, f }, slice_str(key), &x->arena, &value, &found, &x->error))
		fail_msg("%.*s", SLICE_ARG(x->error.message));
	return found ? arena_cstr(&x->arena, value) : NULL;
}

/* The keys of a range, each followed by a blank. */
static inline const char *fixture_keys(struct fixture *x, const struct store_view *v, const char *from, const char *to,
				       bool backwards)
{
	struct store_iter *it =
		store_iter(&(struct store_at){ x->store, v, STORE_ITEMS },
			   &(struct store_walk){ slice_str(from), slice_str(to), .backwards = backwards }, &x->arena);
	struct buf b;

	buf_init(&b, &x->arena);
	while (store_iter_next(it)) {
		buf_put(&b, store_iter_key(it));
		buf_byte(&b, ' ');
	}
	assert_true(store_iter_ok(it, &x->arena, &x->error));
	assert_false(store_iter_next(it));
	store_iter_close(it);
	return arena_cstr(&x->arena, buf_slice(&b));
}

/* As after a large table was dropped. */
static inline bool fixture_reclaim(struct fixture *x, enum store_family f, const char *from, const char *to)
{
	struct store_reclaim range = {
		.family = f,
		.from = slice_str(from),
		.to = slice_str(to),
		.expected = 1 << 30,
		.mark = store_mark(x->store),
	};

	return store_reclaim(x->store, &range);
}

#define store_test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
