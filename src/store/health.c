/* Classifies failures: messages for clients, log lines, and the state of the store.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/health.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/log.h"
#include "store/room.h"

#define LOG_EVERY_MS 10000 /* between two lines about corruption */

#define WORDS(text)                       \
	{                                 \
		"" text, sizeof(text) - 1 \
	}
static const struct error internal = { .code = ERR_INTERNAL, .message = WORDS("Internal server error") };
static const struct error no_room = {
	.code = ERR_INTERNAL,
	.message = WORDS("The write was refused: no space left on the disk of the database. Deleting still works"),
};
static const struct error broken = {
	.code = ERR_INTERNAL,
	.message = WORDS("The write was refused: the disk of the database failed; Thorpe must be restarted"),
};

static bool has_any_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* RocksDB tells these apart only by their text. */
enum trouble trouble_of(const struct reason *r)
{
	static const char *const room[] = { "No space left", "no space left", "NoSpace", "quota exceeded", NULL };
	static const char *const other[] = { "out of memory", "too many for one write", NULL };

	if (!r->failed)
		return TROUBLE_NONE;
	if (strncmp(r->text, "Corruption", 10) == 0)
		return TROUBLE_CORRUPTION;
	if (has_any_of(r->text, room))
		return TROUBLE_ROOM;
	return has_any_of(r->text, other) ? TROUBLE_OTHER : TROUBLE_DISK;
}

/* ---- corruption ---- */

static void met_corruption(struct store *s, const char *where, const char *text)
{
	int64_t now = clock_monotonic_us() / 1000, last = atomic_load(&s->corruption_logged_ms);
	uint64_t count = atomic_fetch_add(&s->corruptions, 1) + 1;

	if (count > 1 && now - last < LOG_EVERY_MS)
		return;
	/* If several threads get here at once, one logs. */
	if (!atomic_compare_exchange_strong(&s->corruption_logged_ms, &last, now))
		return;
	log_error("store: %s met damaged data (%" PRIu64
		  " times since the start): %s. Other data can still be read. Stop the server and check it with "
		  "`thorpe verify`",
		  where, count, text);
}

bool health_read_failed(struct store *s, const struct reason *r, struct arena *a, struct error *e)
{
	(void)a;
	if (trouble_of(r) == TROUBLE_CORRUPTION)
		met_corruption(s, "a read", r->text);
	else if (!atomic_exchange(&s->read_failed, true))
		log_error("store: a read failed: %s", r->text);
	*e = internal;
	return false;
}

void health_background_failed(struct store *s, const struct reason *r)
{
	if (trouble_of(r) == TROUBLE_CORRUPTION)
		met_corruption(s, "a flush or compaction", r->text);
	else if (trouble_of(r) != TROUBLE_OTHER)
		health_wrote(s, r, false);
}

/* ---- writes ---- */

/* One line when writes begin to fail, one when they work again. */
static void set_refusal(struct store *s, enum trouble t, const char *text)
{
	int was;

	if (atomic_load_explicit(&s->refusal, memory_order_relaxed) == (int)t)
		return;
	was = atomic_exchange(&s->refusal, (int)t);
	if (was == (int)t)
		return;
	atomic_store(&s->live, UINT64_MAX); /* may have grown meanwhile */
	if (t == TROUBLE_ROOM)
		log_error("store: writes are refused until there is room: %s. Reads and deletions continue", text);
	else if (t != TROUBLE_NONE)
		log_error("store: writes are refused: %s", text);
	else
		log_info("store: writes work again");
}

void health_wrote(struct store *s, const struct reason *r, bool frees)
{
	enum trouble t = trouble_of(r);

	if (s->read_only || t == TROUBLE_OTHER)
		return;
	if (t != TROUBLE_NONE)
		log_debug("store: a write was not made: %s", r->text);
	if (t == TROUBLE_CORRUPTION)
		met_corruption(s, "a write", r->text);
	if (t == TROUBLE_NONE && atomic_load_explicit(&s->refusal, memory_order_relaxed) == TROUBLE_ROOM &&
	    (frees || !room_is_back(s)))
		return;
	set_refusal(s, t, r->text);
	if (t == TROUBLE_ROOM)
		watch_wake(s);
}

void health_room(struct store *s, bool has_room)
{
	int now = atomic_load_explicit(&s->refusal, memory_order_relaxed);

	if (has_room && now == TROUBLE_ROOM)
		set_refusal(s, TROUBLE_NONE, "");
	else if (!has_room && now == TROUBLE_NONE)
		set_refusal(s, TROUBLE_ROOM, "no space left on the disk of the database");
}

bool health_write_refused(const struct reason *r, struct error *e)
{
	switch (trouble_of(r)) {
	case TROUBLE_ROOM: *e = no_room; break;
	case TROUBLE_DISK: *e = broken; break;
	default: *e = internal;
	}
	return false;
}

/* ---- for monitoring ---- */

enum store_health store_health(const struct store *s)
{
	int refusal = atomic_load_explicit(&s->refusal, memory_order_relaxed);

	if (atomic_load_explicit(&s->corruptions, memory_order_relaxed))
		return STORE_CORRUPT;
	if (refusal == TROUBLE_NONE)
		return STORE_WELL;
	return refusal == TROUBLE_ROOM ? STORE_FULL : STORE_BROKEN;
}

const char *store_health_words(enum store_health h)
{
	switch (h) {
	case STORE_WELL: break;
	case STORE_FULL:
		return "the disk is full: writes are refused until there is room; reads and deletions continue";
	case STORE_BROKEN: return "the disk failed: writes are refused until a restart; the log says more";
	case STORE_CORRUPT: return "damaged data was found; the log says where";
	}
	return "ok";
}

uint64_t store_corruptions(const struct store *s)
{
	return atomic_load_explicit(&s->corruptions, memory_order_relaxed);
}

bool store_is_refusing(const struct store *s)
{
	return atomic_load_explicit(&s->refusal, memory_order_relaxed) != TROUBLE_NONE;
}
