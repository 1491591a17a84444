/* Sends RocksDB's messages to our log, not to files of its own.
 *
 * RocksDB writes its messages to a file LOG next to the data, at any time. On a full disk that fails, and a RocksDB
 * 7 built with assertions (as Debian's is) aborts at the next message. Its log cannot be turned off. So it gets
 * our logger, which needs C++: the C API has accepted a logger since version 2 but cannot create one before version
 * 9.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_ROCKS_LOG_H
#define THORPE_STORE_ROCKS_LOG_H

#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors become warnings in our log, at most one every ten seconds: on a full disk RocksDB repeats itself.
 * Everything else appears with --log-level debug. */
void rocks_log_attach(rocksdb_options_t *o);

#ifdef __cplusplus
}
#endif

#endif
