/* Whether a body arrives fast enough, measured over the last seconds: a window of a few slots, of which the oldest is
 * dropped when a new one begins. Bytes before the window do not count.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_PACE_H
#define THORPE_HTTP_CONNECTION_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_SLOTS 4

struct pace {
	uint64_t since; /* start of the slot */
	size_t before;  /* bytes received by then */
	size_t slots[PACE_SLOTS];
	unsigned at, full;
};

static inline void pace_begin(struct pace *p, uint64_t now)
{
	*p = (struct pace){ .since = now };
}

/* Call it at intervals, with all bytes received so far. At most one slot ends per call, however long the caller was
 * busy: bytes sent in the meantime have not been read yet. */
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
