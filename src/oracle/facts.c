/* Sorting outside of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/facts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/grow.h"

#define HEADER     sizeof(uint32_t)    /* before each record: its length */
#define READ_BYTES ((size_t)256 << 10) /* of a run at a time */

/* one sorted run, being read */
struct run_file {
	off_t next, end; /* what is still in the file */
	char *buffer;
	size_t at, n, room;
	struct slice now;
};

struct facts {
	size_t memory;
	char *bytes; /* records, each after its length */
	size_t n, room;
	uint32_t *order; /* where records begin, in units of HEADER */
	size_t count, order_room;
	int fd; /* -1: none yet */
	off_t written;
	struct run_file *runs;
	size_t run_count, run_room;
	size_t *heap; /* of runs, the least on top */
	size_t heap_count;
	size_t taken; /* of `order`, where everything is in memory */
	bool sorted;
	char why[160];
};

static bool fail_facts(struct facts *f, const char *what)
{
	snprintf(f->why, sizeof(f->why), "%s: %s", what, strerror(errno));
	return false;
}

static bool out_of_memory(struct facts *f)
{
	snprintf(f->why, sizeof(f->why), "out of memory");
	return false;
}

struct facts *facts_new(size_t memory)
{
	struct facts *f = mem_zalloc(sizeof(*f));

	if (!f)
		return NULL;
	f->fd = -1;
	f->memory = memory;
	return f;
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->run_count; i++)
		mem_free(f->runs[i].buffer);
	mem_free(f->runs);
	mem_free(f->heap);
	mem_free(f->order);
	mem_free(f->bytes);
	mem_free(f);
}

const char *facts_why(const struct facts *f)
{
	return f->why;
}

size_t facts_runs(const struct facts *f)
{
	return f->run_count;
}

/* ---- in memory ---- */

static struct slice record_at(const char *bytes, uint32_t at)
{
	const char *p = bytes + (size_t)at * HEADER;
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return slice_make(p + HEADER, n);
}

static int by_bytes(const void *x, const void *y, void *bytes)
{
	return slice_cmp(record_at(bytes, *(const uint32_t *)x), record_at(bytes, *(const uint32_t *)y));
}

/* ---- to the file ---- */

static bool open_file(struct facts *f)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];

	if (f->fd >= 0)
		return true;
	if (snprintf(path, sizeof(path), "%s/thorpe-facts.XXXXXX", dir && *dir ? dir : "/tmp") >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return fail_facts(f, "TMPDIR");
	}
	f->fd = mkstemp(path);
	if (f->fd < 0)
		return fail_facts(f, "a file in TMPDIR");
	unlink(path); /* gone with the process, however that ends */
	return true;
}

static bool write_all(struct facts *f, const char *p, size_t n)
{
	while (n) {
		ssize_t w = pwrite(f->fd, p, n, f->written);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return fail_facts(f, "writing to TMPDIR");
		f->written += w;
		p += w;
		n -= (size_t)w;
	}
	return true;
}

static bool spill(struct facts *f)
{
	struct run_file run = { .next = f->written };
	char *out;
	size_t n = 0;
	bool ok = true;

	if (!open_file(f) || !GROW(f->runs, f->run_count + 1, f->run_room, 64))
		return f->why[0] ? false : out_of_memory(f);
	out = mem_alloc(READ_BYTES + HEADER + FACT_MOST);
	if (!out)
		return out_of_memory(f);
	qsort_r(f->order, f->count, sizeof(*f->order), by_bytes, f->bytes);
	for (size_t i = 0; ok && i < f->count; i++) {
		struct slice r = record_at(f->bytes, f->order[i]);

		memcpy(out + n, r.p - HEADER, HEADER + r.n);
		n += HEADER + r.n;
		if (n >= READ_BYTES) {
			ok = write_all(f, out, n);
			n = 0;
		}
	}
	ok = ok && write_all(f, out, n);
	mem_free(out);
	run.end = f->written;
	f->runs[f->run_count++] = run;
	f->n = f->count = 0;
	return ok;
}

bool facts_add(struct facts *f, struct slice record)
{
	size_t size = (HEADER + record.n + HEADER - 1) / HEADER * HEADER;
	uint32_t n = (uint32_t)record.n;

	if (record.n > FACT_MOST) {
		snprintf(f->why, sizeof(f->why), "a fact of %zu bytes is too large", record.n);
		return false;
	}
	if (f->count && f->n + size + f->count * sizeof(*f->order) > f->memory && !spill(f))
		return false;
	if (!GROW(f->bytes, f->n + size, f->room, 64) || !GROW(f->order, f->count + 1, f->order_room, 64))
		return out_of_memory(f);
	f->order[f->count++] = (uint32_t)(f->n / HEADER);
	memcpy(f->bytes + f->n, &n, HEADER);
	memcpy(f->bytes + f->n + HEADER, record.p, record.n);
	f->n += size;
	return true;
}

/* ---- and back ---- */

/* Makes the next record of a run ready; now.p NULL: it has ended. */
static bool advance(struct facts *f, struct run_file *r)
{
	uint32_t n;

	for (;;) {
		if (r->n - r->at >= HEADER) {
			memcpy(&n, r->buffer + r->at, HEADER);
			if (r->n - r->at >= HEADER + n) {
				r->now = slice_make(r->buffer + r->at + HEADER, n);
				r->at += HEADER + n;
				return true;
			}
		}
		if (r->next == r->end) {
			r->now = slice_make(NULL, 0);
			return true;
		}
		if (r->at)
			memmove(r->buffer, r->buffer + r->at, r->n - r->at);
		r->n -= r->at;
		r->at = 0;
		if (!GROW(r->buffer, r->n + READ_BYTES, r->room, 64))
			return out_of_memory(f);
		{
			size_t want = r->end - r->next < (off_t)READ_BYTES ? (size_t)(r->end - r->next) : READ_BYTES;
			ssize_t got = pread(f->fd, r->buffer + r->n, want, r->next);

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return fail_facts(f, "reading from TMPDIR");
			r->n += (size_t)got;
			r->next += got;
		}
	}
}

static bool is_before(const struct facts *f, size_t x, size_t y)
{
	return slice_cmp(f->runs[x].now, f->runs[y].now) < 0;
}

static void sink(struct facts *f, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, keep;

		if (left < f->heap_count && is_before(f, f->heap[left], f->heap[least]))
			least = left;
		if (left + 1 < f->heap_count && is_before(f, f->heap[left + 1], f->heap[least]))
			least = left + 1;
		if (least == i)
			return;
		keep = f->heap[i];
		f->heap[i] = f->heap[least];
		f->heap[least] = keep;
		i = least;
	}
}

bool facts_sort(struct facts *f)
{
	f->sorted = true;
	if (!f->run_count) {
		if (f->count)
			qsort_r(f->order, f->count, sizeof(*f->order), by_bytes, f->bytes);
		return true;
	}
	if (f->count && !spill(f))
		return false;
	/* The buffer is no longer needed. */
	mem_free(f->bytes);
	mem_free(f->order);
	f->bytes = NULL;
	f->order = NULL;
	f->room = f->order_room = 0;
	f->heap = mem_alloc(f->run_count * sizeof(*f->heap));
	if (!f->heap)
		return out_of_memory(f);
	for (size_t i = 0; i < f->run_count; i++) {
		if (!advance(f, &f->runs[i]))
			return false;
		if (f->runs[i].now.p)
			f->heap[f->heap_count++] = i;
	}
	for (size_t i = f->heap_count; i-- > 0;)
		sink(f, i);
	f->taken = 0;
	return true;
}

bool facts_next(struct facts *f, struct slice *record, bool *got)
{
	if (!f->run_count) {
		*got = f->taken < f->count;
		if (*got)
			*record = record_at(f->bytes, f->order[f->taken++]);
		return true;
	}
	if (f->taken && f->heap_count) { /* the run on top gave the previous record */
		struct run_file *r = &f->runs[f->heap[0]];

		if (!advance(f, r))
			return false;
		if (!r->now.p)
			f->heap[0] = f->heap[--f->heap_count];
		sink(f, 0);
	}
	f->taken = 1;
	*got = f->heap_count > 0;
	if (*got)
		*record = f->runs[f->heap[0]].now;
	return true;
}
