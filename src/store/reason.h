/* Why an operation failed, as text for a person; and reading and writing numbers on disk.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_REASON_H
#define THORPE_STORE_REASON_H

#include <stdbool.h>
#include <stdint.h>

struct reason {
	bool failed;
	char text[600];
};

/* Sets it. Always returns false, so that a caller can return it. */
__attribute__((format(printf, 2, 3))) bool reason_set(struct reason *r, const char *fmt, ...);

/* Numbers on disk are big-endian; read_be64() and read_be32() read them back. */
static inline void store_put_be64(char *to, uint64_t v)
{
	for (int i = 7; i >= 0; i--, v >>= 8)
		to[i] = (char)v;
}

static inline void store_put_be32(char *to, uint32_t v)
{
	for (int i = 3; i >= 0; i--, v >>= 8)
		to[i] = (char)v;
}

#endif
