/* What can be told of each entity before any request: the slots of its items, whether a key tells the entity, how it is written.
 *
 * Each name of an entity (attributes, keys, the identity, ttl, what its rules read) has a slot. Items have their attributes
 * in order of the names' bytes, and so has `sorted`: one walk through both puts every value into its slot, and whoever then wants an
 * attribute (the key, the rule, the JSON, the ETag) knows where it is.
 * Made by the loader; lives as long as the design.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_SLOTS_H
#define THORPE_DESIGN_SLOTS_H

#include "design/design.h"

struct slot {
	const struct name *name;
	struct slice label;                /* ,"name": and SLOT_BEYOND bytes of anything behind it */
	struct slice encoded;              /* as it stands in an item: its length, its bytes */
	uint64_t head[2], head_mask[2];    /* the beginning of that, and which bits of it there are */
	uint32_t at;                       /* its number: in the order of writing */
	const struct attribute *attribute; /* NULL: a key, or what is read of items and no attribute of the entity */
	bool hidden, private_, compressed;
	bool plain;  /* none of these */
	bool tagged; /* part of the validator: no counter, and nothing that hangs on one */
	bool stored; /* of an item in full: also part of it as it is stored */
};

#define SLOT_BEYOND 32
#define SLOT_NONE   UINT16_MAX

/* a template without a condition, and the slot of what it makes */
struct slot_key {
	uint32_t at;
	const struct template *template;
	/* template_is_simple() of it: */
	bool simple, rest;
	char sign;
	struct slice text;
};

struct slots {
	/* Attributes and keys that are shown; then, not written: other keys, the ttl attribute, what rules read. */
	const struct slot *sorted;      /* in order of their names */
	const struct slot *const *list; /* by number */
	size_t count;
	size_t written;          /* the slots before this are */
	const uint16_t *of_name; /* by the name's id; SLOT_NONE: it has none here */
	size_t label_size;       /* of all labels */
	bool has_private;
	bool alone; /* no item of another entity, companion or login can have a key of this one's shape */
	const struct slot_key *keys; /* of the table's key */
	size_t key_count;
	bool keyed;                       /* there is one for each attribute of the table's key */
	bool located;                     /* … and no other, and the identity is all that they are made from */
	bool told;                        /* … and all of it is in them */
	const struct slot_key *constants; /* keys that are the same text in all items, and have no other form */
	size_t constant_count;
	const uint32_t *identity; /* slots that an item as it is stored must have to be one in full (entity.h) */
	size_t identity_count;
	uint32_t ttl; /* SLOT_NONE: items of the table do not expire */
};

/* One for each entity, in the design's order. */
const struct slots *slots_new(struct arena *a, const struct design *d);

/* NULL: no attribute of the entity is called so. */
static inline const struct attribute *slots_attribute(const struct slots *s, const struct name *n)
{
	uint32_t at = s->of_name[n->id];

	return at == SLOT_NONE ? NULL : s->list[at]->attribute;
}
/* By its text, for whoever has nothing better. SLOT_NONE: it has none. */
uint32_t slots_find(const struct slots *s, struct slice name);
/* An item's values by slot, s->count of them, absent where it has none. They borrow from the item. */
struct value *slots_lay(struct arena *a, const struct slots *s, struct value item);
/* Of an item laid out: whether its key is what the entity's templates make (never where conditions choose between several). */
bool slots_are_keyed(struct arena *a, const struct slots *s, const struct value *values);
/* Whether constants among its keys (entityType: POST) are what they always are; a projection may have left them out. */
bool slots_agree(const struct slots *s, const struct value *values);
/* Whether nothing has to be read from the key to have it in full. */
bool slots_are_whole(const struct slots *s, const struct value *values);
/* Whether the attribute of e->keys[i] is shown, being neither an attribute nor a key of table or index (said of the first rule of
 * several for one attribute). */
bool slots_show_key(const struct design *d, const struct entity *e, size_t i);

#endif
