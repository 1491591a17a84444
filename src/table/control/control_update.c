/* UpdateTable: billing, throughput, stream and the simple settings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/control/control_internal.h"

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

/* ---- throughput ---- */
static void note_decrease(struct throughput *t, int64_t now_ms)
{
	bool same_day = t->last_decrease / DAY_MS == now_ms / DAY_MS;

	t->decreases_today = same_day ? t->decreases_today + 1 : 1;
	t->last_decrease = now_ms;
}

bool control_change_throughput(struct stage *s, const char *what, struct throughput asked, struct throughput *t,
			       struct error *e)
{
	if (asked.read == t->read && asked.write == t->write)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "The provisioned throughput for the %s will not change. The requested "
				 "value equals the current value. Current ReadCapacityUnits provisioned for "
				 "the %s: %lld. Requested ReadCapacityUnits: %lld. Current "
				 "WriteCapacityUnits provisioned for the %s: %lld. Requested "
				 "WriteCapacityUnits: %lld. Refer to the Amazon DynamoDB Developer Guide for "
				 "current limits and how to request higher limits.",
				 what, what, (long long)t->read, (long long)asked.read, what, (long long)t->write,
				 (long long)asked.write);
	if (asked.read > t->read || asked.write > t->write)
		t->last_increase = s->batch->now_ms;
	if (asked.read < t->read || asked.write < t->write)
		note_decrease(t, s->batch->now_ms);
	t->read = asked.read;
	t->write = asked.write;
	return true;
}

/* ---- billing ---- */
static void zero_throughput(struct throughput *t)
{
	t->read = t->write = 0;
}

/* Indexes have no throughput either when the table is on demand. */
static void go_on_demand(struct stage *s, struct table *t)
{
	struct index *x = arena_array(s->arena, struct index, t->index_count);
	size_t i;

	t->on_demand = true;
	t->on_demand_since_ms = s->batch->now_ms;
	zero_throughput(&t->throughput);
	for (i = 0; i < t->index_count; i++) {
		x[i] = t->indexes[i];
		if (!x[i].global)
			continue;
		zero_throughput(&x[i].throughput);
		note_decrease(&x[i].throughput, s->batch->now_ms);
	}
	t->indexes = x;
}

static bool is_given_throughput(const struct table_change *change, struct slice index)
{
	size_t i;

	for (i = 0; i < change->index_count; i++)
		if (slice_equal(change->indexes[i].index.name, index))
			return change->indexes[i].kind == GSI_DELETE || change->indexes[i].has_throughput;
	return false;
}

/* Every index needs a throughput when the table leaves on-demand. */
static bool check_index_throughputs(struct stage *s, const struct table *t, const struct table_change *change,
				    struct error *e)
{
	struct buf missing;
	size_t i;

	buf_init(&missing, s->arena);
	for (i = 0; i < t->index_count; i++) {
		if (!t->indexes[i].global || is_given_throughput(change, t->indexes[i].name))
			continue;
		if (missing.n)
			buf_lit(&missing, ",");
		buf_put(&missing, t->indexes[i].name);
	}
	if (!missing.n)
		return true;
	return error_set(e, s->arena, ERR_VALIDATION, INVALID "ProvisionedThroughput must be specified for index: %.*s",
			 SLICE_ARG(buf_slice(&missing)));
}

static bool change_billing(struct stage *s, const struct table_change *change, struct table *t, struct error *e)
{
	bool on_demand = change->has_billing ? change->on_demand : t->on_demand;

	if (on_demand && change->has_throughput)
		return error_set(e, s->arena, ERR_VALIDATION,
				 INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
					 "specified when BillingMode is PAY_PER_REQUEST");
	if (t->on_demand && !on_demand && !check_index_throughputs(s, t, change, e))
		return false;
	if (on_demand && !t->on_demand)
		go_on_demand(s, t);
	t->on_demand = on_demand;
	return !change->has_throughput || control_change_throughput(s, "table", change->throughput, &t->throughput, e);
}

/* ---- stream and settings ---- */
static bool change_stream(struct stage *s, const struct table_change *change, struct table *t, struct error *e)
{
	if (!change->has_stream)
		return true;
	if (change->stream != STREAM_NONE && t->stream)
		return error_set(e, s->arena, ERR_VALIDATION, "Table already has an enabled stream: TableName: %.*s",
				 SLICE_ARG(t->name));
	if (change->stream == STREAM_NONE && !t->stream)
		return error_set(e, s->arena, ERR_VALIDATION, "Table has no stream to disable: TableName: %.*s",
				 SLICE_ARG(t->name));
	if (t->stream)
		control_close_stream(s, t);
	else
		control_open_stream(s, t, change->stream);
	return true;
}

static void change_settings(const struct table_change *change, struct table *t)
{
	if (change->has_on_demand_limits) {
		t->max_read_units = change->max_read_units;
		t->max_write_units = change->max_write_units;
	}
	if (change->has_deletion_protection)
		t->deletion_protection = change->deletion_protection;
	if (change->has_table_class)
		t->table_class = change->table_class;
	if (change->has_sse)
		t->sse = change->sse;
}

bool control_update_table(struct stage *s, struct control *c, struct error *e)
{
	const struct table *was = control_table(s, c, e);
	struct table t;

	if (!was)
		return false;
	t = *was;
	if (!change_billing(s, c->change, &t, e) || !change_stream(s, c->change, &t, e) ||
	    !control_change_indexes(s, was, c->change, &t, e))
		return false;
	change_settings(c->change, &t);
	c->result = stage_put_table(s, &t);
	return true;
}
