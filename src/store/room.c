/* Whether there is room for a write.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include "store/health.h"

/* The reserve is never more than this part of a small disk. */
#define RESERVE_PART 16
/* How long a write waits for RocksDB. */
#define WAIT_MS      2000
#define WAIT_LOOK_MS 20

bool room_look(const struct store *s, struct room *r)
{
	struct statvfs fs;

	if (s->dir_fd < 0 || fstatvfs(s->dir_fd, &fs) < 0)
		return false;
	r->free = (uint64_t)fs.f_bavail * fs.f_frsize;
	r->total = (uint64_t)fs.f_blocks * fs.f_frsize;
	r->reserve = r->total / RESERVE_PART;
	if (r->reserve > s->reserve)
		r->reserve = s->reserve;
	return true;
}

static uint64_t sum_of(struct store *s, const char *property)
{
	uint64_t total = 0;

	for (int f = 0; f < STORE_FAMILIES; f++) {
		uint64_t bytes = 0;

		if (rocksdb_property_int_cf(s->db, s->families[f], property, &bytes) == 0)
			total += bytes;
	}
	return total;
}

uint64_t room_unflushed(struct store *s)
{
	return s->db ? sum_of(s, "rocksdb.cur-size-all-mem-tables") : 0;
}

uint64_t room_data(struct store *s)
{
	return s->db ? sum_of(s, "rocksdb.total-sst-files-size") : 0;
}

uint64_t room_compacting(struct store *s)
{
	uint64_t data;

	if (atomic_load(&s->compactions) <= 0)
		return 0;
	data = room_data(s);
	return data < ROOM_TO_COMPACT ? data : ROOM_TO_COMPACT;
}

uint64_t room_active(struct store *s)
{
	return s->db ? sum_of(s, "rocksdb.cur-size-active-mem-table") : 0;
}

/* The size of the journal's files: an upper bound for what its replay puts into memory. */
static uint64_t journal_bytes(const struct store *s)
{
	DIR *d = opendir(s->dir);
	struct dirent *entry;
	uint64_t total = 0;
	struct stat st;

	while (d && (entry = readdir(d)))
		if (strncmp(entry->d_name, "journal.", 8) == 0 &&
		    fstatat(s->dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			total += (uint64_t)st.st_size;
	if (d)
		closedir(d);
	return total;
}

void room_before_open(struct store *s)
{
	struct room r;

	if (s->read_only || !room_look(s, &r))
		return;
	s->disk_bytes = r.total;
	s->is_swollen = r.free < r.reserve + journal_bytes(s);
	ballast_for_opening(s);
}

bool store_has_room(struct store *s, size_t bytes)
{
	uint64_t above, busy;
	struct room r;

	if (!s->reserve || !room_look(s, &r))
		return true; /* the write itself will report it */
	if (r.free < r.reserve + bytes)
		return false;
	above = r.free - r.reserve - bytes;
	if (above >= ROOM_PLENTY)
		return true;
	busy = room_unflushed(s) + room_compacting(s);
	if (above < 2 * busy)
		watch_wake(s);
	return above >= busy;
}

/* Whether RocksDB will free the missing room. */
static bool is_worth_waiting(struct store *s, size_t bytes)
{
	struct room r;

	return room_look(s, &r) && r.free >= r.reserve + bytes &&
	       (room_compacting(s) || r.free >= room_unflushed(s) + ROOM_MB);
}

bool room_wait(struct store *s, size_t bytes)
{
	struct timespec pause = { .tv_nsec = WAIT_LOOK_MS * 1000000 };

	for (int ms = 0; ms < WAIT_MS; ms += WAIT_LOOK_MS) {
		if (store_has_room(s, bytes))
			return true;
		if (atomic_load_explicit(&s->refusal, memory_order_relaxed) != TROUBLE_NONE ||
		    !is_worth_waiting(s, bytes))
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The ballast grows back first: the disk may fill up again at once. */
bool room_is_back(struct store *s)
{
	struct room r;

	if (!room_look(s, &r))
		return true;
	if (!store_has_room(s, r.reserve / 4))
		return false;
	ballast_grow(s);
	return store_has_room(s, r.reserve / 4);
}

bool store_takes_growth(struct store *s)
{
	if (atomic_load_explicit(&s->refusal, memory_order_relaxed) != TROUBLE_ROOM)
		return true;
	return room_is_back(s);
}

bool room_for_a_note(struct store *s)
{
	struct room r;

	room_to_free(s, 0);
	return !s->reserve || !room_look(s, &r) || r.free >= ROOM_LEAST;
}

void room_to_free(struct store *s, size_t bytes)
{
	uint64_t need = ROOM_LEAST + 2 * (uint64_t)bytes;
	struct room r;

	if (s->reserve && room_look(s, &r) && r.free < need)
		ballast_give(s, need + ROOM_MB - r.free);
}
