/* Shared by the files of oracle/.
 *
 * A check runs in passes: oracle.c scans the items, judge.c checks each by itself, imply.c and bond.c turn what it
 * says about others into facts, compare.c walks the sorted facts, tell.c reports the findings that last.
 *
 * A fact is: the space (one byte), the length of the join (be32), the join, the kind (one byte), the data of that
 * kind. Facts with the same space and join form a group; within a group they are sorted by kind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_ORACLE_INTERNAL_H
#define THORPE_ORACLE_INTERNAL_H

#include "app/db/dyn.h"
#include "app/entity/entity_key.h"
#include "app/read/read.h"
#include "app/write/write_plan.h"
#include "oracle/facts.h"
#include "oracle/oracle.h"

/* ---- what follows from the design, computed once (rules.c) ---- */

/* one `lives while` of an entity */
struct rule_life {
	const struct entity *target;
	bool judged;    /* whether it applies follows from the items */
	bool asks_if;   /* so does whether its `if` holds */
	int removed_on; /* changes of the target after which something removes the item: ON_UPDATED, ON_DELETED */
};

/* of one entity; arrays are indexed like those of the entity */
struct rule_entity {
	const struct entity *entity;
	bool *impure;     /* attributes: made by terms that read more than the item, or from such attributes */
	bool *key_impure; /* keys */
	bool *companion_impure;
	bool *count_impure;
	bool *check_impure;
	bool *counted;            /* attributes: a counter that can be recounted */
	bool is_target;           /* others count on it, or copy it, or it is found by a pattern */
	struct name_list carried; /* attributes of a target that comparing needs: counters, sources of copies */
	bool only_companion;      /* its items are made by companions only */
	struct rule_life *lives;
};

/* of a filter: attribute = input.parameter */
struct bond_input {
	const struct name *attribute, *parameter;
};
/* rows of `leaf`, which `root` is or merges, belong to an item of `parent` */
struct bond {
	const struct entity *parent;
	const struct access *root, *leaf;
	bool cascade; /* `then remove`; else `refuse while` */
	/* The pattern leads from rows to rows (merge … for each), so the parent does not tell which rows it would ask
	 * for. Then a row belongs to the parent that it names itself (requires, counts). */
	bool over;
	struct bond_input inputs[4];
	size_t input_count;
};

struct rules {
	const struct design *design;
	struct rule_entity *entities;
	struct bond *bonds;
	size_t bond_count, bond_room;
	bool has_companions; /* or credentials of their own */
};

/* the weight of a fact */
enum fact_weight {
	FACT_FULL,
	FACT_EXPIRED, /* of an expired item, or under a condition known only when it was written: optional */
	FACT_PENDING, /* of a removed item whose removal the keeper has not seen: optional, and what it explains is pending */
	FACT_DELETED, /* of a softly deleted parent: what goes with it should be gone */
};

struct hash_set {
	uint64_t *slots; /* 0: empty */
	size_t count, room;
};

/* the hash of an identity in a tree, and that of its parent's */
struct parent {
	uint64_t child, parent;
};

/* a shard of the stream */
struct watched {
	struct slice shard, iterator; /* iterator empty: it has ended */
};

struct oracle {
	struct run run;       /* its arena is `scratch` */
	struct arena scratch; /* cleared after each page and each group */
	struct arena kept;    /* lives as long as the check */
	struct arena group;   /* of the group being compared */
	struct rules rules;
	const struct oracle_options *options;
	struct oracle_summary *summary;
	struct facts *facts;
	bool failed;  /* a fact could not be stored: facts_why() */
	bool stopped; /* by progress() */
	unsigned pass;
	struct hash_set suspects; /* groups in which the previous pass had findings; others are not compared again */
	struct hash_set next_suspects;
	struct hash_set seen, seen_before; /* findings of this pass and the previous one */
	struct hash_set told;
	struct hash_set candidates; /* findings of any pass */
	uint64_t group_hash;        /* of the group being compared; 0: an item by itself */
	/* Keys of items in changes that have not been seen yet … */
	struct hash_set counted; /* … by the keeper, which then updates what depends on their counters */
	struct hash_set copied;  /* … by the keeper, which then updates them as copies, or their copies */
	struct hash_set unseen;  /* … by processors that remove items with `lives while` */
	uint64_t waiting;        /* number of such changes */
	/* While others write: keys of items that changed since the scan before this one. What several items say of one
	 * thing was read at different moments, so findings about these are not reported, however often passes agree: a
	 * counter that goes up and down has the same two values again and again. */
	struct hash_set touched;
	struct parent *parents; /* of the trees; from malloc */
	size_t parent_count, parent_room;
	struct hash_set circled; /* identities that are below themselves */
	struct watched *watched; /* shards, and from where each is read on */
	size_t watched_count, watched_room;
	bool watches;
};

/* Also drops the items that the run remembers, which are in it. */
static inline void scratch_clear(struct oracle *o)
{
	arena_clear(&o->scratch);
	o->run.memo = NULL;
}

/* ---- rules.c, pure.c ---- */
void rules_make(struct rules *x, const struct design *d, struct arena *a);
/* Reports as notes what cannot be judged. */
void rules_tell(struct oracle *o);
static inline const struct rule_entity *rules_of(const struct oracle *o, const struct entity *e)
{
	return &o->rules.entities[e - o->rules.design->entities];
}
static inline size_t entity_index(const struct design *d, const struct entity *e)
{
	return (size_t)(e - d->entities);
}
void pure_mark(struct rule_entity *x);

/* ---- judge.c, fit.c: an item by itself ---- */
/* Judges the item (unless `silent`). *out: the full item as it should be, except for values that are taken as they
 * are. */
void judge_item(struct oracle *o, const struct row *stored, bool silent, struct row *full);
/* NULL: the value fits the attribute; otherwise what is expected: "a string". */
const char *fit_value(struct run *r, const struct attribute *a, struct value v);

/* ---- imply.c: what an item says about others ---- */
enum fact_space { SPACE_KEY = 1, SPACE_IDENTITY, SPACE_BOND, SPACE_FILE };
enum fact_kind {
	/* SPACE_KEY; the join is the table's key */
	FACT_ITEM = 1, /* shapes, entity, hash */
	FACT_EXPECT,   /* weight, owner's entity, rule, hash, owner's key */
	FACT_ACCOUNT,  /* weight, owner's entity: credentials belong here */
	/* SPACE_IDENTITY; the join is the entity and its identity */
	FACT_TARGET = 1, /* weight, key, what is carried */
	FACT_GONE,       /* no data: the item is gone, and the keeper has not seen that */
	FACT_COUNT,      /* attribute, weight, number */
	FACT_COPY,       /* hash, owner's entity, attribute, owner's key */
	FACT_LIFE,       /* owner's entity, index in `lives while`, owner's key */
	FACT_ROW,        /* bond, entity, key: a row that names this as its parent */
	FACT_REFER,      /* owner's entity, index in `requires`, owner's key, identity */
	/* SPACE_BOND; the join is the bond and the values that parent and row share */
	FACT_PARENT = 1, /* weight, key (DELETED only) */
	FACT_CHILD,      /* entity, whether it must have a parent, key */
	/* SPACE_FILE; the join is the id of a file */
	FACT_FILE = 1, /* the key of the item whose it is, and "Entity.attribute" */
	FACT_HOLDS,    /* weight, entity, attribute, key: an item that has it */
};
/* shapes of a FACT_ITEM: what its key could be */
enum {
	SHAPE_COMPANION = 1,
	SHAPE_GUARD = 2,
	SHAPE_SECRET = 4,
	SHAPE_IMPURE = 8, /* of a companion that is not judged */
};
#define NO_ENTITY 0xffff
void imply_item(struct oracle *o, struct value stored, enum fact_weight weight);
/* Of a removed item whose removal the keeper has not seen: the keeper will remove what belongs to it. `traces`: also
 * its companions and counts, which only items removed by TTL leave to the keeper. */
void imply_gone(struct oracle *o, const struct row *stored, bool traces);
/* Rows that belong to an item with these values are being removed. */
void imply_deleting(struct oracle *o, const struct row *values);
/* Begins a fact in a buf of the run's arena; fact_add() ends it. */
struct buf fact_begin(struct oracle *o, enum fact_space space, struct slice join, enum fact_kind kind);
void fact_add(struct oracle *o, const struct buf *b);
void fact_put_value(struct buf *b, struct value v);
void fact_put_hash(struct buf *b, struct value v);
/* The identity of an item or a reference, for a join; false: a part of it is absent. */
bool identity_join(struct run *r, const struct entity *e, const struct value *args, size_t n, struct slice *join);

struct fact_reader {
	const char *p, *end;
};
uint8_t fact_u8(struct fact_reader *x);
uint16_t fact_u16(struct fact_reader *x);
struct value fact_value(struct fact_reader *x);
struct slice fact_hash(struct fact_reader *x);

/* ---- bond.c ---- */
void bonds_make(struct rules *x, struct arena *a);
void bonds_tell(struct oracle *o);
/* an item that was scanned */
struct scanned {
	const struct entity *entity;
	struct value key;         /* absent: of an item being deleted only the values in `full` are known */
	const struct row *stored; /* NULL: the same */
	const struct row *full;   /* as it should be */
	const struct companion_item *companions;
	size_t companion_count;
};
/* Facts of an item as a parent and as a child. */
void bonds_imply(struct oracle *o, const struct scanned *x, enum fact_weight weight);
/* Whether the item is a row of the pattern or of one it merges, for some parameters. False if that cannot be
 * decided. */
bool bond_has_row(struct oracle *o, const struct access *access, const struct row *stored, const struct row *full);

/* The first reference from *from on by which the item names a parent of that entity, if it applies to the item; *if_
 * is its condition on the parent. NULL: none. *from moves past it. */
const struct reference *bond_reference(struct run *r, const struct entity *e, const struct row *full,
				       const struct entity *parent, size_t *from, const struct term **if_);
/* Whether the item has the values that a soft deletion sets. */
bool bond_is_deleted(struct run *r, const struct row *full);
/* Reports a row whose parent is gone, or was deleted softly and is at `parent`. ORACLE_NOTE: it may have been made
 * without a parent. */
void bond_tell(struct oracle *o, const struct bond *b, const struct entity *e, struct value key, struct value parent,
	       enum oracle_weight weight);

/* ---- life.c ---- */
void lives_mark(struct rules *x, struct rule_entity *r, struct arena *a);
/* Whether the processor removes items with `lives while`. */
bool lives_removes(const struct design *d, const struct processor *p);
void lives_imply(struct oracle *o, const struct entity *e, const struct row *full, struct value key);
/* Compares a FACT_LIFE. `there`: the other item exists, with the attributes `carried`. */
void lives_compare(struct oracle *o, struct fact_reader *f, bool there, const struct row *carried);
/* Whether every `lives while` of the item holds now. What it reads becomes a condition of the write (witness.h). */
bool lives_still(struct run *r, const struct row *full, bool *out) MUST_CHECK;

/* ---- files.c ---- */
/* What is known of one file, while its facts are compared. */
struct at_file {
	struct slice id;
	struct value item, of; /* of its record; absent: there is none */
	bool held;             /* that item has it */
};
void files_imply(struct oracle *o, const struct row *item, enum fact_weight weight);
/* Reads the records of files, as facts. */
bool files_scan(struct oracle *o) MUST_CHECK;
void files_begin(struct at_file *x, struct oracle *o, struct slice id);
void files_fact(struct at_file *x, struct oracle *o, enum fact_kind kind, struct fact_reader *f);
void files_end(struct at_file *x, struct oracle *o);
/* ---- refer.c ---- */
void refers_mark(struct rules *x);
void refers_imply(struct oracle *o, const struct row *full, struct value key);
/* A FACT_REFER whose item does not exist. */
void refers_compare(struct oracle *o, struct fact_reader *f);
/* After the scan: o->circled. */
bool refers_find_circles(struct oracle *o) MUST_CHECK;
/* Reports an item of o->circled. */
void refers_tell_circle(struct oracle *o, const struct entity *e, struct value key);

/* ---- owner.c ---- */
struct owner_found {
	const struct entity *entity;
	const struct companion *rule; /* NULL: the item is credentials */
	struct value key;             /* of the owner, whether it exists or not */
};
/* False: the item's values do not determine an owner. */
bool owner_find(struct run *r, struct value item, struct owner_found *out);

/* ---- compare.c ---- */
bool compare_all(struct oracle *o);

/* ---- stream.c ---- */
/* Reads the changes that the keeper has not seen: marks their keys, and adds facts of removed items. */
bool stream_look(struct oracle *o) MUST_CHECK;
/* Before the first scan, and after each: what changes meanwhile (o->touched). */
void stream_watch(struct oracle *o);
void stream_follow(struct oracle *o);

/* ---- tell.c ---- */
void tell(struct oracle *o, struct oracle_finding *f, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Texts for sentences. */
struct slice say_value(struct run *r, struct value v);
struct slice say_key(struct run *r, struct value key);
/* "User alice", or "the item USER#alice / X". */
struct slice say_item(struct run *r, const struct entity *e, struct value key);

/* ---- sets of hashes ---- */
uint64_t hash_bytes(struct slice s);
bool hash_set_has(const struct hash_set *s, uint64_t h);
/* False: out of memory. */
bool hash_set_add(struct hash_set *s, uint64_t h);
void hash_set_free(struct hash_set *s);

#endif
