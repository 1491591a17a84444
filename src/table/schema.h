/* A table's definition: keys, indexes, settings; and checks of items and keys against it.
 *
 * A struct table is immutable once it is in a catalog: readers on any thread use it as long as they hold the
 * catalog (db.h). Only `stats` changes, by the writer; its members are atomic.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_SCHEMA_H
#define THORPE_TABLE_SCHEMA_H

#include <stdatomic.h>
#include "base/error.h"
#include "value/limits.h"
#include "value/value.h"

struct key_attr {
	struct slice name;
	enum value_type type; /* S, N or B */
};

/* A table or LSI has one hash and at most one range attribute; a GSI up to four of each. */
struct key_schema {
	struct key_attr hash[KEY_HASH_MAX];
	struct key_attr range[KEY_RANGE_MAX];
	uint8_t hash_count, range_count;
};

/* All attributes of a key, the hash attributes first. */
static inline size_t key_attr_count(const struct key_schema *k)
{
	return (size_t)k->hash_count + k->range_count;
}

static inline const struct key_attr *key_attr_at(const struct key_schema *k, size_t i)
{
	return i < k->hash_count ? &k->hash[i] : &k->range[i - k->hash_count];
}

/* Always exact: updated in memory together with the commit they belong to. */
struct stats {
	_Atomic int64_t items;
	_Atomic int64_t bytes;
	/* For tables, since the database was opened: items requested (by key, or evaluated by a query or scan) and
	 * items written. Relaxed counters for display; any thread adds to `reads`. */
	_Atomic int64_t reads;
	_Atomic int64_t writes;
};

/* Call once per request, not once per item. */
static inline void stats_add(_Atomic int64_t *counter, int64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

struct throughput {
	int64_t read, write;                  /* 0, 0: on demand */
	int64_t last_increase, last_decrease; /* ms; 0: never */
	int64_t decreases_today;
};

enum projection_kind { PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_INCLUDE };
enum resource_status { STATUS_CREATING, STATUS_ACTIVE, STATUS_UPDATING, STATUS_DELETING };
const char *resource_status_name(enum resource_status s);

struct index {
	uint32_t id;
	struct slice name;
	bool global;
	struct key_schema key;
	enum projection_kind projection;
	const struct slice *include; /* NonKeyAttributes */
	size_t include_count;
	struct throughput throughput; /* global only */
	/* OnDemandThroughput: -1 unset */
	int64_t max_read_units, max_write_units;
	enum resource_status status; /* CREATING: being backfilled, kept up to date, not readable */
	bool backfilling;
	struct stats *stats;
};

enum stream_view { STREAM_NONE, STREAM_KEYS_ONLY, STREAM_NEW_IMAGE, STREAM_OLD_IMAGE, STREAM_NEW_AND_OLD };
const char *stream_view_name(enum stream_view v);
/* STREAM_NONE: not a view type. */
enum stream_view stream_view_parse(struct slice s);

/* All open shards of a stream were closed, and have children. */
struct stream_split {
	uint64_t sequence; /* the children's first; parents end before it */
	int64_t ms;        /* time of the split, part of the children's names; rises from split to split */
	uint32_t depth;    /* afterwards each of the stream's shards is reported as 2^depth shards */
};
#define STREAM_SPLITS_MAX 100 /* beyond it, the two oldest are merged */
#define STREAM_DEPTH_MAX  2

/* A stream, enabled or (closed_ms != 0) disabled and still readable until trimmed. */
struct stream {
	uint32_t id;
	struct slice label; /* 2026-11-15T12:00:00.000 */
	enum stream_view view;
	uint32_t shards;
	int64_t created_ms, closed_ms;
	uint64_t first_sequence, closed_sequence;
	/* The shards that clients see (api/op/shards.h), oldest first; records are always stored in `shards`
	 * shards. */
	const struct stream_split *splits;
	size_t split_count;
};

enum ttl_status { TTL_DISABLED, TTL_ENABLED };

struct tag {
	struct slice key, value;
};

struct table {
	uint32_t id; /* never reused */
	struct slice name;
	struct slice region; /* for ARNs; the same for all tables of a db, not stored */
	struct slice uuid;   /* TableId */
	int64_t created_ms;
	enum resource_status status;
	struct key_schema key;
	const struct key_attr *attributes; /* AttributeDefinitions, as given */
	size_t attribute_count;
	const struct index *indexes;
	size_t index_count;
	bool has_local_indexes;
	bool on_demand;             /* BillingMode PAY_PER_REQUEST */
	int64_t on_demand_since_ms; /* LastUpdateToPayPerRequestDateTime; 0: never on demand */
	struct throughput throughput;
	int64_t max_read_units, max_write_units; /* OnDemandThroughput: -1 unset */
	const struct stream *stream;             /* the enabled one, or NULL */
	const struct stream *closed_streams;     /* readable remains of earlier ones */
	size_t closed_stream_count;
	enum ttl_status ttl;
	struct slice ttl_attribute; /* kept when disabled; DescribeTimeToLive hides it then */
	bool ttl_backfilling;
	/* Changes each time TTL is enabled, so that a running backfill notices. Only in memory: 0 after a restart,
	 * when every backfill begins again anyway. */
	uint64_t ttl_epoch;
	bool deletion_protection;
	struct slice table_class; /* STANDARD… ; empty when never given */
	bool sse;                 /* SSESpecification.Enabled */
	struct slice sse_key;     /* KMSMasterKeyId given with it, or empty */
	const struct tag *tags;
	size_t tag_count;
	struct stats *stats;
};

/* NULL: no such index. */
const struct index *table_index(const struct table *t, struct slice name);
/* Type of an attribute in AttributeDefinitions; VALUE_NONE: not defined. */
enum value_type table_attribute_type(const struct table *t, struct slice name);
/* arn:aws:dynamodb:<region>:000000000000:table/<name> (+ /index/<name>, /stream/<label>) */
struct slice table_arn(const struct table *t, struct arena *a);
struct slice index_arn(const struct table *t, const struct index *i, struct arena *a);
struct slice stream_arn(const struct table *t, const struct stream *s, struct arena *a);
/* The table name in a table ARN (or in an index or stream ARN); `s` itself if it is not an ARN. */
struct slice table_name_of_arn(struct slice s);

/* A primary key as sortable bytes (value_bytes()); sk is empty if the table has no sort key. */
struct item_key {
	struct slice pk, sk;
};

/* The primary key of a whole item. Errors: VALIDATION, DynamoDB's texts (missing key, type
 * mismatch, empty key value, over 2048 / 1024 bytes). */
bool table_key_of_item(const struct table *t, struct value item, struct arena *a, struct item_key *out,
		       struct error *e) MUST_CHECK;
/* The key of a Key parameter: exactly the key attributes ("The provided key element does not match
 * the schema"). */
bool table_key_of_key(const struct table *t, struct value key, struct arena *a, struct item_key *out,
		      struct error *e) MUST_CHECK;
/* Whether the item's index key attributes have the right type and size and are not empty ("Type mismatch for Index
 * Key …"). */
bool table_check_index_keys(const struct table *t, struct value item, struct arena *a, struct error *e) MUST_CHECK;
/* Whether the attribute, which may be an index key, may have a value of this type. */
bool table_check_index_key_type(const struct table *t, struct slice name, enum value_type type, struct arena *a,
				struct error *e) MUST_CHECK;
/* The same for an updated item: checks attributes that differ from `old` (which may be absent), with the texts of
 * UpdateItem ("The update expression attempted to update …"). */
bool table_check_updated_index_keys(const struct table *t, struct value old, struct value item, struct arena *a,
				    struct error *e) MUST_CHECK;
/* 400 KB. `updating`: which of DynamoDB's two texts ("Item size has exceeded the maximum allowed
 * size", "Item size to update has exceeded the maximum allowed size"). */
bool table_check_item_size(struct value item, bool updating, struct arena *a, struct error *e) MUST_CHECK;

/* The key attributes of an item: of the table, and those of the index too when not NULL (as in
 * LastEvaluatedKey). */
struct value table_key_item(const struct table *t, const struct index *i, struct value item, struct arena *a);
/* Whether the index contains this item: it has all the index's key attributes, of the right type and size.
 * (table_check_index_keys() refuses others, but items may be older than the index.) */
bool index_holds(const struct index *i, struct value item);
/* Whether an attribute of that name is in the index: by its projection, or as a key of the table or the index. */
bool index_has_attribute(const struct table *t, const struct index *i, struct slice name);
/* The part of an item that the index stores: `item` itself for PROJECT_ALL. */
struct value index_projected(const struct table *t, const struct index *i, struct value item, struct arena *a);
bool is_key_attribute(const struct key_schema *k, struct slice name);

#endif
