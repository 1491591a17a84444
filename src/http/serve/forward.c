/* Finds the table of a request, and forwards the request to its backend.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/forward.h"
#include "app/db/beside.h"
#include "http/connection/exchange.h"
#include "http/loop.h"

struct forwarding {
	struct database *database;
	const char *operation;
	struct slice body;
};

/* ---- which table ---- */

/* From arn:aws:dynamodb:…:table/NAME/stream/…, which iterators also contain. */
static struct slice table_in(struct slice arn)
{
	static const char before[] = ":table/";
	const char *at = arn.n ? memmem(arn.p, arn.n, before, sizeof(before) - 1) : NULL, *end;

	if (!at)
		return (struct slice){ 0 };
	at += sizeof(before) - 1;
	end = memchr(at, '/', (size_t)(arn.p + arn.n - at));
	return slice_make(at, (size_t)((end ? end : arn.p + arn.n) - at));
}

/* The first table of a batch or transaction decides; the backend refuses tables that it lacks. */
static struct slice table_of(const struct json *body)
{
	const struct json *items = json_get(body, "RequestItems"), *actions = json_get(body, "TransactItems");
	struct slice table = json_get_text(body, "TableName");

	if (!table.n && json_is(items, JSON_OBJECT) && items->count)
		table = items->members[0].name;
	if (!table.n && json_is(actions, JSON_ARRAY) && actions->count && json_is(&actions->items[0], JSON_OBJECT) &&
	    actions->items[0].count)
		table = json_get_text(&actions->items[0].members[0].value, "TableName");
	if (!table.n)
		table = table_in(json_get_text(body, "StreamArn"));
	if (!table.n)
		table = table_in(json_get_text(body, "ShardIterator"));
	if (!table.n)
		table = table_in(json_get_text(body, "ResourceArn"));
	return slice_starts(table, SLICE("arn:")) ? table_in(table) : table;
}

static bool is_of(struct slice table, struct slice design)
{
	static const char beside[] = BESIDE_ENDING;

	return slice_equal(table, design) || (table.n == design.n + sizeof(beside) - 1 && slice_starts(table, design) &&
					      !memcmp(table.p + design.n, beside, sizeof(beside) - 1));
}

static struct database *database_of(const struct rest *r, struct slice table)
{
	for (size_t i = 0; table.n && i < r->app_count; i++)
		if (app_database(r->apps[i])->is_remote && is_of(table, app_design(r->apps[i])->table))
			return app_database(r->apps[i]);
	return NULL;
}

/* ---- forwarding ---- */

/* In DynamoDB's form, even if the error arose in our client. */
static void put_error(struct buf *b, const struct backend_reply *r)
{
	bool is_known = r->status < 500 && r->error.n;

	json_open(b, '{');
	json_member_string(b, "__type",
			   arena_printf(b->arena, ERR_NS_DDB "%.*s",
					SLICE_ARG(is_known ? r->error : SLICE("InternalServerError"))));
	json_member_string(b, "message", r->message);
	for (size_t i = 0; i < r->body->count; i++) {
		const struct json_member *m = &r->body->members[i];

		/* Code: of a cancellation reason, if a single write was sent as a transaction (remote/repeat.h). */
		if (slice_is(m->name, "__type") || slice_is(m->name, "Code") || slice_is(m->name, "message") ||
		    slice_is(m->name, "Message"))
			continue;
		json_name_string(b, m->name);
		json_write(b, &m->value);
	}
	json_close(b, '}');
}

static void run_forward(struct exchange_work *w, struct arena *a, void *local)
{
	const struct forwarding *f = w->ctx;
	struct backend *b = rest_backend(local, f->database);
	struct backend_reply reply;
	struct buf out;

	if (!b)
		arena_out_of_memory(a);
	backend_label(b, SLICE("DynamoDB's API"));
	backend_call(b, a, f->operation, f->body, &reply);
	buf_init(&out, a);
	if (reply.status == 200)
		json_write(&out, reply.body);
	else
		put_error(&out, &reply);
	w->status = reply.status;
	w->type = SLICE("application/x-amz-json-1.0");
	w->body = buf_slice(&out);
	w->headers = SLICE("");
}

bool forward_take(struct exchange *ex, void *ctx, struct slice target, struct slice body)
{
	static const struct error busy = { .code = ERR_INTERNAL, .message = { "too many requests are waiting", 29 } };
	const struct api_operation *operation = api_operation(target);
	const struct json *document = operation ? json_parse(&ex->arena, body) : NULL;
	struct database *d = json_is(document, JSON_OBJECT) ? database_of(ctx, table_of(document)) : NULL;
	struct forwarding *f;

	if (!d)
		return false;
	f = arena_new(&ex->arena, struct forwarding);
	*f = (struct forwarding){ .database = d, .operation = operation->name, .body = body };
	if (!exchange_work(ex, run_forward, f))
		exchange_reply_error(ex, &busy);
	return true;
}
