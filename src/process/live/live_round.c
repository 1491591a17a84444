/* All shards of a stream as one, in the order of the commits.
 *
 * Sequence numbers rise over all shards (table/db.h T5), and what was committed last is known: so up to there
 * everything can be read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "process/live/live_internal.h"

#define PAGE 200
#define SHARD_MOST 400 /* changes of one shard in a round */

bool live_sequence_parse(struct slice text, uint64_t *out)
{
	uint64_t v = 0;

	if (!text.n)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		unsigned digit = (unsigned char)text.p[i] - (unsigned)'0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}

uint64_t live_last_sequence(const struct live *l)
{
	return database_latest(l->database) - 1;
}

static void add(struct run *r, struct live_round *out, size_t *capacity, uint64_t sequence, const struct change *c)
{
	if (out->count == *capacity) {
		size_t more = *capacity ? 2 * *capacity : 64;

		out->list = arena_grow(r->arena, out->list, *capacity * sizeof(*out->list), more * sizeof(*out->list));
		*capacity = more;
	}
	out->list[out->count++] = (struct live_change){ sequence, c };
}

/* Sequence 0 is before everything there is, and cannot be asked for. */
static bool begin(struct run *r, const struct shard_list *shards, size_t i, uint64_t from, struct slice *iterator, bool *trimmed)
{
	struct shard_position at = { .where = AFTER_SEQUENCE };

	at.sequence = arena_printf(r->arena, "%021llu", (unsigned long long)from);
	*iterator = SLICE("");
	if (from && !change_iterator(r, shards->stream_arn, shards->list[i].id, &at, iterator))
		return false;
	if (iterator->n)
		return true;
	*trimmed = true;
	at.where = AT_OLDEST;
	return change_iterator(r, shards->stream_arn, shards->list[i].id, &at, iterator);
}

static bool read_shard(struct run *r, struct slice iterator, uint64_t from, struct live_round *out, size_t *capacity)
{
	uint64_t last = from, asked = out->upto;
	struct change_page page;
	size_t n = 0;

	while (iterator.n && last < asked) {
		if (!change_read(r, iterator, PAGE, &page))
			return false;
		out->trimmed |= page.trimmed;
		if (!page.count)
			return true;
		for (size_t i = 0; i < page.count; i++) {
			if (!live_sequence_parse(page.list[i].sequence, &last))
				return run_fail(r, PROBLEM_INTERNAL, "A stream's sequence is no number");
			if (last > from)
				add(r, out, capacity, last, &page.list[i]);
		}
		n += page.count;
		iterator = page.iterator;
		if (n >= SHARD_MOST && last < out->upto)
			out->upto = last; /* the others may have read further: that is read again */
		if (n >= SHARD_MOST)
			return true;
	}
	return true;
}

static int by_sequence(const void *a, const void *b)
{
	const struct live_change *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

bool live_round_read(struct run *r, const struct shard_list *shards, uint64_t from, uint64_t upto, struct live_round *out)
{
	size_t capacity = 0;
	struct slice iterator;

	*out = (struct live_round){ .upto = upto };
	if (from >= upto)
		return true;
	for (size_t i = 0; i < shards->count; i++)
		if (!begin(r, shards, i, from, &iterator, &out->trimmed) || !read_shard(r, iterator, from, out, &capacity))
			return false;
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_sequence);
	while (out->count && out->list[out->count - 1].sequence > out->upto)
		out->count--;
	return true;
}

struct value live_round_before(void *ctx, struct value key)
{
	for (const struct live_round **rounds = ctx; *rounds; rounds++)
		for (size_t i = (*rounds)->count; i-- > 0;) {
			const struct change *c = (*rounds)->list[i].change;

			if (value_present(c->old_image) && value_equal(c->key, key))
				return c->old_image;
		}
	return VALUE_ABSENT;
}
