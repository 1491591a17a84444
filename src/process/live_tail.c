/* Shards and their iterators.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/live_tail.h"
#include "base/alloc.h"
#include "base/clock.h"

#define PAGE 1000
#define SEQUENCE_MOST 64                     /* DynamoDB's have 40 characters at most */
#define PAGES_MOST 4                         /* of a shard in a round */
#define SHARDS_EVERY_US (10 * INT64_C(1000000)) /* a new shard is made from one that ends, which is noticed at once: this is for others */

struct tail_shard {
	struct tail_shard *next;
	char *id, *iterator; /* iterator NULL: the shard has ended */
	char last[SEQUENCE_MOST]; /* the sequence number of the last change that was read; empty: none was */
	bool is_listed;
};

struct live_tail {
	struct tail_shard *shards;
	int64_t listed_us;
	bool has_ended_some; /* since the shards were listed */
};

struct live_tail *live_tail_new(void)
{
	return mem_zalloc(sizeof(struct live_tail));
}

static void free_shard(struct tail_shard *s)
{
	mem_free(s->id);
	mem_free(s->iterator);
	mem_free(s);
}

static void forget_all(struct live_tail *t)
{
	for (struct tail_shard *s = t->shards, *next; s; s = next) {
		next = s->next;
		free_shard(s);
	}
	t->shards = NULL;
}

void live_tail_free(struct live_tail *t)
{
	if (t)
		forget_all(t);
	mem_free(t);
}

uint64_t live_tail_first(int64_t now_ms)
{
	return (uint64_t)now_ms << 20; /* a million changes a millisecond */
}

/* ---- shards ---- */

static struct tail_shard *shard_of(struct live_tail *t, struct slice id)
{
	struct tail_shard *s = t->shards;

	while (s && !slice_is(id, s->id))
		s = s->next;
	return s;
}

static bool keep_iterator(struct run *r, struct tail_shard *s, struct slice iterator)
{
	mem_free(s->iterator);
	s->iterator = iterator.n ? mem_strndup(iterator.p, iterator.n) : NULL;
	return s->iterator || !iterator.n || run_fail(r, PROBLEM_INTERNAL, "out of memory");
}

static bool add_shard(struct live_tail *t, struct run *r, const struct shard_list *list, const struct shard *shard, bool from_end)
{
	struct shard_position at = { .where = from_end ? AT_LATEST : AT_OLDEST };
	struct tail_shard *s;
	struct slice iterator;

	if (!change_iterator(r, list->stream_arn, shard->id, &at, &iterator))
		return false;
	s = mem_zalloc(sizeof(*s));
	if (s)
		s->id = mem_strndup(shard->id.p, shard->id.n);
	if (!s || !s->id) {
		mem_free(s);
		return run_fail(r, PROBLEM_INTERNAL, "out of memory");
	}
	s->is_listed = true;
	s->next = t->shards;
	t->shards = s;
	return keep_iterator(r, s, iterator);
}

static void drop_unlisted(struct live_tail *t)
{
	struct tail_shard **at = &t->shards;

	while (*at) {
		struct tail_shard *s = *at;

		if (s->is_listed) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		free_shard(s);
	}
}

/* At the start open shards are read from their end. Later ones have been made since, and are read from their beginning, after
 * the one they were made from. */
static bool list_shards(struct live_tail *t, struct run *r, bool at_start)
{
	struct shard_list list;

	if (!change_shards(r, &list))
		return false;
	for (struct tail_shard *s = t->shards; s; s = s->next)
		s->is_listed = false;
	for (size_t i = 0; i < list.count; i++) {
		struct tail_shard *s = shard_of(t, list.list[i].id), *parent = shard_of(t, list.list[i].parent);

		if (s)
			s->is_listed = true;
		else if (at_start ? list.list[i].closed : parent && parent->iterator)
			continue;
		else if (!add_shard(t, r, &list, &list.list[i], at_start))
			return false;
	}
	drop_unlisted(t);
	t->listed_us = clock_monotonic_us();
	t->has_ended_some = false;
	return true;
}

bool live_tail_start(struct live_tail *t, struct run *r)
{
	forget_all(t);
	return list_shards(t, r, true);
}

/* ---- reading ---- */

/* A page may come twice when the reply to its first reading was lost. */
static bool is_new(struct tail_shard *s, struct slice sequence)
{
	if (change_compare(sequence, slice_str(s->last)) <= 0)
		return false;
	if (sequence.n < SEQUENCE_MOST) {
		memcpy(s->last, sequence.p, sequence.n);
		s->last[sequence.n] = 0;
	}
	return true;
}

static void number(struct run *r, struct tail_shard *s, const struct change_page *page, struct live_round *out, size_t *capacity)
{
	for (size_t i = 0; i < page->count; i++) {
		if (!is_new(s, page->list[i].sequence))
			continue;
		if (out->count == *capacity) {
			size_t more = *capacity ? 2 * *capacity : 64;

			out->list = arena_grow(r->arena, out->list, *capacity * sizeof(*out->list), more * sizeof(*out->list));
			*capacity = more;
		}
		out->list[out->count++] = (struct live_change){ ++out->upto, &page->list[i] };
	}
}

static bool read_shard(struct live_tail *t, struct run *r, struct tail_shard *s, struct live_round *out, size_t *capacity)
{
	for (int pages = 0; pages < PAGES_MOST && s->iterator; pages++) {
		struct change_page page;

		if (!change_read(r, arena_copy(r->arena, slice_str(s->iterator)), PAGE, &page))
			return false;
		if (page.trimmed)
			return run_fail(r, PROBLEM_BUSY, "the stream has gone on without this server");
		number(r, s, &page, out, capacity);
		if (!keep_iterator(r, s, page.iterator))
			return false;
		t->has_ended_some |= !s->iterator;
		if (!page.count)
			break;
	}
	return true;
}

bool live_tail_read(struct live_tail *t, struct run *r, uint64_t from, struct live_round *out)
{
	size_t capacity = 0;

	*out = (struct live_round){ .upto = from };
	if ((t->has_ended_some || clock_monotonic_us() - t->listed_us > SHARDS_EVERY_US) && !list_shards(t, r, false))
		return false;
	for (struct tail_shard *s = t->shards; s; s = s->next)
		if (!read_shard(t, r, s, out, &capacity))
			return false;
	return true;
}
