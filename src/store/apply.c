/* Writes a batch to RocksDB's memtables.
 *
 * When flushes fall behind, RocksDB makes a write wait. If a flush then fills the disk, newer versions (9 does, 7
 * did not) keep waiting until the disk has room again, possibly forever, and all other writes wait too, including
 * deletions. So RocksDB is asked not to wait, and this file waits instead: each attempt shows the state of the
 * flush.
 * SPDX-License-Identifier: Apache-2.0 */
#include <time.h>
#include "store/internal.h"

#define LOOK_MS 2
#define STALL   "Result incomplete: Write stall" /* RocksDB's error for a write that must not wait */

bool store_is_stall(const struct reason *r)
{
	return r->failed && strncmp(r->text, STALL, sizeof(STALL) - 1) == 0;
}

static bool write_with(struct store *s, const rocksdb_writeoptions_t *o, rocksdb_writebatch_t *batch, struct reason *r)
{
	char *err = NULL;

	rocksdb_write(s->db, o, batch, &err);
	return !store_take_reason(&err, r);
}

/* Whether all writes are stopped; otherwise they are only slowed down. */
static bool is_stopped(struct store *s)
{
	uint64_t stopped = 0;

	return rocksdb_property_int_cf(s->db, s->families[STORE_META], "rocksdb.is-write-stopped", &stopped) == 0 &&
	       stopped;
}

static bool write_patiently(struct store *s, rocksdb_writebatch_t *batch, struct reason *r)
{
	struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };

	while (store_is_stall(r)) {
		/* Only RocksDB knows how long a slowed write must wait; it is not long. */
		if (!is_stopped(s))
			return write_with(s, s->slowed, batch, r);
		nanosleep(&pause, NULL);
		if (write_with(s, s->unlogged, batch, r))
			return true;
	}
	return false;
}

bool store_apply(struct store *s, rocksdb_writebatch_t *batch, struct reason *r)
{
	return write_with(s, s->unlogged, batch, r) || write_patiently(s, batch, r);
}
