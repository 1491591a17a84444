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
 *   - While the database is closed, or the machine sleeps, nothing ages: processors find the records they still have
 *     to process. So a stream holds a day's worth of working time.
 *   - A kill loses unsaved time: the clock goes back some minutes, and records stay that much longer.
 *   - Databases older than the timekeeper begin with one mark for all their records.
 *
 * The horizon never goes back: it is saved before anything below it is deleted.
 *
 * TTL is about dates and uses the wall clock. But after the clock is set ahead by more than a minute, TTL continues
 * with the time before the jump for TTL_HOLD_MS, so that a wrong clock that is soon corrected deletes nothing.
 * Likewise at the start, or after a sleep of the machine, if the clock is more than a day later than when the
 * database last worked: it was off, or the clock is wrong.
 *
 * Threads: all functions except new, free, load and close require the background's step_lock (background.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_TIMEKEEPER_H
#define THORPE_TABLE_TIMEKEEPER_H

#include "table/db.h"

#define TTL_HOLD_MS   (15 * 60 * 1000)
#define CLOCK_JUMP_MS 60000 /* a larger difference between two rounds is not drift */

struct timekeeper;

/* NULL: out of memory. */
struct timekeeper *timekeeper_new(void);
void timekeeper_free(struct timekeeper *k); /* NULL is fine */
/* At opening, after the last sequence number is known. Logs it if the clock was set back since the database was
 * last open. Errors: INTERNAL (disk, damage). */
bool timekeeper_load(struct db *db, struct arena *a, struct error *e) MUST_CHECK;
/* One round: time, marks, the horizon, jumps (a warning each); saves at intervals. Costs a few comparisons if there
 * is nothing to do. Retries failed saves later. */
void timekeeper_tick(struct db *db, struct arena *a);
/* The time TTL uses, as of the last tick: sweeps after a jump take it into account. */
int64_t timekeeper_ttl_ms(struct db *db);
/* Call before trimming. False: not saved. */
bool timekeeper_save_horizon(struct db *db, struct arena *a) MUST_CHECK;
/* Saves for the last time; the writer must still run. */
void timekeeper_close(struct db *db);

#endif
