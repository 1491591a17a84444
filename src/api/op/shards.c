/* The shards of a stream as clients see them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/shards.h"

#include <stdio.h>

#define SHARD_ID_SIZE 37 /* shardId-00000001763208000123-00000002 */

/* ---- eras: number 0 is the first, number i begins with splits[i - 1] ---- */

static size_t eras(const struct stream *s, bool outside)
{
	return outside ? s->split_count + 1 : 1;
}

static uint64_t era_of(const struct stream *s, size_t i)
{
	return i ? s->splits[i - 1].sequence : 0;
}

static uint32_t depth_of(const struct stream *s, size_t i)
{
	return i ? s->splits[i - 1].depth : 0;
}

static int64_t ms_of(const struct stream *s, size_t i)
{
	return i ? s->splits[i - 1].ms : s->created_ms;
}

static uint32_t shards_of(const struct stream *s, size_t i)
{
	return s->shards << depth_of(s, i);
}

/* SIZE_MAX: no era begins there. */
static size_t find_era(const struct stream *s, bool outside, uint64_t era)
{
	for (size_t i = 0; i < eras(s, outside); i++)
		if (era_of(s, i) == era)
			return i;
	return SIZE_MAX;
}

/* ---- shards ---- */

bool shard_find(const struct stream *s, bool outside, struct shard shard, struct shard_facts *out)
{
	size_t i = find_era(s, outside, shard.era);

	if (i == SIZE_MAX || shard.number >= shards_of(s, i))
		return false;
	*out = (struct shard_facts){
		.fixed = shard.number >> depth_of(s, i),
		.depth = depth_of(s, i),
		.first = i ? era_of(s, i) : s->first_sequence,
		.end = i + 1 < eras(s, outside) ? era_of(s, i + 1) : UINT64_MAX,
		.has_parent = i > 0,
	};
	if (i)
		out->parent = (struct shard){ era_of(s, i - 1), shard.number >> (depth_of(s, i) - depth_of(s, i - 1)) };
	return true;
}

size_t shards_count(const struct stream *s, bool outside)
{
	size_t n = 0;

	for (size_t i = 0; i < eras(s, outside); i++)
		n += shards_of(s, i);
	return n;
}

struct shard shards_at(const struct stream *s, bool outside, size_t at)
{
	size_t i = 0;

	for (; at >= shards_of(s, i) && i + 1 < eras(s, outside); i++)
		at -= shards_of(s, i);
	return (struct shard){ era_of(s, i), (uint32_t)at };
}

/* ---- ids ---- */

static void write_id(char out[SHARD_ID_SIZE + 1], int64_t ms, uint32_t number)
{
	snprintf(out, SHARD_ID_SIZE + 1, "shardId-%020llu-%08x", (unsigned long long)ms, number);
}

struct slice shard_id_text(const struct stream *s, struct shard shard, struct arena *a)
{
	size_t i = find_era(s, true, shard.era);
	char *text = arena_alloc(a, SHARD_ID_SIZE + 1);

	write_id(text, ms_of(s, i == SIZE_MAX ? 0 : i), shard.number);
	return slice_make(text, SHARD_ID_SIZE);
}

bool shard_id_parse(const struct stream *s, bool outside, struct slice id, struct shard *out)
{
	char expected[SHARD_ID_SIZE + 1];

	for (size_t i = 0; i < eras(s, outside); i++) {
		write_id(expected, ms_of(s, i), 0);
		if (id.n != SHARD_ID_SIZE || memcmp(id.p, expected, SHARD_ID_SIZE - 8))
			continue;
		for (uint32_t n = 0; n < shards_of(s, i); n++) {
			write_id(expected, ms_of(s, i), n);
			if (slice_is(id, expected)) {
				*out = (struct shard){ era_of(s, i), n };
				return true;
			}
		}
	}
	return false;
}
