/* Threads that run one at a time, in an order that a seed decides, in a time that does not pass by itself.
 *
 * All of them live on one real thread. A fiber runs until it waits, sleeps or offers its turn (fiber_yield()); then the
 * scheduler draws the next of those that can run. Each turn takes some microseconds of the simulated time; when nobody can
 * run, the time jumps to the next that is waited for. Weights are drawn anew from time to time, and some are nil: a fiber can
 * stand still for as long as others do a lot, which is where unusual orders come from. In every third run all have the same weight.
 *
 * machine.c puts pthread_create(), mutexes, conditions, semaphores, nanosleep() and the clocks of the program under test
 * onto this, so the code that is tested is the code that is served.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_FIBER_H
#define THORPE_TESTS_SIM_FIBER_H

#include "random.h"

struct fiber;

/* From here to fiber_end() this thread is the machine, and the caller its first fiber. */
void fiber_begin(uint64_t seed);
/* All others have been joined. */
void fiber_end(void);
/* Whether the caller is on the machine's thread, and it runs. */
bool fiber_is_here(void);
/* The first fiber alone decides: others stay where they are. For what should not be interrupted (checks at the end). */
void fiber_set_alone(bool alone);

/* `name` is copied. */
struct fiber *fiber_new(const char *name, void *(*fn)(void *), void *arg);
void *fiber_join(struct fiber *f);
/* Whether it points to one that is there. */
bool fiber_is(const void *p);
struct fiber *fiber_self(void);
const char *fiber_name(const struct fiber *f);
unsigned fiber_number(const struct fiber *f);
/* Which request it is doing, for the history; 0: none. */
void fiber_set_work(uint64_t work);
uint64_t fiber_work(void);

void fiber_yield(void);
void fiber_sleep(int64_t us);
/* Until fiber_wake(where), or the time (FIBER_EVER: none). False: the time came first. */
#define FIBER_EVER INT64_MAX
bool fiber_wait(const void *where, int64_t until_us);
/* Those that wait there: the one that has waited longest, or all. */
void fiber_wake(const void *where, bool all);

/* The simulated time: steady, and the date. */
int64_t fiber_now_us(void);
int64_t fiber_date_us(void);
/* Somebody sets the date. */
void fiber_set_date(int64_t forward_us);
uint64_t fiber_turns(void);

/* For everything random in the program under test. */
struct random *fiber_random(void);
/* A hash of all that has been put into it, and of each turn: equal when two runs were the same. */
void fiber_trace(const void *p, size_t n);
uint64_t fiber_trace_hash(void);

#endif
