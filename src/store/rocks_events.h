/* Events reported by RocksDB's own threads. RocksDB's C API does not offer them.
 *
 * A compaction that fills the disk is not an error of the database: its input files are still there. But RocksDB
 * records it as an error, waits until there is room for all inputs, and, if a flush runs out of disk at the same
 * time, never writes again (7.8). So we suppress that error, and postpone compactions that might not fit (watch.c).
 * A flush that fails this way is left to RocksDB, which retries once there is room.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_ROCKS_EVENTS_H
#define THORPE_STORE_ROCKS_EVENTS_H

#include <rocksdb/c.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct store;
/* For the options of a database; the store must outlive the database. False: this RocksDB lays out its options
 * differently than this code expects, and nothing was attached. Everything works except on a full disk. */
bool rocks_events_attach(rocksdb_options_t *o, struct store *s);
/* watch.c: called by a thread of RocksDB that holds no lock. */
void watch_compaction_begins(struct store *s);
void watch_compaction_ended(struct store *s);
void watch_compaction_had_no_room(struct store *s);

#ifdef __cplusplus
}
#endif

#endif
