/* What RocksDB has to say goes to our log, not to files of its own.
 *
 * RocksDB writes its messages to a file LOG beside the data, at any time. On a full disk that fails, and a RocksDB 7 that is built with
 * assertions (Debian's is) ends the process at the message after that. It cannot be told to keep none. So it is given a logger of ours, which
 * needs C++: its interface in C can take a logger since 2, but has none to give before version 9.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_ROCKS_LOG_H
#define THORPE_STORE_ROCKS_LOG_H

#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors become warnings of our log, one every ten seconds at most: while a disk is full RocksDB repeats itself. All else is for --log-level debug. */
void rocks_log_attach(rocksdb_options_t *o);

#ifdef __cplusplus
}
#endif

#endif
