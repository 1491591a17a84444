/* TableDescription, as four operations show it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/reply.h"

/* What an on-demand table takes at once when it is new. */
#define WARM_READ_UNITS 12000
#define WARM_WRITE_UNITS 4000

void reply_time(struct buf *b, int64_t ms)
{
	buf_i64(b, ms / 1000);
	buf_printf(b, ".%03d", (int)(ms % 1000));
}

static void text(struct buf *b, const char *name, struct slice s)
{
	reply_member(b, name);
	json_string(b, s);
}

static void integer(struct buf *b, const char *name, int64_t n)
{
	reply_member(b, name);
	buf_i64(b, n);
}

static void boolean(struct buf *b, const char *name, bool v)
{
	reply_member(b, name);
	buf_str(b, v ? "true" : "false");
}

/* A date that may never have been. */
static void date(struct buf *b, const char *name, int64_t ms)
{
	if (!ms)
		return;
	reply_member(b, name);
	reply_time(b, ms);
}

/* ---- keys and projections ---- */

static void definitions(struct buf *b, const struct table *t)
{
	reply_member(b, "AttributeDefinitions");
	buf_lit(b, "[");
	for (size_t i = 0; i < t->attribute_count; i++) {
		buf_str(b, i ? ",{" : "{");
		text(b, "AttributeName", t->attributes[i].name);
		text(b, "AttributeType", slice_str(value_type_name(t->attributes[i].type)));
		buf_lit(b, "}");
	}
	buf_lit(b, "]");
}

static void key_element(struct buf *b, const struct key_attr *k, const char *type)
{
	if (b->p[b->n - 1] == '}')
		buf_lit(b, ",");
	buf_lit(b, "{");
	text(b, "AttributeName", k->name);
	text(b, "KeyType", slice_str(type));
	buf_lit(b, "}");
}

void reply_key_schema(struct buf *b, const struct key_schema *k)
{
	reply_member(b, "KeySchema");
	buf_lit(b, "[");
	for (size_t i = 0; i < k->hash_count; i++)
		key_element(b, &k->hash[i], "HASH");
	for (size_t i = 0; i < k->range_count; i++)
		key_element(b, &k->range[i], "RANGE");
	buf_lit(b, "]");
}

static void projection(struct buf *b, const struct index *x)
{
	static const char *const names[] = { "ALL", "KEYS_ONLY", "INCLUDE" };

	reply_member(b, "Projection");
	buf_lit(b, "{");
	text(b, "ProjectionType", slice_str(names[x->projection]));
	if (x->projection == PROJECT_INCLUDE) {
		reply_member(b, "NonKeyAttributes");
		buf_lit(b, "[");
		for (size_t i = 0; i < x->include_count; i++) {
			if (i)
				buf_lit(b, ",");
			json_string(b, x->include[i]);
		}
		buf_lit(b, "]");
	}
	buf_lit(b, "}");
}

/* ---- capacity ---- */

static void throughput(struct buf *b, const struct throughput *p)
{
	reply_member(b, "ProvisionedThroughput");
	buf_lit(b, "{");
	date(b, "LastIncreaseDateTime", p->last_increase);
	date(b, "LastDecreaseDateTime", p->last_decrease);
	integer(b, "NumberOfDecreasesToday", p->decreases_today);
	integer(b, "ReadCapacityUnits", p->read);
	integer(b, "WriteCapacityUnits", p->write);
	buf_lit(b, "}");
}

static void on_demand_throughput(struct buf *b, int64_t read, int64_t write)
{
	if (read == -1 && write == -1)
		return;
	reply_member(b, "OnDemandThroughput");
	buf_lit(b, "{");
	integer(b, "MaxReadRequestUnits", read);
	integer(b, "MaxWriteRequestUnits", write);
	buf_lit(b, "}");
}

static void warm_throughput(struct buf *b, const struct throughput *p, bool on_demand,
			    enum resource_status status)
{
	reply_member(b, "WarmThroughput");
	buf_lit(b, "{");
	integer(b, "ReadUnitsPerSecond", on_demand ? WARM_READ_UNITS : p->read);
	integer(b, "WriteUnitsPerSecond", on_demand ? WARM_WRITE_UNITS : p->write);
	text(b, "Status", status == STATUS_ACTIVE ? SLICE("ACTIVE") : SLICE("UPDATING"));
	buf_lit(b, "}");
}

static void mode_summary(struct buf *b, const char *name, const char *mode_name,
			 const struct table *t, enum resource_status shown)
{
	reply_member(b, name);
	buf_lit(b, "{");
	text(b, mode_name, t->on_demand ? SLICE("PAY_PER_REQUEST") : SLICE("PROVISIONED"));
	if (shown != STATUS_CREATING)
		date(b, "LastUpdateToPayPerRequestDateTime", t->on_demand_since_ms);
	buf_lit(b, "}");
}

/* DynamoDB says nothing of a table that has always been provisioned, and else says it twice. */
static void billing(struct buf *b, const struct table *t, enum resource_status shown)
{
	if (!t->on_demand && !t->on_demand_since_ms)
		return;
	mode_summary(b, "BillingModeSummary", "BillingMode", t, shown);
	mode_summary(b, "TableThroughputModeSummary", "TableThroughputMode", t, shown);
}

/* ---- indexes ---- */

static void counters(struct buf *b, const char *bytes_name, const struct stats *s)
{
	integer(b, bytes_name, s ? atomic_load_explicit(&s->bytes, memory_order_relaxed) : 0);
	integer(b, "ItemCount", s ? atomic_load_explicit(&s->items, memory_order_relaxed) : 0);
}

static void global_members(struct buf *b, const struct table *t, const struct index *x,
			   enum resource_status shown)
{
	enum resource_status status = shown == STATUS_CREATING ? STATUS_CREATING : x->status;

	text(b, "IndexStatus", slice_str(resource_status_name(status)));
	if (status == STATUS_CREATING && shown != STATUS_CREATING)
		boolean(b, "Backfilling", x->backfilling);
	throughput(b, &x->throughput);
	on_demand_throughput(b, x->max_read_units, x->max_write_units);
	warm_throughput(b, &x->throughput, t->on_demand, status);
}

static void one_index(struct buf *b, const struct table *t, const struct index *x,
		      enum resource_status shown, struct arena *a)
{
	buf_lit(b, "{");
	text(b, "IndexName", x->name);
	reply_key_schema(b, &x->key);
	projection(b, x);
	if (x->global)
		global_members(b, t, x, shown);
	counters(b, "IndexSizeBytes", x->stats);
	text(b, "IndexArn", index_arn(t, x, a));
	buf_lit(b, "}");
}

static void indexes(struct buf *b, const struct table *t, bool global, enum resource_status shown,
		    struct arena *a)
{
	bool any = false;

	for (size_t i = 0; i < t->index_count; i++) {
		if (t->indexes[i].global != global)
			continue;
		if (any) {
			buf_lit(b, ",");
		} else {
			reply_member(b,
				     global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
			buf_lit(b, "[");
		}
		any = true;
		one_index(b, t, &t->indexes[i], shown, a);
	}
	if (any)
		buf_lit(b, "]");
}

/* ---- settings ---- */

/* A table remembers its newest stream after disabling it. */
static const struct stream *latest_stream(const struct table *t)
{
	const struct stream *latest = t->stream;

	for (size_t i = 0; i < t->closed_stream_count && !t->stream; i++)
		if (!latest || t->closed_streams[i].created_ms >= latest->created_ms)
			latest = &t->closed_streams[i];
	return latest;
}

static void stream(struct buf *b, const struct table *t, struct arena *a)
{
	const struct stream *latest = latest_stream(t);

	if (t->stream) {
		reply_member(b, "StreamSpecification");
		buf_lit(b, "{\"StreamEnabled\":true");
		text(b, "StreamViewType", slice_str(stream_view_name(t->stream->view)));
		buf_lit(b, "}");
	}
	if (latest) {
		text(b, "LatestStreamLabel", latest->label);
		text(b, "LatestStreamArn", stream_arn(t, latest, a));
	}
}

static void encryption(struct buf *b, const struct table *t, struct arena *a)
{
	struct slice key = t->sse_key.n ? t->sse_key : SLICE("alias/aws/dynamodb");
	bool bare_id = key.n && !memchr(key.p, '/', key.n);

	if (!t->sse)
		return;
	if (!slice_starts(key, SLICE("arn:")))
		key = arena_printf(a, "arn:aws:kms:%.*s:000000000000:%s%.*s", SLICE_ARG(t->region),
				   bare_id ? "key/" : "", SLICE_ARG(key));
	reply_member(b, "SSEDescription");
	buf_lit(b, "{\"Status\":\"ENABLED\",\"SSEType\":\"KMS\"");
	text(b, "KMSMasterKeyArn", key);
	buf_lit(b, "}");
}

/* Of a table that goes, DynamoDB no longer tells how it is built. */
void reply_table(struct buf *b, const struct table *t, enum resource_status shown, struct arena *a)
{
	bool going = shown == STATUS_DELETING;

	buf_lit(b, "{");
	if (!going)
		definitions(b, t);
	text(b, "TableName", t->name);
	if (!going)
		reply_key_schema(b, &t->key);
	text(b, "TableStatus", slice_str(resource_status_name(shown)));
	if (!going)
		date(b, "CreationDateTime", t->created_ms);
	throughput(b, &t->throughput);
	counters(b, "TableSizeBytes", t->stats);
	text(b, "TableArn", table_arn(t, a));
	text(b, "TableId", t->uuid);
	billing(b, t, shown);
	if (!going) {
		indexes(b, t, false, shown, a);
		indexes(b, t, true, shown, a);
	}
	stream(b, t, a);
	encryption(b, t, a);
	if (t->table_class.n) {
		reply_member(b, "TableClassSummary");
		buf_lit(b, "{");
		text(b, "TableClass", t->table_class);
		buf_lit(b, "}");
	}
	boolean(b, "DeletionProtectionEnabled", t->deletion_protection);
	on_demand_throughput(b, t->max_read_units, t->max_write_units);
	warm_throughput(b, &t->throughput, t->on_demand, shown);
	buf_lit(b, "}");
}
