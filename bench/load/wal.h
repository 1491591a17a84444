/* RocksDB's write-ahead log, read back: the very batches that Thorpe wrote for some requests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BENCH_WAL_H
#define THORPE_BENCH_WAL_H

#include <stddef.h>
#include <stdint.h>

struct wal_entry {
	uint32_t family;      /* as RocksDB numbers them: in the order of enum store_family */
	const char *key, *value;
	size_t key_size, value_size;
	int deletion;
};

struct wal_batch {
	struct wal_entry *entries;
	size_t count, bytes; /* bytes: of the batch in the log */
};

/* The batches of a log file that have an entry in `family`, at most `limit`; ends the program with a
 * sentence when there is none. They stay in memory. */
struct wal_batch *wal_read(const char *path, uint32_t family, size_t limit, size_t *count);

#endif
