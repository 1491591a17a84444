/* A change, as the stream has it and as a design sees it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_CHANGE_H
#define THORPE_PROCESS_CHANGE_H

#include "app/db/dyn_stream.h"
#include "app/entity/entity.h"
#include "process/tail/spot.h"

struct change {
	struct slice sequence; /* as on the wire; spot.h */
	int events;            /* one of ON_CREATED, ON_UPDATED, ON_DELETED */
	bool by_ttl;
	int64_t created_ms;
	struct value key;                  /* of the table */
	struct value old_image, new_image; /* stored; absent where there is none */
	const struct reply_record *record; /* as the stream gave it: images with whatever a design does not see */
	const struct entity *entity;       /* of the new image, else of the old one; NULL: a companion, a stranger */
	struct slice unfit; /* why that image does not fit the entity (entity_fits()); empty: it does. Nothing follows from
				       * such a change: stations report it (change_is_passed_over()) and go on */
};

/* The change of an item that does not fit its design: counts it in the run, as a station must that it concerns. */
bool change_is_passed_over(struct run *r, const struct change *c);

struct change_page {
	struct change *list;
	size_t count;
	struct slice iterator; /* to go on; empty: the shard has ended */
	bool trimmed;          /* what was asked for is older than the stream keeps, and there is nothing else in it */
};

/* Records as changes of the design: fills the list and the count. False: run->problem. */
bool change_make(struct run *r, const struct reply_record *records, size_t n, struct change_page *out) MUST_CHECK;
/* As dyn_read_records(). */
bool change_read(struct run *r, struct slice iterator, int limit, struct change_page *out) MUST_CHECK;

#endif
