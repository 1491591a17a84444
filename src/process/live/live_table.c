/* A hash table whose nodes are members of its entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "process/live/live_internal.h"

#define SLOTS_LEAST 256

bool live_table_init(struct live_table *t)
{
	t->slots = mem_zalloc(SLOTS_LEAST * sizeof(*t->slots));
	t->mask = SLOTS_LEAST - 1;
	t->count = 0;
	return t->slots != NULL;
}

void live_table_release(struct live_table *t)
{
	mem_free(t->slots);
	t->slots = NULL;
}

static void link_node(struct live_node **slot, struct live_node *n)
{
	n->next = *slot;
	if (n->next)
		n->next->at = &n->next;
	n->at = slot;
	*slot = n;
}

/* If there is no memory for more slots, the chains become longer. */
static void grow(struct live_table *t)
{
	size_t slots = 2 * (t->mask + 1);
	struct live_node **bigger = mem_zalloc(slots * sizeof(*bigger));

	if (!bigger)
		return;
	for (size_t i = 0; i <= t->mask; i++)
		for (struct live_node *n = t->slots[i], *next; n; n = next) {
			next = n->next;
			link_node(&bigger[n->hash & (slots - 1)], n);
		}
	mem_free(t->slots);
	t->slots = bigger;
	t->mask = slots - 1;
}

void live_table_add(struct live_table *t, struct live_node *n)
{
	if (t->count > t->mask)
		grow(t);
	n->hash = XXH3_64bits(n->key.p, n->key.n);
	link_node(&t->slots[n->hash & t->mask], n);
	t->count++;
}

void live_table_remove(struct live_table *t, struct live_node *n)
{
	if (!n->at)
		return;
	*n->at = n->next;
	if (n->next)
		n->next->at = n->at;
	n->at = NULL;
	t->count--;
}

static struct live_node *same(struct live_node *n, uint64_t hash, struct slice key)
{
	while (n && (n->hash != hash || !slice_equal(n->key, key)))
		n = n->next;
	return n;
}

struct live_node *live_table_find(const struct live_table *t, struct slice key)
{
	uint64_t hash = XXH3_64bits(key.p, key.n);

	return same(t->slots[hash & t->mask], hash, key);
}

struct live_node *live_table_next(const struct live_node *n)
{
	return same(n->next, n->hash, n->key);
}
