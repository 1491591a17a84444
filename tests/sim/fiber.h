/* Threads that run one at a time, in an order decided by a seed, in simulated time.
 *
 * All of them live on one real thread. A fiber runs until it waits, sleeps or offers its turn (fiber_yield()); then
 * the scheduler draws the next runnable one. Each turn takes some microseconds of simulated time; if none is
 * runnable, the time jumps to the next deadline. Weights are redrawn at intervals, and some are zero: a fiber may
 * stop while others do a lot, which produces unusual orders. In every third run all weights are equal.
 *
 * machine.c implements pthread_create(), mutexes, conditions, semaphores, nanosleep() and the clocks of the program
 * under test with this, so the tested code is the served code. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_FIBER_H
#define THORPE_TESTS_SIM_FIBER_H

#include "random.h"

struct fiber;

/* From here to fiber_end() this thread is the machine, and the caller its first fiber. */
void fiber_begin(uint64_t seed);
/* Requires that all others have been joined. */
void fiber_end(void);
/* Whether the machine runs, and the caller is on its thread. */
bool fiber_is_here(void);
/* Only for the first fiber: stops all others. For work that must not be interrupted (checks at the end). */
void fiber_set_alone(bool alone);

/* `name` is copied. */
struct fiber *fiber_new(const char *name, void *(*fn)(void *), void *arg);
void *fiber_join(struct fiber *f);
/* Whether it points to an existing fiber. */
bool fiber_is(const void *p);
struct fiber *fiber_self(void);
const char *fiber_name(const struct fiber *f);
unsigned fiber_number(const struct fiber *f);
/* The request it works on, for the history; 0: none. */
void fiber_set_work(uint64_t work);
uint64_t fiber_work(void);

void fiber_yield(void);
void fiber_sleep(int64_t us);
/* Waits for fiber_wake(where), or the time (FIBER_EVER: none). False: timed out. */
#define FIBER_EVER INT64_MAX
bool fiber_wait(const void *where, int64_t until_us);
/* Wakes fibers that wait there: the longest waiting one, or all. */
void fiber_wake(const void *where, bool all);

/* The simulated time: steady, and the date. */
int64_t fiber_now_us(void);
int64_t fiber_date_us(void);
/* Sets the date. */
void fiber_set_date(int64_t forward_us);
uint64_t fiber_turns(void);

/* For everything random in the program under test. */
struct random *fiber_random(void);
/* Adds to a hash that also includes each turn: equal for equal runs. */
void fiber_trace(const void *p, size_t n);
uint64_t fiber_trace_hash(void);

#endif
