/* The memory of one request: allocate freely, release everything at once.
 *
 * Invariants
 *   A1  arena_alloc() never returns NULL. When memory runs out, it jumps (longjmp) to the arena's out-of-memory
 *       exit (ARENA_TRY); without one the process aborts with a message.
 *   A2  Resources other than memory (a RocksDB iterator, a lock, a reference) are registered with arena_defer(),
 *       which releases them when the request ends or is abandoned. So leaving by longjmp leaks nothing.
 *   A3  An arena belongs to one thread at a time; handing the request over hands over the arena.
 *   A4  Allocations made while the arena is `strict` draw on its budget (base/budget.h). A refusal by the budget
 *       counts as running out of memory: control leaves as in A1, and `refusal` holds the reason. Clearing or
 *       releasing the arena returns everything drawn and detaches the budget. Other allocations do not draw on it:
 *       other requests cannot stop an operation that has begun.
 *
 * Lifetime: everything allocated is valid until arena_clear() or arena_release(). Handlers never free. Code that
 * keeps something beyond the request copies it and says so.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_ARENA_H
#define THORPE_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include "base/slice.h"

struct arena_block;
struct arena_deferred;
struct budget;

struct arena {
	struct arena_block *blocks;      /* ordinary ones, newest first */
	struct arena_block *large;       /* each holds a single large allocation */
	struct arena_deferred *deferred; /* newest first: run in reverse order of registration */
	char *next, *end;                /* free room in the newest block */
	jmp_buf *oom;                    /* where A1 goes; NULL: abort */
	size_t total;                    /* bytes taken from malloc and mem_map() */
	struct budget *budget;           /* A4; NULL: none */
	size_t drawn;                    /* from the budget */
	bool strict;                     /* A4; only with a budget */
	bool maps;                       /* large strict allocations get whole pages (mem_map() in alloc.h) */
	int refusal;                     /* enum budget_answer: the last one other than BUDGET_GIVEN */
};

void arena_init(struct arena *a);
/* Runs the deferred calls and returns all memory; leaves the arena as after arena_init() (inside an ARENA_TRY its
 * exit stays). */
void arena_release(struct arena *a);
/* As arena_release(), but keeps one ordinary block for the next request. */
void arena_clear(struct arena *a);

/* Gives the arena a budget and draws at once for what it already holds. False: refused; `refusal` holds the reason
 * and the arena has no budget. */
bool arena_join(struct arena *a, struct budget *b) __attribute__((warn_unused_result));
/* Draws for memory outside the arena that serves the same request. May leave by A4; does nothing without a budget. */
void arena_borrow(struct arena *a, size_t n);
void arena_return(struct arena *a, size_t n); /* returns it early; otherwise it goes back with the rest */

/* Leaves as in A1: for code that ran out of memory outside the arena. */
void arena_out_of_memory(struct arena *a) __attribute__((noreturn));

/* 16-byte aligned, not zeroed. n == 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((malloc, returns_nonnull));
void *arena_zalloc(struct arena *a, size_t n) __attribute__((malloc, returns_nonnull));
/* Grows `p` (of `old` bytes, from this arena) to `n` bytes, in place when it was the last one. */
void *arena_grow(struct arena *a, void *p, size_t old, size_t n) __attribute__((returns_nonnull));

#define arena_new(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc((a), arena_array_size(sizeof(type), (n))))
/* size * n; on overflow a size that arena_alloc() always refuses. */
size_t arena_array_size(size_t size, size_t n);

struct slice arena_copy(struct arena *a, struct slice s);
/* A NUL-terminated copy. */
char *arena_cstr(struct arena *a, struct slice s);
struct slice arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct slice arena_vprintf(struct arena *a, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Calls fn(ptr) when the arena is cleared or released. If registering runs out of memory, calls fn(ptr) before
 * leaving (A2). */
void arena_defer(struct arena *a, void (*fn)(void *), void *ptr);

/* Runs `body`; if memory runs out inside it, skips the rest and runs `on_oom`.
 *     ARENA_TRY(&arena, { work(&arena); }, { reply_out_of_memory(); });
 * Locals of the enclosing function changed in `body` and read in `on_oom` must be volatile.
 * `body` must not leave by return, break or goto, and, being a macro's argument, declares one
 * variable per statement. Nests. */
#define ARENA_TRY(a, body, on_oom)                                                                                \
	do {                                                                                                      \
		_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") jmp_buf arena_env_; \
		struct arena *const arena_tried_ = (a);                                                           \
		jmp_buf *const arena_outer_ = arena_tried_->oom;                                                  \
		_Pragma("GCC diagnostic pop") if (setjmp(arena_env_) == 0)                                        \
		{                                                                                                 \
			arena_tried_->oom = &arena_env_;                                                          \
			body arena_tried_->oom = arena_outer_;                                                    \
		}                                                                                                 \
		else                                                                                              \
		{                                                                                                 \
			arena_tried_->oom = arena_outer_;                                                         \
			on_oom                                                                                    \
		}                                                                                                 \
	} while (0)

#endif
