/* ULIDs: 48 bits of time and 80 random bits as 26 characters that sort by time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_ULID_H
#define THORPE_BASE_ULID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ULID_LENGTH 26
#define ULID_REST   10 /* bytes after the time */

/* Writes a ULID's text; not terminated. */
void ulid_text(int64_t ms, const uint8_t rest[ULID_REST], char out[ULID_LENGTH]);
/* Makes a new one. ULIDs that this process makes within one millisecond sort in the order they were made, by
 * unpredictable steps. False: the system has no randomness. Any thread. */
bool ulid_new(int64_t ms, char out[ULID_LENGTH]);
/* The time in it. False: that is not the text of one. */
bool ulid_ms(const char *text, size_t n, int64_t *ms);

#endif
