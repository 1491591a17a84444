/* Unfinished renames, as references meet them. An item that was renamed, with `rename: {then move: …}`, has its new name
 * at once, and its children follow later (write/renaming.h). A child that has not followed yet names the parent by the
 * old name, and means the new one.
 *
 * A marker in <table>.thorpe says so; the old name and the new one have one each, with the same contents:
 *
 *   PK                   SK                                       holds
 *   RENAMING#<Entity>    <param>=<value>, joined by '&'           layout (1), id, at, from and to (maps: the identity),
 *                        (beside_values())                        values (a map), above (a list)
 *
 * A run that misses a parent looks for the marker of its name. If there is one, the run remembers it: from then on
 * entity_locate() leads from the old name to the new one. Only a run whose item named the parent before may do that;
 * for all others the old name is nobody's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_RENAMED_H
#define THORPE_APP_ENTITY_RENAMED_H

#include "app/run/run.h"

#define RENAMED_LAYOUT 1
#define RENAMED_PREFIX "RENAMING#"

struct renamed {
	struct renamed *next;
	const struct entity *entity;
	const struct value *from, *to; /* identities */
	bool over;                     /* nothing was found there either */
};

/* The identity as a map; absent: a part is missing. */
struct value renamed_identity(struct run *r, const struct entity *e, const struct value *args);
/* The values of an identity from such a map; NULL: a part is missing. */
const struct value *renamed_args(struct run *r, const struct entity *e, struct value identity);
/* The PK of an entity's markers; the key of the marker of a name. */
struct slice renamed_kind(struct run *r, const struct entity *e);
struct value renamed_key(struct run *r, const struct entity *e, struct value identity);
/* For an item that was not found: looks for a marker that leads away from its name, or, if it follows another item, for
 * one of that item's: then it may be under either name. Notes what it finds; *found: look again. */
bool renamed_look(struct run *r, const struct entity *e, const struct value *args, size_t n, bool *found) MUST_CHECK;
/* Whether the item of this name has another one now, and its children still follow. */
bool renamed_away(struct run *r, const struct entity *e, const struct value *args, bool *out) MUST_CHECK;
/* The identity that these values mean in this run. */
const struct value *renamed_now(const struct run *r, const struct entity *e, const struct value *args, size_t n);
/* The same, and of an item that follows another the name it will have when it has followed. */
const struct value *renamed_name(struct run *r, const struct entity *e, const struct value *args, size_t n);

#endif
