/* Hot ranges: a hash table in parts, each with a lock, an LRU list, and a record of ranges requested once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/hot.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "store/internal.h"

#define SLOTS   (1u << 15)
#define PARTS   16   /* by the first bits of a name: threads seldom contend */
#define BUCKETS 256  /* of a part; by the next bits */
#define ASKED   1024 /* of a part; by the bits after those */

struct kept {
	struct hot_run run;
	atomic_uint holders; /* including the table */
	struct hot_walk walk;
	size_t bytes;
	struct kept *chain;
	struct kept *newer, *older;
};

struct part {
	pthread_mutex_t lock;
	struct kept *buckets[BUCKETS];
	struct kept *newest, *oldest;
	size_t bytes;
	uint32_t asked[ASKED]; /* some bits of the names of ranges requested once */
};

struct hot {
	struct {
		atomic_uint_fast64_t begun, ended;
	} slots[SLOTS];
	size_t part_bytes; /* at most */
	struct part parts[PARTS];
};

/* ---- slots ---- */

/* A key begins with an id and the hash of its partition key. */
static uint32_t slot_of(struct slice key)
{
	assert(key.n >= STORE_PREFIX);
	return (read_be32(key.p) ^ read_be32(key.p + STORE_PREFIX - 4)) % SLOTS;
}

/* Whether no write is under way; *stamp counts those begun. */
static bool is_quiet(struct hot *h, uint32_t slot, uint64_t *stamp)
{
	uint64_t ended = atomic_load(&h->slots[slot].ended);

	*stamp = atomic_load(&h->slots[slot].begun);
	return ended == *stamp;
}

static bool is_current(struct hot *h, const struct hot_walk *w)
{
	return atomic_load(&h->slots[slot_of(w->from)].begun) == w->stamp;
}

uint64_t hot_version(struct hot *h, struct slice key)
{
	uint64_t stamp;

	return is_quiet(h, slot_of(key), &stamp) ? stamp + 1 : 0;
}

void hot_touch(struct hot_touched *t, struct slice key)
{
	if (t->all || key.n < STORE_PREFIX)
		return;
	if (!GROW(t->slots, t->n + 1, t->cap, 64)) {
		t->all = true;
		return;
	}
	t->slots[t->n++] = slot_of(key);
}

void hot_touched_clear(struct hot_touched *t)
{
	t->n = 0;
	t->all = false;
}

void hot_touched_release(struct hot_touched *t)
{
	mem_free(t->slots);
	*t = (struct hot_touched){ 0 };
}

void hot_write_begins(struct hot *h, const struct hot_touched *t)
{
	if (t->all)
		for (size_t i = 0; i < SLOTS; i++)
			atomic_fetch_add(&h->slots[i].begun, 1);
	else
		for (size_t i = 0; i < t->n; i++)
			atomic_fetch_add(&h->slots[t->slots[i]].begun, 1);
}

void hot_write_ended(struct hot *h, const struct hot_touched *t)
{
	if (t->all)
		for (size_t i = 0; i < SLOTS; i++)
			atomic_fetch_add(&h->slots[i].ended, 1);
	else
		for (size_t i = 0; i < t->n; i++)
			atomic_fetch_add(&h->slots[t->slots[i]].ended, 1);
}

/* ---- runs ---- */

static struct kept *kept_of(const struct hot_run *r)
{
	return (struct kept *)((char *)r - offsetof(struct kept, run));
}

void hot_let_go(const struct hot_run *r)
{
	struct kept *k = kept_of(r);

	if (atomic_fetch_sub(&k->holders, 1) == 1)
		mem_free(k);
}

static size_t size_of(const struct hot_walk *w, const struct hot_entry *entries, size_t n)
{
	size_t bytes = sizeof(struct kept) + n * sizeof(*entries) + w->from.n + w->to.n;

	for (size_t i = 0; i < n; i++)
		bytes += entries[i].key.n + entries[i].value.n;
	return bytes;
}

static struct kept *make_kept(const struct hot_walk *w, const struct hot_entry *entries, size_t n, bool whole,
			      size_t bytes)
{
	struct kept *k = mem_alloc(bytes);
	struct hot_entry *own;
	char *at;

	if (!k)
		return NULL;
	own = (struct hot_entry *)(k + 1);
	at = (char *)(own + n);
	*k = (struct kept){ .run = { own, n, whole }, .walk = *w, .bytes = bytes };
	atomic_init(&k->holders, 1);
	k->walk.from = slice_pack(&at, w->from);
	k->walk.to = slice_pack(&at, w->to);
	for (size_t i = 0; i < n; i++)
		own[i] = (struct hot_entry){ slice_pack(&at, entries[i].key), slice_pack(&at, entries[i].value) };
	return k;
}

/* ---- a part's table and list; its lock is held ---- */

static struct part *part_of(struct hot *h, uint64_t name)
{
	return &h->parts[name % PARTS];
}

static struct kept **bucket_of(struct part *p, uint64_t name)
{
	return &p->buckets[name / PARTS % BUCKETS];
}

static void put_newest(struct part *p, struct kept *k)
{
	k->older = p->newest;
	k->newer = NULL;
	if (p->newest)
		p->newest->newer = k;
	else
		p->oldest = k;
	p->newest = k;
}

static void take_from_list(struct part *p, struct kept *k)
{
	if (k->newer)
		k->newer->older = k->older;
	else
		p->newest = k->older;
	if (k->older)
		k->older->newer = k->newer;
	else
		p->oldest = k->newer;
}

static void drop_kept(struct part *p, struct kept *k)
{
	struct kept **at = bucket_of(p, k->walk.name);

	while (*at != k)
		at = &(*at)->chain;
	*at = k->chain;
	take_from_list(p, k);
	p->bytes -= k->bytes;
	hot_let_go(&k->run);
}

static struct kept *find_kept(struct part *p, const struct hot_walk *w)
{
	struct kept *k = *bucket_of(p, w->name);

	while (k && !(k->walk.name == w->name && k->walk.family == w->family && k->walk.backwards == w->backwards &&
		      slice_equal(k->walk.from, w->from) && slice_equal(k->walk.to, w->to)))
		k = k->chain;
	return k;
}

/* Whether this name was requested before; records it. */
static bool asked_again(struct part *p, uint64_t name)
{
	uint32_t *at = &p->asked[name / PARTS / BUCKETS % ASKED], bits = (uint32_t)(name >> 32) | 1;
	bool again = *at == bits;

	*at = bits;
	return again;
}

/* ---- finding and keeping ---- */

static uint64_t name_of(const struct hot_walk *w)
{
	uint64_t seed = (uint64_t)w->family << 1 | w->backwards;

	return XXH3_64bits_withSeed(w->to.p, w->to.n, XXH3_64bits_withSeed(w->from.p, w->from.n, seed));
}

const struct hot_run *hot_find(struct hot *h, struct hot_walk *w, size_t most)
{
	struct part *p;
	struct kept *k;
	bool quiet = is_quiet(h, slot_of(w->from), &w->stamp);

	w->name = name_of(w);
	p = part_of(h, w->name);
	pthread_mutex_lock(&p->lock);
	k = find_kept(p, w);
	w->wanted = (k || asked_again(p, w->name)) && quiet;
	if (k && k->walk.stamp != w->stamp) {
		drop_kept(p, k);
		k = NULL;
	}
	if (k && !k->run.whole && k->run.count < most)
		k = NULL;
	if (k) {
		atomic_fetch_add(&k->holders, 1);
		if (p->newest != k) {
			take_from_list(p, k);
			put_newest(p, k);
		}
	}
	pthread_mutex_unlock(&p->lock);
	return k ? &k->run : NULL;
}

void hot_keep(struct hot *h, const struct hot_walk *w, const struct hot_entry *entries, size_t n, bool whole)
{
	struct part *p = part_of(h, w->name);
	size_t bytes = size_of(w, entries, n);
	struct kept *k, *before;

	/* A walk that read part of a write sees that the write has begun (H1). And a single range must not take half
	 * of a part. */
	if (!w->wanted || !is_current(h, w) || bytes > h->part_bytes / 2)
		return;
	k = make_kept(w, entries, n, whole, bytes);
	if (!k)
		return;
	pthread_mutex_lock(&p->lock);
	before = find_kept(p, w);
	if (before)
		drop_kept(p, before);
	k->chain = *bucket_of(p, w->name);
	*bucket_of(p, w->name) = k;
	put_newest(p, k);
	p->bytes += k->bytes;
	while (p->bytes > h->part_bytes)
		drop_kept(p, p->oldest);
	pthread_mutex_unlock(&p->lock);
}

/* ---- creation and release ---- */

struct hot *hot_new(size_t bytes)
{
	struct hot *h = mem_zalloc(sizeof(*h));

	if (!h)
		return NULL;
	h->part_bytes = bytes / PARTS;
	for (size_t i = 0; i < PARTS; i++)
		pthread_mutex_init(&h->parts[i].lock, NULL);
	return h;
}

void hot_free(struct hot *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < PARTS; i++) {
		while (h->parts[i].oldest)
			drop_kept(&h->parts[i], h->parts[i].oldest);
		pthread_mutex_destroy(&h->parts[i].lock);
	}
	mem_free(h);
}
