/* The state of one write, from the first read to the last try.
 *
 * A struct write is one call of write.h; each try makes a new struct plan: the actions of one transaction, each with
 * the condition under which the plan is valid and the problem to report otherwise.
 *
 * Invariants
 *   P1  at most one action per item: the actions of several rules are merged.
 *   P2 every attribute that a rule of the plan has read, and that another write may change, is in the main item's
 *   condition: if the transaction commits, the plan was made from the current state.
 *   P3 counters are moved with ADD; only the new item of a move carries their values, and then the condition includes
 *   them.
 *   P4 attributes of other items that rules and terms have read (witness.h) are conditions too: of the plan's action
 *   on that item (P1), else of a separate check. If one no longer holds, the write starts again.
 *   P5 items that are also written (write_also.c) are plans of their own, the parts. Their actions are joined into the
 *   plan of the item that the request is about, in order (P1: write_join.c); terms of later parts see what earlier ones
 *   make, and none of that becomes a condition.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_WRITE_PLAN_H
#define THORPE_APP_WRITE_WRITE_PLAN_H

#include "app/db/dyn.h"
#include "app/entity/witness.h"
#include "app/file/file.h"
#include "app/write/write.h"

#define WRITE_TRIES 16

struct marker;
struct renaming;

enum plan_end {
	PLAN_DONE,
	PLAN_AGAIN /* something has changed: start again with the reading */,
	PLAN_FAILED /* run->problem */
};

/* a copy and its source */
struct copy_note {
	const struct attribute *attribute;
	const struct entity *source;
	struct value key;   /* of the source item; absent: there is none */
	struct value from;  /* the source, in full */
	struct value value; /* what was copied of it */
	bool held;          /* the transaction has a condition that it is current */
};

/* a number taken from a sequence */
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
/* Whether to keep the item, given in full, after all. Attributes of other items that it reads with witness_item()
 * become conditions of the removal, as do those of the item itself that it notes with write_looks_at(). May set
 * w->gone. False: run->problem. */
typedef bool write_unless(void *ctx, struct write *w, struct value full, bool *stays);

struct write {
	struct run *run;
	const struct entity *entity;
	const struct write_options *options;
	const struct row *input;  /* as given: input.x */
	const struct value *args; /* the identity; NULL with `key` */
	size_t arg_count;
	struct value key;             /* the item's, if known already; else absent */
	const struct action *action;  /* NULL: none */
	const struct assignment *set; /* of an action or of a soft deletion */
	size_t set_count;
	const struct slice *remove; /* likewise: attributes to remove */
	size_t remove_count;
	bool deletes;                   /* asks for `delete`, not `update` */
	bool trusted;                   /* the runtime itself: no rules are asked */
	const struct entity *copies_of; /* whose copies are to be fetched again; NULL: none are */
	struct row made;                /* ids, kept from try to try */
	struct value hash;              /* of the password given; absent: not made yet, or none */
	struct value old_hash;          /* what it replaces; absent: none */
	struct value gone;              /* key of an item that is known to be gone: nothing is counted off it */
	struct turn *turn;              /* turn.h: of the first sequence that is taken from; NULL: none */
	int64_t skipped;                /* numbers passed over because items have them already */
	struct value clash;             /* key that the server chose for a new item, and that was taken */
	const struct marker *under;     /* a cascade's removal: that marker must still be there (deleting.h) */
	const struct renaming *follows; /* a child follows a rename; that marker must still be there (renaming.h) */
	bool met; /* others are on their way to where the item begins, and none of them has its place (renaming.h, N9) */
	bool over;            /* the marker is gone, or `unless` keeps the item */
	write_unless *unless; /* of write_remove_unless(); NULL: none */
	void *unless_ctx;
	bool alone;                /* a deletion was refused with its children: now without them */
	bool quiet;                /* writes nothing under `also` */
	struct file_claims claims; /* files that the item takes: checked once */
	/* of an item that is also written (P5) */
	struct write *whole;        /* the write of the request's item; NULL: this is it */
	const struct also_rule *as; /* the rule that writes it */
	struct fields moves;        /* counters that its `add` moves */
	/* of the request's item: those of its parts, kept from try to try */
	struct write **parts;
	size_t part_count, part_capacity;
	/* of the current try */
	enum write_match match;
	struct copy_note *copies;
	size_t copy_count, copy_capacity;
	struct take_note *takes;
	size_t take_count, take_capacity;
	struct name_list looked_at; /* attributes read by rules and terms */
	struct witnesses witnesses; /* the same for other items */
};

/* The runtime's own write, or a part of one: the rule for everywhere does not apply. */
static inline bool write_is_own(const struct write *w)
{
	return w->trusted || (w->whole && w->whole->trusted);
}

enum plan_role {
	PLAN_MAIN, /* the item, where it is or will be */
	PLAN_OLD,  /* the old key of an item that moves */
	PLAN_COMPANION,
	PLAN_TARGET,  /* an item that is counted on or required */
	PLAN_SECRET,  /* credentials */
	PLAN_WITNESS, /* an item that was only read */
	PLAN_MARKER,  /* of a deletion: deleting.h */
	PLAN_CHILD,   /* a child removed in the deletion's transaction */
	PLAN_FILE,    /* of a file: app/file/file.h */
};

/* a condition on a target, and the rule that reports its failure */
struct plan_ask {
	const struct reference *reference;
	const struct value *args;
	const struct term *if_;
	struct slice sentence;
	struct write *by;             /* whose rule it is */
	const struct each_rule *each; /* its `for`; NULL: none */
	const struct attribute *of;   /* the reference that made the rule; NULL: none */
};

struct plan_action {
	enum plan_role role;
	struct plan *of; /* the part that it comes from, or the plan itself */
	enum dyn_write_kind kind;
	struct slice table; /* MARKER: <table>.thorpe; else empty */
	struct value key, item;
	struct fields set, add, equal; /* set: an absent value removes */
	bool must_exist, must_not_exist;
	struct slice or_expired;           /* with must_not_exist: as in dyn.h */
	const struct test *also;           /* as in dyn.h */
	const struct companion *companion; /* COMPANION */
	const struct entity *entity;       /* TARGET: whose item */
	struct plan_ask *asks;             /* TARGET: without any, it may be missing */
	size_t ask_count, ask_capacity;
	const struct value *args; /* TARGET: the identity by which the item referred to it before; NULL: it did not */
	bool named;               /* messages about it say which item it is: there are several */
	bool takes;               /* TARGET: it has the sequence that a number is taken from */
	bool witnessed;           /* it was read (P4): if refused for that, the write starts again */
	bool left_out;            /* it is gone, which is fine */
	bool foreseen;            /* the run's memo has the item after the action (write_shown.c) */
};

struct plan {
	struct write *write;
	struct run *run;
	const struct entity *entity;
	struct value old;          /* full; absent: the item is new */
	struct row old_row;        /* the same, for terms; empty when new */
	const struct row *item;    /* full and complete, after the write; NULL: deleted */
	struct value old_key, key; /* absent where there is none */
	struct name_list changed;  /* attributes that differ, counters aside */
	struct fields self;        /* counters of the item itself that move */
	bool outdated;             /* its sources have changed meanwhile: not worth a request */
	struct plan_action *actions;
	size_t count, capacity;
	struct marker *markers; /* to put; deleting.h */
	size_t marker_count;
	struct renaming *renaming; /* that this begins; NULL: none */
	enum write_shown shown;    /* plan_shown(), of the commit */
	struct plan **parts;       /* P5 */
	size_t part_count, part_capacity;
};

/* ---- the parts of a plan ---- */
/* Both are full; `item` NULL: the item is deleted. */
void plan_init(struct plan *p, struct write *w, struct value old, const struct row *item);
/* Adds all parts: counts, requirements, companions, credentials, and the item itself with its condition. */
bool plan_make(struct plan *p) MUST_CHECK;
/* The rest of it, after plan_deleting(): what is written under `also`, then conditions on everything that was read. */
bool plan_also(struct plan *p) MUST_CHECK;
/* Whether rules under `also` are for this write. */
bool plan_has_also(const struct plan *p);
/* Notes what the terms of these rules read of the item. */
void plan_also_looks(struct plan *p);
/* Takes over the actions of a part; then later terms see what it makes. */
bool plan_join(struct plan *p, struct plan *part) MUST_CHECK;
/* Later terms see what the plan makes. */
bool plan_promise(struct plan *p) MUST_CHECK;
/* Says in the problem that it is about the part. Returns false. */
bool plan_tell_part(struct plan *part);
/* Whether there is anything to write. */
bool plan_is_empty(const struct plan *p);
struct plan_action *plan_add(struct plan *p, enum plan_role role, enum dyn_write_kind kind, struct value key);
struct plan_action *plan_find(struct plan *p, struct value key);
bool plan_counts(struct plan *p) MUST_CHECK;
bool plan_requires(struct plan *p) MUST_CHECK;
bool plan_secret(struct plan *p) MUST_CHECK;
/* Adds a condition on the action's item. False with *cannot: the database cannot express it. */
bool plan_filter(struct plan *p, struct plan_action *a, const struct term *t, bool *cannot) MUST_CHECK;
/* The checks of every item whose counters move. */
bool plan_held(struct plan *p) MUST_CHECK;
/* The files that the item takes, and those that move with it. */
void plan_files(struct plan *p);
/* A file was not to be had: it is looked at again. */
void write_forget_files(struct write *w);
/* The stored form of a value from a client: of files that it is checked to own (write_file.c). */
bool write_take_files(struct write *w, const struct attribute *a, struct value was, struct value *v) MUST_CHECK;
/* Moves the sequences that numbers were taken from. */
bool plan_takes(struct plan *p) MUST_CHECK;
/* True: the number taken is in use, and the next try takes a later one. False: the clash has another reason. */
bool write_skips(struct plan *p);
/* The action on another item, created if missing. */
struct plan_action *plan_target(struct plan *p, const struct entity *e, struct value key);
bool plan_add_ask(struct plan *p, struct plan_action *a, const struct plan_ask *ask) MUST_CHECK;
/* P4: adds the conditions on items that were read. Call it when the rest of the plan is complete. */
void plan_witnesses(struct plan *p);
/* The action on the item itself, at its new key; NULL: the plan has none. */
struct plan_action *plan_main(struct plan *p);
/* Adds the condition that the target has not expired, if items of its entity can. */
void plan_ask_alive(struct plan *p, struct plan_action *a);
/* Adds the condition of P2 to the action. */
void plan_watch(struct plan *p, struct plan_action *a);

/* ---- committing ---- */
/* Before the commit, if the caller wants the item in the reply: whether the read rule will allow it. Evaluates the
 * rule on the new item, with other items as this write has read and will change them; none of that becomes a
 * condition. So the rule's reads happen together with the write's, and none after the commit. Empties the memo. */
enum write_shown plan_shown(struct plan *p);
enum plan_end plan_commit(struct plan *p) MUST_CHECK;
/* Effects: keys derived from counters, and copies. Only logs failures: the write has happened. */
void plan_follow(struct plan *p);
/* The same for a removal, after its dependents are gone: remaining copies of it become empty. */
void plan_follow_removal(struct plan *p);
/* Whether another item has the new item's address already. Needed only if its key has more parts than the address
 * (`found by`) and no companion guards it. Ids just made by the server are new. Does not detect two concurrent
 * creations. */
bool plan_address_is_taken(struct plan *p, bool *out) MUST_CHECK;
/* Reports that the item exists already. PLAN_FAILED. */
enum plan_end plan_tell_exists(struct plan *p);
/* Reports with the rule's sentence that the target does not exist, or that a condition on it fails. Returns false. */
bool plan_tell_missing(struct write *w, const struct plan_ask *ask);
bool plan_tell_unfit(struct write *w, const struct plan_ask *ask);

/* ---- shared by all kinds of writes ---- */
typedef enum plan_end write_once(struct write *w, struct write_result *out);
/* Retries until it is done, has failed, or has lost to concurrent writes too often (BUSY). */
bool write_try(struct write *w, write_once *once, struct write_result *out) MUST_CHECK;
/* Reads the current item; *full absent: none. */
bool write_read(struct write *w, struct value *full) MUST_CHECK;
/* While the run explores: reads what the item's read rule reads, for a caller who wants the item. */
void write_explore(struct write *w, struct value full);
bool write_not_found(struct write *w); /* false */
/* Refuses an action whose condition does not hold: CONFLICT. Returns false. */
bool write_not_fit(struct write *w);
/* Refuses a caller who may not write the item: 401, 403 or 404. Returns false. */
bool write_refuse(struct write *w, struct value full);
bool write_if_match(struct write *w, struct value full) MUST_CHECK;
/* An item that requires one of its own kind is not below itself, at any level: INVALID. Part of write_checks(). */
bool write_tree(struct write *w, const struct row *item, const struct row *before) MUST_CHECK;
/* The entity's checks. */
bool write_checks(struct write *w, const struct row *item, const struct row *before) MUST_CHECK;
/* Notes what a term reads of the item (P2). */
void write_looks_at(struct write *w, const struct term *t);
struct scope write_scope(struct write *w, const struct row *item, const struct row *before);
/* The time as the attribute has it. */
struct value write_now(struct run *r, const struct attribute *a);
/* The same for a `touched` attribute whose value was `old`: never the same value twice (write_version.c). */
struct value write_touched(struct run *r, const struct attribute *a, struct value old);
/* The caller, as the attribute has it; absent: the server itself, or anonymous. */
struct value write_last_writer(struct run *r, const struct attribute *a);
/* A term's value in the attribute's stored form: normalised; a timestamp for an epoch becomes a number. */
struct value write_fit(struct run *r, const struct attribute *a, struct value v);
struct slice write_identity_text(struct run *r, const struct value *args, size_t n);
bool write_is_move(const struct plan *p);

/* Makes a new item from `given`: caller, ids, times, defaults, copies. Not complete yet. */
bool write_make(struct write *w, const struct row *given, struct row *f) MUST_CHECK;
/* The whole plan of a new item, of a changed one, and of what the entity's `delete` says; all but the commit. *f: the
 * item as it becomes, if it stays. */
bool write_plan_new(struct write *w, struct row *f, struct plan *p) MUST_CHECK;
bool write_plan_alter(struct write *w, struct value old, struct row *f, struct plan *p) MUST_CHECK;
bool write_plan_deletion(struct write *w, struct value old, struct row *f, struct plan *p) MUST_CHECK;
/* What an entity's `delete` sets, for a deletion. */
void write_deletes(struct write *w);
/* Puts it. `by_action`: under that action's rule; if a concurrent write was first, starts again. */
enum plan_end write_put_new(struct write *w, struct row *f, struct write_result *out) MUST_CHECK;
/* Sets the marked attributes (by position in the entity) to their defaults, in order of dependency; clears `which`. */
bool write_defaults(struct write *w, struct row *f, bool *which) MUST_CHECK;
/* Takes one number of a sequence. */
bool write_take(struct write *w, const struct attribute *a, struct row *f) MUST_CHECK;
/* Fetches again the copies whose source is another one now, or is known to have changed. */
bool write_copy_again(struct write *w, struct row *f, const struct row *before) MUST_CHECK;
/* Fetches one copy. */
bool write_copy(struct write *w, const struct attribute *a, struct row *f) MUST_CHECK;
/* Evaluates w->set in `f`, and assigns. */
bool write_assign(struct write *w, struct row *f, const struct row *before) MUST_CHECK;
/* The counters that the action moves, into p->self. */
bool write_adds(struct write *w, const struct row *f, const struct row *before, struct fields *adds) MUST_CHECK;
/* An update, an action on an item that is there, a soft deletion; or bringing an item up to date (trusted). */
enum plan_end write_alter(struct write *w, struct value old, struct write_result *out) MUST_CHECK;

/* Whether a name in the input is the login's password, not an attribute. */
bool write_is_password(const struct entity *e, struct slice name);
/* After the rules: checks and hashes the given password, and stores it if it belongs into the item. */
bool write_password(struct write *w, struct row *f, struct value old) MUST_CHECK;
/* Asks write_options.still of an item (write_update.c); true without it. */
bool write_is_still(struct write *w, struct value full) MUST_CHECK;
/* Writes an audit event if the write has changed a password. */
void write_tell_password(const struct write *w, struct value full);

/* For the runtime itself. Updates an item after its sources: derived attributes, keys, companions, counts; and, if
 * `copies_of` is given, the copies of that entity. */
bool write_refresh(struct run *r, const struct entity *e, struct value key, const struct entity *copies_of) MUST_CHECK;
/* write_remove() as part of a cascade: while its marker is there, without counting on what is gone. *over: it is not,
 * and nothing was removed. */
bool write_remove_under(struct run *r, const struct entity *e, struct value key, const struct marker *m,
			bool *over) MUST_CHECK;

/* write_remove(), unless `unless`, called before each try, keeps the item; *stays: it was kept, or did not exist. */
bool write_remove_unless(struct run *r, const struct entity *e, struct value key, write_unless *unless, void *ctx,
			 bool *stays) MUST_CHECK;

/* ---- small things ---- */
static inline bool is_there(struct value v)
{
	return value_present(v) && value_type(v) != VALUE_NULL;
}
bool names_meet(const struct name_list *x, const struct name_list *y);
/* v + n; a value that is not a number counts as 0. False: the sum is out of range. */
bool value_move(struct run *r, struct value v, const struct number *n, struct value *out) MUST_CHECK;
/* f[name] += n. */
bool fields_move(struct run *r, struct fields *f, struct slice name, const struct number *n) MUST_CHECK;
bool row_move(struct run *r, struct row *f, struct slice name, const struct number *n) MUST_CHECK;

/* ---- gathering (write_gather.c) ---- */
struct gather;
/* False: not gathered (out of memory): write it now. */
bool gather_add(struct gather *g, const struct entity *e, struct value key, struct slice attribute,
		const struct number *n, int64_t due_ms);

#endif
