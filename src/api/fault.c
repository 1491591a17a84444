/* Injected faults, with DynamoDB's error texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/cancellation.h"
#include "api/internal.h"
#include "api/op/stream_token.h"
#include "base/log.h"

#define ON_DEMAND                                                                                                          \
	"Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or " \
	"index so please try again shortly. If exceptions persist, check if you have a hot key: "                          \
	"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
#define PROVISIONED                                                                                                         \
	"The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning " \
	"level with the UpdateTable API."
#define PROVISIONED_INDEX                                                                                                     \
	"The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. " \
	"Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API"
#define CONFLICT "Transaction is ongoing for the item"

/* ---- the table of a request ---- */

static struct slice name_in(const struct json *j, const char *member)
{
	return table_name_of_arn(json_get_text(j, member));
}

/* From the one member of a TransactItem that is set. */
static struct slice name_in_action(const struct json *item)
{
	for (size_t i = 0; json_is(item, JSON_OBJECT) && i < item->count; i++)
		if (json_is(&item->members[i].value, JSON_OBJECT))
			return name_in(&item->members[i].value, "TableName");
	return SLICE("");
}

/* The first table that the request names; empty: none. The request has not been checked. */
static struct slice table_of(const struct json *in, struct arena *a)
{
	const struct json *items = json_get(in, "RequestItems"), *actions = json_get(in, "TransactItems");
	static const char *const members[] = { "TableName", "StreamArn", "ResourceArn" };
	struct shard_iterator it;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (json_get_text(in, members[i]).n)
			return name_in(in, members[i]);
	if (json_is(items, JSON_OBJECT) && items->count)
		return table_name_of_arn(items->members[0].name);
	if (json_is(actions, JSON_ARRAY) && actions->count)
		return name_in_action(&actions->items[0]);
	if (json_get_text(in, "ShardIterator").n && shard_iterator_parse(json_get_text(in, "ShardIterator"), a, &it))
		return table_name_of_arn(it.arn);
	return SLICE("");
}

/* ---- draws ---- */

bool api_has_faults(const struct api *api)
{
	return api->faults && faults_are_on(api->faults);
}

static unsigned row_of(const struct op *op)
{
	unsigned i = 0;

	while (op_at(i) != op)
		i++;
	return i;
}

int64_t api_draw_faults(struct api *api, struct api_call *c)
{
	const struct op *op = op_find(c->target);
	const struct json *in = op ? json_parse(c->arena, c->body) : NULL;
	struct fault_plan *plan;

	if (!json_is(in, JSON_OBJECT))
		return 0;
	plan = arena_new(c->arena, struct fault_plan);
	faults_draw(api->faults, table_of(in, c->arena), row_of(op), plan);
	c->fault = plan;
	return plan->delay_ms;
}

int64_t api_fault_hold_ms(const struct api_call *c)
{
	return c->fault ? c->fault->hold_ms : 0;
}

bool api_fault_hangs_up(const struct api_call *c)
{
	return c->fault && c->fault->hangs_up;
}

/* ---- words ---- */

static void set_reasons(struct op_state *s, const struct table *t, const struct index *i, bool writes, struct error *e)
{
	struct slice arn = i ? index_arn(t, i, s->arena) : table_arn(t, s->arena);
	struct buf b;

	buf_init(&b, s->arena);
	/* Each exception has its spelling. */
	json_member_open(&b, t->on_demand ? "throttlingReasons" : "ThrottlingReasons", '[');
	json_open(&b, '{');
	json_member_string(&b, "reason",
			   arena_printf(s->arena, "%s%s%s", i ? "Index" : "Table", writes ? "Write" : "Read",
					t->on_demand ? "KeyRangeThroughputExceeded" : "ProvisionedThroughputExceeded"));
	json_member_string(&b, "resource", arn);
	json_close(&b, '}');
	json_close(&b, ']');
	e->members = buf_slice(&b);
}

void fault_set_throttled(struct op_state *s, const struct table *t, const struct index *i, bool writes, struct error *e)
{
	if (t->on_demand)
		(void)!error_set(e, s->arena, ERR_THROTTLING, ON_DEMAND);
	else
		(void)!error_set(e, s->arena, ERR_THROUGHPUT_EXCEEDED, "%s", i ? PROVISIONED_INDEX : PROVISIONED);
	set_reasons(s, t, i, writes, e);
}

/* ---- reads that lag ---- */

const struct store_view *fault_view(struct op_state *s, const struct table *t, const struct index *i, bool consistent)
{
	if (i && i->global)
		return faults_past(s->fault->faults, FAULT_INDEX_LAG, t->name, s->arena);
	return consistent ? NULL : faults_past(s->fault->faults, FAULT_READ_LAG, t->name, s->arena);
}

/* ---- single items, queries ---- */

static bool spares_single(struct op_state *s, bool writes, struct error *e)
{
	const struct table *t = catalog_table(s->catalog, json_get_text(s->in, "TableName"));
	struct slice index = json_get_text(s->in, "IndexName");

	if (!t)
		return true;
	if (fault_strikes(s->fault, FAULT_THROTTLE, t->name, 0)) {
		fault_set_throttled(s, t, index.n ? table_index(t, index) : NULL, writes, e);
		return false;
	}
	return !writes || !fault_strikes(s->fault, FAULT_CONFLICT, t->name, 0) ||
	       error_set(e, s->arena, ERR_TRANSACTION_CONFLICT, CONFLICT);
}

/* ---- transactions ---- */

static bool spares_action(struct op_state *s, const struct json *item, size_t i, bool writes, struct error *e)
{
	const struct table *t = catalog_table(s->catalog, name_in_action(item));

	if (!t)
		return true;
	if (fault_strikes(s->fault, FAULT_THROTTLE, t->name, i)) {
		fault_set_throttled(s, t, NULL, writes, e);
		return false;
	}
	return !fault_strikes(s->fault, FAULT_CONFLICT, t->name, i) ||
	       error_set(e, s->arena, ERR_TRANSACTION_CONFLICT, CONFLICT);
}

static bool spares_transaction(struct op_state *s, bool writes, struct error *e)
{
	const struct json *items = json_get(s->in, "TransactItems");
	struct reply_reason *reasons = arena_array(s->arena, struct reply_reason, items->count);
	bool canceled = false;

	for (size_t i = 0; i < items->count; i++)
		canceled |= !spares_action(s, &items->items[i], i, writes, &reasons[i].error);
	return !canceled || cancellation_set(e, s->arena, reasons, items->count);
}

bool fault_spares(struct op_state *s, struct error *e)
{
	const struct op *op = s->call->op;
	bool writes = op->facts.flags & OP_WRITE;

	if (op->facts.flags & (OP_CONTROL | OP_STREAMS) || op_has(s->in, "RequestItems"))
		return true; /* batches check each item themselves */
	return op_has(s->in, "TransactItems") ? spares_transaction(s, writes, e) : spares_single(s, writes, e);
}

/* ---- operators ---- */

bool api_takes_faults(const struct api *api)
{
	return api->faults;
}

bool api_set_faults(struct api *api, struct arena *a, struct slice text, struct slice *out)
{
	struct fault_spec spec;
	char why[512];
	struct buf b;

	if (text.n && !fault_spec_parse(a, text, &spec, why, sizeof(why))) {
		*out = arena_printf(a, "%s.", why);
		return false;
	}
	buf_init(&b, a);
	if (text.n && !faults_set(api->faults, &spec)) {
		*out = SLICE("There is not enough memory.");
		return false;
	}
	if (text.n) {
		faults_print(api->faults, &b);
		log_info("faults were changed: %.*s", SLICE_ARG(buf_slice(&b)));
		b.n = 0;
	}
	faults_show(api->faults, &b);
	*out = buf_slice(&b);
	return true;
}
