/* malloc with a fault point, for memory that is not a request's.
 *
 * Every allocation of Thorpe goes through these (an arena's blocks too), so that a test can make
 * the 1st, 2nd, 3rd… one fail: alloc_fail_after(n) lets n succeed and fails all later ones until
 * alloc_fail_never(). Errors: NULL.
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

/* Pages of their own, which go back to the system when they are freed: malloc would keep some, and holes between them. They
 * grow without being copied. The size is the caller's to remember. */
void *mem_map(size_t n) __attribute__((warn_unused_result));
void *mem_remap(void *p, size_t was, size_t n) __attribute__((warn_unused_result));
void mem_unmap(void *p, size_t n);

/* For tests. Per thread: only allocations of the calling thread are counted and failed. */
void alloc_fail_after(long successes);
void alloc_fail_never(void);
/* True once an allocation has been failed since alloc_fail_after(). */
bool alloc_has_failed(void);

#endif
