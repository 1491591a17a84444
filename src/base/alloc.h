/* malloc with a fault point, for memory outside a request's arena.
 *
 * Every allocation in Thorpe goes through these functions (an arena's blocks too), so a test can make the 1st, 2nd,
 * 3rd… one fail: alloc_fail_after(n) lets n allocations succeed and fails all later ones until alloc_fail_never().
 * Errors: NULL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_ALLOC_H
#define THORPE_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *mem_alloc(size_t n) __attribute__((malloc, warn_unused_result));
void *mem_zalloc(size_t n) __attribute__((malloc, warn_unused_result));
void *mem_realloc(void *p, size_t n) __attribute__((warn_unused_result));
char *mem_strndup(const char *p, size_t n) __attribute__((malloc, warn_unused_result));
void mem_free(void *p);

/* Whole pages, returned to the system when freed; malloc would keep some and leave holes between them. They grow
 * without copying. The caller remembers the size. */
void *mem_map(size_t n) __attribute__((warn_unused_result));
void *mem_remap(void *p, size_t was, size_t n) __attribute__((warn_unused_result));
void mem_unmap(void *p, size_t n);

/* For tests. Per thread: only allocations of the calling thread are counted and failed. */
void alloc_fail_after(long successes);
void alloc_fail_never(void);
/* True once an allocation has failed since alloc_fail_after(). */
bool alloc_has_failed(void);

#endif
