/* Bump allocation in blocks; large allocations have a block of their own.
 *
 * Invariant B1: an allocation lives in a block of its own if and only if it is larger than LARGE. So arena_grow()
 * knows from the old size alone whether it may use realloc().
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/budget.h"
#include "base/poison.h"

#define ALIGN      16
#define BLOCK_SIZE (16 * 1024) /* including its header: the size asked of malloc */
#define LARGE      (4 * 1024)  /* the most that the end of a block can waste */
#define MAPPED     (64 * 1024)

struct arena_block {
	struct arena_block *older;
	struct arena_block *newer; /* for large blocks only: realloc() may move them */
	size_t size;               /* including this header */
	size_t mapped;             /* from mem_map() */
};

_Static_assert(sizeof(struct arena_block) % ALIGN == 0, "what follows the header is aligned");

struct arena_deferred {
	struct arena_deferred *older;
	void (*fn)(void *);
	void *ptr;
};

static char *block_data(struct arena_block *b)
{
	return (char *)(b + 1);
}

/* What an allocation of `n` bytes takes from a block. */
static size_t footprint(size_t n)
{
	return (n ? (n + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN) + MEM_REDZONE;
}

/* ---- the budget (A4) ---- */

static bool draw(struct arena *a, size_t n)
{
	enum budget_answer answer = budget_try_take(a->budget, a->drawn, n);

	if (answer != BUDGET_GIVEN) {
		a->refusal = answer;
		return false;
	}
	a->drawn += n;
	return true;
}

static void give_back(struct arena *a, size_t n)
{
	assert(n <= a->drawn);
	a->drawn -= n;
	budget_give(a->budget, n);
}

static void leave_budget(struct arena *a)
{
	if (a->drawn)
		give_back(a, a->drawn);
	a->budget = NULL;
	a->strict = a->maps = false;
	a->refusal = BUDGET_GIVEN;
}

bool arena_join(struct arena *a, struct budget *b)
{
	assert(!a->budget);
	a->budget = b;
	if (draw(a, a->total))
		return true;
	a->budget = NULL;
	return false;
}

void arena_borrow(struct arena *a, size_t n)
{
	if (a->budget && !draw(a, n))
		arena_out_of_memory(a);
}

void arena_return(struct arena *a, size_t n)
{
	if (a->budget)
		give_back(a, n);
}

/* mem_map() instead of malloc: requests from outside cannot leave holes in the heap. */
static bool wants_pages(const struct arena *a, size_t n)
{
	return a->strict && a->maps && n >= MAPPED;
}

/* A block, drawn from the budget if the arena is strict. NULL: no budget or no memory. */
static struct arena_block *take_block(struct arena *a, size_t n)
{
	bool mapped = wants_pages(a, n);
	struct arena_block *b;

	if (a->strict && !draw(a, n))
		return NULL;
	b = mapped ? mem_map(n) : mem_alloc(n);
	if (b)
		*b = (struct arena_block){ .size = n, .mapped = mapped };
	else if (a->strict)
		give_back(a, n);
	return b;
}

static void drop_block(struct arena_block *b)
{
	if (b->mapped)
		mem_unmap(b, b->size);
	else
		mem_free(b);
}

static struct arena_block *move_block(struct arena *a, struct arena_block *was, size_t n)
{
	struct arena_block *b;

	if (was->mapped)
		return mem_remap(was, was->size, n);
	if (!wants_pages(a, n))
		return mem_realloc(was, n);
	b = mem_map(n);
	if (b) {
		memcpy(b, was, was->size);
		b->mapped = true;
		mem_free(was);
	}
	return b;
}

/* As take_block(); on failure the block is unchanged. */
static struct arena_block *grow_block(struct arena *a, struct arena_block *was, size_t n)
{
	size_t more = n - was->size;
	struct arena_block *b;

	if (a->strict && !draw(a, more))
		return NULL;
	b = move_block(a, was, n);
	if (b)
		b->size = n;
	else if (a->strict)
		give_back(a, more);
	return b;
}

/* ---- blocks ---- */

static void block_free(struct arena *a, struct arena_block *b)
{
	a->total -= b->size;
	MEM_UNPOISON(block_data(b), b->size - sizeof(*b));
	drop_block(b);
}

static void run_deferred(struct arena *a)
{
	while (a->deferred) {
		struct arena_deferred *d = a->deferred;

		a->deferred = d->older;
		d->fn(d->ptr);
	}
}

static void free_large(struct arena *a)
{
	leave_budget(a);
	while (a->large) {
		struct arena_block *b = a->large;

		a->large = b->older;
		block_free(a, b);
	}
}

void arena_init(struct arena *a)
{
	*a = (struct arena){ 0 };
}

void arena_release(struct arena *a)
{
	run_deferred(a);
	free_large(a);
	while (a->blocks) {
		struct arena_block *b = a->blocks;

		a->blocks = b->older;
		block_free(a, b);
	}
	a->next = a->end = NULL;
	assert(a->total == 0);
}

void arena_clear(struct arena *a)
{
	struct arena_block *kept = a->blocks;

	if (!kept) {
		arena_release(a);
		return;
	}
	run_deferred(a);
	free_large(a);
	while (kept->older) {
		struct arena_block *b = kept->older;

		kept->older = b->older;
		block_free(a, b);
	}
	a->next = block_data(kept);
	MEM_POISON(a->next, (size_t)(a->end - a->next));
}

void arena_out_of_memory(struct arena *a)
{
	if (!a->oom) {
		fputs("thorpe: out of memory\n", stderr);
		abort();
	}
	longjmp(*a->oom, 1);
}

static void *alloc_large(struct arena *a, size_t n)
{
	struct arena_block *b;

	if (n > PTRDIFF_MAX / 2)
		return NULL;
	b = take_block(a, sizeof(*b) + n);
	if (!b)
		return NULL;
	b->older = a->large;
	if (a->large)
		a->large->newer = b;
	a->large = b;
	a->total += b->size;
	return block_data(b);
}

static bool add_block(struct arena *a)
{
	struct arena_block *b = take_block(a, BLOCK_SIZE);

	if (!b)
		return false;
	b->older = a->blocks;
	a->blocks = b;
	a->next = block_data(b);
	a->end = (char *)b + BLOCK_SIZE;
	a->total += BLOCK_SIZE;
	MEM_POISON(a->next, (size_t)(a->end - a->next));
	return true;
}

/* From the newest block; NULL: it has no room for it, or it is a large one. */
static inline void *take_room(struct arena *a, size_t n)
{
	size_t take;
	char *p = a->next;

	if (n > LARGE)
		return NULL;
	take = footprint(n);
	if ((size_t)(a->end - p) < take)
		return NULL;
	a->next = p + take;
	MEM_UNPOISON(p, n);
	return p;
}

/* As arena_alloc(), but returns NULL when memory runs out. */
static void *try_alloc(struct arena *a, size_t n)
{
	void *p = take_room(a, n);

	if (p)
		return p;
	if (n > LARGE)
		return alloc_large(a, n);
	return add_block(a) ? take_room(a, n) : NULL;
}

static void *alloc_or_leave(struct arena *a, size_t n)
{
	void *p = try_alloc(a, n);

	if (!p)
		arena_out_of_memory(a);
	return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *p = take_room(a, n);

	return p ? p : alloc_or_leave(a, n);
}

void *arena_zalloc(struct arena *a, size_t n)
{
	void *p = take_room(a, n);

	return memset(p ? p : alloc_or_leave(a, n), 0, n);
}

static void *grow_large(struct arena *a, void *p, size_t n)
{
	struct arena_block *was = (struct arena_block *)p - 1;
	struct arena_block *newer = was->newer, *b = NULL;
	size_t was_size = was->size;

	if (n <= PTRDIFF_MAX / 2)
		b = grow_block(a, was, sizeof(*b) + n);
	if (!b)
		arena_out_of_memory(a);
	a->total += b->size - was_size;
	if (newer)
		newer->older = b;
	else
		a->large = b;
	if (b->older)
		b->older->newer = b;
	return block_data(b);
}

void *arena_grow(struct arena *a, void *p, size_t old, size_t n)
{
	void *moved;

	if (p && n <= old)
		return p;
	if (p && old > LARGE) /* B1 */
		return grow_large(a, p, n);
	if (p && n <= LARGE && (char *)p + footprint(old) == a->next && footprint(n) <= (size_t)(a->end - (char *)p)) {
		a->next = (char *)p + footprint(n);
		MEM_UNPOISON(p, n);
		return p;
	}
	moved = arena_alloc(a, n);
	if (p && old)
		memcpy(moved, p, old);
	return moved;
}

size_t arena_array_size(size_t size, size_t n)
{
	size_t bytes;

	return __builtin_mul_overflow(size, n, &bytes) ? SIZE_MAX : bytes;
}

struct slice arena_copy(struct arena *a, struct slice s)
{
	char *p = arena_alloc(a, s.n);

	if (s.n)
		memcpy(p, s.p, s.n);
	return slice_make(p, s.n);
}

char *arena_cstr(struct arena *a, struct slice s)
{
	char *p = arena_alloc(a, s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

struct slice arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	char first[256];
	va_list again;
	int n;
	char *p;

	va_copy(again, ap);
	n = vsnprintf(first, sizeof(first), fmt, ap);
	if (n < 0) { /* the C library itself ran out of memory */
		va_end(again);
		arena_out_of_memory(a);
	}
	p = try_alloc(a, (size_t)n + 1);
	if (p && (size_t)n < sizeof(first))
		memcpy(p, first, (size_t)n + 1);
	else if (p)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	if (!p)
		arena_out_of_memory(a);
	return slice_make(p, (size_t)n);
}

struct slice arena_printf(struct arena *a, const char *fmt, ...)
{
	struct slice s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

void arena_defer(struct arena *a, void (*fn)(void *), void *ptr)
{
	struct arena_deferred *d = try_alloc(a, sizeof(*d));

	if (!d) {
		fn(ptr);
		arena_out_of_memory(a);
	}
	*d = (struct arena_deferred){ a->deferred, fn, ptr };
	a->deferred = d;
}
