/* Power loss, simulated: a workload of the journal is stopped at each of its calls in turn, and the disk keeps, drops,
 * tears and reorders what was not synced. After each the journal is opened: everything acknowledged is there, in
 * order, nothing half; and then it goes on.
 *
 * POWER_SEEDS=n tries more workloads; POWER_SEED=n one of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <xxhash.h>
#include "base/log.h"
#include "power.h"
#include "store/journal/internal.h"

#define NUMBERS     4000
#define STEPS       60
#define STALE       8
#define FIRST_BYTES 8192
#define FULL_BYTES  32768

/* What a database knows, in place of RocksDB; and what the test knows of it. */
struct model {
	uint64_t applied; /* last record that was applied; those after `files` are in memory */
	struct journal_point files;
	uint64_t run_of[NUMBERS];  /* that the record was written by */
	uint64_t id[NUMBERS];      /* of the record with that number: what was applied, or written last */
	uint64_t dropped[NUMBERS]; /* id that was tried last for the number */
	/* Ids that were refused and could not be taken back: one may come back, if nothing was acknowledged in its
	 * place. */
	uint64_t stale[NUMBERS][STALE];
	uint64_t acknowledged; /* this record and all before it were said to be on disk */
	uint64_t tried;        /* number that was being written when the disk stopped; 0: none */
	uint64_t next_id;
	uint64_t ended;
	bool no_room;
	bool in_order; /* what was replayed came in order, each as it was written */
};

struct world {
	struct power_disk disk;
	struct model m;
	struct journal *j;
	uint64_t random;
	bool relaxed, alike;
};

static uint64_t chance(struct world *w, uint64_t n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random % n;
}

/* ---- the database's side of the journal ---- */

static uint64_t id_in(struct slice record)
{
	uint64_t id = 0, other;

	/* The same number all over: a record that is half another one is seen. */
	if (record.n < 8)
		return 0;
	memcpy(&id, record.p, 8);
	for (size_t i = 8; i + 8 <= record.n; i += 8) {
		memcpy(&other, record.p + i, 8);
		if (other != id)
			return 0;
	}
	return id;
}

static bool is_stale(const struct model *m, uint64_t n, uint64_t id)
{
	for (int i = 0; i < STALE; i++)
		if (m->stale[n][i] == id)
			return true;
	return false;
}

static bool replayed(void *owner, struct slice record, struct reason *r)
{
	struct model *m = owner;
	uint64_t n = ++m->applied, id = id_in(record);

	(void)r;
	if (!id || id != m->id[n]) {
		/* The one whose writing was never answered may be there. */
		if (id && ((n == m->tried && id == m->dropped[n]) || (n > m->acknowledged && is_stale(m, n, id))))
			m->ended = n; /* and nothing after it, which would follow another */
		else
			m->in_order = false;
		m->id[n] = id;
	} else if (m->ended) {
		m->in_order = false;
	}
	return true;
}

static bool on_disk(void *owner, uint64_t *number)
{
	*number = ((struct model *)owner)->files.number;
	return true;
}

static bool has_room(void *owner, uint64_t bytes)
{
	(void)bytes;
	return !((struct model *)owner)->no_room;
}

static void flush(void *owner)
{
	struct model *m = owner;

	m->files.number = m->applied;
	m->files.run = m->run_of[m->applied];
}

static struct journal_options options_of(struct world *w)
{
	return (struct journal_options){
		.io = &w->disk.io,
		.dir = "disk",
		.identity = "the same always",
		.after = w->m.files,
		.is_new = true,
		.by_hand = true,
		.segment_first = FIRST_BYTES,
		.segment_bytes = FULL_BYTES,
		.owner = &w->m,
		.apply = replayed,
		.on_disk = on_disk,
		.has_room = has_room,
		.flush = flush,
	};
}

/* ---- steps ---- */

static void say(const struct world *w, const char *what)
{
	fail_msg("%s: files have %lu, applied %lu, acknowledged %lu", what, (unsigned long)w->m.files.number,
		 (unsigned long)w->m.applied, (unsigned long)w->m.acknowledged);
}

static bool open_world(struct world *w, struct reason *r)
{
	struct journal_options o = options_of(w);

	w->m.applied = w->m.files.number;
	w->m.in_order = true;
	w->m.ended = 0;
	/* What was in memory is replayed, or was never acknowledged. */
	if (!journal_open(&o, &w->j, r)) {
		w->j = NULL;
		return false;
	}
	for (uint64_t n = 1; n <= w->m.applied; n++) /* the run that has it now does not matter */
		if (!w->m.run_of[n])
			w->m.run_of[n] = w->j->before;
	return true;
}

static void append(struct world *w, size_t size, bool sync, bool keep)
{
	struct model *m = &w->m;
	struct reason r = { 0 };
	struct journal_point at = journal_begin(w->j);
	char *p = calloc(1, size);
	uint64_t id = ++m->next_id;
	bool ok;

	if (at.number >= NUMBERS)
		abort();
	for (size_t i = 0; i + 8 <= size; i += 8)
		memcpy(p + i, &id, 8);
	m->tried = at.number;
	m->dropped[at.number] = id;
	if (chance(w, w->alike ? 6 : 20) == 0) { /* the disk is full for a moment, and takes some of it */
		w->disk.fail_at = w->disk.calls + 1;
		w->disk.fail_with = ENOSPC;
	}
	ok = journal_append(w->j, slice_make(p, size), sync, &r);
	w->disk.fail_at = -1;
	if (!ok || !keep)
		m->stale[at.number][id % STALE] = id;
	free(p);
	if (ok && keep) {
		m->id[at.number] = id;
		m->run_of[at.number] = at.run;
		m->applied = at.number;
	}
	/* Sometimes a record cannot be taken back: the disk is full in between. */
	if (ok && !keep && chance(w, 2)) {
		w->disk.fail_at = w->disk.calls + 1;
		w->disk.fail_with = ENOSPC;
	}
	journal_end(w->j, ok && keep);
	if (ok && keep && sync)
		m->acknowledged = at.number;
	/* What was taken back never comes again; what was not may (J4). */
	if (!w->disk.dead && !w->j->broken.failed && ok && !keep && w->disk.fail_at < 0)
		memset(m->stale[at.number], 0, sizeof(m->stale[0]));
	if (!w->disk.dead && !w->j->broken.failed)
		m->tried = 0;
	w->disk.fail_at = -1;
}

static void sync_world(struct world *w)
{
	uint64_t upto = w->m.applied;
	struct reason r = { 0 };

	if (journal_sync(w->j, &r) && upto > w->m.acknowledged)
		w->m.acknowledged = upto;
}

static void step(struct world *w)
{
	uint64_t what = chance(w, 100);
	size_t size = 8 + chance(w, 3) * chance(w, 1200);

	if (chance(w, 25) == 0)
		size = FULL_BYTES / 2 + chance(w, FULL_BYTES);
	if (w->alike) /* then what an earlier use of a segment left stands where the next record would */
		size = 2 * JOURNAL_BLOCK - JOURNAL_RECORD_HEAD;
	if (what < 60)
		append(w, size, !w->relaxed || chance(w, 3) == 0, true);
	else if (what < 70)
		append(w, size, false, true);
	else if (what < 76)
		append(w, size, chance(w, 2), false);
	else if (what < 82)
		sync_world(w);
	else if (what < 88 && !w->disk.dead)
		flush(&w->m);
	else
		journal_tend(w->j);
}

static void close_world(struct world *w, bool cleanly)
{
	if (!w->j)
		return;
	if (cleanly && !w->disk.dead)
		flush(&w->m);
	journal_close(w->j, cleanly && !w->disk.dead);
	w->j = NULL;
}

static void work(struct world *w, int steps)
{
	for (int i = 0; i < steps && !w->disk.dead; i++)
		step(w);
}

/* ---- after a loss ---- */

static void check(struct world *w, uint64_t acknowledged)
{
	struct model *m = &w->m;

	if (!m->in_order)
		say(w, "a record came back that was not written there, or half");
	if (m->applied < acknowledged)
		say(w, "an acknowledged record is gone");
	/* All of it is on disk from here on. */
	m->acknowledged = m->applied;
	for (uint64_t n = m->applied + 1; n < NUMBERS; n++)
		m->id[n] = m->run_of[n] = 0;
	memset(m->stale, 0, sizeof(m->stale));
	m->tried = 0;
}

static void reopen(struct world *w)
{
	uint64_t acknowledged = w->m.acknowledged;
	struct reason r = { 0 };

	if (!open_world(w, &r))
		fail_msg("it does not open after a power loss: %s", r.text);
	check(w, acknowledged);
}

static void start(struct world *w, uint64_t seed)
{
	struct reason r = { 0 };

	memset(&w->m, 0, sizeof(w->m));
	w->j = NULL;
	w->random = (seed + 7) * UINT64_C(0xD1B54A32D192ED03);
	w->relaxed = seed % 3 == 2;
	w->alike = seed % 4 == 3;
	power_init(&w->disk, seed, seed % 2 == 0);
	if (!open_world(w, &r))
		fail_msg("%s", r.text);
}

/* One life: a workload that dies at a call (0: at none). */
static long live(struct world *w, uint64_t seed, long die_at)
{
	start(w, seed);
	w->disk.calls = 0;
	w->disk.die_at = die_at;
	work(w, STEPS);
	return w->disk.calls;
}

/* When a database was closed, `acknowledged` says so, also after a power loss: it is the witness of RocksDB's own
 * files. */
static void check_mark(struct world *w)
{
	struct journal_mark mark;
	struct reason r = { 0 };

	power_lose(&w->disk, POWER_DROPS);
	assert_true(journal_mark_read(&w->disk.io, &mark, &r));
	assert_true(mark.is_whole);
	assert_int_equal(mark.number, w->m.applied);
}

static void lose_power_at(struct world *w, uint64_t seed, long at, enum power_loss how)
{
	(void)live(w, seed, at);
	close_world(w, false);
	w->disk.random += (uint64_t)at * 31 + how;
	/* A kill keeps all, but not on disk: the loss comes later. */
	if (how == POWER_KEEPS)
		power_kill(&w->disk);
	else
		power_lose(&w->disk, how);
	w->m.no_room = (seed + (uint64_t)at) % 3 == 0; /* then nothing is flushed, and the old segments stay */
	reopen(w);
	w->m.no_room = false;
	/* And once more, sooner or later. */
	w->disk.calls = 0;
	w->disk.die_at = 1 + (long)chance(w, 60);
	work(w, STEPS / 2);
	close_world(w, false);
	power_lose(&w->disk, (enum power_loss)chance(w, POWER_LOSSES));
	reopen(w);
	work(w, 3);
	close_world(w, true);
	check_mark(w);
	reopen(w);
	close_world(w, false);
	power_release(&w->disk);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void losing_power_at_any_call_loses_nothing_acknowledged(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t only = number_from("POWER_SEED", UINT64_MAX), seeds = number_from("POWER_SEEDS", 12);
	unsigned long losses = 0;

	(void)state;
	for (uint64_t seed = only == UINT64_MAX ? 0 : only; seed < seeds || seed == only; seed++) {
		long calls = live(w, seed, 0);

		close_world(w, false);
		power_release(&w->disk);
		assert_true(calls > 20);
		for (long at = 1; at <= calls; at++) {
			for (int how = 0; how < POWER_LOSSES; how++) {
				lose_power_at(w, seed, at, (enum power_loss)how);
				losses++;
			}
		}
	}
	print_message("power was lost %lu times\n", 2 * losses);
	free(w);
}

/* ---- a segment as the version before wrote it ---- */

#define OLD_SALT UINT64_C(0x1234567890abcdef)

static size_t put_old(char *to, uint64_t number)
{
	uint64_t id = number + 100;

	store_put_be64(to + 8, number);
	store_put_be32(to + 16, 16);
	store_put_be32(to + 20, 0);
	memcpy(to + 24, &id, 8);
	memcpy(to + 32, &id, 8);
	store_put_be64(to, XXH3_64bits_withSeed(to + 8, 32, OLD_SALT));
	return 40;
}

static void make_old(struct world *w, uint64_t records)
{
	static char bytes[2 * JOURNAL_BLOCK];
	size_t at = JOURNAL_BLOCK;
	struct journal_file f;
	bool durable = false;

	memset(w, 0, sizeof(*w));
	power_init(&w->disk, 1, false);
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, "thorpe journal\n", 16);
	store_put_be64(bytes + 16, OLD_SALT);
	store_put_be64(bytes + 24, 1);
	store_put_be64(bytes + 32, XXH3_64bits(bytes, 32));
	for (uint64_t n = 1; n <= records; n++) {
		at += put_old(bytes + at, n);
		w->m.id[n] = n + 100;
	}
	assert_int_equal(w->disk.io.calls->open(&w->disk.io, "journal.1", JOURNAL_CREATE, &f), 0);
	assert_int_equal(w->disk.io.calls->write(&w->disk.io, &f, bytes, sizeof(bytes), 0, &durable), 0);
	w->disk.io.calls->close(&w->disk.io, &f);
}

static void a_journal_of_the_version_before_is_replayed(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct reason r = { 0 };

	(void)state;
	make_old(w, 5);
	w->m.files.number = 2; /* whose run nobody wrote down */
	assert_true(open_world(w, &r));
	assert_true(w->m.in_order);
	assert_int_equal(w->m.applied, 5);
	append(w, 100, true, true);
	close_world(w, false);
	power_kill(&w->disk);
	assert_true(open_world(w, &r));
	assert_int_equal(w->m.applied, 6);
	close_world(w, false);
	power_release(&w->disk);
	free(w);
}

static void damage_in_a_journal_of_the_version_before_is_seen(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct journal_file f;
	struct reason r = { 0 };
	bool durable = false;

	(void)state;
	make_old(w, 5);
	assert_int_equal(w->disk.io.calls->open(&w->disk.io, "journal.1", JOURNAL_WRITE, &f), 0);
	assert_int_equal(w->disk.io.calls->write(&w->disk.io, &f, "x", 1, JOURNAL_BLOCK + 2 * 40 + 30, &durable), 0);
	w->disk.io.calls->close(&w->disk.io, &f);
	assert_false(open_world(w, &r));
	assert_non_null(strstr(r.text, "should have write 3"));
	assert_non_null(strstr(r.text, "2 whole batches"));
	power_release(&w->disk);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losing_power_at_any_call_loses_nothing_acknowledged),
		cmocka_unit_test(a_journal_of_the_version_before_is_replayed),
		cmocka_unit_test(damage_in_a_journal_of_the_version_before_is_seen),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
