/* Measures age independently of the machine's clock, and detects when that clock jumps.
 *
 * The database has its own time (db_time_ms()), which counts how long it has been open. It advances only in the
 * background's rounds, by the steady clock (base/clock.h), and is saved with the data. Every few minutes the
 * timekeeper notes a mark: "at this time, the last sequence number was so much". A mark that is older than the
 * retention time moves the horizon: all records up to its number are forgotten. Hence (T8):
 *
 *   - A record is kept at least as long as its stream's retention says, counted in time the database was open, and
 *     at most one interval of marks (1/288: five minutes in a day) and one sweep longer.
 *   - Setting the wall clock ahead trims nothing early, and setting it back keeps nothing for years.
 *   - While the database is closed, or the machine sleeps, nothing gets older: processors find what they had to do.
 *     So a stream never holds more than a day's worth of writing at work.
 *   - A kill loses what was not saved yet: the time repeats some minutes, and records stay so much longer.
 *   - Databases made before there was a timekeeper begin with a mark for all they have.
 *
 * The horizon never goes back: it is saved before anything below it is deleted.
 *
 * TTL is about dates and uses the wall clock. But after the clock is set ahead by more than a minute, TTL continues
 * with the time before the jump for TTL_HOLD_MS, so that a wrong clock that is soon corrected deletes nothing.
 * Likewise at the start, or after a sleep of the machine, when the clock is more than a day later than when the
 * database was last at work: it was off, or its clocks are wrong.
 *
 * Threads: all functions except new, free, load and close require the background's step_lock (background.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_TIMEKEEPER_H
#define THORPE_TABLE_TIMEKEEPER_H

#include "table/db.h"

#define TTL_HOLD_MS   (15 * 60 * 1000)
#define CLOCK_JUMP_MS 60000 /* a larger difference between two rounds is not drift */

struct timekeeper;

/* NULL when memory is out. */
struct timekeeper *timekeeper_new(void);
void timekeeper_free(struct timekeeper *k); /* NULL is fine */
/* At opening, after the last sequence number is known. Logs it if the clock was set back since the database was
 * last open. Errors: INTERNAL (disk, damage). */
bool timekeeper_load(struct db *db, struct arena *a, struct error *e) MUST_CHECK;
/* One round: time, marks, the horizon, jumps (a warning each); saves now and then. A few comparisons when there is
 * nothing to do. What cannot be saved is tried again later. */
void timekeeper_tick(struct db *db, struct arena *a);
/* The wall clock as TTL has it, as of the last tick: sweeps that follow a jump know of it. */
int64_t timekeeper_ttl_ms(struct db *db);
/* Before anything is trimmed. False: it could not be saved. */
bool timekeeper_save_horizon(struct db *db, struct arena *a) MUST_CHECK;
/* The last save, while the writer still runs. */
void timekeeper_close(struct db *db);

#endif
