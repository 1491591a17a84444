/* The secret of a server, from which the keys of its tokens and cursors are derived: 64 hexadecimal digits in a file
 * that only its owner can read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SECRET_H
#define THORPE_CLI_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_BYTES 32
#define SECRET_FILE  "token-secret" /* in the data directory */

/* Reads `file` or, if it is NULL, the data directory's. `create`: makes it if it is missing; a process that does so
 * at the same moment gets the same secret. Without a file and a data directory (both NULL) it is random and lost
 * with the process. False: `why` is a sentence. */
bool secret_load(const char *data_dir, const char *file, bool create, uint8_t out[SECRET_BYTES], char *why, size_t n)
	__attribute__((warn_unused_result));
/* Puts a secret that is known into a data directory that has none. *other: it has another one, which stays. */
bool secret_keep(const char *data_dir, const uint8_t secret[SECRET_BYTES], bool *other, char *why, size_t n)
	__attribute__((warn_unused_result));

#endif
