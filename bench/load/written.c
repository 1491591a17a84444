/* A batch as RocksDB writes it: sequence, count, and tagged entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "written.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "store/internal.h"
#include "store/journal/internal.h"
#include "template.h"

#define BATCH_HEAD 12
enum { TAG_DELETE = 0, TAG_PUT = 1, TAG_FAMILY_DELETE = 4, TAG_FAMILY_PUT = 5 };

struct batches {
	struct written_batch *all;
	size_t count, limit;
	uint32_t family;
};

static uint32_t varint(const char **p, const char *end)
{
	uint32_t n = 0;

	for (int shift = 0; *p < end && shift < 32; shift += 7) {
		uint8_t byte = (uint8_t) * (*p)++;

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
		quit("a batch of the journal ends too early");
	*p += *size;
	return at;
}

static int is_number(const struct written_entry *e)
{
	return e->family == STORE_META && slice_equal(slice_make(e->key, e->key_size), STORE_JOURNAL_KEY);
}

/* True when one of the entries is in the family that is looked for. */
static int read_entries(struct written_batch *b, const char *p, const char *end, uint32_t family)
{
	size_t n = b->count;
	int found = 0;

	b->count = 0;
	for (size_t i = 0; i < n; i++) {
		struct written_entry *e = &b->entries[b->count];
		uint8_t tag = (uint8_t)*p++;

		if (tag != TAG_DELETE && tag != TAG_PUT && tag != TAG_FAMILY_DELETE && tag != TAG_FAMILY_PUT)
			return 0; /* a range deletion: not what a request of the benchmark writes */
		e->deletion = tag == TAG_DELETE || tag == TAG_FAMILY_DELETE;
		e->family = tag >= TAG_FAMILY_DELETE ? varint(&p, end) : 0;
		e->key = string(&p, end, &e->key_size);
		if (!e->deletion)
			e->value = string(&p, end, &e->value_size);
		found |= e->family == family;
		b->count += !is_number(e);
	}
	return found;
}

static void take(struct batches *to, const char *record, size_t size)
{
	struct written_batch b = { .bytes = size };
	uint32_t count;
	char *copy;

	if (size < BATCH_HEAD || to->count == to->limit)
		return;
	copy = mem_strndup(record, size);
	memcpy(&count, record + 8, 4);
	b.count = count;
	b.entries = mem_zalloc((b.count + 1) * sizeof(*b.entries));
	if (!copy || !b.entries)
		quit("out of memory");
	if (b.count && read_entries(&b, copy + BATCH_HEAD, copy + size, to->family)) {
		to->all[to->count++] = b;
		return;
	}
	mem_free(copy);
	mem_free(b.entries);
}

static void read_segment(struct journal_io *io, unsigned file, struct batches *to)
{
	struct reason r = { 0 };
	char name[JOURNAL_NAME_ROOM];
	struct journal_reader rd;
	struct slice record;

	segment_name(name, file);
	if (journal_reader_start(&rd, io, name, &r) == JOURNAL_RECORD) {
		while (journal_reader_next(&rd, &record, &r) == JOURNAL_RECORD)
			take(to, record.p, record.n);
	}
	journal_reader_end(&rd);
	if (r.failed)
		quit("%s", r.text);
}

struct written_batch *written_read(const char *dir, uint32_t family, size_t limit, size_t *count)
{
	struct batches b = { .all = mem_zalloc(limit * sizeof(*b.all)), .limit = limit, .family = family };
	struct reason r = { 0 };
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct journal_posix posix = journal_posix(fd);
	unsigned *files;
	size_t n;

	if (!b.all)
		quit("out of memory");
	if (!segment_files(&posix.io, &files, &n, &r))
		quit("%s", r.text);
	for (size_t i = 0; i < n; i++)
		read_segment(&posix.io, files[i], &b);
	mem_free(files);
	close(fd);
	if (!b.count)
		quit("the journal in %s has no batch like those looked for", dir);
	*count = b.count;
	return b.all;
}
