/* malloc, counted so that tests can make it fail.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/poison.h"

static _Thread_local bool armed;
static _Thread_local bool failed;
static _Thread_local long successes_left;

static bool must_fail(size_t n)
{
	/* malloc() would refuse too, but AddressSanitizer's malloc aborts. */
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

#if defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

#if defined(THORPE_ASAN) || defined(WATCHED) /* sanitizers track malloc and do not know mremap() */

void *mem_map(size_t n)
{
	return mem_alloc(n);
}

void *mem_remap(void *p, size_t was, size_t n)
{
	(void)was;
	return mem_realloc(p, n);
}

void mem_unmap(void *p, size_t n)
{
	(void)n;
	mem_free(p);
}

#else

void *mem_map(size_t n)
{
	void *p = must_fail(n) ? MAP_FAILED : mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *mem_remap(void *p, size_t was, size_t n)
{
	void *moved = must_fail(n) ? MAP_FAILED : mremap(p, was, n, MREMAP_MAYMOVE);

	return moved == MAP_FAILED ? NULL : moved;
}

void mem_unmap(void *p, size_t n)
{
	munmap(p, n);
}

#endif

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
