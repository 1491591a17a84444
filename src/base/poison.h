/* Marks memory as out of bounds for AddressSanitizer; costs nothing without it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_POISON_H
#define THORPE_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define THORPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define THORPE_ASAN 1
#endif
#endif

#ifdef THORPE_ASAN
#include <sanitizer/asan_interface.h>
#define MEM_POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define MEM_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define MEM_REDZONE        16 /* gap between two allocations, so that an overrun is noticed */
#else
#define MEM_POISON(p, n)   ((void)(p), (void)(n))
#define MEM_UNPOISON(p, n) ((void)(p), (void)(n))
#define MEM_REDZONE        0
#endif

#endif
