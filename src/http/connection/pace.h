/* Whether a body comes in fast enough, by what has come within the last seconds: a window of a few slots, the oldest of which
 * is dropped when a new one begins. What came before the window counts for nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_PACE_H
#define THORPE_HTTP_CONNECTION_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_SLOTS 4

struct pace {
	uint64_t since; /* when the slot began */
	size_t before;  /* bytes that had come by then */
	size_t slots[PACE_SLOTS];
	unsigned at, full;
};

static inline void pace_begin(struct pace *p, uint64_t now)
{
	*p = (struct pace){ .since = now };
}

/* To be asked now and then, with all bytes that have come so far. However long the asker was busy, one slot at most ends: what a
 * client sent meanwhile has not been read yet. */
static inline bool pace_is_slow(struct pace *p, uint64_t now, size_t bytes, uint64_t window_ms, uint64_t rate)
{
	uint64_t sum = 0;

	if (now - p->since < window_ms / PACE_SLOTS)
		return false;
	p->slots[p->at++ % PACE_SLOTS] = bytes - p->before;
	p->before = bytes;
	p->since = now;
	if (p->full < PACE_SLOTS)
		p->full++;
	for (unsigned i = 0; i < PACE_SLOTS; i++)
		sum += p->slots[i];
	return p->full == PACE_SLOTS && sum < rate * window_ms / 1000;
}

#endif
