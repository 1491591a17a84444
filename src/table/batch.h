/* The writer's working state: a batch of requests that will be committed together, and the stage on
 * which one request is evaluated.
 *
 * A request reads the store, overlaid by the writes of earlier requests of the batch (T6), overlaid by its own staged
 * writes. It writes only to its stage; batch_take() adds a successful stage to the batch, whole or not at all (T3),
 * and a failed request's stage is dropped.
 *
 * Memory: a stage lives in its request's arena, which exists until the request's done(), hence longer than the batch
 * uses it. Data of the whole batch is in the batch's arena. While a request is evaluated, both arenas have the same
 * out-of-memory exit (writer.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_BATCH_H
#define THORPE_TABLE_BATCH_H

#include "base/map.h"
#include "table/internal.h"

enum staged_kind { STAGED_PUT, STAGED_DELETE, STAGED_RANGE };

struct staged {
	struct staged *next;
	enum staged_kind kind;
	enum store_family family;
	struct slice name;       /* family as one byte, then the key: the name in overlays */
	struct slice value;      /* PUT; RANGE: the end */
	struct staged *shadowed; /* the previous entry of this name in the batch's overlay */
	bool taken;              /* the overlay has it */
};

/* A batch's additions to the counters of one table or index. */
struct batch_delta {
	uint8_t key[4];
	uint32_t id;
	struct stats *stats;
	int64_t items, bytes;
	bool dropped; /* the table or index was dropped: do not write its counters */
};

struct stage_delta {
	struct stage_delta *next;
	struct batch_delta *of;
	int64_t items, bytes;
	bool drop;
};

struct batch {
	struct db *db;
	struct arena arena;
	struct store_batch *out;
	struct map overlay;      /* name -> struct staged, the latest */
	struct map deltas;       /* be32 id -> struct batch_delta */
	struct catalog *catalog; /* after the batch; a reference */
	uint64_t sequence;       /* last used */
	uint32_t next_id;
	int64_t now_ms;
	size_t bytes;    /* put so far, roughly */
	bool wake;       /* there is new work for the background thread */
	bool only_frees; /* the disk is full: takes only requests that free room */
	bool grows;      /* a request was taken that does not free room */
	uint64_t ttl_deleted;
};

struct stage {
	struct batch *batch;
	struct arena *arena; /* the request's */
	struct staged *first, **last;
	struct map names; /* name -> struct staged, the latest */
	struct stage_delta *deltas;
	struct catalog *catalog; /* after the request; NULL: unchanged. A reference. */
	uint64_t sequence;
	uint32_t next_id;
	size_t bytes;
	bool wake;
	uint64_t ttl_deleted;
	size_t item_bytes; /* of the items read, before the request */
};

/* Reused for each batch. NULL: out of memory. */
struct batch *batch_new(void);
void batch_free(struct batch *b); /* NULL is fine */
/* Starts an empty batch on the current database. */
void batch_start(struct batch *b, struct db *db);
/* Empties it. */
void batch_clear(struct batch *b);
/* Adds the stage to the batch. May leave by running out of memory: then call batch_undo(). */
void batch_take(struct batch *b, struct stage *s);
void batch_undo(struct batch *b, struct stage *s);
/* Writes everything; then, on success, updates counters, catalog and sequence in memory (T7). */
bool batch_commit(struct batch *b, struct error *e) MUST_CHECK;

void stage_init(struct stage *s, struct batch *b, struct arena *a);
/* Releases what the arena does not own. */
void stage_release(struct stage *s);

/* The latest value, copied into the request's arena. Errors: INTERNAL. */
bool stage_get(struct stage *s, enum store_family f, struct slice key, struct slice *value, bool *found,
	       struct error *e) MUST_CHECK;
/* Keys and values are borrowed: they must live as long as the request's arena. */
void stage_put(struct stage *s, enum store_family f, struct slice key, struct slice value);
void stage_delete(struct stage *s, enum store_family f, struct slice key);
/* Deletes [from, to), also what this batch wrote. Reads within the batch do not see the deletion: use it only for
 * ranges that are never read again (ids of dropped tables), or never through a stage. */
void stage_delete_range(struct stage *s, enum store_family f, struct slice from, struct slice to);
void stage_delete_prefix(struct stage *s, enum store_family f, struct slice prefix);

/* Deletes everything that a table, index or stream has in a family; its id is never used again. Leaves a note, so
 * that reclaim.c frees the room. `bytes`: the size according to the counters, or 0. */
void stage_drop_id(struct stage *s, enum store_family f, uint32_t id, int64_t bytes);
/* Whether the staged writes make the database smaller or change nothing: a full disk still accepts them. */
bool stage_frees(const struct stage *s);

void stage_count(struct stage *s, uint32_t id, struct stats *stats, int64_t items, int64_t bytes);
/* Drops the counters of a table or index. */
void stage_drop_counters(struct stage *s, uint32_t id, struct stats *stats);

const struct catalog *stage_catalog(const struct stage *s);
/* Puts the table into the catalog and its definition into the store; returns the stored table, held by the
 * request's arena. */
const struct table *stage_put_table(struct stage *s, const struct table *t);
void stage_drop_table(struct stage *s, uint32_t id);
uint64_t stage_next_sequence(struct stage *s);
uint32_t stage_new_id(struct stage *s);

/* The item, or VALUE_ABSENT. */
bool stage_get_item(struct stage *s, uint32_t table, struct item_key k, struct value *item, struct error *e) MUST_CHECK;

#endif
