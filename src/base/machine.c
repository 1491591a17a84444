/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "base/machine.h"

/* The container's limit; UINT64_MAX: none. */
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

uint64_t machine_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t there = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	uint64_t may = container_bytes();

	return there < may ? there : may;
}
