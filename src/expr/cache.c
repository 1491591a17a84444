/* Parsed texts; the least recently used one is dropped first.
 *
 * The cache belongs to one thread. A request holds a tree taken from it (atomic reference count); another thread
 * may release it, even after the cache itself is gone.
 * A tree enters the cache as a copy in its own block; if there is no memory for it, it is not kept. Texts with
 * errors are not kept.
 * SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "expr/expr.h"
#include "expr/tree.h"

struct expr_cache {
	size_t count, most;
	struct tree *newest, *oldest;
	size_t bucket_mask;
	struct tree **buckets;
};

static void tree_release(void *ptr)
{
	struct tree *t = ptr;

	if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
		mem_free(t);
}

static void hold(struct tree *t, struct arena *a)
{
	atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
	arena_defer(a, tree_release, t);
}

struct expr_cache *expr_cache_new(size_t most_entries)
{
	struct expr_cache *c = mem_zalloc(sizeof(*c));
	size_t buckets = 16;

	while (buckets < most_entries)
		buckets *= 2;
	if (!c)
		return NULL;
	c->most = most_entries ? most_entries : 1;
	c->bucket_mask = buckets - 1;
	c->buckets = mem_zalloc(buckets * sizeof(struct tree *));
	if (!c->buckets) {
		mem_free(c);
		return NULL;
	}
	return c;
}

void expr_cache_free(struct expr_cache *c)
{
	if (!c)
		return;
	while (c->newest) {
		struct tree *t = c->newest;

		c->newest = t->older;
		tree_release(t);
	}
	mem_free(c->buckets);
	mem_free(c);
}

static struct tree **bucket_of(struct expr_cache *c, uint64_t hash)
{
	return &c->buckets[hash & c->bucket_mask];
}

static void unlink_age(struct expr_cache *c, struct tree *t)
{
	*(t->newer ? &t->newer->older : &c->newest) = t->older;
	*(t->older ? &t->older->newer : &c->oldest) = t->newer;
}

static void link_newest(struct expr_cache *c, struct tree *t)
{
	t->newer = NULL;
	t->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = t;
	c->newest = t;
}

static void drop_oldest(struct expr_cache *c)
{
	struct tree *t = c->oldest, **at = bucket_of(c, t->hash);

	while (*at != t)
		at = &(*at)->bucket_next;
	*at = t->bucket_next;
	unlink_age(c, t);
	c->count--;
	tree_release(t);
}

static struct tree *find_tree(struct expr_cache *c, uint64_t hash, enum tree_kind kind, struct slice text)
{
	struct tree *t = *bucket_of(c, hash);

	while (t && !(t->hash == hash && t->kind == kind && slice_equal(t->text, text)))
		t = t->bucket_next;
	return t;
}

/* One block: the tree, its nodes, its text. */
static struct tree *copy(const struct tree *from)
{
	size_t nodes = from->node_count * sizeof(struct node);
	struct tree *t = mem_alloc(sizeof(*t) + nodes + from->text.n);
	char *p;

	if (!t)
		return NULL;
	p = (char *)(t + 1);
	*t = (struct tree){
		.kind = from->kind,
		.operators = from->operators,
		.root = from->root,
		.node_count = from->node_count,
		.nodes = (const struct node *)p,
		.text = slice_make(p + nodes, from->text.n),
	};
	memcpy(p, from->nodes, nodes);
	memcpy(p + nodes, from->text.p, from->text.n);
	return t;
}

static struct tree *keep_tree(struct expr_cache *c, uint64_t hash, const struct tree *from)
{
	struct tree *t = copy(from), **bucket = bucket_of(c, hash);

	if (!t)
		return NULL;
	if (c->count == c->most)
		drop_oldest(c);
	atomic_init(&t->refs, 1);
	t->hash = hash;
	t->bucket_next = *bucket;
	*bucket = t;
	link_newest(c, t);
	c->count++;
	return t;
}

bool expr_cache_parse(struct expr_cache *c, struct arena *a, const struct expr_text *x, const struct tree **out,
		      struct error *e)
{
	struct tree *t;
	uint64_t hash;

	if (!c || x->text.n == 0)
		return expr_parse(a, x, out, e);
	hash = XXH3_64bits_withSeed(x->text.p, x->text.n, (uint64_t)x->kind);
	t = find_tree(c, hash, x->kind, x->text);
	if (t) {
		unlink_age(c, t);
		link_newest(c, t);
		hold(t, a);
		*out = t;
		return true;
	}
	if (!expr_parse(a, x, out, e))
		return false;
	t = keep_tree(c, hash, *out);
	if (t) {
		hold(t, a);
		*out = t;
	}
	return true;
}
