/* A table of fixed size: one item per slot, the latest wins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/guess.h"
#include <pthread.h>
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "value/key.h"

#define PLACES    16384
#define PAGES     1024
#define LOCKS     64
#define ITEM_MOST 4096 /* bytes of an item with its key: the most memory per slot */

struct place {
	uint8_t *bytes; /* the key and the item; NULL: nothing */
	uint32_t key_size, item_size;
	int64_t joined_ms; /* when GUESS_JOINED of the item was first seen as it is */
};

struct guesses {
	const struct clock *clock;
	pthread_mutex_t locks[LOCKS];
	struct place places[PLACES];
	struct place pages[PAGES]; /* of Queries; under the same locks */
};

struct guesses *guesses_new(const struct clock *clock)
{
	struct guesses *g = mem_zalloc(sizeof(*g));

	if (g)
		g->clock = clock;
	for (size_t i = 0; g && i < LOCKS; i++)
		pthread_mutex_init(&g->locks[i], NULL);
	return g;
}

void guesses_free(struct guesses *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < PLACES; i++)
		mem_free(g->places[i].bytes);
	for (size_t i = 0; i < PAGES; i++)
		mem_free(g->pages[i].bytes);
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&g->locks[i]);
	mem_free(g);
}

/* ---- places ---- */

static uint64_t hash_of(struct value key)
{
	return key_hash(value_slice(key));
}

static bool is_of(const struct place *p, struct value key)
{
	return p->bytes && p->key_size == key.n && !memcmp(p->bytes, key.p, key.n);
}

/* Out of memory: the item stays unknown. */
static struct place make_place(struct value key, struct value item, size_t most)
{
	uint8_t *bytes = key.n + item.n <= most ? mem_alloc(key.n + item.n) : NULL;

	if (bytes) {
		memcpy(bytes, key.p, key.n);
		if (item.n)
			memcpy(bytes + key.n, item.p, item.n);
	}
	return (struct place){ .bytes = bytes, .key_size = (uint32_t)key.n, .item_size = (uint32_t)item.n };
}

/* With the lock held. `to` has room for the stored bytes. */
static bool read_place(const struct place *p, struct value key, uint8_t *to, size_t *n)
{
	bool known = is_of(p, key);

	*n = known ? p->item_size : 0;
	memcpy(to, known ? p->bytes + p->key_size : to, *n);
	return known;
}

/* ---- since when ---- */

static struct value joined_of(struct value item)
{
	return value_present(item) && value_type(item) == VALUE_M ? value_get(item, GUESS_JOINED) : VALUE_ABSENT;
}

static bool has_joined(const struct place *p, struct value key, struct value joined)
{
	struct value item;

	if (!is_of(p, key) || !p->item_size)
		return false;
	item = (struct value){ p->bytes + p->key_size, p->item_size };
	return value_present(joined) && value_equal(joined_of(item), joined);
}

bool guess_joined(struct guesses *g, struct value key, struct value joined, int64_t *since_ms)
{
	size_t at = hash_of(key) % PLACES;
	bool has;

	pthread_mutex_lock(&g->locks[at % LOCKS]);
	has = has_joined(&g->places[at], key, joined);
	*since_ms = g->places[at].joined_ms;
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	return has;
}

/* ---- items ---- */

struct value guess_item(struct guesses *g, struct arena *a, struct value key, bool *known)
{
	size_t at = hash_of(key) % PLACES, n;
	uint8_t bytes[ITEM_MOST];
	bool is_known;

	pthread_mutex_lock(&g->locks[at % LOCKS]);
	is_known = read_place(&g->places[at], key, bytes, &n);
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	if (known)
		*known = is_known;
	return n ? value_copy(a, (struct value){ bytes, n }) : VALUE_ABSENT;
}

void guess_learn(struct guesses *g, struct value key, struct value item)
{
	size_t at = hash_of(key) % PLACES;
	struct place now = make_place(key, item, ITEM_MOST);
	struct value joined = joined_of(item);
	uint8_t *old;

	if (value_present(joined))
		now.joined_ms = clock_steady_ms(g->clock);
	pthread_mutex_lock(&g->locks[at % LOCKS]);
	old = g->places[at].bytes;
	if (has_joined(&g->places[at], key, joined))
		now.joined_ms = g->places[at].joined_ms;
	g->places[at] = now;
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	mem_free(old);
}

/* ---- pages ---- */

static void put_sized(struct buf *b, struct slice s)
{
	buf_printf(b, "%zu:", s.n);
	buf_put(b, s);
}

/* The list of an account's sessions (auth/sessions.h), which each request of a session reads. */
static struct value sessions_name(struct arena *a, const struct request_get *q)
{
	struct slice pk = value_bytes(value_get(q->key, SLICE("PK")));

	return slice_starts(pk, SLICE("SESSIONS#")) ? value_make_s(a, pk) : VALUE_ABSENT;
}

struct value guess_page_name(struct arena *a, const struct request *request)
{
	const struct request_query *q = &request->query;
	struct buf b;

	if (request->kind == REQUEST_GET && !request->measured)
		return sessions_name(a, &request->get);
	if (request->kind != REQUEST_QUERY || request->measured || q->count_only)
		return VALUE_ABSENT;
	buf_init(&b, a);
	buf_printf(&b, "%d%d ", q->backwards, q->projection != NULL);
	put_sized(&b, q->table);
	put_sized(&b, q->index);
	put_sized(&b, value_slice(q->start));
	for (size_t i = 0; i < q->term_count; i++) {
		const struct key_term *t = &q->terms[i];

		buf_printf(&b, "%d", (int)t->op);
		put_sized(&b, t->name);
		if (t->op == KEY_EQ)
			put_sized(&b, value_slice(t->value));
	}
	return value_make_s(a, buf_slice(&b));
}

/* [rows, last]; without last at the end. A GetItem's item is the only row. */
static struct value page_value(struct arena *a, const struct reply *reply)
{
	bool single = value_present(reply->item);
	struct value parts[2] = { value_make_list(a, single ? &reply->item : reply->items, single ? 1 : reply->count),
				  reply->last };

	return value_make_list(a, parts, value_present(reply->last) ? 2 : 1);
}

static void read_page(struct arena *a, struct value page, struct reply *reply)
{
	struct value_iter parts = value_iter(page), rows;

	*reply = (struct reply){ .status = 200 };
	if (!value_next(&parts))
		return;
	rows = value_iter(parts.value);
	reply->items = arena_array(a, struct value, value_count(parts.value));
	while (value_next(&rows))
		reply->items[reply->count++] = rows.value;
	reply->item = reply->count ? reply->items[0] : VALUE_ABSENT;
	if (value_next(&parts))
		reply->last = parts.value;
}

bool guess_page(struct guesses *g, struct arena *a, struct value name, struct reply *reply)
{
	size_t at = hash_of(name) % PAGES, n;
	uint8_t bytes[GUESS_PAGE_MOST];
	bool known;

	pthread_mutex_lock(&g->locks[at % LOCKS]);
	known = read_place(&g->pages[at], name, bytes, &n);
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	if (known)
		read_page(a, value_copy(a, (struct value){ bytes, n }), reply);
	return known;
}

void guess_learn_page(struct guesses *g, struct arena *a, struct value name, const struct reply *reply)
{
	size_t at = hash_of(name) % PAGES;
	struct place now = make_place(name, page_value(a, reply), GUESS_PAGE_MOST);
	uint8_t *old;

	pthread_mutex_lock(&g->locks[at % LOCKS]);
	old = g->pages[at].bytes;
	g->pages[at] = now;
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	mem_free(old);
}
