/* A position in a whole stream: a spot in each of its shards. A watcher of a live list keeps its text, and brings it
 * back to this server or another.
 *
 * Text: one part per shard, joined by dots. A part is eight hexadecimal digits (a hash of the shard's id), and then
 *     -<sequence>   seen up to and including it
 *     ~<ms>         read from its end on since then, without a change (a stream does not say where its end is)
 *     _             nothing seen
 *
 * Of shards that are not in it, children of one that is have not been seen, and parents of one that is have been.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_TAIL_MARK_H
#define THORPE_PROCESS_TAIL_MARK_H

#include "base/error.h"
#include "process/tail/spot.h"

#define MARK_MOST      32 /* shards; a stream with more has no text */
#define MARK_TEXT_ROOM (MARK_MOST * (SPOT_ROOM + 10) + 1)

enum mark_kind { MARK_AFTER, MARK_SINCE, MARK_START };
struct mark_part {
	uint32_t shard; /* a hash of its id */
	enum mark_kind kind;
	struct spot at;   /* AFTER */
	int64_t since_ms; /* SINCE */
};
struct mark {
	struct mark_part list[MARK_MOST];
	size_t count;
	bool is_full; /* there are more */
};

struct mark_part *mark_add(struct mark *m, struct slice shard);              /* as MARK_START; NULL: it is full now */
const struct mark_part *mark_find(const struct mark *m, struct slice shard); /* NULL: not in it */
/* Returns the text's length; 0: there is none. */
size_t mark_text(const struct mark *m, char text[MARK_TEXT_ROOM]);
bool mark_parse(struct slice text, struct mark *out) MUST_CHECK;

#endif
