/* What keeps a full disk harmless: when RocksDB may be given a write, and when not.
 *
 * RocksDB recovers by itself from a log file it could not write, within about five seconds after
 * there is room: it flushes its memtables and starts a new log. But when all memtables are empty it
 * believes to have recovered without starting a new one, and the next write to the broken log stops
 * the process (an assertion, in builds that have them) or makes it refuse writes for good.
 *   R1  A write that would leave less than the reserve free is refused here, before RocksDB sees
 *       it; so it has room to flush, and writing goes on at once when there is room again.
 *   R2  If its log breaks nonetheless (another process took the room in between), nothing more is
 *       written or synced before there is a log file newer than the broken one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include "base/log.h"
#include "store/internal.h"

/* The reserve is never more than this part of a small disk. */
#define RESERVE_PART 16

static bool has_room(const struct store *s, size_t bytes)
{
	struct statvfs fs;
	uint64_t reserve;

	if (s->dir_fd < 0 || fstatvfs(s->dir_fd, &fs) < 0)
		return true; /* then the write itself tells */
	reserve = (uint64_t)fs.f_blocks * fs.f_frsize / RESERVE_PART;
	if (reserve > s->reserve)
		reserve = s->reserve;
	return !s->reserve || (uint64_t)fs.f_bavail * fs.f_frsize >= reserve + bytes;
}

bool store_may_sync(struct store *s, struct reason *r)
{
	unsigned long bad = atomic_load_explicit(&s->bad_log, memory_order_relaxed);

	if (!bad || store_newest_log(s) > bad)
		return true;
	r->failed = true;
	snprintf(r->text, sizeof(r->text),
		 "the log file %06lu.log in %s could not be written; if freeing space on the disk "
		 "does not help within seconds, Thorpe must be restarted", bad, s->dir);
	return false;
}

bool store_may_write(struct store *s, size_t bytes, struct reason *r)
{
	if (!store_may_sync(s, r))
		return false;
	if (has_room(s, bytes))
		return true;
	r->failed = true;
	snprintf(r->text, sizeof(r->text), "no space left on the disk of %s", s->dir);
	return false;
}

/* The number in "…/000032.log: No space left on device"; 0 when no log file is named. */
static unsigned long named_log(const char *text)
{
	const char *at = strstr(text, ".log: "), *digits = at;

	while (digits && digits > text && isdigit((unsigned char)digits[-1]))
		digits--;
	return digits && digits < at ? strtoul(digits, NULL, 10) : 0;
}

void store_wrote(struct store *s, const struct reason *r)
{
	if (s->read_only)
		return;
	if (r->failed && strncmp(r->text, "IO error", 8) == 0 && named_log(r->text))
		atomic_store(&s->bad_log, named_log(r->text));
	else if (!r->failed && atomic_load_explicit(&s->bad_log, memory_order_relaxed))
		atomic_store(&s->bad_log, 0);
	/* One line when writes begin to fail, one when they work again. */
	if (atomic_load_explicit(&s->refusing, memory_order_relaxed) == r->failed ||
	    atomic_exchange(&s->refusing, r->failed) == r->failed)
		return;
	if (r->failed)
		log_error("store: writes are refused: %s", r->text);
	else
		log_info("store: writes work again");
}

bool store_is_refusing(const struct store *s)
{
	return atomic_load_explicit(&s->refusing, memory_order_relaxed);
}
