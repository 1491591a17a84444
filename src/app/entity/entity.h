/* Items of an entity: what follows from what.
 *
 * An item has two forms. Stored: as in the table. Full: the stored one and the attributes that are read from the key
 * (`from the key`). Terms and templates see full items; everything here that says `full` takes or gives that.
 *
 * Invariant: keys, companions and derived attributes are pure functions of the full item (and, for conditions that say
 * so, of the time).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_ENTITY_H
#define THORPE_APP_ENTITY_ENTITY_H

#include "app/entity/scope.h"

/* Which entity a stored item is of: the one whose table key templates match its key, under conditions that hold;
 * the most specific of several. NULL: none, a companion or a stranger. */
const struct entity *entity_of(struct run *r, struct value stored);
/* The same, asking first whether it is an item of `likely` (NULL: nobody knows), which where keys tell is the answer. */
const struct entity *entity_of_likely(struct run *r, struct value stored, const struct entity *likely);
/* Of an item of no entity: whether its key is one that a companion of some entity has. Otherwise nothing of the design speaks of it. */
bool entity_is_companion(struct run *r, struct value stored);
/* entity_of_likely(), entity_expired() and entity_full() at once: the item in full, laid out. Its entity NULL: of none, or it has
 * expired; then nothing else is there. */
struct row entity_recognise(struct run *r, struct value stored, const struct entity *likely);
/* Of an item that is known to be this entity's. */
struct row entity_lay(struct run *r, const struct entity *e, struct value stored);
/* Adds what is read from the key: attributes that say so, and those of the identity that an index's projection left out. */
struct value entity_full(struct run *r, const struct entity *e, struct value stored);
/* Whether the design could have written the item: it stores its identity (but for what is in the key alone), its key tells the
 * same one, and what it has is of its attributes' types. An SDK can write others; *why then says what is wrong ("it has no
 * post_id"). Such an item is reported and not obeyed: nothing follows from it, and the runtime does not rewrite it. */
bool entity_fits(struct run *r, const struct row *stored, struct slice *why) MUST_CHECK;
/* The table's key of an item that is complete. */
struct value entity_key_of(struct run *r, const struct row *item);
/* A key of the table for a sentence: "POST#17, METADATA". */
struct slice entity_key_text(struct run *r, struct value key);
/* Whether the table's ttl attribute says that it is gone. */
bool entity_expired(struct run *r, struct value item);
bool entity_item_expired(struct run *r, const struct row *item);

/* Finishes a full item in place: attributes with `when` that does not hold go, `N days after`, `= term`, in the order
 * that lets one depend on another; then every key rule (entityType and the like, too), removed where its condition or
 * a placeholder is missing. Values given in `f` for derived attributes and keys are replaced. What differs from `old` is brought
 * into its normal form and keeps its limits (input_made(), attribute_fits()); what is part of the identity fits into an address.
 * Problem: INVALID, naming the attribute, when it cannot; when the table's own key cannot be made or a value may not enter a key. */
bool entity_complete(struct run *r, const struct entity *e, struct row *f, struct value old) MUST_CHECK;
/* The stored form of a completed full item. */
struct value entity_stored(struct run *r, const struct entity *e, const struct row *full);

struct companion_item {
	const struct companion *rule;
	struct value item; /* stored, keys and all */
	struct value key;
};
/* The companions of a completed full item; of equal keys one. Those that a missing placeholder keeps from having a key
 * are not there. */
bool entity_companions(struct run *r, const struct entity *e, const struct row *full, struct companion_item **out,
		       size_t *n) MUST_CHECK;

/* The table key that an identity (values of e->params, in order) leads to. With `found by` a pattern is run when the
 * identity does not suffice. *key is absent when there can be no such item (an argument is absent, or nothing is
 * found). Values are normalised first, as the attribute's `lower` says. */
bool entity_locate(struct run *r, const struct entity *e, const struct value *args, size_t n,
		   struct value *key) MUST_CHECK;
/* The item was written at this key: should it be looked for by its identity before the index of `found by` shows it. */
void entity_remember_place(struct run *r, const struct entity *e, const struct row *item, struct value key);
/* Whether the item has this identity. A part of it may not be in the key: then another identity leads to the same item. */
bool entity_is_at(struct run *r, const struct row *item, const struct value *args, size_t n);
/* The full item; its entity NULL: none, or it has expired. Strongly consistent, for rules are asked right after writes.
 * `fresh`: read now, not from the memo; otherwise what this run has seen before will do. */
bool entity_fetch(struct run *r, const struct entity *e, const struct value *args, size_t n, bool fresh,
		  struct row *out) MUST_CHECK;
/* The same with where it is and what is there, for conditions that are to hold it. From the memo, where that has it. */
struct entity_look {
	struct value key;    /* absent: no key follows from the identity */
	struct value stored; /* whatever is there; absent: nothing */
	struct row item;     /* entity NULL: no item of this entity and identity, or it has expired */
};
bool entity_look(struct run *r, const struct entity *e, const struct value *args, size_t n,
		 struct entity_look *out) MUST_CHECK;
bool entity_look_at(struct run *r, const struct entity *e, struct value key, bool fresh,
		    struct entity_look *out) MUST_CHECK;
/* By a known key. An item of another entity at that key counts as none. */
bool entity_fetch_key(struct run *r, const struct entity *e, struct value key, bool fresh,
		      struct value *full) MUST_CHECK;
/* Whether the run remembers what is at the key; then *stored is it, absent: nothing. */
bool entity_seen(struct run *r, struct value key, struct value *stored);
/* The run remembers this of the key from now on, in place of what is there. */
void entity_foresee(struct run *r, struct value key, struct value stored);
/* The identity of a full item: values of e->params (absent where it lacks them), in the arena. */
struct value *entity_identity(struct run *r, const struct row *item);
/* Its path with the values filled in and percent-encoded, for Location: /users/alice. */
struct slice entity_path(struct run *r, const struct row *item);

/* What a copy of the source (in full; `full` absent: there is none) is to hold: its attribute, while the copy's `if` holds of it; else
 * absent. A function of the source alone. */
bool entity_copied(struct run *r, const struct attribute *copy, const struct row *source, struct value *out) MUST_CHECK;

/* ---- rules ---- */
/* Whether the caller may. `full` is the item (CREATE: as it would be), `old` before a write or absent. Operators may
 * always. e->allow[verb] NULL: only they. ALLOW_LIST without a rule is asked as ALLOW_READ. */
bool entity_allows(struct run *r, const struct entity *e, enum allow_verb verb, struct value full, struct value old,
		   bool *out) MUST_CHECK;
/* The same of a row: an item that is being made. */
bool entity_allows_row(struct run *r, const struct entity *e, enum allow_verb verb, const struct row *item,
		       const struct row *before, bool *out) MUST_CHECK;

/* The same of an item that is laid out, without `old`. */
bool entity_allows_item(struct run *r, enum allow_verb verb, const struct row *item, bool *out) MUST_CHECK;
/* The same of an item that a write looks at: what the rule reads of it is noted (witness.h). */
struct witness;
bool entity_allows_witnessed(struct run *r, enum allow_verb verb, const struct row *item, struct witness *w,
			     bool *out) MUST_CHECK;
/* The same question of many items of one entity: what the rule can tell without looking at the item it tells once.
 * Must stay where it is. */
struct entity_asking {
	const struct term *rule; /* NULL: `otherwise` is the answer */
	bool otherwise;
	struct scope scope;
	struct term_scope bound;
};
void entity_asking_init(struct entity_asking *q, struct run *r, const struct entity *e, enum allow_verb verb);
bool entity_ask(struct entity_asking *q, const struct row *item, bool *out) MUST_CHECK;

/* What a term reads of the item itself: adds the names of attributes (once each) to the list, and what attributes that
 * follow from others (derived, `after`, `when`, keys) are made from. For conditions that keep a write from building on what
 * has changed meanwhile. Attributes `from the key` are among them, though an item does not store them; and x of old.x. */
struct name_list {
	const struct name **list;
	size_t count, capacity;
};
void names_add(struct arena *a, struct name_list *l, const struct name *n);
bool names_have(const struct name_list *l, const struct name *n);
bool names_among(const struct name *const *list, size_t count, const struct name *n);
void names_of_term(struct arena *a, struct name_list *l, const struct entity *e, const struct term *t);
/* What a copy reads of its source. */
void names_of_copy(struct arena *a, struct name_list *l, const struct entity *source, const struct attribute *copy);
void names_of_template(struct arena *a, struct name_list *l, const struct entity *e, const struct template *t);

#endif
