/* Leases: heartbeats, and the owners of shards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/lease_internal.h"
#include "app/db/beside.h"
#include <stdio.h>
#include "base/grow.h"
#include "base/log.h"
#include "process/checkpoint_table.h"

#define SERVER    "server#"
#define SHARD     "shard#"
#define FORGET_US (60 * INT64_C(1000000)) /* a server that has not been heard of for so long is taken off the list */

struct leases *lease_new(int64_t now_ms)
{
	struct leases *l = mem_zalloc(sizeof(*l));

	if (!l || !ulid_new(now_ms, l->id)) {
		mem_free(l);
		return NULL;
	}
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

static void free_seen(struct seen *s)
{
	mem_free(s->told);
	mem_free(s);
}

void lease_free(struct leases *l)
{
	if (!l)
		return;
	for (struct seen *s = l->servers, *next; s; s = next) {
		next = s->next;
		free_seen(s);
	}
	for (size_t i = 0; i < l->count; i++)
		mem_free(l->mine[i]);
	mem_free(l->mine);
	mem_free(l->told);
	lease_view_unref(l->view);
	pthread_mutex_destroy(&l->lock);
	mem_free(l);
}

bool lease_tell(struct leases *l, struct slice text)
{
	char *told = text.n ? mem_strndup(text.p, text.n) : NULL;

	if (text.n && !told)
		return false;
	mem_free(l->told);
	l->told = told;
	return true;
}

bool lease_set_address(struct leases *l, const char *address)
{
	int n = snprintf(l->address, sizeof(l->address), "%s", address);

	return n >= 0 && (size_t)n < sizeof(l->address);
}

/* ---- what this server owns ---- */

static size_t index_of(const struct leases *l, struct slice shard)
{
	size_t i = 0;

	while (i < l->count && !slice_is(shard, l->mine[i]))
		i++;
	return i;
}

bool lease_is_mine(struct leases *l, struct slice shard, int64_t now_us)
{
	bool mine;

	pthread_mutex_lock(&l->lock);
	mine = l->beat_us && now_us - l->beat_us < LEASE_EXPIRE_MS * INT64_C(1000) && index_of(l, shard) < l->count;
	pthread_mutex_unlock(&l->lock);
	return mine;
}

/* False: memory. */
static bool own(struct leases *l, struct slice shard)
{
	bool ok = true;

	pthread_mutex_lock(&l->lock);
	if (index_of(l, shard) == l->count) {
		ok = GROW(l->mine, l->count + 1, l->room, 8);
		if (ok)
			ok = (l->mine[l->count] = mem_strndup(shard.p, shard.n)) != NULL;
		l->count += ok;
	}
	pthread_mutex_unlock(&l->lock);
	return ok;
}

static void disown(struct leases *l, struct slice shard)
{
	size_t i;

	pthread_mutex_lock(&l->lock);
	i = index_of(l, shard);
	if (i < l->count) {
		mem_free(l->mine[i]);
		l->mine[i] = l->mine[--l->count];
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- the items ---- */

static struct value item_key(struct run *r, const char *kind, struct slice name)
{
	return checkpoint_key(r, "LEASE", SLICE(""), arena_printf(r->arena, "%s%.*s", kind, SLICE_ARG(name)));
}

static bool beat(struct leases *l, struct run *r)
{
	struct checkpoint_item i;

	checkpoint_item_init(&i, r, item_key(r, SERVER, slice_str(l->id)));
	checkpoint_add_text(&i, "beat", arena_printf(r->arena, "%llu", (unsigned long long)++l->beats));
	checkpoint_add_text(&i, "told", slice_str(l->told ? l->told : ""));
	if (l->address[0])
		checkpoint_add_text(&i, "address", slice_str(l->address));
	return checkpoint_write(r,
				&(struct dyn_write){ .kind = DYN_PUT,
						     .table = checkpoint_table(r),
						     .item = checkpoint_item_made(&i) },
				1);
}

/* Gives the lease to another owner, or to none, if owner and turn are as read. False: another server was first, or
 * run->problem. */
static bool pass_on(struct run *r, struct slice shard, struct value was, struct slice to)
{
	struct value_member equal[] = { { SLICE("owner"), value_get(was, SLICE("owner")) },
					{ SLICE("turn"), value_get(was, SLICE("turn")) } };
	struct dyn_write w = { .kind = DYN_PUT, .table = checkpoint_table(r) };
	struct dyn_refusal refusal;
	struct checkpoint_item i;
	char turn[ULID_LENGTH];

	if (!ulid_new(r->now_ms, turn))
		return false;
	checkpoint_item_init(&i, r, item_key(r, SHARD, shard));
	checkpoint_add_text(&i, "owner", to);
	checkpoint_add_text(&i, "turn", slice_make(turn, sizeof(turn)));
	w.item = checkpoint_item_made(&i);
	w.must_not_exist = !value_present(was);
	w.equal = equal;
	w.equal_count = value_present(was) ? 2 : 0;
	return dyn_write(r, &w, 1, SLICE(""), &refusal) == DYN_DONE;
}

static bool delete_item(struct run *r, struct value key)
{
	return checkpoint_write(r, &(struct dyn_write){ .kind = DYN_DELETE, .table = checkpoint_table(r), .key = key },
				1);
}

/* ---- a round ---- */

struct round {
	struct leases *l;
	struct run *run;
	const struct shard_list *shards;
	int64_t now_us;
	struct value *leases; /* of the shards; absent: none */
	size_t servers;       /* that live, with this one */
};

static struct seen *seen_of(struct leases *l, struct slice id)
{
	struct seen *s = l->servers;

	while (s && !slice_is(id, s->id))
		s = s->next;
	return s;
}

static bool keep_told(struct seen *s, struct slice told)
{
	if (slice_is(told, s->told ? s->told : ""))
		return true;
	mem_free(s->told);
	s->told = told.n ? mem_strndup(told.p, told.n) : NULL;
	return s->told || !told.n;
}

static void keep_address(struct seen *s, struct slice address)
{
	if (address.n >= sizeof(s->address))
		address.n = 0;
	memcpy(s->address, address.p, address.n);
	s->address[address.n] = 0;
}

/* False: memory. */
static bool hear(struct round *c, struct slice id, struct value item)
{
	struct slice beat = beside_text(item, "beat");
	struct seen *s = seen_of(c->l, id);

	if (!s) {
		s = mem_zalloc(sizeof(*s));
		if (!s || id.n >= sizeof(s->id)) {
			mem_free(s);
			return id.n >= sizeof(s->id); /* not a server's id */
		}
		memcpy(s->id, id.p, id.n);
		s->changed_us = c->now_us;
		s->next = c->l->servers;
		c->l->servers = s;
	}
	s->listed = true;
	s->shards = 0;
	keep_address(s, beside_text(item, "address"));
	if (!keep_told(s, beside_text(item, "told")))
		return false;
	if (slice_is(beat, s->beat) || beat.n >= sizeof(s->beat))
		return true;
	memcpy(s->beat, beat.p, beat.n);
	s->beat[beat.n] = 0;
	s->changed_us = c->now_us;
	return true;
}

static bool lives(const struct round *c, const struct seen *s)
{
	return s && s->listed && c->now_us - s->changed_us < LEASE_EXPIRE_MS * INT64_C(1000);
}

static size_t shard_index(const struct round *c, struct slice id)
{
	size_t i = 0;

	while (i < c->shards->count && !slice_equal(c->shards->list[i].id, id))
		i++;
	return i;
}

static bool take_item(void *ctx, struct value item)
{
	struct round *c = ctx;
	struct slice sk = beside_text(item, "SK");
	size_t i;

	if (slice_starts(sk, SLICE(SERVER))) {
		struct slice id = slice_make(sk.p + sizeof(SERVER) - 1, sk.n - (sizeof(SERVER) - 1));

		return slice_is(id, c->l->id) || hear(c, id, item);
	}
	if (!slice_starts(sk, SLICE(SHARD)))
		return true;
	i = shard_index(c, slice_make(sk.p + sizeof(SHARD) - 1, sk.n - (sizeof(SHARD) - 1)));
	if (i < c->shards->count)
		c->leases[i] = item;
	else /* the stream no longer lists it */
		return delete_item(c->run, checkpoint_key(c->run, "LEASE", SLICE(""), sk));
	return true;
}

static bool read_all(struct round *c)
{
	for (struct seen *s = c->l->servers; s; s = s->next)
		s->listed = false;
	return checkpoint_walk(c->run, "LEASE", SLICE(""), take_item, c);
}

/* A shard that the stream no longer lists has no owner, and does not count toward this server's part. */
static void disown_forgotten(struct round *c)
{
	pthread_mutex_lock(&c->l->lock);
	for (size_t i = 0; i < c->l->count;) {
		if (shard_index(c, slice_str(c->l->mine[i])) < c->shards->count) {
			i++;
			continue;
		}
		mem_free(c->l->mine[i]);
		c->l->mine[i] = c->l->mine[--c->l->count];
	}
	pthread_mutex_unlock(&c->l->lock);
}

/* The table decides, even if the reply to this server's own write was lost: otherwise no server would read the shard
 * for as long as this server lives. False: memory. */
static bool count_servers(struct round *c)
{
	bool ok = true;

	c->servers = 1;
	for (struct seen *s = c->l->servers; s; s = s->next)
		c->servers += s->lives = lives(c, s);
	for (size_t i = 0; i < c->shards->count; i++) {
		struct slice owner = beside_text(c->leases[i], "owner");
		struct seen *s = owner.n ? seen_of(c->l, owner) : NULL;

		if (lives(c, s))
			s->shards++;
		if (slice_is(owner, c->l->id))
			ok = own(c->l, c->shards->list[i].id) && ok;
		else
			disown(c->l, c->shards->list[i].id);
	}
	return ok;
}

static void forget_dead(struct round *c)
{
	struct seen **at = &c->l->servers;

	while (*at) {
		struct seen *s = *at;

		if (s->listed && c->now_us - s->changed_us < FORGET_US) {
			at = &s->next;
			continue;
		}
		if (s->listed && !delete_item(c->run, item_key(c->run, SERVER, slice_str(s->id))))
			log_debug("server %s stays on the list for now", s->id);
		*at = s->next;
		free_seen(s);
	}
}

static bool take_over(struct round *c, size_t i)
{
	struct slice id = c->shards->list[i].id, owner = beside_text(c->leases[i], "owner");

	if (!pass_on(c->run, id, c->leases[i], slice_str(c->l->id)))
		return false;
	if (owner.n)
		log_info("%.*s: this server takes over shard %.*s, which was another's",
			 SLICE_ARG(c->run->design->name), SLICE_ARG(id));
	return own(c->l, id);
}

/* Takes shards that are free or belong to dead servers. Each server begins somewhere else, so that they seldom
 * collide. */
static void take_free(struct round *c, size_t part)
{
	size_t n = c->shards->count, from = n ? (size_t)(unsigned char)c->l->id[ULID_LENGTH - 1] % n : 0;

	for (size_t k = 0; k < n && c->l->count < part; k++) {
		size_t i = (from + k) % n;
		struct slice owner = beside_text(c->leases[i], "owner");

		if (slice_is(owner, c->l->id) || (owner.n && lives(c, seen_of(c->l, owner))))
			continue;
		(void)take_over(c, i);
	}
}

/* Takes one shard a round from a server that has more than its part. */
static void take_part(struct round *c, size_t part)
{
	for (size_t i = 0; i < c->shards->count && c->l->count < part; i++) {
		struct slice owner = beside_text(c->leases[i], "owner");
		const struct seen *s = owner.n ? seen_of(c->l, owner) : NULL;

		if (lives(c, s) && s->shards > part && s->shards > c->l->count + 1) {
			(void)take_over(c, i);
			return;
		}
	}
}

/* The view after the round, with the shards that this server has taken. */
static void keep_view(struct round *c)
{
	struct slice *owners = arena_array(c->run->arena, struct slice, c->shards->count);

	for (size_t i = 0; i < c->shards->count; i++) {
		struct slice id = c->shards->list[i].id, owner = beside_text(c->leases[i], "owner");

		if (lease_is_mine(c->l, id, c->now_us))
			owners[i] = slice_str(c->l->id);
		else
			owners[i] = owner.n && lives(c, seen_of(c->l, owner)) ? owner : SLICE("");
	}
	lease_keep_view(c->l, c->shards, owners);
}

bool lease_round(struct leases *l, struct run *r, const struct shard_list *shards, int64_t now_us)
{
	struct round c = { .l = l, .run = r, .shards = shards, .now_us = now_us };
	size_t part;

	c.leases = arena_array(r->arena, struct value, shards->count);
	for (size_t i = 0; i < shards->count; i++)
		c.leases[i] = VALUE_ABSENT;
	if (!beat(l, r) || !read_all(&c))
		return false;
	pthread_mutex_lock(&l->lock);
	l->beat_us = now_us;
	pthread_mutex_unlock(&l->lock);
	disown_forgotten(&c);
	if (!count_servers(&c))
		return run_fail(r, PROBLEM_INTERNAL, "out of memory");
	part = (shards->count + c.servers - 1) / c.servers;
	take_free(&c, part);
	take_part(&c, part);
	keep_view(&c);
	forget_dead(&c);
	r->problem = (struct problem){ 0 }; /* losing a shard to another server is not an error */
	return true;
}

void lease_leave(struct leases *l, struct run *r)
{
	while (l->count) {
		struct slice id = arena_copy(r->arena, slice_str(l->mine[0]));
		struct value item;

		if (checkpoint_get(r, item_key(r, SHARD, id), &item) && slice_is(beside_text(item, "owner"), l->id))
			(void)pass_on(r, id, item, SLICE(""));
		disown(l, id);
	}
	(void)!delete_item(r, item_key(r, SERVER, slice_str(l->id)));
	r->problem = (struct problem){ 0 };
}
