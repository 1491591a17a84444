/* A change: the stream's record, and what a design sees of it.
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
	bool follows; /* one half of an item's move after a parent that was renamed (app/write/renaming/renaming.h) */
	int64_t created_ms;
	struct value key;                  /* of the table */
	struct value old_image, new_image; /* stored; absent where there is none */
	const struct reply_record *record; /* as the stream gave it, with attributes that a design does not see */
	const struct entity *entity;       /* of the new image, else of the old one; NULL: no entity's */
	struct row old, now;               /* both images by that entity's slots, as they are stored */
	struct slice unfit; /* why that image does not fit the entity (entity_fits()); empty: it fits. Such a change has no
			     * effect: stations report it (change_is_passed_over()) and go on */
};

/* "created", "updated", "deleted", and back; other words are ON_UPDATED. */
const char *event_word(int event);
int event_named(struct slice word);

/* Finds the entity of its images and lays them out. */
void change_lay(struct run *r, struct change *c);
/* Whether the attribute has another value after the change. */
static inline bool change_differs(const struct change *c, const struct name *n)
{
	return !value_equal(row_get(&c->old, n), row_get(&c->now, n));
}

/* Whether the item does not fit its design; counts it in the run. */
bool change_is_passed_over(struct run *r, const struct change *c);

struct change_page {
	struct change *list;
	size_t count;
	struct slice iterator; /* continues; empty: the shard has ended */
	bool trimmed;          /* the stream has forgotten the position; the page is empty */
};

/* Records as changes of the design: fills the list and the count. False: run->problem. */
bool change_make(struct run *r, const struct reply_record *records, size_t n, struct change_page *out) MUST_CHECK;
/* As dyn_read_records(). */
bool change_read(struct run *r, struct slice iterator, int limit, struct change_page *out) MUST_CHECK;

#endif
