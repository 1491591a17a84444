/* Operations and whether they can be repeated; single writes as transactions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/repeat.h"
#include <openssl/rand.h>
#include <strings.h>

#define TOKEN_BYTES 16 /* 32 characters; a token has 36 at most */

enum kind { READ, WRITE, SINGLE, TOKEN, MANAGE, STREAMS };

/* Operations not listed: Describe… and List… only read; all others are unsafe. MANAGE: the second time ends with an
 * error ("ResourceInUseException") that the caller expects anyway. */
static const struct row {
	const char *name;
	enum kind kind;
	const char *member; /* SINGLE: in TransactItems */
} rows[] = {
	{ "GetItem", READ, NULL },
	{ "Query", READ, NULL },
	{ "BatchGetItem", READ, NULL },
	{ "Scan", READ, NULL },
	{ "TransactGetItems", READ, NULL },
	{ "PutItem", SINGLE, "Put" },
	{ "UpdateItem", SINGLE, "Update" },
	{ "DeleteItem", SINGLE, "Delete" },
	{ "TransactWriteItems", TOKEN, NULL },
	{ "ExecuteTransaction", TOKEN, NULL },
	{ "BatchWriteItem", WRITE, NULL },
	{ "GetRecords", STREAMS, NULL },
	{ "GetShardIterator", STREAMS, NULL },
	{ "DescribeStream", STREAMS, NULL },
	{ "ListStreams", STREAMS, NULL },
	{ "CreateTable", MANAGE, NULL },
	{ "UpdateTable", MANAGE, NULL },
	{ "DeleteTable", MANAGE, NULL },
	{ "UpdateTimeToLive", MANAGE, NULL },
	{ "UpdateContinuousBackups", MANAGE, NULL },
	{ "TagResource", MANAGE, NULL },
	{ "UntagResource", MANAGE, NULL },
	{ NULL, MANAGE, NULL },
};

static const struct row *find_row(const char *operation)
{
	const struct row *r = rows;

	while (r->name && strcmp(r->name, operation) != 0)
		r++;
	return r->name ? r : NULL;
}

/* ---- members at the end of a document ---- */

/* The document without its last '}'; false: it is not an object. */
static bool open_end(struct buf *b, struct slice body)
{
	size_t n = body.n;

	while (n && strchr(" \t\r\n", body.p[n - 1]))
		n--;
	if (!n || body.p[n - 1] != '}')
		return false;
	for (n--; n && strchr(" \t\r\n", body.p[n - 1]); n--)
		;
	buf_room(b, body.n + 100);
	buf_add(b, body.p, n);
	return true;
}

static struct slice with_member(struct arena *a, struct slice body, const char *name, struct slice value)
{
	struct buf b;

	buf_init(&b, a);
	if (!open_end(&b, body))
		return body; /* the service will say what is wrong with it */
	json_member_string(&b, name, value);
	json_close(&b, '}');
	return buf_slice(&b);
}

static struct slice new_token(struct arena *a)
{
	uint8_t bytes[TOKEN_BYTES];
	struct buf b;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		arena_out_of_memory(a);
	buf_init(&b, a);
	buf_hex(&b, slice_make(bytes, sizeof(bytes)));
	return buf_slice(&b);
}

/* Whether the document itself has a token: the word may also occur in its data. */
static bool has_token(struct arena *a, struct slice body)
{
	return slice_contains(body, SLICE("ClientRequestToken")) && json_get(json_parse(a, body), "ClientRequestToken");
}

/* ---- single writes ---- */

/* Whether the expression computes from the stored item, so that the second time gives another result. ADD and DELETE
 * are reserved words, so they cannot be names. */
static bool computes(struct slice expression)
{
	for (size_t i = 0; i < expression.n; i++) {
		const char *p = expression.p + i;
		size_t left = expression.n - i;
		bool begins = !i || !strchr("#:_.", p[-1]);

		if (*p == '+' || *p == '-')
			return true;
		if (begins && ((left >= 4 && !strncasecmp(p, "ADD", 3) && strchr(" \t\r\n", p[3])) ||
			       (left >= 7 && !strncasecmp(p, "DELETE", 6) && strchr(" \t\r\n", p[6])) ||
			       (left >= 11 && !strncasecmp(p, "list_append", 11))))
			return true;
	}
	return false;
}

static bool is_harmless_twice(const struct json *d)
{
	static const char *const conditions[] = { "ConditionExpression", "Expected", "ConditionalOperator",
						  "AttributeUpdates", NULL };
	const struct json *update = json_get(d, "UpdateExpression");

	for (size_t i = 0; conditions[i]; i++)
		if (json_get(d, conditions[i]))
			return false;
	if (slice_is(json_get_text(d, "ReturnValues"), "ALL_OLD") ||
	    slice_is(json_get_text(d, "ReturnValues"), "UPDATED_OLD"))
		return false;
	return !json_is(update, JSON_STRING) || !computes(update->string);
}

static const char *const of_action[] = { "TableName",
					 "Item",
					 "Key",
					 "ConditionExpression",
					 "UpdateExpression",
					 "ExpressionAttributeNames",
					 "ExpressionAttributeValues",
					 "ReturnValuesOnConditionCheckFailure",
					 NULL };
static const char *const of_transaction[] = { "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", NULL };

static bool fits_transaction(const struct json *d)
{
	for (size_t i = 0; i < d->count; i++) {
		struct slice name = d->members[i].name;

		if (!slice_is_one_of(name, of_action) && !slice_is_one_of(name, of_transaction) &&
		    !(slice_is(name, "ReturnValues") && slice_is(json_get_text(d, "ReturnValues"), "NONE")))
			return false;
	}
	return true;
}

static void put_members(struct buf *b, const struct json *d, const char *const *names)
{
	for (size_t i = 0; i < d->count; i++)
		if (slice_is_one_of(d->members[i].name, names)) {
			json_name_string(b, d->members[i].name);
			json_write(b, &d->members[i].value);
		}
}

static struct slice as_transaction(struct arena *a, const char *member, const struct json *d)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	put_members(&b, d, of_transaction);
	json_member_open(&b, "TransactItems", '[');
	json_open(&b, '{');
	json_member_open(&b, member, '{');
	put_members(&b, d, of_action);
	buf_lit(&b, "}}]");
	json_member_string(&b, "ClientRequestToken", new_token(a));
	json_close(&b, '}');
	return buf_slice(&b);
}

static void plan_single(struct arena *a, const struct row *row, bool sure, struct repeat_plan *p)
{
	const struct json *d;

	if (strcmp(row->name, "UpdateItem") != 0 && !slice_contains(p->body, SLICE("Condition")) &&
	    !slice_contains(p->body, SLICE("Expected")) && !slice_contains(p->body, SLICE("_OLD"))) {
		p->how = REPEAT_FREELY;
		return;
	}
	d = json_parse(a, p->body);
	if (!json_is(d, JSON_OBJECT) || is_harmless_twice(d)) {
		p->how = REPEAT_FREELY;
	} else if (sure && fits_transaction(d)) {
		p->operation = "TransactWriteItems";
		p->body = as_transaction(a, row->member, d);
		p->how = REPEAT_BY_TOKEN;
		p->alone = true;
	} else {
		p->how = REPEAT_UNSAFE;
	}
}

void repeat_plan(struct arena *a, const char *operation, struct slice body, bool sure, bool meter, struct repeat_plan *p)
{
	const struct row *row = find_row(operation);

	*p = (struct repeat_plan){ .operation = operation, .body = body, .how = REPEAT_FREELY };
	if (!row) {
		p->how = !strncmp(operation, "Describe", 8) || !strncmp(operation, "List", 4) ? REPEAT_FREELY
											      : REPEAT_UNSAFE;
		return;
	}
	p->reads = row->kind == READ;
	p->writes = row->kind == WRITE || row->kind == SINGLE || row->kind == TOKEN;
	p->streams = row->kind == STREAMS;
	if (row->kind == SINGLE)
		plan_single(a, row, sure, p);
	if (row->kind == TOKEN) {
		p->how = REPEAT_BY_TOKEN;
		if (!has_token(a, body))
			p->body = with_member(a, p->body, "ClientRequestToken", new_token(a));
	}
	if (meter && (p->reads || p->writes) && !slice_contains(body, SLICE("ReturnConsumedCapacity")))
		p->body = with_member(a, p->body, "ReturnConsumedCapacity", SLICE("TOTAL"));
}

/* ---- replies to single writes ---- */

static void restore_error(struct backend_reply *r)
{
	const struct json *reasons = json_get(r->body, "CancellationReasons"), *code, *message;
	enum err reason;

	if (!slice_is(r->error, "TransactionCanceledException") || !json_is(reasons, JSON_ARRAY) || reasons->count != 1)
		return;
	code = json_get(&reasons->items[0], "Code");
	message = json_get(&reasons->items[0], "Message");
	reason = json_is(code, JSON_STRING) ? reason_of(code->string) : ERR_NONE;
	if (reason == ERR_NONE || !slice_is(code->string, reason_name(reason)))
		return;
	r->error = slice_str(err_wire_name(reason));
	r->message = json_is(message, JSON_STRING) ? message->string : r->error;
	r->body = &reasons->items[0]; /* with the Item, if there was one */
}

void repeat_restore(struct arena *a, struct backend_reply *r)
{
	const struct json *capacity = json_get(r->body, "ConsumedCapacity");
	struct json_member *m;
	struct json *body;

	if (r->status != 200) {
		restore_error(r);
		return;
	}
	body = arena_new(a, struct json);
	body->type = JSON_OBJECT;
	if (json_is(capacity, JSON_ARRAY) && capacity->count == 1) {
		m = arena_new(a, struct json_member);
		*m = (struct json_member){ .name = SLICE("ConsumedCapacity"), .value = capacity->items[0] };
		body->members = m;
		body->count = 1;
	}
	r->body = body;
}
