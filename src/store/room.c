/* What keeps a full disk harmless: a write that would leave less than the reserve free is refused before the journal or RocksDB sees it.
 * So RocksDB has room to flush, and writing goes on at once when there is room again. If another process takes the room in between, the journal
 * refuses what it cannot write and tries again; RocksDB, whose flush failed, by itself within about five seconds after there is room.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/statvfs.h>
#include "base/log.h"
#include "store/internal.h"

/* The reserve is never more than this part of a small disk. */
#define RESERVE_PART 16

bool store_has_room(const struct store *s, size_t bytes)
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

void store_wrote(struct store *s, const struct reason *r)
{
	if (s->read_only)
		return;
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
