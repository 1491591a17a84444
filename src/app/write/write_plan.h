/* What one write is made of, from the first reading to the last try.
 *
 * A struct write is one call of write.h; each try makes a struct plan afresh: the actions of one transaction, each with the
 * condition under which the plan is true and with what is said when it is not.
 *
 * Invariants
 *   P1  at most one action for an item: what several rules ask of it is merged.
 *   P2  every attribute that a rule of the plan has looked at, and that someone else may change, is in the main item's
 *       condition: if the transaction goes through, the plan was made from what is there.
 *   P3  counters are moved with ADD; only the new item of a move carries their values, and then they are in the condition.
 *   P4  what rules and terms have looked at of other items (witness.h) is a condition, too: of the action that the plan has on
 *       that item (P1), else of a check of its own. One that does not hold any more means that all is decided again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_WRITE_PLAN_H
#define THORPE_APP_WRITE_WRITE_PLAN_H

#include "app/db/dyn.h"
#include "app/entity/witness.h"
#include "app/write/write.h"

#define WRITE_TRIES 16

struct marker;

enum plan_end { PLAN_DONE, PLAN_AGAIN /* something has changed: from the reading */, PLAN_FAILED /* run->problem */ };

/* a copy that has been made, and what of */
struct copy_note {
	const struct attribute *attribute;
	const struct entity *source;
	struct value key;   /* of the source item; absent: there is none */
	struct value from;  /* the source, in full */
	struct value value; /* what was copied of it */
	bool held;          /* the transaction says that it still is so */
};

/* a number that has been taken from a sequence */
struct take_note {
	const struct attribute *attribute; /* with `next of` */
	const struct entity *source;
	struct value *args;
	struct value key;     /* of the item with the sequence; absent: there is none */
	struct value last;    /* the sequence as it was read */
	struct number number; /* taken or given; 0: neither */
};
struct turn;

enum write_match { MATCH_NONE, MATCH_ANY, MATCH_VERSION, MATCH_ETAG }; /* which part of If-Match was met */

struct write;
/* Whether the item, in full, is to stay after all. What it looks at of other items with witness_item() is a condition of the removal; so
 * is what it notes of the item itself (write_looks_at()). May set w->gone. False: run->problem. */
typedef bool write_unless(void *ctx, struct write *w, struct value full, bool *stays);

struct write {
	struct run *run;
	const struct entity *entity;
	const struct write_options *options;
	const struct row *input;  /* as given: input.x */
	const struct value *args; /* the identity; NULL with `key` */
	size_t arg_count;
	struct value key;             /* of the item when that is known already; else absent */
	const struct action *action;  /* NULL: none */
	const struct assignment *set; /* of an action or of a soft deletion */
	size_t set_count;
	const struct slice *remove; /* likewise: attributes that go */
	size_t remove_count;
	bool deletes;               /* asks for `delete`, not `update` */
	bool trusted;               /* the runtime itself: no rules are asked */
	struct slice copies_of;     /* the entity whose copies are to be fetched again */
	struct row made;            /* ids, kept from try to try */
	struct value hash;          /* of the password given; absent: not made yet, or none */
	struct value old_hash;      /* what it replaces; absent: none */
	struct value gone;          /* key of an item that is known to be gone: nothing is counted off it */
	struct turn *turn;          /* turn.h: of the first sequence that is taken from; NULL: none */
	int64_t skipped;            /* numbers that items had though the sequence had not come to them */
	struct value clash;         /* key that the server chose for a new item, and that was taken */
	const struct marker *under; /* a cascade's removal: that marker must still be there (deleting.h) */
	bool over;                  /* it is not; or `unless` says so */
	write_unless *unless;       /* of write_remove_unless(); NULL: none */
	void *unless_ctx;
	struct value hold, held_key; /* hold.h: by what name, and which item; absent: none is held */
	bool alone;                  /* a deletion was refused with its children: now without them */
	/* of the current try */
	enum write_match match;
	struct copy_note *copies;
	size_t copy_count, copy_capacity;
	struct take_note *takes;
	size_t take_count, take_capacity;
	struct name_list looked_at; /* by rules and terms */
	struct witnesses witnesses; /* the same of other items */
};

enum plan_role {
	PLAN_MAIN, /* the item, where it is or will be */
	PLAN_OLD,  /* where it was, when it moves */
	PLAN_COMPANION,
	PLAN_TARGET,  /* an item that is counted on, or required */
	PLAN_SECRET,  /* credentials */
	PLAN_WITNESS, /* an item that was only looked at */
	PLAN_MARKER,  /* of a deletion: deleting.h */
	PLAN_CHILD,   /* what goes with a deletion, in its transaction */
};

/* what must be true of a target, and in whose words it is told otherwise */
struct plan_ask {
	const struct reference *reference;
	const struct value *args;
	const struct term *if_;
	struct slice sentence;
};

struct plan_action {
	enum plan_role role;
	enum dyn_write_kind kind;
	struct slice table; /* MARKER: the one beside the design's; else empty */
	struct value key, item;
	struct fields set, add, equal; /* set: an absent value removes */
	bool must_exist, must_not_exist;
	struct slice or_expired;           /* with must_not_exist: as in dyn.h */
	const struct test *also;           /* as in dyn.h */
	const struct companion *companion; /* COMPANION */
	const struct entity *entity;       /* TARGET: whose item */
	struct plan_ask *asks;             /* TARGET: none means that it may be gone */
	size_t ask_count, ask_capacity;
	bool takes;     /* TARGET: it has the sequence that a number is taken from */
	bool witnessed; /* it was looked at (P4): refused for that, all is decided again */
	bool left_out;  /* it is gone, and nobody minds */
	bool foreseen;  /* the run's memo has what the action makes of the item (write_shown.c) */
};

struct plan {
	struct write *write;
	struct run *run;
	const struct entity *entity;
	struct value old;          /* full; absent: the item is new */
	struct row old_row;        /* the same, for terms; empty when new */
	const struct row *item;    /* full and complete, as it will be; NULL: it goes */
	struct value old_key, key; /* absent where there is none */
	struct name_list changed;  /* attributes that differ, counters aside */
	struct fields self;        /* counters of the item itself that move */
	bool outdated;             /* what it was made of has changed while it was made: not worth a request */
	struct plan_action *actions;
	size_t count, capacity;
	struct marker *markers; /* that it puts; deleting.h */
	size_t marker_count;
	enum write_shown shown; /* plan_shown(), of the commit */
};

/* ---- the parts of a plan ---- */
/* Both are full; `item` NULL: the item goes. */
void plan_init(struct plan *p, struct write *w, struct value old, const struct row *item);
/* All of them: counts, requirements, companions, credentials, and the item itself under its condition. */
bool plan_make(struct plan *p) MUST_CHECK;
/* Whether there is anything to write. */
bool plan_is_empty(const struct plan *p);
struct plan_action *plan_add(struct plan *p, enum plan_role role, enum dyn_write_kind kind, struct value key);
struct plan_action *plan_find(struct plan *p, struct value key);
bool plan_counts(struct plan *p) MUST_CHECK;
bool plan_requires(struct plan *p) MUST_CHECK;
bool plan_secret(struct plan *p) MUST_CHECK;
/* A condition on the action's item. False with *cannot: this is none for the database. */
bool plan_filter(struct plan *p, struct plan_action *a, const struct term *t, bool *cannot) MUST_CHECK;
/* The checks of every item whose counters move. */
bool plan_held(struct plan *p) MUST_CHECK;
/* Moves the sequences that numbers were taken from. */
bool plan_takes(struct plan *p) MUST_CHECK;
/* The number that was taken is in use: true, and the next try takes a later one. False: it has nothing to do with it. */
bool write_skips(struct plan *p);
/* The action on another item, made when there is none. */
struct plan_action *plan_target(struct plan *p, const struct entity *e, struct value key);
bool plan_add_ask(struct plan *p, struct plan_action *a, const struct plan_ask *ask) MUST_CHECK;
/* P4: adds the conditions of what was looked at, when everything else of the plan is there. */
void plan_witnesses(struct plan *p);
/* The action of the item itself where it is or will be; NULL: the plan has none. */
struct plan_action *plan_main(struct plan *p);
/* Asks of the target that it has not expired, where items of its entity can. */
void plan_ask_alive(struct plan *p, struct plan_action *a);
/* Puts the condition of P2 into the action. */
void plan_watch(struct plan *p, struct plan_action *a);

/* ---- committing ---- */
/* Before the commit, where the caller wants to see the item: whether the read rule will let it. The rule is asked of what the
 * item will be, on other items as this write has read them and as it will leave them; nothing of that becomes a condition. So
 * what the rule reads is read together with what the write reads, and nothing is read after the commit. Empties the memo. */
enum write_shown plan_shown(struct plan *p);
enum plan_end plan_commit(struct plan *p) MUST_CHECK;
/* What follows: counters that keys hang on, copies. What goes wrong is logged: the write has happened. */
void plan_follow(struct plan *p);
/* The same of a removal, once what goes with the item is gone: copies of it that are left hold nothing. */
void plan_follow_removal(struct plan *p);
/* Whether the address of a new item is another one's already. Only where nothing else says so: its key has more than the address
 * (`found by`) and no companion guards it. What the server has just made is new. Two that come at once are not seen. */
bool plan_address_is_taken(struct plan *p, bool *out) MUST_CHECK;
/* There is one already. PLAN_FAILED. */
enum plan_end plan_tell_exists(struct plan *p);
/* In the words of the rules: the target is not there; it is, and something about it does not hold. False. */
bool plan_tell_missing(struct write *w, const struct plan_ask *ask);
bool plan_tell_unfit(struct write *w, const struct plan_ask *ask);

/* ---- what the kinds of writes share ---- */
typedef enum plan_end write_once(struct write *w, struct write_result *out);
/* Tries until it is done, has failed, or others have been quicker too often (BUSY). */
bool write_try(struct write *w, write_once *once, struct write_result *out) MUST_CHECK;
/* The item as it is now; *full absent: there is none. */
bool write_read(struct write *w, struct value *full) MUST_CHECK;
/* While the run explores: looks at what the item's read rule looks at, for a caller who wants to see it. */
void write_explore(struct write *w, struct value full);
bool write_not_found(struct write *w); /* false */
/* Whoever is not allowed to write this: 401, 403 or 404. False. */
bool write_refuse(struct write *w, struct value full);
bool write_if_match(struct write *w, struct value full) MUST_CHECK;
/* An item that requires one of its own kind is not below itself, at any level: INVALID. Part of write_checks(). */
bool write_tree(struct write *w, const struct row *item, struct value old) MUST_CHECK;
/* The entity's checks. */
bool write_checks(struct write *w, const struct row *item, struct value old) MUST_CHECK;
/* Notes what a term reads of the item (P2). */
void write_looks_at(struct write *w, const struct term *t);
struct scope write_scope(struct write *w, const struct row *item, struct value old);
/* The time as the attribute has it. */
struct value write_now(struct run *r, const struct attribute *a);
/* The same of a `touched` attribute whose value was `old`: never the same twice (write_version.c). */
struct value write_touched(struct run *r, const struct attribute *a, struct value old);
/* What a term gave, as the attribute is stored: normalised, a timestamp for an epoch as a number. */
struct value write_fit(struct run *r, const struct attribute *a, struct value v);
struct slice write_identity_text(struct run *r, const struct value *args, size_t n);
bool write_is_move(const struct plan *p);

/* A new item out of `given`: the caller, ids, times, defaults, copies. Not complete yet. */
bool write_make(struct write *w, const struct row *given, struct row *f) MUST_CHECK;
/* Puts it; `by_action`: under that action's rule, and when someone else has been quicker, from the start. */
enum plan_end write_put_new(struct write *w, struct row *f, struct write_result *out) MUST_CHECK;
/* Gives the attributes named (by their place in the entity) their defaults, each after what it refers to; clears `which`. */
bool write_defaults(struct write *w, struct row *f, bool *which) MUST_CHECK;
/* Takes one number of a sequence. */
bool write_take(struct write *w, const struct attribute *a, struct row *f) MUST_CHECK;
/* Fetches one copy. */
bool write_copy(struct write *w, const struct attribute *a, struct row *f) MUST_CHECK;
/* Evaluates w->set in `f`, and assigns. */
bool write_assign(struct write *w, struct row *f, struct value old) MUST_CHECK;
/* The counters that the action moves, into p->self. */
bool write_adds(struct write *w, const struct row *f, struct value old, struct fields *adds) MUST_CHECK;
/* An update, an action on an item that is there, a soft deletion; or bringing an item up to date (trusted). */
enum plan_end write_alter(struct write *w, struct value old, struct write_result *out) MUST_CHECK;

/* Whether a name of the input is the login's, and no attribute. */
bool write_is_password(const struct entity *e, struct slice name);
/* The credentials of an item when they are an item of their own; absent: none. */
bool write_secret(struct run *r, const struct entity *e, struct value full, struct value *stored) MUST_CHECK;
/* After the rules: checks and hashes what was given, and puts it where it belongs if that is in the item. */
bool write_password(struct write *w, struct row *f, struct value old) MUST_CHECK;
/* A line of the audit log, when the write has changed a password. */
void write_tell_password(const struct write *w, struct value full);

/* For the runtime itself. Brings an item after what it was made from: derived attributes, keys, companions, counts; and copies of
 * the entity named, unless that is empty. */
bool write_refresh(struct run *r, const struct entity *e, struct value key, struct slice copies_of) MUST_CHECK;
/* write_remove() as part of a cascade: while its marker is there, without counting on what is gone. *over: it is not, and
 * nothing was removed. */
bool write_remove_under(struct run *r, const struct entity *e, struct value key, const struct marker *m,
			bool *over) MUST_CHECK;

/* write_remove(), unless there is a reason to leave it, asked before each try; *stays: there was, or it was not there. */
bool write_remove_unless(struct run *r, const struct entity *e, struct value key, write_unless *unless, void *ctx,
			 bool *stays) MUST_CHECK;

/* ---- small things ---- */
static inline bool is_there(struct value v)
{
	return value_present(v) && value_type(v) != VALUE_NULL;
}
bool names_have(const struct name_list *l, struct slice name);
bool names_meet(const struct name_list *x, const struct name_list *y);
/* f[name] += n. False: the sum is out of range. */
bool fields_move(struct run *r, struct fields *f, struct slice name, const struct number *n) MUST_CHECK;
bool row_move(struct run *r, struct row *f, struct slice name, const struct number *n) MUST_CHECK;

/* ---- gathering (write_gather.c) ---- */
struct gather;
/* False: it cannot wait (memory), write it now. */
bool gather_add(struct gather *g, const struct entity *e, struct value key, struct slice attribute,
		const struct number *n, int64_t due_ms);

#endif
