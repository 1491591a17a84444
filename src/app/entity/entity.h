/* Items of an entity: recognising them, completing them, finding them, and the caller's rights to them.
 *
 * An item has two forms. Stored: as in the table. Full: the stored item and the attributes that are read from the key
 * (`from the key`). Terms and templates see full items; every `full` below is one.
 *
 * Invariant: keys, companions and derived attributes are pure functions of the full item (and, for conditions that
 * say so, of the time).
 *
 * Lifetime: everything returned lives in the run's arena. Errors: functions that return bool return false after
 * setting the run's problem.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_ENTITY_H
#define THORPE_APP_ENTITY_ENTITY_H

#include "app/entity/scope.h"

/* The entity of a stored item: its templates match the table key, and their conditions hold. If several match, the
 * most specific one. NULL: none; the item is a companion or unknown to the design (a stranger). */
const struct entity *entity_of(struct run *r, struct value stored);
/* The same, but tries `likely` first (NULL: no guess). If keys alone identify an entity, that saves the search. */
const struct entity *entity_of_likely(struct run *r, struct value stored, const struct entity *likely);
/* For an item without an entity: whether some companion of the design can have its key. If not, the item is a
 * stranger. */
bool entity_is_companion(struct run *r, struct value stored);
/* Whose; of several the first that the rule for everywhere applies to. NULL: nobody's. */
const struct entity *entity_of_companion(struct run *r, struct value stored);
/* entity_of_likely(), entity_expired() and entity_full() in one walk: the full item as a row. Its entity is NULL, and
 * the row empty, if the item has no entity or has expired. */
struct row entity_recognise(struct run *r, struct value stored, const struct entity *likely);
/* The same for an item whose entity is known. Does not look at its expiry. */
struct row entity_lay(struct run *r, const struct entity *e, struct value stored);
/* Adds the attributes that are read from the key: those declared so, and those of the identity that an index does not
 * project. */
struct value entity_full(struct run *r, const struct entity *e, struct value stored);
/* Whether the design could have written the item: it stores its identity (except what only the key holds), the key
 * has the same identity, and each value has its attribute's type. An SDK can write other items; *why then says what
 * is wrong ("it has no post_id"). Such an item is reported and otherwise ignored: it has no effects, and the runtime
 * never rewrites it. */
bool entity_fits(struct run *r, const struct row *stored, struct slice *why) MUST_CHECK;
/* The table key of a completed item. */
struct value entity_key_of(struct run *r, const struct row *item);
/* A table key for messages: "POST#17, METADATA". */
struct slice entity_key_text(struct run *r, struct value key);
/* Whether the item has expired by the table's ttl attribute. */
bool entity_expired(struct run *r, struct value item);
bool entity_item_expired(struct run *r, const struct row *item);

/* Completes a full item in place. Removes attributes whose `when` does not hold; computes `N days after` and `=
 * term`, in the order of their dependencies; then computes each key rule (entityType and the like, too), or removes
 * its attribute if its condition does not hold or a placeholder has no value. Replaces given values of derived
 * attributes and keys. Values that differ from `old` are normalised and must fit their limits (input_made(),
 * attribute_fits()); parts of the identity must fit into an address. Problem: INVALID, naming the attribute: a value
 * does not fit, may not enter a key, or the table key cannot be made. */
bool entity_complete(struct run *r, const struct entity *e, struct row *f, struct value old) MUST_CHECK;
/* The stored form of a completed full item. */
struct value entity_stored(struct run *r, const struct entity *e, const struct row *full);

struct companion_item {
	const struct companion *rule;
	struct value item; /* stored, keys and all */
	struct value key;
	struct value element; /* of the list that it was made for; absent: of none */
};
/* The companions of a completed full item, one for each key. Omits those whose key lacks a placeholder's value. */
bool entity_companions(struct run *r, const struct entity *e, const struct row *full, struct companion_item **out,
		       size_t *n) MUST_CHECK;
/* The one with this key; NULL: none. */
const struct companion_item *companion_find(const struct companion_item *list, size_t n, struct value key);

/* The table key of an identity (values of e->params, in order; normalised here as `lower` says). If the identity does
 * not suffice, runs the entity's `found by` pattern. *key is absent if no such item is possible: an argument is
 * absent, or the pattern finds nothing. */
bool entity_locate(struct run *r, const struct entity *e, const struct value *args, size_t n,
		   struct value *key) MUST_CHECK;
/* Remembers that the item was written at this key, so that this run finds it by its identity before the index of
 * `found by` shows it. */
void entity_remember_place(struct run *r, const struct entity *e, const struct row *item, struct value key);
/* Whether the item has this identity. If a part of the identity is not in the key, several identities share one key. */
bool entity_is_at(struct run *r, const struct row *item, const struct value *args, size_t n);
/* The full item with this identity; its entity is NULL if it does not exist or has expired. Strongly consistent,
 * because rules are often evaluated right after a write. `fresh`: reads it now; otherwise an item that this run has
 * read before will do. */
bool entity_fetch(struct run *r, const struct entity *e, const struct value *args, size_t n, bool fresh,
		  struct row *out) MUST_CHECK;
/* The same, with the key and the stored item, for conditions on it. From the memo if this run has read it before. */
struct entity_look {
	struct value key;    /* absent: no key follows from the identity */
	struct value stored; /* whatever is there; absent: nothing */
	struct row item;     /* entity NULL: no item of this entity and identity, or it has expired */
	bool promised;       /* entity_promise() */
};
bool entity_look(struct run *r, const struct entity *e, const struct value *args, size_t n,
		 struct entity_look *out) MUST_CHECK;
bool entity_look_at(struct run *r, const struct entity *e, struct value key, bool fresh,
		    struct entity_look *out) MUST_CHECK;
/* The item at a known key. An item of another entity counts as none. */
bool entity_fetch_key(struct run *r, const struct entity *e, struct value key, bool fresh,
		      struct value *full) MUST_CHECK;
/* Whether this run has read the key before; *stored is the item then, or absent if there was none. */
bool entity_seen(struct run *r, struct value key, struct value *stored);
/* Makes the run remember `stored` as the item at the key, whatever the table has. */
void entity_foresee(struct run *r, struct value key, struct value stored);
/* The same for an item that the write itself makes, while it plans the rest: even a fresh read returns it, and reading
 * it leaves no note (witness.h). */
void entity_promise(struct run *r, struct value key, struct value stored);
/* The identity of a full item: its values of e->params, in the arena; absent where the item lacks one. */
struct value *entity_identity(struct run *r, const struct row *item);
/* The entity's path with this identity, percent-encoded, for Location: /users/alice. */
struct slice entity_path(struct run *r, const struct row *item);

/* The value that `copy` should have: the source's attribute if the copy's `if` holds for the source, else absent.
 * `source->full` absent: there is no source. A pure function of the source. */
bool entity_copied(struct run *r, const struct attribute *copy, const struct row *source, struct value *out) MUST_CHECK;

/* ---- rules ---- */
/* Whether the caller may do this to the item. `full`: the item (CREATE: the new one); `old`: before a write, or
 * absent. Operators always may; if e->allow[verb] is NULL, only they. LIST without a rule uses the rule for READ. */
bool entity_allows(struct run *r, const struct entity *e, enum allow_verb verb, struct value full, struct value old,
		   bool *out) MUST_CHECK;
/* The same for an item that is not written yet. */
bool entity_allows_row(struct run *r, const struct entity *e, enum allow_verb verb, const struct row *item,
		       const struct row *before, bool *out) MUST_CHECK;

/* The same for an item that was read, without `old`. */
bool entity_allows_item(struct run *r, enum allow_verb verb, const struct row *item, bool *out) MUST_CHECK;
/* The same during a write: notes in `w` what the rule reads of the item (witness.h). */
struct witness;
bool entity_allows_witnessed(struct run *r, enum allow_verb verb, const struct row *item, struct witness *w,
			     bool *out) MUST_CHECK;
/* Whether the rule for everywhere holds for an item: true for operators, exempt entities, and designs without such a rule.
 * `w`: as above, or NULL. */
bool entity_keeps(struct run *r, const struct row *item, struct witness *w, bool *out) MUST_CHECK;
/* The same for many items of one entity: parts of the rule that do not depend on the item are evaluated once. The
 * struct must not move between the calls. */
struct entity_asking {
	const struct term *rule; /* NULL: `otherwise` is the answer */
	bool otherwise;
	struct scope scope;
	struct term_scope bound;
};
/* `rule`: NULL: everything is allowed. */
void entity_asking_rule(struct entity_asking *q, struct run *r, const struct term *rule);
bool entity_ask(struct entity_asking *q, const struct row *item, bool *out) MUST_CHECK;

/* The attributes of the item that a term reads, each once, and those that these are made from (derived, `after`,
 * `when`, keys). A write whose condition includes them cannot build on outdated values. Includes attributes `from the
 * key`, though an item does not store them, and x for old.x. */
struct name_list {
	const struct name **list;
	size_t count, capacity;
};
void names_add(struct arena *a, struct name_list *l, const struct name *n);
bool names_have(const struct name_list *l, const struct name *n);
void names_of_term(struct arena *a, struct name_list *l, const struct entity *e, const struct term *t);
/* The attributes of the source that a copy reads. */
void names_of_copy(struct arena *a, struct name_list *l, const struct entity *source, const struct attribute *copy);
void names_of_template(struct arena *a, struct name_list *l, const struct entity *e, const struct template *t);

#endif
