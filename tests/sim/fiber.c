/* Fibers on ucontext, and the scheduler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fiber.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size)  ((void)(save))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)(save))
#define __asan_unpoison_memory_region(p, n)                 ((void)(p))
#endif

#define STACK_BYTES   ((size_t)512 << 10)
#define GUARD_BYTES   4096                            /* unwritable, at the end of a stack */
#define DATE_US       (INT64_C(1768473000) * 1000000) /* 2026-01-15T10:30:00Z */
#define TURN_MOST_US  120
#define REWEIGH_EVERY 60 /* turns, about */

enum fiber_state { RUNNABLE, WAITING, DONE };

struct fiber {
	struct fiber *next;
	ucontext_t context;
	void *stack, *fake;
	const void *bottom; /* of the first fiber: the thread's own stack */
	size_t size;
	void *(*fn)(void *);
	void *arg, *result;
	enum fiber_state state;
	const void *where;
	uint64_t since; /* the turn it began to wait in */
	int64_t until_us;
	bool timed_out, is_joined;
	unsigned weight, number;
	uint64_t work;
	char name[32];
};

static struct {
	struct fiber *all, *self, *before;
	struct random order, random;
	int64_t now_us, date_us;
	uint64_t turns, hash;
	unsigned numbers;
	bool alone;
	bool is_fair;     /* all fibers have the same chance: requests interleave finely, and none falls behind */
	void *stacks[64]; /* to be used again */
	size_t stack_count;
} machine;
static _Thread_local bool is_here;

bool fiber_is_here(void)
{
	return is_here;
}

/* ---- the trace ---- */

void fiber_trace(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = machine.hash;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * UINT64_C(0x100000001b3);
	machine.hash = h;
}

uint64_t fiber_trace_hash(void)
{
	return machine.hash;
}

/* ---- time ---- */

int64_t fiber_now_us(void)
{
	return machine.now_us;
}

int64_t fiber_date_us(void)
{
	return machine.date_us + machine.now_us;
}

void fiber_set_date(int64_t forward_us)
{
	machine.date_us += forward_us;
}

uint64_t fiber_turns(void)
{
	return machine.turns;
}

struct random *fiber_random(void)
{
	return &machine.random;
}

/* ---- choosing the next fiber ---- */

static bool can_run(struct fiber *f)
{
	return f->state == RUNNABLE || (f->state == WAITING && f->until_us <= machine.now_us);
}

static unsigned draw_weight(void)
{
	static const unsigned weights[] = { 0, 0, 1, 1, 2, 4, 12 };

	if (machine.is_fair)
		return 1;
	return weights[random_below(&machine.order, sizeof(weights) / sizeof(*weights))];
}

static void weigh(void)
{
	for (struct fiber *f = machine.all; f; f = f->next)
		f->weight = draw_weight();
}

static void jump(void)
{
	int64_t next = FIBER_EVER;

	for (struct fiber *f = machine.all; f; f = f->next)
		if (f->state == WAITING && f->until_us < next)
			next = f->until_us;
	if (next == FIBER_EVER) {
		fprintf(stderr, "sim: everybody waits for somebody else:\n");
		for (struct fiber *f = machine.all; f; f = f->next)
			if (f->state != DONE)
				fprintf(stderr, "  %s\n", f->name);
		abort();
	}
	if (next > machine.now_us)
		machine.now_us = next;
}

static struct fiber *draw(bool by_weight)
{
	size_t total = 0, at;

	for (struct fiber *f = machine.all; f; f = f->next)
		if (can_run(f))
			total += by_weight ? f->weight : 1;
	if (!total)
		return NULL;
	at = random_below(&machine.order, total);
	for (struct fiber *f = machine.all; f; f = f->next) {
		size_t weight = by_weight ? f->weight : 1;

		if (!can_run(f))
			continue;
		if (at < weight)
			return f;
		at -= weight;
	}
	return NULL;
}

static struct fiber *choose(void)
{
	struct fiber *f;

	machine.turns++;
	machine.now_us += 1 + (int64_t)random_below(&machine.order, TURN_MOST_US);
	if (!random_below(&machine.order, REWEIGH_EVERY))
		weigh();
	while (!(f = draw(true)))
		if ((f = draw(false)) != NULL) { /* fibers with weight wait for time, or for those without */
			weigh();
			break;
		} else {
			jump();
		}
	fiber_trace(&f->number, sizeof(f->number));
	return f;
}

/* ---- switching ---- */

static void arrived(void)
{
	struct fiber *self = machine.self;

	__sanitizer_finish_switch_fiber(self->fake, NULL, NULL);
	if (machine.before && machine.before->state == DONE && machine.before->stack) {
		struct fiber *gone = machine.before;

		if (machine.stack_count < sizeof(machine.stacks) / sizeof(*machine.stacks))
			machine.stacks[machine.stack_count++] = gone->stack;
		else
			munmap(gone->stack, STACK_BYTES);
		gone->stack = NULL;
	}
	machine.before = NULL;
	if (self->state == WAITING) {
		self->timed_out = true;
		self->state = RUNNABLE;
	}
	self->until_us = FIBER_EVER;
	self->where = NULL;
}

static void go_to(struct fiber *f)
{
	struct fiber *from = machine.self;

	if (f == from) {
		if (f->state == WAITING) {
			f->timed_out = true;
			f->state = RUNNABLE;
		}
		f->until_us = FIBER_EVER;
		f->where = NULL;
		return;
	}
	machine.before = from;
	machine.self = f;
	__sanitizer_start_switch_fiber(from->state == DONE ? NULL : &from->fake, f->stack ? f->stack : f->bottom,
				       f->stack ? STACK_BYTES : f->size);
	swapcontext(&from->context, &f->context);
	arrived();
}

static void enter(void)
{
	struct fiber *self = machine.self;

	arrived();
	self->result = self->fn(self->arg);
	self->state = DONE;
	fiber_wake(self, true);
	go_to(choose());
	abort();
}

/* ---- life ---- */

static struct fiber *add(const char *name)
{
	struct fiber *f = calloc(1, sizeof(*f)), **at = &machine.all;

	if (!f)
		abort();
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->number = machine.numbers++;
	f->until_us = FIBER_EVER;
	f->weight = machine.numbers ? draw_weight() : 1;
	while (*at)
		at = &(*at)->next;
	*at = f;
	return f;
}

static void *stack_new(void)
{
	void *p;

	if (machine.stack_count) {
		p = machine.stacks[--machine.stack_count];
		__asan_unpoison_memory_region((char *)p + GUARD_BYTES, STACK_BYTES - GUARD_BYTES);
		return p;
	}
	p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1,
		 0);
	if (p == MAP_FAILED || mprotect(p, GUARD_BYTES, PROT_NONE))
		abort();
	return p;
}

struct fiber *fiber_new(const char *name, void *(*fn)(void *), void *arg)
{
	struct fiber *f = add(name);

	f->fn = fn;
	f->arg = arg;
	f->stack = stack_new();
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&f->context, enter, 0);
	return f;
}

static void drop(struct fiber *f)
{
	struct fiber **at = &machine.all;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	free(f);
}

void *fiber_join(struct fiber *f)
{
	void *result;

	while (f->state != DONE)
		(void)fiber_wait(f, FIBER_EVER);
	result = f->result;
	drop(f);
	return result;
}

void fiber_begin(uint64_t seed)
{
	void *kept[64];
	size_t count = machine.stack_count;

	memcpy(kept, machine.stacks, sizeof(kept));
	memset(&machine, 0, sizeof(machine));
	memcpy(machine.stacks, kept, sizeof(kept));
	machine.stack_count = count;
	machine.order.state = seed;
	machine.random.state = ~seed;
	machine.is_fair = seed % 3 == 0;
	machine.now_us = 1000000;
	machine.date_us = DATE_US;
	machine.hash = UINT64_C(0xcbf29ce484222325);
	machine.self = add("main");
	is_here = true;
#if defined(__SANITIZE_ADDRESS__)
	{
		/* The thread's own stack, needed to switch back. */
		pthread_attr_t attr;
		void *low;

		pthread_getattr_np(pthread_self(), &attr);
		pthread_attr_getstack(&attr, &low, &machine.self->size);
		machine.self->bottom = low;
		pthread_attr_destroy(&attr);
	}
#endif
}

void fiber_end(void)
{
	while (machine.all) {
		struct fiber *f = machine.all;

		machine.all = f->next;
		if (f != machine.self && f->state != DONE)
			fprintf(stderr, "sim: %s is still there\n", f->name);
		free(f);
	}
	is_here = false;
}

bool fiber_is(const void *p)
{
	for (const struct fiber *f = machine.all; f; f = f->next)
		if (f == p)
			return true;
	return false;
}

struct fiber *fiber_self(void)
{
	return machine.self;
}

const char *fiber_name(const struct fiber *f)
{
	return f->name;
}

unsigned fiber_number(const struct fiber *f)
{
	return f->number;
}

void fiber_set_work(uint64_t work)
{
	machine.self->work = work;
}

uint64_t fiber_work(void)
{
	return machine.self->work;
}

/* ---- waiting ---- */

void fiber_set_alone(bool alone)
{
	machine.alone = alone;
}

void fiber_yield(void)
{
	if (!machine.alone)
		go_to(choose());
}

bool fiber_wait(const void *where, int64_t until_us)
{
	struct fiber *self = machine.self;

	self->state = WAITING;
	self->where = where;
	self->until_us = until_us;
	self->since = machine.turns;
	self->timed_out = false;
	go_to(choose());
	return !self->timed_out;
}

void fiber_sleep(int64_t us)
{
	(void)fiber_wait(NULL, machine.now_us + us);
}

void fiber_wake(const void *where, bool all)
{
	do {
		struct fiber *first = NULL;

		for (struct fiber *f = machine.all; f; f = f->next)
			if (f->state == WAITING && f->where == where && where && (!first || f->since < first->since))
				first = f;
		if (!first)
			return;
		first->state = RUNNABLE;
		first->until_us = FIBER_EVER;
	} while (all);
}
