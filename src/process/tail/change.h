/* A change as the stream has it, and reading them.
 *
 * Goes through the backend (DescribeStream, GetShardIterator, GetRecords), so that it is the same on any DynamoDB.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_CHANGE_H
#define THORPE_PROCESS_CHANGE_H

#include "app/entity.h"
#include "process/tail/spot.h"

struct change {
	struct slice sequence;        /* as on the wire; spot.h */
	int events;                   /* one of ON_CREATED, ON_UPDATED, ON_DELETED */
	bool by_ttl;
	int64_t created_ms;
	struct value key;             /* of the table */
	struct value old_image, new_image; /* stored; absent where there is none */
	const struct entity *entity;  /* of the new image, else of the old one; NULL: a companion, a stranger */
	struct slice unfit;           /* why that image does not fit the entity (entity_fits()); empty: it does. Nothing follows from
				       * such a change: stations report it (change_is_passed_over()) and go on */
};

/* The change of an item that does not fit its design: counts it in the run, as a station must that it concerns. */
bool change_is_passed_over(struct run *r, const struct change *c);

struct shard {
	struct slice id;
	struct slice parent;          /* empty: none */
	bool closed;                  /* ends with what is in it */
};

struct shard_list {
	struct slice stream_arn;
	struct shard *list;
	size_t count;
};
const struct shard *shard_list_find(const struct shard_list *l, struct slice id); /* NULL: not listed */

/* The shards of the design's stream now. NOT_FOUND: the table has none. */
bool change_shards(struct run *r, struct shard_list *out) MUST_CHECK;

/* Where in a shard: after a sequence number, at the oldest record there is, at the end, or at a time (replay). */
struct shard_position {
	enum { AT_OLDEST, AT_LATEST, AFTER_SEQUENCE, AT_TIME } where;
	struct slice sequence;
	int64_t time_ms;
};

struct change_page {
	struct change *list;
	size_t count;
	struct slice iterator;        /* to go on; empty: the shard has ended */
	bool trimmed;                 /* what was asked for is older than the stream keeps, and there is nothing else in it */
};

/* *iterator empty: what it would begin with is older than the stream keeps; take AT_OLDEST. AT_TIME is where AT_OLDEST is, for
 * a stream cannot be asked for a time: whoever reads passes over what is older. NOT_FOUND: the stream or the shard is gone. */
bool change_iterator(struct run *r, struct slice stream_arn, struct slice shard, const struct shard_position *at,
		     struct slice *iterator) MUST_CHECK;
/* At most `limit` (1..1000). An expired iterator is BUSY: take a new one from the last sequence. NOT_FOUND as above. */
bool change_read(struct run *r, struct slice iterator, int limit, struct change_page *out) MUST_CHECK;

#endif
