/* The log's format: blocks of 32 KB with fragments (crc, be16 length, type), which make up records; a record
 * is a batch: sequence, count, and tagged entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "template.h"
#include "wal.h"

#define BLOCK 32768
#define FRAGMENT_HEAD 7
enum { FULL = 1, FIRST, MIDDLE, LAST };
enum { TAG_DELETE = 0, TAG_PUT = 1, TAG_FAMILY_DELETE = 4, TAG_FAMILY_PUT = 5 };

struct batches {
	struct wal_batch *all;
	size_t count, limit;
	uint32_t family;
};

static uint32_t varint(const char **p, const char *end)
{
	uint32_t n = 0;

	for (int shift = 0; *p < end && shift < 32; shift += 7) {
		uint8_t byte = (uint8_t)*(*p)++;

		n |= (uint32_t)(byte & 127) << shift;
		if (!(byte & 128))
			break;
	}
	return n;
}

static const char *string(const char **p, const char *end, size_t *size)
{
	const char *at;

	*size = varint(p, end);
	at = *p;
	if (*size > (size_t)(end - at))
		quit("a batch of the log ends too early");
	*p += *size;
	return at;
}

/* True when one of the entries is in the family that is looked for. */
static int read_entries(struct wal_batch *b, const char *p, const char *end, uint32_t family)
{
	int found = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct wal_entry *e = &b->entries[i];
		uint8_t tag = (uint8_t)*p++;

		if (tag != TAG_DELETE && tag != TAG_PUT && tag != TAG_FAMILY_DELETE && tag != TAG_FAMILY_PUT)
			return 0; /* a range deletion: not what a request of the benchmark writes */
		e->deletion = tag == TAG_DELETE || tag == TAG_FAMILY_DELETE;
		e->family = tag >= TAG_FAMILY_DELETE ? varint(&p, end) : 0;
		e->key = string(&p, end, &e->key_size);
		if (!e->deletion)
			e->value = string(&p, end, &e->value_size);
		found |= e->family == family;
	}
	return found;
}

static void take(struct batches *to, const char *record, size_t size)
{
	struct wal_batch b = { .bytes = size };
	uint32_t count;
	char *copy;

	if (size < 12 || to->count == to->limit)
		return;
	copy = mem_strndup(record, size);
	memcpy(&count, record + 8, 4);
	b.count = count;
	b.entries = mem_zalloc((b.count + 1) * sizeof(*b.entries));
	if (!copy || !b.entries)
		quit("out of memory");
	if (b.count && read_entries(&b, copy + 12, copy + size, to->family)) {
		to->all[to->count++] = b;
		return;
	}
	mem_free(copy);
	mem_free(b.entries);
}

/* Puts fragments together. */
static void read_log(FILE *f, struct batches *to)
{
	static char block[BLOCK];
	size_t n, at, whole = 0, room = 1 << 20;
	char *record = mem_alloc(room);

	while (record && (n = fread(block, 1, BLOCK, f)) > 0)
		for (at = 0; at + FRAGMENT_HEAD <= n;) {
			size_t size = (uint8_t)block[at + 4] | (size_t)(uint8_t)block[at + 5] << 8;
			int type = block[at + 6];

			if (type < FULL || type > LAST || at + FRAGMENT_HEAD + size > n)
				break; /* the rest of a block, or of the log, is empty */
			if (type == FULL || type == FIRST)
				whole = 0;
			if (whole + size > room && !(record = mem_realloc(record, room = 2 * (whole + size))))
				quit("out of memory");
			memcpy(record + whole, block + at + FRAGMENT_HEAD, size);
			whole += size;
			if (type == FULL || type == LAST)
				take(to, record, whole);
			at += FRAGMENT_HEAD + size;
		}
	mem_free(record);
}

struct wal_batch *wal_read(const char *path, uint32_t family, size_t limit, size_t *count)
{
	struct batches b = { .all = mem_zalloc(limit * sizeof(*b.all)), .limit = limit, .family = family };
	FILE *f = fopen(path, "rb");

	if (!b.all)
		quit("out of memory");
	if (!f)
		quit("cannot read %s: %s", path, strerror(errno));
	read_log(f, &b);
	fclose(f);
	if (!b.count)
		quit("%s has no batch like those looked for", path);
	*count = b.count;
	return b.all;
}
