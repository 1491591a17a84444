/* Changes of tables, run by the writer in order with the item writes (write.h, REQUEST_CONTROL).
 *
 * The caller has made every check that does not need the catalog. The writer makes the others (table exists, index
 * exists, one index change at a time, same settings as now, deletion protection), with DynamoDB's errors and texts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_CONTROL_CONTROL_H
#define THORPE_TABLE_CONTROL_CONTROL_H

#include "table/write.h"

enum control_kind {
	CONTROL_CREATE_TABLE,
	CONTROL_DELETE_TABLE,
	CONTROL_UPDATE_TABLE,
	CONTROL_UPDATE_TTL,
	CONTROL_TAG,
	CONTROL_UNTAG,
	/* Background work (background.c). Tables are given by id; if a table has been dropped meanwhile, the request
	 * does nothing and succeeds. */
	CONTROL_BACKFILL_CHUNK, /* table_id, index_id, keys: adds the current items to a CREATING index that lacks them */
	CONTROL_BACKFILL_DONE, /* table_id, index_id: the index becomes ACTIVE */
	CONTROL_TTL_CHUNK,     /* table_id, keys: makes the items' TTL entries */
	CONTROL_TTL_DONE,      /* table_id: ttl_backfilling ends */
	CONTROL_TRIM_STREAM,   /* stream_id, stream_shards, before_sequence: deletes older records */
	CONTROL_DROP_STREAM,   /* table_id, stream_id: deletes a closed stream and its records */
	CONTROL_SPLIT_STREAM,  /* table_id, stream_id: closes the shards of the enabled stream; sets `worked` to 1 */
	CONTROL_SAVE_TIME,     /* timeline: saves it in META */
	CONTROL_RECLAIMED,     /* note: its room has been freed (reclaim.c) */
	CONTROL_SWEEP_TOKENS,  /* deletes expired idempotency tokens, some hundreds at a time */
};

enum gsi_change_kind { GSI_CREATE, GSI_UPDATE, GSI_DELETE };
struct gsi_change {
	enum gsi_change_kind kind;
	struct index index; /* CREATE: all but id, status, stats; UPDATE: name, throughput,
			     * max_*_units; DELETE: name */
	bool has_throughput, has_on_demand;
};

/* Members with a has_ flag change only if it is set. */
struct table_change {
	/* AttributeDefinitions: new ones, or equal to existing ones */
	const struct key_attr *attributes;
	size_t attribute_count;
	bool has_billing, on_demand;
	bool has_throughput;
	struct throughput throughput;
	bool has_on_demand_limits;
	int64_t max_read_units, max_write_units;
	bool has_stream;
	enum stream_view stream; /* STREAM_NONE: disable */
	bool has_deletion_protection, deletion_protection;
	bool has_table_class;
	struct slice table_class;
	bool has_sse, sse;
	const struct gsi_change *indexes;
	size_t index_count;
};

struct control {
	enum control_kind kind;
	struct slice table; /* name or ARN */
	/* CREATE_TABLE: id, uuid, created_ms, status, stats and the ids of indexes and stream are
	 * filled in by the writer. stream: only `view` is read. */
	const struct table *spec;
	const struct table_change *change; /* UPDATE_TABLE */
	bool ttl_enable;                   /* UPDATE_TTL */
	struct slice ttl_attribute;
	const struct tag *tags; /* TAG */
	size_t tag_count;
	const struct slice *tag_keys; /* UNTAG */
	size_t tag_key_count;
	/* Background work */
	uint32_t table_id, index_id, stream_id, stream_shards;
	uint64_t before_sequence;
	struct slice timeline; /* SAVE_TIME */
	/* TTL_DONE: the table's when the backfill began; if it differs, does nothing */
	uint64_t ttl_epoch;
	const struct item_key *keys;
	size_t key_count;
	struct slice note;
	/* out: entries made by a CHUNK, tokens deleted by SWEEP_TOKENS */
	size_t worked;
	/* out: the table after the change (before it, for DELETE_TABLE), from a catalog held by the
	 * request's arena. For CREATE and UPDATE the reply shows status CREATING / UPDATING
	 * although the change is complete (except for a backfill): the API does that. */
	const struct table *result;
};

#endif
