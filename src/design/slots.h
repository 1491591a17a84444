/* Facts about each entity, computed when the design is loaded: the slots of its items, and whether a key identifies
 * the entity.
 *
 * Each name of an entity (attributes, keys, the identity, ttl, attributes its rules read) has a slot. Items store
 * their attributes in byte order of the names, and `sorted` has the same order: one walk over both puts every value
 * into its slot, where keys, rules, JSON and ETag find it without a search. Made by the loader; lives as long as the
 * design.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_SLOTS_H
#define THORPE_DESIGN_SLOTS_H

#include "design/design.h"

struct slot {
	const struct name *name;
	struct slice label;   /* ,"name": followed by SLOT_BEYOND readable bytes */
	struct slice opening; /* of a counter in a map: ,"group":{ and its own name, for the first one shown */
	const char *group;    /* the map's name, the same for all of them; NULL: in none */
	struct slice encoded; /* as stored in an item: its length, its bytes */
	uint64_t head[2], head_mask[2];    /* its first bytes, and a mask of those it has */
	uint32_t at;                       /* its number, in the order of writing */
	const struct attribute *attribute; /* NULL: a key, or a name that is not an attribute of the entity */
	bool hidden, private_, compressed;
	bool apart;  /* its JSON is not the value's own: compressed, or files */
	bool plain;  /* none of these */
	bool tagged; /* part of the ETag: no counter, and nothing that depends on one */
	bool stored; /* part of the stored item, too, not only of the full one */
};

#define SLOT_BEYOND 32
#define SLOT_NONE   UINT16_MAX

/* a template without a condition, and the slot of the attribute it makes */
struct slot_key {
	uint32_t at;
	const struct template *template;
	/* template_is_simple() of it: */
	bool simple, rest;
	char sign;
	struct slice text;
};

struct slots {
	/* First the attributes and keys that are shown; then, not written: other keys, the ttl attribute, names rules
	 * read. */
	const struct slot *sorted;      /* by name */
	const struct slot *const *list; /* by number */
	size_t count;
	size_t written;          /* the first `written` slots are written */
	const uint16_t *of_name; /* by the name's id; SLOT_NONE: no slot here */
	size_t label_size;       /* of all labels */
	bool has_private;
	bool has_groups;             /* some slot has a group */
	bool alone;                  /* no other entity, companion or login item can have a key of this shape */
	const struct slot_key *keys; /* of the table's key */
	size_t key_count;
	bool keyed;                       /* `keys` has one for each attribute of the table's key */
	bool located;                     /* … these are all forms, and they are made from the identity alone */
	bool told;                        /* … and the keys contain all of the identity */
	const struct slot_key *constants; /* keys that have the same text in all items */
	size_t constant_count;
	const uint32_t *identity; /* slots that a stored item must have to be a full one (entity.h) */
	size_t identity_count;
	uint32_t ttl; /* SLOT_NONE: items of the table do not expire */
};

/* One per entity, in the design's order. */
const struct slots *slots_new(struct arena *a, const struct design *d);

/* NULL: the entity has no such attribute. */
static inline const struct attribute *slots_attribute(const struct slots *s, const struct name *n)
{
	uint32_t at = s->of_name[n->id];

	return at == SLOT_NONE ? NULL : s->list[at]->attribute;
}
/* By text, at the edges. SLOT_NONE: no slot. */
uint32_t slots_find(const struct slots *s, struct slice name);
/* The item's s->count values by slot, absent where it has none. They borrow from the item. */
struct value *slots_lay(struct arena *a, const struct slots *s, struct value item);
/* Whether the key matches the entity's templates; false where conditions choose between several. */
bool slots_are_keyed(struct arena *a, const struct slots *s, const struct value *values);
/* Whether the constant keys (entityType: POST) have their value; a projection may omit them. */
bool slots_agree(const struct slots *s, const struct value *values);
/* Whether the item is full without reading values from its key. */
bool slots_are_whole(const struct slots *s, const struct value *values);
/* Whether the attribute of e->keys[i] is shown: it is neither an attribute nor a key of the table or an index. True
 * only for the first of several rules for one attribute. */
bool slots_show_key(const struct design *d, const struct entity *e, size_t i);

#endif
