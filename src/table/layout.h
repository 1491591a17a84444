/* Every key and record on disk that table/ makes, in one place.
 *
 * Numbers are big-endian, so that memcmp() orders them. pk and sk are value_bytes() of the table's
 * key attributes (schema.h: struct item_key); sk is empty if the table has no sort key. hash is
 * key_hash() (value/key.h). "locator" below is the end of a key that identifies an item in three families:
 *
 *   locator   OFFSET SIZE  MEANING
 *             0      8     key_hash(pk)
 *             8      2     length of pk
 *             10     n     pk
 *             10+n   rest  sk
 *
 *   ITEMS     OFFSET SIZE  MEANING
 *             0      4     table id
 *             4      rest  locator                      -> the item, value/value.h's form
 *
 *   INDEX     OFFSET SIZE  MEANING
 *             0      4     index id
 *             4      8     key_hash(the counted hash attributes, concatenated)
 *             12     …     each hash attribute, counted (be16 length, bytes)
 *             …      …     each range attribute, escaped
 *             …      2     length of the table's pk
 *             …      n     the table's pk
 *             …      rest  the table's sk               -> the projected item
 *
 *   STREAM    OFFSET SIZE  MEANING
 *             0      4     stream id
 *             4      1     shard
 *             5      8     sequence                     -> record:
 *                    0     8     created, ms
 *                    8     1     event (enum stream_event)
 *                    9     1     flags: 1 deleted by TTL
 *                    10    4     SizeBytes
 *                    14    …     keys, old image, new image: each be32 length (0: absent), item
 *
 *   TTL       OFFSET SIZE  MEANING
 *             0      4     table id
 *             4      8     expiry, seconds since 1970
 *             12     rest  locator                      -> empty
 *
 *   TOKENS    'T', token                                -> be64 expiry ms, 32-byte digest
 *             'E', be64 expiry ms, token                -> empty
 *
 *   STATS     'S', be32 table or index id               -> be64 items, be64 bytes
 *             'C', be32 table id, locator without sk    -> be64 bytes of the item collection
 *                  (tables with LSIs only: sizes of the items and of their entries in LSIs)
 *
 *   CATALOG   be32 table id                             -> the definition, JSON (catalog_text.c)
 *
 *   META      "sequence" -> be64 last sequence used;  "next_id" -> be32 next id
 *             "timeline" -> be64 database's time ms, be64 wall clock ms then as TTL had it, be64 stream
 *                           horizon, and marks, each: be64 sequence, be64 database's time ms (timekeeper.h)
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_LAYOUT_H
#define THORPE_TABLE_LAYOUT_H

#include "base/buf.h"
#include "table/schema.h"
#include "table/streams.h"

/* All functions without a struct buf return a key allocated in the arena. */

/* ---- ITEMS ---- */
struct slice layout_item_key(struct arena *a, uint32_t table, struct item_key k);
/* All items of a table from `hash` on: be32 table, be64 hash. */
struct slice layout_item_from_hash(struct arena *a, uint32_t table, uint64_t hash);
/* The prefix of all items of one partition; sk follows. */
struct slice layout_item_partition(struct arena *a, uint32_t table, struct slice pk);
/* Reads a key of ITEMS back; the slices point into `key`. False when malformed. */
bool layout_read_item_key(struct slice key, uint32_t *table, struct item_key *out) MUST_CHECK;

/* ---- INDEX ---- */
/* The entry of an item in an index that holds it (index_holds()). */
struct slice layout_index_key(struct arena *a, const struct index *i, struct value item, struct item_key k);
/* The prefix of all entries of one index partition; `hash` are value_bytes() of its key.hash_count hash attributes.
 * Escaped range attributes may follow. */
void layout_index_partition(struct buf *b, const struct index *i, const struct slice *hash);
/* All entries of an index from `hash` on: be32 index, be64 hash. */
struct slice layout_index_from_hash(struct arena *a, uint32_t index, uint64_t hash);
/* The hash in an index key or item key: bytes 4..11. */
uint64_t layout_hash_of(struct slice key);
/* The table key at the end of an index key; the slices point into `key`. False when malformed. */
bool layout_read_index_key(struct arena *a, const struct index *i, struct slice key, struct item_key *out) MUST_CHECK;

/* ---- STREAM ---- */
#define STREAM_FLAG_TTL 1
struct slice layout_stream_key(struct arena *a, uint32_t stream, uint32_t shard, uint64_t sequence);
bool layout_read_stream_key(struct slice key, uint32_t *stream, uint32_t *shard, uint64_t *sequence) MUST_CHECK;
/* The key holds r->sequence, not the record. */
struct slice layout_stream_record(struct arena *a, const struct stream_record *r);
/* The values point into `bytes`. Does not set r->sequence. False: malformed. */
bool layout_read_stream_record(struct slice bytes, struct stream_record *r) MUST_CHECK;

/* ---- TTL ---- */
struct slice layout_ttl_key(struct arena *a, uint32_t table, int64_t expiry, struct item_key k);
/* All TTL entries of a table from `expiry` (>= 0) seconds on. */
struct slice layout_ttl_from(struct arena *a, uint32_t table, int64_t expiry);
bool layout_read_ttl_key(struct slice key, uint32_t *table, int64_t *expiry, struct item_key *out) MUST_CHECK;

/* ---- TOKENS ---- */
struct slice layout_token_key(struct arena *a, struct slice token);
struct slice layout_token_record(struct arena *a, int64_t expiry_ms, const uint8_t digest[32]);
bool layout_read_token_record(struct slice record, int64_t *expiry_ms, uint8_t digest[32]) MUST_CHECK;
struct slice layout_token_expiry_key(struct arena *a, int64_t expiry_ms, struct slice token);
/* All token expiries from `expiry_ms` (>= 0) on. */
struct slice layout_token_expiry_from(struct arena *a, int64_t expiry_ms);
bool layout_read_token_expiry_key(struct slice key, int64_t *expiry_ms, struct slice *token) MUST_CHECK;

/* ---- STATS ---- */
struct slice layout_stats_key(struct arena *a, uint32_t id);
struct slice layout_stats_record(struct arena *a, int64_t items, int64_t bytes);
bool layout_read_stats_record(struct slice record, int64_t *items, int64_t *bytes) MUST_CHECK;
struct slice layout_collection_key(struct arena *a, uint32_t table, struct slice pk);
/* The prefix of all collections of a table. */
struct slice layout_collection_from(struct arena *a, uint32_t table);
struct slice layout_u64_record(struct arena *a, uint64_t v);
bool layout_read_u64_record(struct slice record, uint64_t *v) MUST_CHECK;

/* ---- CATALOG, and any other family ---- */
/* be32: also the prefix of a table's, index's or stream's keys in the other families. */
struct slice layout_id(struct arena *a, uint32_t id);
/* The smallest key greater than all keys with `prefix` (which is not all 0xFF). */
struct slice layout_after_prefix(struct arena *a, struct slice prefix);

/* The expiry in seconds from an item's TTL attribute, if the table has TTL enabled and the attribute is an N of at
 * least 0 (truncated to seconds); false: it never expires. */
bool layout_ttl_of_item(const struct table *t, struct value item, int64_t *expiry);

#endif
