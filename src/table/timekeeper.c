/* The database's own time, its marks, and detecting jumps of the wall clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/timekeeper.h"

#include "base/alloc.h"
#include "base/log.h"
#include "table/background.h"
#include "table/internal.h"
#include "table/layout.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)
#define INTERVALS 288              /* of marks within the retention time */
#define MARKS_MAX (INTERVALS + 12) /* INTERVALS, and some to spare */
/* A round takes a second. If more than this has passed, the machine slept, or the steady clock is not steady. */
#define ROUND_MOST_MS MINUTE_MS
#define QUIET_SAVE_MS HOUR_MS /* without new marks, saves only the time, for the next start */
#define CLOSE_SAVE_MS MINUTE_MS

/* All records up to `sequence` existed at `time_ms`. */
struct mark {
	uint64_t sequence;
	int64_t time_ms;
};

struct timekeeper {
	struct mark marks[MARKS_MAX]; /* both members rise */
	size_t mark_count;

	int64_t steady_ms, wall_ms; /* at the last tick */
	int64_t ahead_ms;           /* wall clock minus steady clock */

	bool is_holding;       /* TTL uses a different time than the wall clock's: */
	int64_t held_ahead_ms; /* ahead_ms before the jump */
	int64_t hold_until_ms; /* of the database's time */
	int64_t ttl_ms;

	int64_t saved_ms; /* in the database's time: the last attempt to save it */
	uint64_t saved_horizon;
	bool is_stored; /* a record exists on disk */
	bool has_tried; /* to make the first one */
};

struct timekeeper *timekeeper_new(void)
{
	return mem_zalloc(sizeof(struct timekeeper));
}

void timekeeper_free(struct timekeeper *k)
{
	mem_free(k);
}

int64_t timekeeper_ttl_ms(struct db *db)
{
	return db->timekeeper->ttl_ms;
}

/* ---- on disk ---- */

#define HEAD_SIZE 24
#define MARK_SIZE 16

static struct slice record_of(struct db *db, struct arena *a)
{
	const struct timekeeper *k = db->timekeeper;
	struct buf b;

	buf_init(&b, a);
	buf_room(&b, HEAD_SIZE + k->mark_count * MARK_SIZE);
	buf_be64(&b, (uint64_t)db_time_ms(db));
	buf_be64(&b, (uint64_t)k->ttl_ms); /* not the wall clock, which may yet prove wrong */
	buf_be64(&b, atomic_load(&db->stream_horizon));
	for (size_t i = 0; i < k->mark_count; i++) {
		buf_be64(&b, k->marks[i].sequence);
		buf_be64(&b, (uint64_t)k->marks[i].time_ms);
	}
	return buf_slice(&b);
}

static bool read_marks(struct timekeeper *k, struct slice record)
{
	if (record.n < HEAD_SIZE || (record.n - HEAD_SIZE) % MARK_SIZE || (record.n - HEAD_SIZE) / MARK_SIZE > MARKS_MAX)
		return false;
	for (size_t at = HEAD_SIZE; at < record.n; at += MARK_SIZE) {
		struct mark m = { read_be64(record.p + at), (int64_t)read_be64(record.p + at + 8) };
		const struct mark *before = k->mark_count ? &k->marks[k->mark_count - 1] : NULL;

		if (before && (m.sequence <= before->sequence || m.time_ms < before->time_ms))
			return false;
		k->marks[k->mark_count++] = m;
	}
	return true;
}

/* False: the next interval tries again. */
static bool save(struct db *db, struct arena *a)
{
	struct timekeeper *k = db->timekeeper;
	struct control c = { .kind = CONTROL_SAVE_TIME, .timeline = record_of(db, a) };
	uint64_t horizon = atomic_load(&db->stream_horizon);

	k->saved_ms = db_time_ms(db);
	k->has_tried = true;
	if (!background_control(db, &c, a))
		return false;
	k->is_stored = true;
	k->saved_horizon = horizon;
	return true;
}

bool timekeeper_save_horizon(struct db *db, struct arena *a)
{
	return db->timekeeper->saved_horizon == atomic_load(&db->stream_horizon) || save(db, a);
}

static int64_t interval_ms(struct db *db)
{
	return db_opts(db)->stream_retention_ms / INTERVALS;
}

static bool is_save_due(struct db *db)
{
	const struct timekeeper *k = db->timekeeper;
	int64_t passed = db_time_ms(db) - k->saved_ms;

	if (!k->is_stored && !k->has_tried)
		return true;
	return passed >= (k->mark_count || !k->is_stored ? interval_ms(db) : QUIET_SAVE_MS);
}

/* ---- marks and the horizon ---- */

static void drop_old_marks(struct db *db)
{
	struct timekeeper *k = db->timekeeper;
	int64_t oldest_ms = db_time_ms(db) - db_opts(db)->stream_retention_ms;
	size_t n = 0;

	while (n < k->mark_count && k->marks[n].time_ms <= oldest_ms)
		n++;
	if (!n)
		return;
	atomic_store(&db->stream_horizon, k->marks[n - 1].sequence + 1);
	k->mark_count -= n;
	memmove(k->marks, k->marks + n, k->mark_count * sizeof(*k->marks));
}

/* Publishes the newest mark older than 5/6 of the retention time: its records expire next. */
static void tell_aging(struct db *db)
{
	const struct timekeeper *k = db->timekeeper;
	int64_t retention_ms = db_opts(db)->stream_retention_ms,
		aging_ms = db_time_ms(db) - retention_ms + retention_ms / 6;
	uint64_t aging = 0;

	for (size_t i = 0; i < k->mark_count && k->marks[i].time_ms <= aging_ms; i++)
		aging = k->marks[i].sequence;
	if (aging)
		atomic_store(&db->stream_aging, aging);
}

static void add_mark(struct db *db)
{
	struct timekeeper *k = db->timekeeper;
	struct mark now = { atomic_load(&db->last_sequence), db_time_ms(db) };
	const struct mark *last = k->mark_count ? &k->marks[k->mark_count - 1] : NULL;

	if (last ? now.sequence <= last->sequence || now.time_ms - last->time_ms < interval_ms(db)
		 : now.sequence < atomic_load(&db->stream_horizon) || !now.sequence)
		return;
	if (k->mark_count == MARKS_MAX)
		k->mark_count--; /* cannot happen; its records would then expire with the new mark's */
	k->marks[k->mark_count++] = now;
}

/* ---- the wall clock ---- */

struct duration_text {
	char text[48];
};

static struct duration_text in_words(int64_t ms)
{
	long long s = ms / 1000;
	struct duration_text t;

	if (s >= 2 * 86400)
		snprintf(t.text, sizeof(t.text), "%lld days", s / 86400);
	else
		snprintf(t.text, sizeof(t.text), "%lld:%02lld:%02lld hours", s / 3600, s / 60 % 60, s % 60);
	return t;
}

static void hold_ttl(struct db *db, int64_t ahead_ms)
{
	struct timekeeper *k = db->timekeeper;

	if (!k->is_holding)
		k->held_ahead_ms = ahead_ms; /* jumps within jumps are measured from the first */
	k->is_holding = true;
	k->hold_until_ms = db_time_ms(db) + TTL_HOLD_MS;
}

static void watch_jumps(struct db *db)
{
	struct timekeeper *k = db->timekeeper;
	int64_t ahead_ms = k->wall_ms - k->steady_ms, jump = ahead_ms - k->ahead_ms;

	if (jump > CLOCK_JUMP_MS) {
		log_warn("the clock has jumped ahead by %s; TTL uses the time before the jump for %d minutes, "
			 "in case the clock is corrected",
			 in_words(jump).text, (int)(TTL_HOLD_MS / MINUTE_MS));
		hold_ttl(db, k->ahead_ms);
	} else if (jump < -CLOCK_JUMP_MS) {
		log_warn("the clock was set back by %s", in_words(-jump).text);
	}
	k->ahead_ms = ahead_ms;
}

static void set_ttl_time(struct db *db)
{
	struct timekeeper *k = db->timekeeper;
	int64_t held_ms = k->steady_ms + k->held_ahead_ms;

	if (k->is_holding && (k->wall_ms <= held_ms + CLOCK_JUMP_MS || db_time_ms(db) >= k->hold_until_ms))
		k->is_holding = false;
	k->ttl_ms = k->is_holding ? held_ms : k->wall_ms;
}

/* Compares with `then_ms`, the time when the database last worked; what the clock did since is uncertain. */
static void compare_with_last_time(struct db *db, int64_t then_ms)
{
	struct timekeeper *k = db->timekeeper;
	int64_t gone_ms = k->wall_ms - then_ms;

	if (gone_ms < -CLOCK_JUMP_MS)
		log_warn("the clock is %s behind the time when this database last worked", in_words(-gone_ms).text);
	if (gone_ms <= DAY_MS || !db->clock->steady_ms)
		return;
	log_info("this database last worked %s ago, by the clock; TTL begins in %d minutes", in_words(gone_ms).text,
		 (int)(TTL_HOLD_MS / MINUTE_MS));
	hold_ttl(db, then_ms - k->steady_ms);
}

/* ---- a round ---- */

static void move_time(struct db *db)
{
	struct timekeeper *k = db->timekeeper;
	int64_t steady = clock_steady_ms(db->clock), passed = steady - k->steady_ms, then_ms = k->wall_ms;
	bool has_slept = db->clock->steady_ms && passed > ROUND_MOST_MS;

	k->steady_ms = steady;
	k->wall_ms = clock_now_ms(db->clock);
	if (passed > 0)
		atomic_fetch_add(&db->time_ms, has_slept ? ROUND_MOST_MS : passed);
	if (has_slept)
		compare_with_last_time(db, then_ms);
}

void timekeeper_tick(struct db *db, struct arena *a)
{
	move_time(db);
	watch_jumps(db);
	set_ttl_time(db);
	drop_old_marks(db);
	add_mark(db);
	tell_aging(db);
	if (is_save_due(db))
		(void)!save(db, a);
}

bool timekeeper_load(struct db *db, struct arena *a, struct error *e)
{
	struct timekeeper *k = db->timekeeper;
	struct slice record;

	k->steady_ms = clock_steady_ms(db->clock);
	k->wall_ms = k->ttl_ms = clock_now_ms(db->clock);
	k->ahead_ms = k->wall_ms - k->steady_ms;
	if (!store_get(&(struct store_at){ db->store, NULL, STORE_META }, SLICE("timeline"), a, &record, &k->is_stored,
		       e))
		return false;
	k->saved_ms = k->wall_ms > 0 ? k->wall_ms : 0;
	if (k->is_stored) {
		if (!read_marks(k, record))
			return error_set(e, a, ERR_INTERNAL, "The record of its own time is damaged");
		k->saved_ms = (int64_t)read_be64(record.p);
		k->saved_horizon = read_be64(record.p + 16);
	}
	atomic_store(&db->time_ms, k->saved_ms);
	atomic_store(&db->stream_horizon, k->saved_horizon);
	if (k->is_stored)
		compare_with_last_time(db, (int64_t)read_be64(record.p + 8));
	set_ttl_time(db);
	return true;
}

void timekeeper_close(struct db *db)
{
	struct arena a;

	if (db_time_ms(db) - db->timekeeper->saved_ms < CLOSE_SAVE_MS)
		return;
	arena_init(&a);
	ARENA_TRY(&a, { (void)!save(db, &a); }, {});
	arena_release(&a);
}
