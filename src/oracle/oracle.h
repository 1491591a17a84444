/* The oracle: finds what does not hold between the items of a table, from the design alone.
 *
 * One Scan reads every item once. What an item says about itself is checked at once: whether it fits its entity, its
 * derived attributes and keys, its checks. What it says about other items becomes facts ("a companion like this
 * belongs at that key", "one more on that counter", "a row of a cascade whose parent has these keys"). Facts are
 * sorted, on disk when there are many, and compared group by group at the end, so the memory needed does not depend on
 * the number of items (oracle_options.memory and a few MB).
 *
 * What is judged, and how
 *   - An expired item is gone: it is not judged. What it leaves behind until the database removes it (companions,
 *     counts, children) may be there or not.
 *   - A term that reads more than its item (the time, the caller, other items, `old`, `input`) had its value when the
 *     item was written. An attribute made by such a term, or from such an attribute, is taken as it is. A key under
 *     such a condition may be there or not; if it is there, it must be what the templates make of the item.
 *   - A counter that anything but `counts` moves (an action's `add` or `set`, a processor) cannot be recounted, nor
 *     can one whose `counts` rule reads more than its item. Checks of its item are evaluated all the same.
 *   - `requires` lasts where the target's own deletion maintains it: while the item is a row of a pattern that the
 *     target's `refuse while` or `then remove` names. Then the target must exist; an `if` of the requirement held only
 *     at the moment of writing.
 *   - A row of a `then remove` pattern whose parent is missing is left over if the row's entity requires or counts on
 *     the parent's. If its requirements are not about this row, nothing is reported. If the entity says nothing about
 *     the parent's, the row may have been made without a parent: a note, which is not mended. After a soft deletion
 *     with `then remove` the parent is still there: a row is left over if what its entity asks of the parent
 *     (requires, counts: `if`) no longer holds, because then the row was there before the deletion.
 *   - Rows that a pattern reaches through other rows (merge … for each) are judged by the parent they name themselves.
 *   - An item with `lives while` is left over when that does not hold. It is a note where nothing in the design
 *     removes it, or where clients can bring it about; pending while the removing processors have not seen the change.
 *   - A reference names an item that exists. It is a note where the design lets such an item go: a deletion that is
 *     not soft, cascades, processors, expiry, another identity. A parent of a tree is never below its child.
 *   - Differences explained by changes that the keeper has not seen yet are pending (oracle_options.stream).
 * What cannot be judged is reported once, as a note.
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
	X(FILE_FOREIGN, "file-foreign")             \
	X(FILE_LEFT, "file-left")                   \
	X(DANGLING, "dangling")                     \
	X(CIRCLE, "circle")                         \
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
	ORACLE_PENDING,    /* changes that the keeper has not seen explain it; the keeper will mend it */
	ORACLE_NOTE,       /* nothing is wrong, but worth knowing */
};

/* Values live until tell() returns. */
struct oracle_finding {
	enum oracle_kind kind;
	enum oracle_weight weight;
	const struct entity *entity; /* of the item it is about; NULL: the item fits no entity */
	struct value key;            /* the item's table key; absent: it is about no item */
	struct slice attribute;      /* empty: the whole item */
	struct value found,
		expected; /* absent: nothing is there, nothing should be; whole items if it is about an item */
	const struct entity *other_entity; /* of the item that determines this one (owner, source, parent, target); NULL: none */
	struct value other;                /* that item's key; absent: unknown */
	struct slice sentence;             /* the finding in one English sentence, without a full stop */
};

struct oracle_progress {
	uint64_t items; /* read so far */
	uint64_t of;    /* approximate total; 0: unknown */
	unsigned pass;  /* from 1 */
	bool comparing; /* the scan is done, facts are being compared */
};

struct oracle_options {
	int64_t now_ms; /* the time to judge at */
	size_t memory;  /* bytes of facts kept in memory before they go to a file in TMPDIR; 0: 64 MB */
	/* 0 and 1: no other process writes meanwhile. More: others may be writing, so a finding is reported only if
	 * two consecutive passes agree on it, and the table's stream, if there is one, has no change of its items
	 * since the scan before; any other has moved and is only counted. */
	unsigned passes;
	bool stream; /* read the changes that the keeper has not seen yet */
	bool notes;  /* report NOT_JUDGED, too */
	void (*tell)(void *ctx, const struct oracle_finding *f);
	/* Called now and then; returning false stops the check. May be NULL. */
	bool (*progress)(void *ctx, const struct oracle_progress *p);
	/* Called before each further pass: waits until the processors are idle. May be NULL. */
	void (*settle)(void *ctx);
	void *ctx;
};

struct oracle_summary {
	uint64_t items, expired;
	uint64_t differences, pending, notes; /* findings reported, by weight */
	uint64_t moved;                       /* findings of one pass that the next did not confirm */
	uint64_t kinds[ORACLE_KINDS];         /* findings reported, by kind */
	unsigned passes;
};

/* False: the table could not be read, or progress() stopped it; `why` says so. Findings reported until then hold. */
bool oracle_check(struct backend *b, const struct design *d, const struct oracle_options *o, struct oracle_summary *out,
		  char *why, size_t n) MUST_CHECK;

/* ---- mending ----
 * Mends what follows from the items: counters, guards and companions, derived attributes, keys of indexes, copies,
 * rows that a cascade should have removed, credentials without an account. Everything else needs a person; strangers
 * are never touched. Each mending is one write or one transaction, on the condition that nothing it was decided from
 * has changed; repeating it does nothing. What depends on something mended (a derived attribute on a counter) is a
 * finding of the next check: check and mend in turn until nothing is left. tell() may mend the finding it gets. */
enum oracle_mending {
	ORACLE_MENDED,
	ORACLE_MOVED, /* the finding no longer holds; check again */
	ORACLE_UNMENDABLE,
};
/* What oracle_mend() would do: "posts becomes 2"; empty: nothing. */
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
 * "other":{"entity":…,"key":{…}},"sentence":…}: one line without a line end. Values are in DynamoDB's JSON; absent ones
 * are left out. */
void oracle_finding_json(struct buf *b, const struct design *d, const struct oracle_finding *f);

#endif
