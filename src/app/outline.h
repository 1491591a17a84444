/* What can be told of each entity before any request: how its items are written, whether a key tells the entity, who may.
 *
 * Items have their attributes in order of the names' bytes, and so has an outline: one walk through both finds every
 * attribute of an item. A page of rows is laid out so, row by row, and whoever then wants an attribute (the key, the rule, the
 * JSON, the ETag) knows its place.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_OUTLINE_H
#define THORPE_APP_OUTLINE_H

#include "app/run.h"
#include "design/term_plan.h"

struct outline_name {
	struct slice name;
	struct slice label;    /* ,"name": and OUTLINE_BEYOND bytes of anything behind it */
	struct slice encoded;  /* as it stands in an item: its length, its bytes */
	uint64_t head[2], head_mask[2]; /* the beginning of that, and which bits of it there are */
	uint32_t place;        /* in the order of writing */
	bool hidden, private_, compressed;
	bool plain;            /* none of these */
	bool tagged;           /* part of the validator: no counter, and nothing that hangs on one */
};

#define OUTLINE_BEYOND 32
#define OUTLINE_NO_PLACE UINT32_MAX

struct outline_key { /* a template without a condition, and the place of what it makes */
	uint32_t place;
	const struct template *template;
	/* template_is_simple() of it: */
	bool simple, rest;
	char sign;
	struct slice text;
};

struct outline {
	/* Attributes and keys that are shown; then, not written: other keys, the ttl attribute, what rules read. */
	const struct outline_name *sorted; /* by name */
	const struct outline_name *const *placed; /* the same by place */
	size_t count;
	size_t written; /* the places before this are */
	size_t label_size; /* of all labels */
	bool has_private;
	bool alone; /* no item of another entity, companion or login can have a key of this one's shape */
	const struct outline_key *keys; /* of the table's key */
	size_t key_count;
	bool keyed; /* there is one for each attribute of the table's key */
	const struct outline_key *constants; /* keys that are the same text in all items, and have no other form */
	size_t constant_count;
	const uint32_t *identity; /* places that an item as it is stored must have to be one in full (entity.h) */
	size_t identity_count;
	uint32_t ttl; /* OUTLINE_NO_PLACE: items of the table do not expire */
	const struct term_plan *allow[ALLOW_VERBS]; /* as the entity's, NULL where it has none */
};

/* One for each entity, in the design's order. */
const struct outline *outlines_new(struct arena *a, const struct design *d);
/* The app's; without an app one is made. */
const struct outline *outline_of(struct run *r, const struct entity *e);

/* OUTLINE_NO_PLACE: it has none. */
uint32_t outline_place(const struct outline *o, struct slice name);
/* An item's values at their places, o->count of them, absent where it has none. They borrow from the item. */
const struct value *outline_lay(struct arena *a, const struct outline *o, struct value item);
/* Of an item laid out: whether its key is what the entity's templates make (never where conditions choose between several). */
bool outline_is_keyed(struct run *r, const struct outline *o, const struct value *places);
/* Whether constants among its keys (entityType: POST) are what they always are; a projection may have left them out. */
bool outline_agrees(const struct outline *o, const struct value *places);
/* Whether nothing has to be read from the key to have it in full. */
bool outline_is_whole(const struct outline *o, const struct value *places);

#endif
