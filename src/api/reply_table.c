/* TableDescription, as four operations show it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/reply.h"

/* The initial throughput of a new on-demand table. */
#define WARM_READ_UNITS  12000
#define WARM_WRITE_UNITS 4000

void reply_time(struct buf *b, int64_t ms)
{
	buf_i64(b, ms / 1000);
	buf_printf(b, ".%03d", (int)(ms % 1000));
}

/* Omitted if the event never happened. */
static void date(struct buf *b, const char *name, int64_t ms)
{
	if (!ms)
		return;
	json_name(b, name);
	reply_time(b, ms);
}

/* ---- keys and projections ---- */

static void definitions(struct buf *b, const struct table *t)
{
	json_member_open(b, "AttributeDefinitions", '[');
	for (size_t i = 0; i < t->attribute_count; i++) {
		json_open(b, '{');
		json_member_string(b, "AttributeName", t->attributes[i].name);
		json_member_word(b, "AttributeType", value_type_name(t->attributes[i].type));
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void key_element(struct buf *b, const struct key_attr *k, const char *type)
{
	json_open(b, '{');
	json_member_string(b, "AttributeName", k->name);
	json_member_word(b, "KeyType", type);
	json_close(b, '}');
}

void reply_key_schema(struct buf *b, const struct key_schema *k)
{
	json_member_open(b, "KeySchema", '[');
	for (size_t i = 0; i < k->hash_count; i++)
		key_element(b, &k->hash[i], "HASH");
	for (size_t i = 0; i < k->range_count; i++)
		key_element(b, &k->range[i], "RANGE");
	json_close(b, ']');
}

static void projection(struct buf *b, const struct index *x)
{
	static const char *const names[] = { "ALL", "KEYS_ONLY", "INCLUDE" };

	json_member_open(b, "Projection", '{');
	json_member_word(b, "ProjectionType", names[x->projection]);
	if (x->projection == PROJECT_INCLUDE)
		json_member_strings(b, "NonKeyAttributes", x->include, x->include_count);
	json_close(b, '}');
}

/* ---- capacity ---- */

static void throughput(struct buf *b, const struct throughput *p)
{
	json_member_open(b, "ProvisionedThroughput", '{');
	date(b, "LastIncreaseDateTime", p->last_increase);
	date(b, "LastDecreaseDateTime", p->last_decrease);
	json_member_int(b, "NumberOfDecreasesToday", p->decreases_today);
	json_member_int(b, "ReadCapacityUnits", p->read);
	json_member_int(b, "WriteCapacityUnits", p->write);
	json_close(b, '}');
}

static void on_demand_throughput(struct buf *b, int64_t read, int64_t write)
{
	if (read == -1 && write == -1)
		return;
	json_member_open(b, "OnDemandThroughput", '{');
	json_member_int(b, "MaxReadRequestUnits", read);
	json_member_int(b, "MaxWriteRequestUnits", write);
	json_close(b, '}');
}

static void warm_throughput(struct buf *b, const struct throughput *p, bool on_demand, enum resource_status status)
{
	json_member_open(b, "WarmThroughput", '{');
	json_member_int(b, "ReadUnitsPerSecond", on_demand ? WARM_READ_UNITS : p->read);
	json_member_int(b, "WriteUnitsPerSecond", on_demand ? WARM_WRITE_UNITS : p->write);
	json_member_string(b, "Status", status == STATUS_ACTIVE ? SLICE("ACTIVE") : SLICE("UPDATING"));
	json_close(b, '}');
}

static void mode_summary(struct buf *b, const char *name, const char *mode_name, const struct table *t,
			 enum resource_status shown)
{
	json_member_open(b, name, '{');
	json_member_string(b, mode_name, t->on_demand ? SLICE("PAY_PER_REQUEST") : SLICE("PROVISIONED"));
	if (shown != STATUS_CREATING)
		date(b, "LastUpdateToPayPerRequestDateTime", t->on_demand_since_ms);
	json_close(b, '}');
}

/* DynamoDB omits it for a table that has always been provisioned, and otherwise writes it twice. */
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
	json_member_int(b, bytes_name, s ? atomic_load_explicit(&s->bytes, memory_order_relaxed) : 0);
	json_member_int(b, "ItemCount", s ? atomic_load_explicit(&s->items, memory_order_relaxed) : 0);
}

static void global_members(struct buf *b, const struct table *t, const struct index *x, enum resource_status shown)
{
	enum resource_status status = shown == STATUS_CREATING ? STATUS_CREATING : x->status;

	json_member_word(b, "IndexStatus", resource_status_name(status));
	if (status == STATUS_CREATING && shown != STATUS_CREATING)
		json_member_bool(b, "Backfilling", x->backfilling);
	throughput(b, &x->throughput);
	on_demand_throughput(b, x->max_read_units, x->max_write_units);
	warm_throughput(b, &x->throughput, t->on_demand, status);
}

static void one_index(struct buf *b, const struct table *t, const struct index *x, enum resource_status shown,
		      struct arena *a)
{
	json_open(b, '{');
	json_member_string(b, "IndexName", x->name);
	reply_key_schema(b, &x->key);
	projection(b, x);
	if (x->global)
		global_members(b, t, x, shown);
	counters(b, "IndexSizeBytes", x->stats);
	json_member_string(b, "IndexArn", index_arn(t, x, a));
	json_close(b, '}');
}

static void indexes(struct buf *b, const struct table *t, bool global, enum resource_status shown, struct arena *a)
{
	bool any = false;

	for (size_t i = 0; i < t->index_count; i++) {
		if (t->indexes[i].global != global)
			continue;
		if (!any)
			json_member_open(b, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes", '[');
		any = true;
		one_index(b, t, &t->indexes[i], shown, a);
	}
	if (any)
		json_close(b, ']');
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
		json_member_open(b, "StreamSpecification", '{');
		json_member_bool(b, "StreamEnabled", true);
		json_member_word(b, "StreamViewType", stream_view_name(t->stream->view));
		json_close(b, '}');
	}
	if (latest) {
		json_member_string(b, "LatestStreamLabel", latest->label);
		json_member_string(b, "LatestStreamArn", stream_arn(t, latest, a));
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
	json_member_open(b, "SSEDescription", '{');
	json_member_word(b, "Status", "ENABLED");
	json_member_word(b, "SSEType", "KMS");
	json_member_string(b, "KMSMasterKeyArn", key);
	json_close(b, '}');
}

/* For a table being deleted, DynamoDB omits the structure. */
void reply_table(struct buf *b, const struct table *t, enum resource_status shown, struct arena *a)
{
	bool going = shown == STATUS_DELETING;

	json_open(b, '{');
	if (!going)
		definitions(b, t);
	json_member_string(b, "TableName", t->name);
	if (!going)
		reply_key_schema(b, &t->key);
	json_member_word(b, "TableStatus", resource_status_name(shown));
	if (!going)
		date(b, "CreationDateTime", t->created_ms);
	throughput(b, &t->throughput);
	counters(b, "TableSizeBytes", t->stats);
	json_member_string(b, "TableArn", table_arn(t, a));
	json_member_string(b, "TableId", t->uuid);
	billing(b, t, shown);
	if (!going) {
		indexes(b, t, false, shown, a);
		indexes(b, t, true, shown, a);
	}
	stream(b, t, a);
	encryption(b, t, a);
	if (t->table_class.n) {
		json_member_open(b, "TableClassSummary", '{');
		json_member_string(b, "TableClass", t->table_class);
		json_close(b, '}');
	}
	json_member_bool(b, "DeletionProtectionEnabled", t->deletion_protection);
	on_demand_throughput(b, t->max_read_units, t->max_write_units);
	warm_throughput(b, &t->throughput, t->on_demand, shown);
	json_close(b, '}');
}
