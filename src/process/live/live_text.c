/* Server-sent events, as HTML has them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/live/live_internal.h"

static const char *const names[] = {
	[LIVE_ADDED] = "added",
	[LIVE_CHANGED] = "changed",
	[LIVE_REMOVED] = "removed",
	[LIVE_RESET] = "reset",
};

void live_text_events(struct buf *b, const struct read_live_event *events, size_t n, struct slice id)
{
	for (size_t i = 0; i < n; i++) {
		buf_printf(b, "event: %s\n", names[events[i].kind]);
		if (i + 1 ==
		    n) /* only the last event of a change has its id: with the first alone, a watcher does not have the whole change */
			buf_printf(b, "id: %.*s\n", SLICE_ARG(id));
		buf_lit(b, "data: ");
		buf_put(b, events[i].data); /* JSON, which has no line ends in it */
		buf_lit(b, "\n\n");
	}
}

void live_text_plain(struct buf *b, const char *event, struct slice id)
{
	buf_printf(b, "event: %s\nid: %.*s\ndata: {}\n\n", event, SLICE_ARG(id));
}
