/* Tables: describing, comparing and creating them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app/db/provision_request.h"
#include "base/alloc.h"
#include "copy/copy_internal.h"
#include "deploy/deploy.h"

#define WAIT_MS         100
#define LONGEST_WAIT_MS 3000

/* ---- reading ---- */

bool copy_table_describe(struct copier *c, enum copy_at at, struct slice name, const struct json **table)
{
	struct buf b = copy_body(c, name);
	struct backend_reply r;

	*table = NULL;
	buf_byte(&b, '}');
	if (!copier_call(c, at, "DescribeTable", buf_slice(&b), &r))
		return slice_is(r.error, "ResourceNotFoundException") || copier_refused(c, at, "DescribeTable", &r);
	*table = json_get(r.body, "Table");
	return true;
}

static void keep_text(char *to, size_t room, struct slice s)
{
	snprintf(to, room, "%.*s", SLICE_ARG(s));
}

static bool keep_keys(struct job *j, const struct json *schema)
{
	for (size_t i = 0; json_is(schema, JSON_ARRAY) && i < schema->count && i < COPY_KEYS_MOST; i++) {
		struct slice name = json_get_text(&schema->items[i], "AttributeName");

		mem_free(j->keys[i]);
		j->keys[i] = mem_strndup(name.p, name.n);
		if (!j->keys[i])
			return copy_job_fail(j, "not enough memory");
		j->key_count = i + 1;
	}
	return j->key_count || copy_job_fail(j, "%.*s: the source's description has no key", SLICE_ARG(j->table));
}

bool copy_table_ttl(struct copier *c, enum copy_at at, struct slice name, struct slice *attribute)
{
	struct buf b = copy_body(c, name);
	const struct json *is;
	struct backend_reply r;

	*attribute = SLICE("");
	buf_byte(&b, '}');
	if (!copier_call(c, at, "DescribeTimeToLive", buf_slice(&b), &r))
		return slice_is(r.error, "UnknownOperationException") || copier_refused(c, at, "DescribeTimeToLive", &r);
	is = json_get(r.body, "TimeToLiveDescription");
	if (slice_starts(json_get_text(is, "TimeToLiveStatus"), SLICE("ENABL")))
		*attribute = json_get_text(is, "AttributeName");
	return true;
}

/* TableId is the table's own, whatever it is reached by; where there is none, when it was made. */
static void keep_identity(struct job *j, const struct json *table)
{
	const struct json *made = json_get(table, "CreationDateTime");

	if (json_get_text(table, "TableId").n)
		keep_text(j->source, sizeof(j->source), json_get_text(table, "TableId"));
	else if (json_is(made, JSON_DOUBLE))
		snprintf(j->source, sizeof(j->source), "%.3f", made->number);
	else if (json_is(made, JSON_INT))
		snprintf(j->source, sizeof(j->source), "%lld", (long long)made->integer);
}

bool copy_table_read_source(struct copier *c, const struct json **table)
{
	struct job *j = c->job;
	const struct json *stream, *count, *on;
	struct slice ttl;

	if (!copy_table_describe(c, COPY_FROM, j->table, table) || !copy_table_ttl(c, COPY_FROM, j->table, &ttl))
		return *table || j->failed
			       ? false
			       : copy_job_fail(j, "there is no table %.*s at %s", SLICE_ARG(j->table), j->o->from.name);
	if (!*table)
		return copy_job_fail(j, "there is no table %.*s at %s", SLICE_ARG(j->table), j->o->from.name);
	stream = json_get(*table, "StreamSpecification");
	on = json_get(stream, "StreamEnabled");
	keep_identity(j, *table);
	keep_text(j->ttl, sizeof(j->ttl), ttl);
	j->stream[0] = j->label[0] = j->view[0] = 0;
	if (json_is(on, JSON_BOOL) && on->boolean) {
		keep_text(j->stream, sizeof(j->stream), json_get_text(*table, "LatestStreamArn"));
		keep_text(j->label, sizeof(j->label), json_get_text(*table, "LatestStreamLabel"));
		keep_text(j->view, sizeof(j->view), json_get_text(stream, "StreamViewType"));
	}
	count = json_get(*table, "ItemCount");
	j->about = json_is(count, JSON_INT) && count->integer > 0 ? (uint64_t)count->integer : 0;
	return keep_keys(j, json_get(*table, "KeySchema"));
}

bool copy_table_has_items(struct copier *c, enum copy_at at, struct slice name, bool *out)
{
	struct buf b = copy_body(c, name);
	const struct json *items;
	struct backend_reply r;

	buf_lit(&b, ",\"ConsistentRead\":true,\"Limit\":1}");
	if (!copier_must(c, at, "Scan", buf_slice(&b), &r))
		return false;
	items = json_get(r.body, "Items");
	*out = json_is(items, JSON_ARRAY) && items->count;
	return true;
}

static bool is_ready(const struct json *table)
{
	const struct json *list = json_get(table, "GlobalSecondaryIndexes");

	for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++)
		if (!slice_is(json_get_text(&list->items[i], "IndexStatus"), "ACTIVE"))
			return false;
	return table && slice_is(json_get_text(table, "TableStatus"), "ACTIVE");
}

bool copy_table_wait(struct copier *c, enum copy_at at, struct slice name)
{
	int64_t pause = WAIT_MS;

	for (;;) {
		const struct json *table;

		if (!copy_table_describe(c, at, name, &table))
			return false;
		if (is_ready(table))
			return true;
		if (!copy_job_pause(c->job, pause))
			return false;
		pause = pause * 2 < LONGEST_WAIT_MS ? pause * 2 : LONGEST_WAIT_MS;
	}
}

/* ---- alike ---- */

static struct slice text_of(struct copier *c, const struct json *j)
{
	struct buf b;

	buf_init(&b, &c->arena);
	if (j)
		json_write(&b, j);
	return buf_slice(&b);
}

static const struct json *find_named(const struct json *list, const char *member, struct slice name)
{
	for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++)
		if (slice_equal(json_get_text(&list->items[i], member), name))
			return &list->items[i];
	return NULL;
}

static bool same_names(const struct json *a, const struct json *b)
{
	size_t n = json_is(a, JSON_ARRAY) ? a->count : 0, found = 0;

	if (n != (json_is(b, JSON_ARRAY) ? b->count : 0))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			found += json_is(&a->items[i], JSON_STRING) && json_is(&b->items[k], JSON_STRING) &&
				 slice_equal(a->items[i].string, b->items[k].string);
	return found == n;
}

static bool same_index(struct copier *c, const struct json *a, const struct json *b)
{
	const struct json *p = json_get(a, "Projection"), *q = json_get(b, "Projection");

	return slice_equal(text_of(c, json_get(a, "KeySchema")), text_of(c, json_get(b, "KeySchema"))) &&
	       slice_equal(json_get_text(p, "ProjectionType"), json_get_text(q, "ProjectionType")) &&
	       same_names(json_get(p, "NonKeyAttributes"), json_get(q, "NonKeyAttributes"));
}

static struct slice indexes_differ(struct copier *c, const struct json *from, const struct json *to)
{
	for (size_t i = 0; json_is(from, JSON_ARRAY) && i < from->count; i++) {
		struct slice name = json_get_text(&from->items[i], "IndexName");
		const struct json *other = find_named(to, "IndexName", name);

		if (!other)
			return arena_printf(&c->arena, "it has no index %.*s", SLICE_ARG(name));
		if (!same_index(c, &from->items[i], other))
			return arena_printf(&c->arena, "its index %.*s has another key or other attributes",
					    SLICE_ARG(name));
	}
	for (size_t i = 0; json_is(to, JSON_ARRAY) && i < to->count; i++)
		if (!find_named(from, "IndexName", json_get_text(&to->items[i], "IndexName")))
			return arena_printf(&c->arena, "it has an index %.*s, which the source lacks",
					    SLICE_ARG(json_get_text(&to->items[i], "IndexName")));
	return SLICE("");
}

static struct slice definitions_differ(struct copier *c, const struct json *from, const struct json *to)
{
	for (size_t i = 0; json_is(from, JSON_ARRAY) && i < from->count; i++) {
		struct slice name = json_get_text(&from->items[i], "AttributeName");
		const struct json *other = find_named(to, "AttributeName", name);

		if (other && !slice_equal(json_get_text(&from->items[i], "AttributeType"),
					  json_get_text(other, "AttributeType")))
			return arena_printf(&c->arena, "its %.*s is of another type", SLICE_ARG(name));
	}
	return SLICE("");
}

/* Whether the target's table differs: from the design, or without one from the source's table. */
static bool design_differs(struct copier *c, struct slice *why)
{
	struct deploy_options options = { .no_recovery = true, .no_protection = true };
	struct deploy_failure failure = { 0 };
	struct deploy_want want;
	struct deploy_plan plan;

	deploy_want(c->job->o->design, &options, &c->arena, &want);
	if (!deploy_look(c->backends[COPY_TO], &want, &c->arena, &plan, &failure))
		return failure.words.n ? copy_job_fail(c->job, "%.*s", SLICE_ARG(failure.words))
				       : copier_refused(c, COPY_TO, failure.operation, &failure.reply);
	for (size_t i = 0; i < plan.remark_count; i++)
		if (plan.remarks[i].weight == DEPLOY_OBSTACLE) {
			*why = plan.remarks[i].words;
			return true;
		}
	return true;
}

bool copy_table_differs(struct copier *c, const struct json *from, const struct json *to, struct slice *why)
{
	static const char *const kinds[] = { "LocalSecondaryIndexes", "GlobalSecondaryIndexes" };

	*why = SLICE("");
	if (!slice_equal(text_of(c, json_get(from, "KeySchema")), text_of(c, json_get(to, "KeySchema"))))
		*why = SLICE("its key is another one");
	if (!why->n)
		*why = definitions_differ(c, json_get(from, "AttributeDefinitions"),
					  json_get(to, "AttributeDefinitions"));
	if (c->job->o->design)
		return why->n || design_differs(c, why);
	for (size_t i = 0; !why->n && i < sizeof(kinds) / sizeof(*kinds); i++)
		*why = indexes_differ(c, json_get(from, kinds[i]), json_get(to, kinds[i]));
	return true;
}

/* ---- making ---- */

static void put_units(struct buf *b, const struct json *units)
{
	const struct json *r = json_get(units, "ReadCapacityUnits"), *w = json_get(units, "WriteCapacityUnits");

	if (json_is(r, JSON_INT) && json_is(w, JSON_INT) && r->integer > 0 && w->integer > 0)
		buf_printf(b, ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%lld,\"WriteCapacityUnits\":%lld}",
			   (long long)r->integer, (long long)w->integer);
}

static void put_indexes(struct buf *b, const char *name, const struct json *list)
{
	if (!json_is(list, JSON_ARRAY) || !list->count)
		return;
	buf_printf(b, ",\"%s\":[", name);
	for (size_t i = 0; i < list->count; i++) {
		buf_str(b, i ? ",{\"IndexName\":" : "{\"IndexName\":");
		json_string(b, json_get_text(&list->items[i], "IndexName"));
		buf_lit(b, ",\"KeySchema\":");
		json_write(b, json_get(&list->items[i], "KeySchema"));
		buf_lit(b, ",\"Projection\":");
		json_write(b, json_get(&list->items[i], "Projection"));
		put_units(b, json_get(&list->items[i], "ProvisionedThroughput"));
		buf_byte(b, '}');
	}
	buf_byte(b, ']');
}

static struct slice create_like(struct copier *c, const struct json *from)
{
	struct slice mode = json_get_text(json_get(from, "BillingModeSummary"), "BillingMode");
	const struct json *units = json_get(from, "ProvisionedThroughput"),
			  *write = json_get(units, "WriteCapacityUnits");
	bool on_demand = slice_is(mode, "PAY_PER_REQUEST") || !json_is(write, JSON_INT) || write->integer <= 0;
	struct buf b = copy_body(c, c->job->table);

	buf_lit(&b, ",\"AttributeDefinitions\":");
	json_write(&b, json_get(from, "AttributeDefinitions"));
	buf_lit(&b, ",\"KeySchema\":");
	json_write(&b, json_get(from, "KeySchema"));
	put_indexes(&b, "LocalSecondaryIndexes", json_get(from, "LocalSecondaryIndexes"));
	put_indexes(&b, "GlobalSecondaryIndexes", json_get(from, "GlobalSecondaryIndexes"));
	buf_printf(&b, ",\"BillingMode\":\"%s\"", on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
	if (!on_demand)
		put_units(&b, units);
	buf_byte(&b, '}');
	return buf_slice(&b);
}

static bool create(struct copier *c, struct slice name, struct slice body)
{
	struct backend_reply r;

	if (!copier_call(c, COPY_TO, "CreateTable", body, &r) && !slice_is(r.error, "ResourceInUseException"))
		return copier_refused(c, COPY_TO, "CreateTable", &r);
	return copy_table_wait(c, COPY_TO, name);
}

bool copy_table_create(struct copier *c, const struct json *from)
{
	const struct copy_options *o = c->job->o;
	struct design as;
	struct slice body;

	if (o->design) {
		as = *o->design;
		as.stream = STREAM_NONE;
		body = provision_create_table(&as, &c->arena);
	} else {
		body = create_like(c, from);
	}
	copy_job_say(c->job, "%.*s: made at %s", SLICE_ARG(c->job->table), o->to.name);
	return create(c, c->job->table, body);
}

bool copy_table_create_beside(struct copier *c)
{
	struct design as = { .table = c->job->table };
	const struct json *there;

	if (!copy_table_describe(c, COPY_TO, copy_beside(c), &there))
		return false;
	return there ? copy_table_wait(c, COPY_TO, copy_beside(c))
		     : create(c, copy_beside(c), provision_create_beside(&as, &c->arena));
}
