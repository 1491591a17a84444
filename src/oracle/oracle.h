/* The oracle: what must hold between the items of a table, known from the design alone, and what does not.
 *
 * Every item is looked at once, in one Scan. What it says of itself is compared at once: that it fits its entity, its derived
 * attributes and keys, its checks. What it says of others becomes facts ("a companion like this belongs at that key", "one more on
 * that counter", "a row of a cascade whose parent has these keys"), which are sorted, outside of memory when they are many, and
 * compared group by group in the end. So any number of items takes the same memory (oracle_options.memory and a few MB).
 *
 * What is judged, and how
 *   - An item that has expired is gone: nothing is said about it. What it leaves behind until the database removes it (companions,
 *     counts, children) may be there and need not be.
 *   - Terms that read more than their item (the time, the caller, other items, `old`, `input`) gave what they gave when the item was
 *     written. An attribute made by one, or from such an attribute, is taken as it is. A key under such a condition may be there or
 *     not; if it is there it must be what the templates make of the item.
 *   - A counter that anything but `counts` moves (an action's `add` or `set`, a processor) cannot be counted again, nor can one whose
 *     `counts` rule reads more than its item. Checks of its item are asked all the same.
 *   - `requires` lasts where the target's own deletion looks after it: while the item is a row of a pattern that the target's
 *     `refuse while` or `then remove` names. Then the target must be there; an `if` of the requirement was for the moment.
 *   - A row of a `then remove` pattern whose parent is not there is left over if the row's entity requires the parent's, or counts on
 *     it. Where its requirements are not about this row nothing is said. Where the entity says nothing of the parent's the row may
 *     have been made without one: a note, and nothing that is mended. After a soft deletion with `then remove` the parent is there:
 *     a row is left over if what its entity asks of the parent (requires, counts: `if`) does not hold of that any more, for then it
 *     has not come since.
 *   - Rows that a pattern leads to from other rows (merge … for each) are judged by the parent that they name themselves.
 *   - An item that `lives while` is left over when that does not hold. A note where nothing in the design removes it, or clients
 *     can make it so. Changes that the removing processors have not seen make it pending.
 *   - Changes that the keeper has not seen yet explain differences, which are then pending (oracle_options.stream).
 * What cannot be judged is told once, as a note.
 *
 * Deterministic: the same table and time give the same findings in the same order. No threads, no clock of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_ORACLE_ORACLE_H
#define THORPE_ORACLE_ORACLE_H

#include "request/backend.h"
#include "design/design.h"

/* The names are an interface: docs/verify.md. */
#define ORACLE_KIND_MAP(X)                          \
	/* of one item */                           \
	X(ATTRIBUTE_MISSING, "attribute-missing")   \
	X(ATTRIBUTE_UNFIT, "attribute-unfit")       \
	X(CHECK_BROKEN, "check-broken")             \
	X(DERIVED_DIFFERS, "derived-differs")       \
	X(KEY_DIFFERS, "key-differs")               \
	X(INCOMPLETE, "incomplete")                 \
	X(MISFIT, "misfit")                         \
	/* between items */                         \
	X(IDENTITY_TWICE, "identity-twice")         \
	X(COUNTER_DIFFERS, "counter-differs")       \
	X(GUARD_MISSING, "guard-missing")           \
	X(GUARD_DIFFERS, "guard-differs")           \
	X(GUARD_LEFT, "guard-left")                 \
	X(UNIQUE_CLASH, "unique-clash")             \
	X(COMPANION_MISSING, "companion-missing")   \
	X(COMPANION_DIFFERS, "companion-differs")   \
	X(COMPANION_LEFT, "companion-left")         \
	X(CREDENTIALS_LEFT, "credentials-left")     \
	X(COPY_DIFFERS, "copy-differs")             \
	X(ORPHAN, "orphan")                         \
	X(REQUIREMENT_BROKEN, "requirement-broken") \
	X(OUTLIVED, "outlived")                     \
	/* notes */                                 \
	X(STRANGER, "stranger")                     \
	X(ATTRIBUTE_UNKNOWN, "attribute-unknown")   \
	X(NOT_JUDGED, "not-judged")                 \
	X(KEEPER_BEHIND, "keeper-behind")

enum oracle_kind {
#define X(id, name) ORACLE_##id,
	ORACLE_KIND_MAP(X)
#undef X
		ORACLE_KINDS
};
const char *oracle_kind_name(enum oracle_kind k);

enum oracle_weight {
	ORACLE_DIFFERENCE, /* something is wrong */
	ORACLE_PENDING,    /* the keeper has changes before it that explain this; it will see to it */
	ORACLE_NOTE,       /* nothing is wrong, but someone may want to know */
};

/* values live until tell() returns */
struct oracle_finding {
	enum oracle_kind kind;
	enum oracle_weight weight;
	const struct entity *entity; /* whose item it is about; NULL: no entity's */
	struct value key;            /* of the item: the table's key; absent: it is about no item */
	struct slice attribute;      /* empty: the whole item */
	struct value found,
		expected; /* absent: nothing is there; nothing should be. Whole items where it is about an item */
	const struct entity *
		other_entity; /* NULL, or whose item makes this one what it should be: owner, source, parent, target … */
	struct value other;    /* … and its key; absent where it is not known */
	struct slice sentence; /* all of it in one English sentence, without a full stop */
};

struct oracle_progress {
	uint64_t items; /* looked at */
	uint64_t of;    /* about as many there are; 0: not known */
	unsigned pass;  /* from 1 */
	bool comparing; /* the scan is done, facts are compared */
};

struct oracle_options {
	int64_t now_ms; /* the time it is judged at */
	size_t memory;  /* bytes of facts before they go to a file in TMPDIR; 0: 64 MB */
	/* 1 (and 0): nothing changes meanwhile. More: others may be writing. Then a finding is told only if two passes, one after the
	 * other, agree on it; what they do not agree on has moved meanwhile and is only counted. */
	unsigned passes;
	bool stream; /* look at what the keeper has not seen yet; false: there is nothing, or no one wants to know */
	bool notes;  /* tell NOT_JUDGED, too */
	void (*tell)(void *ctx, const struct oracle_finding *f);
	/* Now and then; false: give up. NULL: nobody wants to know. */
	bool (*progress)(void *ctx, const struct oracle_progress *p);
	/* Before each further pass: wait until the processors have nothing to do. NULL: do not. */
	void (*settle)(void *ctx);
	void *ctx;
};

struct oracle_summary {
	uint64_t items, expired;
	uint64_t differences, pending, notes; /* findings told, by weight */
	uint64_t moved;                       /* findings that did not last from one pass to the next */
	uint64_t kinds[ORACLE_KINDS];         /* findings told, by kind */
	unsigned passes;
};

/* False: it could not be looked at (or progress() said so), and why; what was told until then is true. */
bool oracle_check(struct backend *b, const struct design *d, const struct oracle_options *o, struct oracle_summary *out,
		  char *why, size_t n) MUST_CHECK;

/* ---- mending ----
 * What follows from the items: counters, guards and companions, derived attributes, keys of indexes, copies, rows that a cascade
 * should have taken along, credentials without an account. Everything else needs a person, and strangers are never touched.
 * Each is one write, or one transaction, under the condition that what it was decided from is still so; done twice it does nothing
 * the second time. What hangs on what was mended (a derived attribute on a counter) is a finding of the next check: check and mend
 * in turn until nothing is left. tell() may mend what it is told. */
enum oracle_mending {
	ORACLE_MENDED,
	ORACLE_MOVED, /* it is not so any more; look again */
	ORACLE_UNMENDABLE,
};
/* What would be done, in words: "posts becomes 2"; empty: nothing. */
struct slice oracle_mend_words(struct arena *a, const struct design *d, const struct oracle_finding *f);
struct oracle_table {
	struct backend *backend;
	const struct design *design;
	int64_t now_ms;
};
/* False: the database refused, and why. */
bool oracle_mend(const struct oracle_table *t, const struct oracle_finding *f, enum oracle_mending *out, char *why,
		 size_t n) MUST_CHECK;

/* {"kind":"counter-differs","severity":"difference","design":…,"entity":…,"key":{…},"attribute":…,"found":…,"expected":…,
 * "other":{"entity":…,"key":{…}},"sentence":…}: one line, without its end. Values are DynamoDB's JSON. What is absent is left out. */
void oracle_finding_json(struct buf *b, const struct design *d, const struct oracle_finding *f);

#endif
