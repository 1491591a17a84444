/* A row: named values, as of an item, a body or parameters.
 *
 * An item that was read has its values in the slots of its entity. A row being worked on has the same slots, and knows
 * for each whether it was given: a value, or absent, which means "to be removed" (a PATCH with null). Values without a
 * slot (attributes unknown to the design, everything in a row without slots) are in a list; for an item that was read,
 * they are in the item itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_ROW_H
#define THORPE_DESIGN_ROW_H

#include "design/slots.h"

struct row_entry {
	const struct name *at; /* NULL: unknown to the design, or not looked up */
	struct slice name;
	struct value value;
};

/* Zero: an empty row. */
struct row {
	const struct entity *entity; /* NULL: none, and no slots */
	const struct slots *slots;   /* the entity's */
	struct value full;           /* the full item that was read, a map; absent in a row being worked on */
	struct value *values;        /* by slot */
	/* Of a row being worked on: */
	struct arena *arena;
	bool *has;                /* by slot: a value, or "to be removed" */
	struct row_entry *others; /* without a slot, no name twice */
	size_t other_count, other_capacity;
	/* Of a row in a tree (read.h): the rows below it */
	struct row *children;
	size_t child_count;
	/* Of a row that shows parts of other items (app/read/read.h): a value, or absent, for each of the pattern's `show` */
	const struct value *shown;
};

/* ---- items that were read ---- */
/* Without slots: names are looked up in the map. */
static inline struct row row_of(struct value full)
{
	return (struct row){ .full = full };
}
/* With slots. */
struct row row_lay(struct arena *a, const struct entity *e, struct value full);

/* The same without one of its attributes. */
struct row row_without(struct arena *a, const struct row *w, struct slice name);

/* ---- rows to work on ---- */
void row_init(struct row *w, struct arena *a, const struct entity *e); /* empty; e NULL: without slots */
void row_from(struct row *w, struct arena *a, const struct entity *e, struct value item); /* an M, or absent: empty */
void row_copy(struct row *w, struct arena *a, const struct row *from);
void row_set(struct row *w, const struct name *n, struct value v); /* absent v: "to be removed" */
void row_drop(struct row *w, const struct name *n);                /* removes the entry */
bool row_is_empty(const struct row *w);
struct value row_item(const struct row *w); /* an M of the present values */

struct value row_get_other(const struct row *w, const struct name *n);
static inline struct value row_get(const struct row *w, const struct name *n)
{
	uint32_t at = w->slots ? w->slots->of_name[n->id] : SLOT_NONE;

	return at == SLOT_NONE ? row_get_other(w, n) : w->values[at];
}
/* Also true for an entry that is "to be removed". */
bool row_has(const struct row *w, const struct name *n);

/* ---- by text, at the edges ---- */
struct value row_find(const struct row *w, struct slice name);
bool row_has_text(const struct row *w, struct slice name);
void row_put(struct row *w, struct slice name, struct value v);
void row_take(struct row *w, struct slice name); /* as row_drop() */

/* ---- all entries: those with a slot in their order, then the others ---- */
struct row_iter {
	const struct row *row;
	size_t next;
	const struct slot *slot; /* NULL: none */
	struct slice name;
	struct value value;
};
static inline struct row_iter row_iter(const struct row *w)
{
	return (struct row_iter){ .row = w };
}
bool row_next(struct row_iter *it);

#endif
