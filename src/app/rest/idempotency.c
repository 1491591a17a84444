/* The answers to writes under an Idempotency-Key, for ten minutes.
 *
 * A hash table of fixed size, and a list from the oldest entry to the newest. Answers outlive their requests, so they
 * are copied. Both their number and their bytes are limited: the oldest finished entries go first. Entries of running
 * requests stay; there is at most one for each request in progress.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/idempotency.h"
#include "base/alloc.h"
#include <pthread.h>

#define KEPT_MS    (10 * 60 * 1000)
#define KEPT_MOST  20000
#define KEPT_BYTES ((size_t)64 << 20)
#define SLOTS      4096

struct entry {
	struct entry *chain; /* of its slot */
	struct entry *older, *newer;
	uint8_t key[IDEMPOTENCY_HASH], digest[IDEMPOTENCY_HASH];
	int64_t since_ms;
	bool done;
	struct answer answer; /* its slices point into `bytes` */
	char *bytes;
	size_t byte_count;
};

struct idempotency {
	pthread_mutex_t lock;
	struct entry *slots[SLOTS];
	struct entry *oldest, *newest;
	size_t count, bytes;
};

struct idempotency_ticket {
	struct idempotency *table;
	struct entry *entry; /* NULL: ended */
};

struct idempotency *idempotency_new(void)
{
	struct idempotency *t = mem_zalloc(sizeof(*t));

	if (t && pthread_mutex_init(&t->lock, NULL)) {
		mem_free(t);
		return NULL;
	}
	return t;
}

static struct entry **slot_of(struct idempotency *t, const uint8_t *key)
{
	return &t->slots[read_be16(key) % SLOTS];
}

static void forget(struct idempotency *t, struct entry *e)
{
	struct entry **at = slot_of(t, e->key);

	while (*at != e)
		at = &(*at)->chain;
	*at = e->chain;
	*(e->older ? &e->older->newer : &t->oldest) = e->newer;
	*(e->newer ? &e->newer->older : &t->newest) = e->older;
	t->count--;
	t->bytes -= e->byte_count;
	mem_free(e->bytes);
	mem_free(e);
}

void idempotency_free(struct idempotency *t)
{
	if (!t)
		return;
	while (t->oldest)
		forget(t, t->oldest);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}

/* Drops entries that are too old or too many. */
static void make_room(struct idempotency *t, int64_t now_ms)
{
	struct entry *next;

	for (struct entry *e = t->oldest; e; e = next) {
		bool old = now_ms - e->since_ms >= KEPT_MS;

		next = e->newer;
		if (!old && t->count < KEPT_MOST && t->bytes < KEPT_BYTES)
			return;
		if (e->done)
			forget(t, e);
	}
}

static struct entry *find_entry(struct idempotency *t, const uint8_t *key)
{
	struct entry *e = *slot_of(t, key);

	while (e && memcmp(e->key, key, IDEMPOTENCY_HASH))
		e = e->chain;
	return e;
}

static struct entry *remember(struct idempotency *t, const struct idempotency_ask *q)
{
	struct entry **slot = slot_of(t, q->key);
	struct entry *e = mem_zalloc(sizeof(*e));

	if (!e)
		return NULL;
	memcpy(e->key, q->key, sizeof(e->key));
	memcpy(e->digest, q->digest, sizeof(e->digest));
	e->since_ms = q->now_ms;
	e->chain = *slot;
	*slot = e;
	e->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = e;
	t->newest = e;
	t->count++;
	return e;
}

/* Copies the slices of an answer to `to`, which has room for them, and points them there. */
static void move_slices(struct answer *w, char *to)
{
	w->body = slice_pack(&to, w->body);
	w->location = slice_pack(&to, w->location);
	w->etag = slice_pack(&to, w->etag);
	w->cache = slice_pack(&to, w->cache);
}

static size_t slices_size(const struct answer *w)
{
	return w->body.n + w->location.n + w->etag.n + w->cache.n;
}

static void give_up(void *ptr)
{
	struct idempotency_ticket *ticket = ptr;

	if (!ticket->entry)
		return;
	pthread_mutex_lock(&ticket->table->lock);
	forget(ticket->table, ticket->entry);
	pthread_mutex_unlock(&ticket->table->lock);
	ticket->entry = NULL;
}

/* The caller holds the lock, so this must not leave by longjmp: it copies the answer to `to`, which has `room`
 * bytes. */
static enum idempotency_state begin_locked(struct idempotency *t, const struct idempotency_ask *q, struct answer *answer,
					   char *to, size_t *room, struct idempotency_ticket *ticket)
{
	struct entry *e;

	make_room(t, q->now_ms);
	e = find_entry(t, q->key);
	if (!e) {
		ticket->entry = remember(t, q);
		return ticket->entry ? IDEMPOTENCY_NEW : IDEMPOTENCY_FULL;
	}
	if (memcmp(e->digest, q->digest, IDEMPOTENCY_HASH))
		return IDEMPOTENCY_OTHER;
	if (!e->done)
		return IDEMPOTENCY_RUNNING;
	if (e->byte_count <= *room) {
		*answer = e->answer;
		move_slices(answer, to);
	}
	*room = e->byte_count;
	return IDEMPOTENCY_DONE;
}

enum idempotency_state idempotency_begin(struct idempotency *t, struct arena *a, const struct idempotency_ask *q,
					 struct answer *answer, struct idempotency_ticket **ticket)
{
	struct idempotency_ticket *made = arena_new(a, struct idempotency_ticket);
	enum idempotency_state state;
	size_t room = 0, needed = 0;
	char *to = NULL;

	made->table = t;
	*ticket = made;
	arena_defer(a, give_up, made);
	do {
		if (needed > room)
			to = arena_alloc(a, needed);
		room = needed;
		pthread_mutex_lock(&t->lock);
		state = begin_locked(t, q, answer, to, &needed, made);
		pthread_mutex_unlock(&t->lock);
	} while (state == IDEMPOTENCY_DONE && needed > room);
	return state;
}

bool idempotency_keeps(const struct answer *w)
{
	return w->status < 500 && w->status != 401 && w->status != 429;
}

void idempotency_end(struct idempotency_ticket *ticket, const struct answer *answer)
{
	struct idempotency *t = ticket->table;
	struct entry *e = ticket->entry;
	size_t n = slices_size(answer);
	char *bytes = e && idempotency_keeps(answer) ? mem_alloc(n + 1) : NULL;

	if (!bytes) {
		give_up(ticket);
		return;
	}
	pthread_mutex_lock(&t->lock);
	e->bytes = bytes;
	e->byte_count = n;
	e->answer = *answer;
	move_slices(&e->answer, bytes);
	e->done = true;
	t->bytes += n;
	pthread_mutex_unlock(&t->lock);
	ticket->entry = NULL;
}
