/* What RocksDB's own threads met, told by RocksDB itself. Its interface in C has no words for it.
 *
 * A compaction that meets the end of the disk is no error of the database: its files are still there. But RocksDB notes it as one, waits for as much room as
 * all inputs have, and, if a flush meets the end of the disk at the same time, never writes again (7.8). So this note is suppressed; compactions that might
 * not fit are put off by us (watch.c). A flush that met it is left to RocksDB, which tries again when there is room.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_ROCKS_EVENTS_H
#define THORPE_STORE_ROCKS_EVENTS_H

#include <rocksdb/c.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct store;
/* For the options of a database; the store must live as long as it. False: this RocksDB keeps its options otherwise than this was written for, and nothing was
 * attached: all works but on a full disk. */
bool rocks_events_attach(rocksdb_options_t *o, struct store *s);
/* watch.c: called by a thread of RocksDB, which holds no lock. */
void watch_compaction_begins(struct store *s);
void watch_compaction_ended(struct store *s);
void watch_compaction_had_no_room(struct store *s);

#ifdef __cplusplus
}
#endif

#endif
