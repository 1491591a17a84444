/* How much may be kept in memory for reading when nobody says.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>
#include "store/internal.h"

/* It fills with use; an idle process has touched next to none of it. An eighth of the memory leaves
 * most of it to the system, which keeps the files' (compressed) pages; finding a block unpacked here is
 * half of the work of finding it there. */
#define CACHE_PART 8
#define CACHE_LEAST ((uint64_t)32 << 20)

/* What a container may use; UINT64_MAX: as much as there is. */
static uint64_t container_bytes(void)
{
	FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
	unsigned long long bytes = UINT64_MAX;

	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%llu", &bytes) != 1) /* "max" */
		bytes = UINT64_MAX;
	fclose(f);
	return bytes;
}

size_t store_default_cache_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t there = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	uint64_t may = container_bytes(), bytes = (there < may ? there : may) / CACHE_PART;

	return (size_t)(bytes > CACHE_LEAST ? bytes : CACHE_LEAST);
}
