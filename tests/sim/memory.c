/* Another store (store/store.h): in memory, on one thread, and it can die. Every key keeps all its values, each with
 * the number of the batch that wrote it; a view is such a number. A run is short, so nothing is freed before the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdlib.h>

struct version {
	struct version *older;
	uint64_t batch;
	bool is_deleted;
	struct slice value;
};

struct entry {
	struct slice key;
	struct version *newest;
};

struct family {
	struct entry *list; /* sorted */
	size_t count, capacity;
};

struct store {
	struct arena arena;
	struct family families[STORE_FAMILIES];
	uint64_t batches;
};

struct store_view {
	uint64_t batch;
};

enum change_kind { CHANGE_PUT, CHANGE_DELETE, CHANGE_DELETE_RANGE };

struct change {
	enum change_kind kind;
	enum store_family family;
	struct slice key, value; /* of a range: from, to */
};

struct store_batch {
	struct arena arena;
	struct change *list;
	size_t count, capacity;
};

struct store_iter {
	struct store *store;
	struct family *family;
	uint64_t batch;
	struct slice from, to; /* the rest of the walk */
	bool backwards;
	struct slice key, value;
};

static struct {
	struct store *kept;
	long death;
	bool after_it, dead;
} life = { .death = -1 };

/* ---- death ---- */

void memory_set_death(long writes, bool after_it)
{
	life.death = writes;
	life.after_it = after_it;
}

bool memory_is_dead(void)
{
	return life.dead;
}

void memory_revive(void)
{
	life.dead = false;
	life.death = -1;
}

static void destroy(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STORE_FAMILIES; i++)
		free(s->families[i].list);
	arena_release(&s->arena);
	free(s);
}

void memory_forget(void)
{
	memory_revive();
	destroy(life.kept);
	life.kept = NULL;
}

/* ---- opening ---- */

enum store_open_result store_open(const struct store_options *o, struct store **out, char *why, size_t n)
{
	struct store *s = life.kept;

	(void)o;
	(void)why;
	(void)n;
	life.kept = NULL;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			abort();
		arena_init(&s->arena);
	}
	*out = s;
	return STORE_OPENED;
}

void store_close(struct store *s)
{
	if (life.dead)
		life.kept = s;
	else
		destroy(s);
}

/* ---- finding ---- */

static size_t find(const struct family *f, struct slice key)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (slice_cmp(f->list[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct version *version_at(const struct entry *e, uint64_t batch)
{
	const struct version *v = e->newest;

	while (v && v->batch > batch)
		v = v->older;
	return v && !v->is_deleted ? v : NULL;
}

struct store_view *store_view(struct store *s, struct arena *defer_to)
{
	struct store_view *v = defer_to ? arena_alloc(defer_to, sizeof(*v)) : malloc(sizeof(*v));

	if (!v)
		abort();
	v->batch = s->batches;
	return v;
}

/* Only for views without an arena, which the program does not use. */
void store_view_free(struct store_view *v)
{
	free(v);
}

bool store_get(const struct store_at *at, struct slice key, struct arena *a, struct slice *value, bool *found,
	       struct error *e)
{
	const struct family *family = &at->store->families[at->family];
	size_t i = find(family, key);
	const struct version *x = NULL;

	(void)e;
	if (i < family->count && slice_equal(family->list[i].key, key))
		x = version_at(&family->list[i], at->view ? at->view->batch : at->store->batches);
	*found = x != NULL;
	*value = x ? arena_copy(a, x->value) : SLICE("");
	return true;
}

bool store_get_many(const struct store_at *at, const struct slice *keys, size_t n, struct arena *a,
		    struct slice *values, struct error *e)
{
	bool found;

	for (size_t i = 0; i < n; i++) {
		if (!store_get(at, keys[i], a, &values[i], &found, e))
			return false;
		if (!found)
			values[i] = (struct slice){ 0 };
	}
	return true;
}

/* ---- walking ---- */

struct store_iter *store_iter(const struct store_at *at, const struct store_walk *w, struct arena *a)
{
	struct store_iter *it = arena_new(a, struct store_iter);

	*it = (struct store_iter){
		.store = at->store,
		.family = &at->store->families[at->family],
		.batch = at->view ? at->view->batch : at->store->batches,
		.backwards = w->backwards,
	};
	it->from = arena_copy(a, w->from);
	it->to = arena_copy(a, w->to);
	return it;
}

static bool take(struct store_iter *it, size_t i)
{
	const struct version *v = version_at(&it->family->list[i], it->batch);

	if (!v)
		return false;
	it->key = it->family->list[i].key;
	it->value = v->value;
	return true;
}

static bool next_up(struct store_iter *it)
{
	const struct family *f = it->family;
	size_t i = find(f, it->key.p ? it->key : it->from);

	if (it->key.p)
		i++; /* keys are never removed, so it exists */
	for (; i < f->count && (!it->to.n || slice_cmp(f->list[i].key, it->to) < 0); i++)
		if (take(it, i))
			return true;
	return false;
}

static bool next_down(struct store_iter *it)
{
	const struct family *f = it->family;
	size_t i = it->key.p ? find(f, it->key) : it->to.n ? find(f, it->to) : f->count;

	while (i-- > 0 && slice_cmp(f->list[i].key, it->from) >= 0)
		if (take(it, i))
			return true;
	return false;
}

bool store_iter_next(struct store_iter *it)
{
	return it->backwards ? next_down(it) : next_up(it);
}

bool store_iter_is_short(const struct store_iter *it)
{
	(void)it;
	return false;
}

struct slice store_iter_key(const struct store_iter *it)
{
	return it->key;
}

struct slice store_iter_value(const struct store_iter *it)
{
	return it->value;
}

bool store_iter_ok(struct store_iter *it, struct arena *a, struct error *e)
{
	(void)it;
	(void)a;
	(void)e;
	return true;
}

void store_iter_close(struct store_iter *it)
{
	(void)it;
}

/* ---- batches ---- */

struct store_batch *store_batch_new(void)
{
	struct store_batch *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	arena_init(&b->arena);
	return b;
}

void store_batch_clear(struct store_batch *b)
{
	arena_clear(&b->arena);
	b->list = NULL;
	b->count = b->capacity = 0;
}

void store_batch_free(struct store_batch *b)
{
	if (!b)
		return;
	arena_release(&b->arena);
	free(b);
}

static void add(struct store_batch *b, enum change_kind kind, enum store_family f, struct slice key, struct slice value)
{
	if (b->count == b->capacity) {
		size_t capacity = b->capacity ? 2 * b->capacity : 16;

		b->list = b->list ? arena_grow(&b->arena, b->list, b->capacity * sizeof(*b->list),
					       capacity * sizeof(*b->list))
				  : arena_alloc(&b->arena, capacity * sizeof(*b->list));
		b->capacity = capacity;
	}
	b->list[b->count++] = (struct change){ kind, f, arena_copy(&b->arena, key), arena_copy(&b->arena, value) };
}

void store_batch_put(struct store_batch *b, struct store *s, enum store_family f, struct slice key, struct slice value)
{
	(void)s;
	add(b, CHANGE_PUT, f, key, value);
}

void store_batch_delete(struct store_batch *b, struct store *s, enum store_family f, struct slice key)
{
	(void)s;
	add(b, CHANGE_DELETE, f, key, SLICE(""));
}

void store_batch_delete_range(struct store_batch *b, struct store *s, enum store_family f, struct slice from,
			      struct slice to)
{
	(void)s;
	add(b, CHANGE_DELETE_RANGE, f, from, to);
}

size_t store_batch_count(const struct store_batch *b)
{
	return b->count;
}

void store_batch_set_frees(struct store_batch *b)
{
	(void)b;
}

static void put_version(struct store *s, struct entry *e, bool is_deleted, struct slice value)
{
	struct version *v = arena_new(&s->arena, struct version);

	*v = (struct version){ .older = e->newest, .batch = s->batches, .is_deleted = is_deleted };
	v->value = arena_copy(&s->arena, value);
	e->newest = v;
}

static struct entry *entry_of(struct store *s, struct family *f, struct slice key)
{
	size_t i = find(f, key);

	if (i < f->count && slice_equal(f->list[i].key, key))
		return &f->list[i];
	if (f->count == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 64;
		f->list = realloc(f->list, f->capacity * sizeof(*f->list));
		if (!f->list)
			abort();
	}
	memmove(&f->list[i + 1], &f->list[i], (f->count - i) * sizeof(*f->list));
	f->list[i] = (struct entry){ .key = arena_copy(&s->arena, key) };
	f->count++;
	return &f->list[i];
}

static void apply(struct store *s, const struct store_batch *b)
{
	s->batches++;
	for (size_t i = 0; i < b->count; i++) {
		const struct change *c = &b->list[i];
		struct family *f = &s->families[c->family];

		if (c->kind != CHANGE_DELETE_RANGE) {
			put_version(s, entry_of(s, f, c->key), c->kind == CHANGE_DELETE, c->value);
			continue;
		}
		for (size_t k = find(f, c->key); k < f->count && slice_cmp(f->list[k].key, c->value) < 0; k++)
			put_version(s, &f->list[k], true, SLICE(""));
	}
}

static bool refuse(struct error *e)
{
	*e = (struct error){ .code = ERR_INTERNAL, .message = SLICE("the process has died") };
	return false;
}

bool store_write(struct store *s, struct store_batch *b, bool sync, struct arena *a, struct error *e)
{
	(void)sync;
	(void)a;
	if (life.dead)
		return refuse(e);
	if (life.death < 0 || life.death--) {
		apply(s, b);
		return true;
	}
	life.dead = true;
	if (life.after_it)
		apply(s, b);
	return refuse(e);
}

bool store_sync(struct store *s, struct arena *a, struct error *e)
{
	(void)s;
	(void)a;
	(void)e;
	return true;
}

/* ---- state of the disk ---- */

bool store_takes_growth(struct store *s)
{
	(void)s;
	return true;
}

bool store_reclaim(struct store *s, const struct store_reclaim *range)
{
	(void)s;
	(void)range;
	return true;
}

/* A version of the key's partition: this one changes with any write. */
uint64_t store_version(struct store *s, struct slice key);
uint64_t store_version(struct store *s, struct slice key)
{
	(void)key;
	return s->batches + 1;
}

uint64_t store_mark(struct store *s)
{
	return s->batches;
}

void store_make_room(struct store *s, uint64_t live)
{
	(void)s;
	(void)live;
}

void store_drop_files(struct store *s, enum store_family f, struct slice from, struct slice to)
{
	(void)s;
	(void)f;
	(void)from;
	(void)to;
}

void store_stop_reclaiming(struct store *s)
{
	(void)s;
}

enum store_health store_health(const struct store *s)
{
	(void)s;
	return STORE_WELL;
}

const char *store_health_words(enum store_health h)
{
	(void)h;
	return "ok";
}

uint64_t store_corruptions(const struct store *s)
{
	(void)s;
	return 0;
}

bool store_is_refusing(const struct store *s)
{
	(void)s;
	return false;
}

uint64_t store_disk_bytes(struct store *s)
{
	(void)s;
	return 0;
}
