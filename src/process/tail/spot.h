/* A position in a shard: everything up to and including one sequence number has been done.
 *
 * All consumers of a stream (tail.h) keep a position in memory in this form. The table of the checkpoints has the same
 * text; mark.h is a position in several shards.
 *
 * Invariant: the text is a sequence number as the stream gave it (change_read() refuses longer ones), or empty: before
 * the oldest.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_TAIL_SPOT_H
#define THORPE_PROCESS_TAIL_SPOT_H

#include "base/slice.h"

#define SPOT_ROOM 64 /* DynamoDB's numbers have 40 digits at most */

struct spot {
	char text[SPOT_ROOM];
};

static inline struct slice spot_sequence(const struct spot *p)
{
	return slice_str(p->text);
}

static inline bool spot_is_empty(const struct spot *p)
{
	return !p->text[0];
}

/* A sequence that does not fit becomes empty. */
void spot_set(struct spot *p, struct slice sequence);

/* Orders two sequence numbers of a shard: less than, equal to or more than 0. Leading zeros do not matter; an empty
 * one comes first. */
int sequence_compare(struct slice a, struct slice b);

static inline bool spot_is(const struct spot *p, struct slice sequence)
{
	return slice_is(sequence, p->text);
}

/* As sequence_compare(). */
static inline int spot_compare(const struct spot *p, struct slice sequence)
{
	return sequence_compare(spot_sequence(p), sequence);
}

#endif
