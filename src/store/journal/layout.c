/* The first block of a segment and the head of a record, as described in journal.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "store/journal/internal.h"

static const char magic[16] = { 't', 'h', 'o', 'r', 'p', 'e', ' ', 'j', 'o', 'u', 'r', 'n', 'a', 'l', ' ', '3' };
static const char old_magic[16] = "thorpe journal\n";
#define HEAD_SUMMED 56
#define OLD_SUMMED  32
#define SECOND      (JOURNAL_BLOCK / 2) /* in another sector */

static void put_one(char *p, const struct journal_head *h)
{
	memcpy(p, magic, sizeof(magic));
	store_put_be64(p + 16, h->run);
	store_put_be64(p + 24, h->first);
	store_put_be64(p + 32, h->before);
	memcpy(p + 40, h->identity, JOURNAL_IDENTITY);
	store_put_be64(p + HEAD_SUMMED, XXH3_64bits(p, HEAD_SUMMED));
}

void journal_head_put(char block[JOURNAL_BLOCK], const struct journal_head *h)
{
	memset(block, 0, JOURNAL_BLOCK);
	put_one(block, h);
	put_one(block + SECOND, h);
}

static bool get_one(const char *p, struct journal_head *h)
{
	*h = (struct journal_head){ 0 };
	if (memcmp(p, magic, sizeof(magic)) != 0 || read_be64(p + HEAD_SUMMED) != XXH3_64bits(p, HEAD_SUMMED))
		return false;
	h->run = read_be64(p + 16);
	h->first = read_be64(p + 24);
	h->before = read_be64(p + 32);
	memcpy(h->identity, p + 40, JOURNAL_IDENTITY);
	return true;
}

static bool get_old(const char *p, struct journal_head *h)
{
	if (memcmp(p, old_magic, sizeof(old_magic)) != 0 || read_be64(p + OLD_SUMMED) != XXH3_64bits(p, OLD_SUMMED))
		return false;
	*h = (struct journal_head){ .run = read_be64(p + 16), .first = read_be64(p + 24), .is_old = true };
	return true;
}

bool journal_head_get(const char block[JOURNAL_BLOCK], struct journal_head *h)
{
	return get_one(block, h) || get_one(block + SECOND, h) || get_old(block, h);
}

static uint32_t check_of(const char *p, uint64_t run)
{
	return (uint32_t)XXH3_64bits_withSeed(p + 8, 24, run);
}

uint64_t journal_record_put(char *p, size_t n, uint64_t number, uint32_t open, uint64_t before, uint64_t run)
{
	uint64_t sum;

	store_put_be64(p + 8, number);
	store_put_be32(p + 16, (uint32_t)n);
	store_put_be32(p + 20, open);
	store_put_be64(p + 24, before);
	store_put_be32(p + 32, check_of(p, run));
	sum = XXH3_64bits_withSeed(p + 8, JOURNAL_RECORD_HEAD + n - 8, run);
	store_put_be64(p, sum);
	return sum;
}

bool journal_record_begins(const char *p, uint64_t run)
{
	return read_be32(p + 32) == check_of(p, run);
}

bool journal_record_is_whole(const char *p, size_t n, uint64_t run)
{
	return read_be64(p) == XXH3_64bits_withSeed(p + 8, n - 8, run);
}
