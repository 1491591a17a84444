/* malloc, counted so that tests can make it fail.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static _Thread_local bool armed;
static _Thread_local bool failed;
static _Thread_local long successes_left;

static bool must_fail(size_t n)
{
	/* malloc() would refuse too, but AddressSanitizer's aborts instead. */
	if (n > PTRDIFF_MAX / 2)
		return true;
	if (!armed)
		return false;
	if (successes_left > 0) {
		successes_left--;
		return false;
	}
	failed = true;
	return true;
}

/* Zero bytes are a valid request and must not look like a failure. */
static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

void *mem_alloc(size_t n)
{
	return must_fail(n) ? NULL : malloc(at_least_one(n));
}

void *mem_zalloc(size_t n)
{
	return must_fail(n) ? NULL : calloc(1, at_least_one(n));
}

void *mem_realloc(void *p, size_t n)
{
	return must_fail(n) ? NULL : realloc(p, at_least_one(n));
}

char *mem_strndup(const char *p, size_t n)
{
	char *copy = mem_alloc(n + 1);

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

void mem_free(void *p)
{
	free(p);
}

void alloc_fail_after(long successes)
{
	armed = true;
	failed = false;
	successes_left = successes;
}

void alloc_fail_never(void)
{
	armed = false;
}

bool alloc_has_failed(void)
{
	return failed;
}
