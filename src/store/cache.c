/* The default size of the read cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/machine.h"
#include "store/internal.h"

/* It fills with use; an idle process uses almost none of it. An eighth of the memory leaves most to the system, which
 * caches the files' compressed pages; a hit here costs half of a hit there. */
#define CACHE_PART  8
#define CACHE_LEAST ((uint64_t)32 << 20)

size_t store_default_cache_bytes(void)
{
	uint64_t bytes = machine_memory() / CACHE_PART;

	return (size_t)(bytes > CACHE_LEAST ? bytes : CACHE_LEAST);
}
