/* What can be told of each entity before any request: how its items are written, and whether a key tells the entity.
 *
 * Items have their attributes in order of the names' bytes, and so has an outline: one walk through both finds every
 * attribute of an item, in the place it is written at.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_OUTLINE_H
#define THORPE_APP_OUTLINE_H

#include "app/run.h"

struct outline_name {
	struct slice name;
	struct slice label;    /* ,"name": */
	uint32_t place;        /* in the order of writing */
	bool hidden, private_, compressed;
	bool tagged;           /* part of the validator: no counter, and nothing that hangs on one */
};

struct outline {
	const struct outline_name *sorted; /* attributes, and keys that are shown; by name */
	const struct outline_name *const *placed; /* the same in order of writing */
	size_t count;
	bool has_private;
	bool alone; /* no item of another entity, companion or login can have a key of this one's shape */
};

/* One for each entity, in the design's order. */
const struct outline *outlines_new(struct arena *a, const struct design *d);
/* The app's; without an app one is made. */
const struct outline *outline_of(struct run *r, const struct entity *e);

/* A walk through an item. */
struct outline_walk {
	const struct outline *outline;
	size_t at;
};
/* The next member's entry; NULL: it is none of the entity's. Names must come in order. */
const struct outline_name *outline_find(struct outline_walk *w, struct slice name);

#endif
