/* What is there, compared with what is wanted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision_compare.h"
#include "app/db/provision_request.h"
#include "deploy/deploy_internal.h"

struct look {
	struct backend *backend;
	const struct deploy_want *want;
	struct arena *arena;
	struct deploy_failure *failure;
	struct deploy_step *steps;
	struct deploy_remark *remarks;
	size_t step_count, step_room, remark_count, remark_room, obstacle_count;
	/* of the table that is looked at: */
	size_t at;
	const struct deploy_table *t;
	const struct json *table; /* NULL: there is none */
};

/* ---- what is found ---- */

static struct deploy_step *add_step(struct look *l, enum deploy_act act, struct slice words)
{
	if (l->step_count == l->step_room) {
		struct deploy_step *more =
			arena_array(l->arena, struct deploy_step, l->step_room = l->step_room * 2 + 16);

		if (l->step_count)
			memcpy(more, l->steps, l->step_count * sizeof(*more));
		l->steps = more;
	}
	l->steps[l->step_count] = (struct deploy_step){ .act = act, .table = l->at, .words = words };
	return &l->steps[l->step_count++];
}

static void add_remark(struct look *l, enum deploy_weight weight, struct slice words)
{
	if (l->remark_count == l->remark_room) {
		struct deploy_remark *more =
			arena_array(l->arena, struct deploy_remark, l->remark_room = l->remark_room * 2 + 16);

		if (l->remark_count)
			memcpy(more, l->remarks, l->remark_count * sizeof(*more));
		l->remarks = more;
	}
	l->remarks[l->remark_count++] = (struct deploy_remark){ .weight = weight, .table = l->at, .words = words };
	l->obstacle_count += weight == DEPLOY_OBSTACLE;
}

#define OBSTACLE(l, ...)  add_remark((l), DEPLOY_OBSTACLE, arena_printf((l)->arena, __VA_ARGS__))
#define NOTE(l, ...)      add_remark((l), DEPLOY_NOTE, arena_printf((l)->arena, __VA_ARGS__))
#define STEP(l, act, ...) add_step((l), (act), arena_printf((l)->arena, __VA_ARGS__))

/* ---- asking ---- */

static bool fail_call(struct deploy_failure *f, const struct deploy_table *t, const char *operation,
		      const struct backend_reply *r)
{
	*f = (struct deploy_failure){ .operation = operation, .table = t->as->table, .reply = *r };
	return false;
}

bool deploy_is_unknown(const struct backend_reply *r)
{
	return r->status != 200 && slice_is(r->error, "UnknownOperationException");
}

bool deploy_look_table(struct backend *b, const struct deploy_table *t, struct arena *a, const struct json **table,
		       struct deploy_failure *f)
{
	struct backend_reply r;

	*table = NULL;
	backend_call(b, a, "DescribeTable", provision_describe(t->as, a), &r);
	if (r.status == 200)
		*table = json_get(r.body, "Table");
	return r.status == 200 || slice_is(r.error, "ResourceNotFoundException") || fail_call(f, t, "DescribeTable", &r);
}

/* A table that is being made may not be known everywhere yet. */
static bool is_too_early(const struct look *l, const struct backend_reply *r)
{
	static const char *const errors[] = { "ResourceNotFoundException", "TableNotFoundException",
					      "ResourceInUseException" };

	if (r->status == 200 || !slice_is(json_get_text(l->table, "TableStatus"), "CREATING"))
		return false;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (slice_is(r->error, errors[i]))
			return true;
	return false;
}

/* ---- the table ---- */

static struct slice key_in(const struct json *schema, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; json_is(schema, JSON_ARRAY) && i < schema->count; i++) {
		buf_str(&b, i ? ", " : "");
		buf_put(&b, json_get_text(&schema->items[i], "AttributeName"));
	}
	return buf_slice(&b);
}

static struct slice key_words(const struct key_schema *k, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	deploy_put_key_words(&b, k);
	return buf_slice(&b);
}

static void look_at_key(struct look *l)
{
	const struct json *schema = json_get(l->table, "KeySchema");

	if (!provision_same_key(l->table, schema, &l->t->as->key))
		OBSTACLE(l,
			 "its key is %.*s, or of other types; the design says %.*s. The key of a table cannot be changed: choose "
			 "another name for the design's table",
			 SLICE_ARG(key_in(schema, l->arena)), SLICE_ARG(key_words(&l->t->as->key, l->arena)));
}

static void look_at_status(struct look *l)
{
	struct slice status = json_get_text(l->table, "TableStatus");

	if (slice_is(status, "CREATING"))
		STEP(l, DEPLOY_WAIT, "wait: the table is being made");
	else if (slice_is(status, "UPDATING"))
		STEP(l, DEPLOY_WAIT, "wait: the table is being changed");
	else if (slice_is(status, "DELETING"))
		OBSTACLE(l, "it is being deleted: run this again when it is gone, and a new one will be made");
	else if (!slice_is(status, "ACTIVE"))
		OBSTACLE(l, "it cannot be changed: its status is %.*s", SLICE_ARG(status));
}

const struct json *deploy_units_in(const struct json *table)
{
	struct slice mode = json_get_text(json_get(table, "BillingModeSummary"), "BillingMode");
	const struct json *units = json_get(table, "ProvisionedThroughput");
	const struct json *writes = json_get(units, "WriteCapacityUnits");

	/* A table that was never on demand has no summary. */
	if (slice_is(mode, "PAY_PER_REQUEST") || !json_is(writes, JSON_INT) || !writes->integer)
		return NULL;
	return units;
}

static void look_at_billing(struct look *l)
{
	const struct json *units = deploy_units_in(l->table);
	const struct design *d = l->t->as;
	long long reads = json_get_int(units, "ReadCapacityUnits"), writes = json_get_int(units, "WriteCapacityUnits");

	if (!d->provisioned && units)
		NOTE(l,
		     "it has %lld read and %lld write units provisioned, the design says on demand. That is left as it is: "
		     "`aws dynamodb update-table --table-name %.*s --billing-mode PAY_PER_REQUEST` changes it",
		     reads, writes, SLICE_ARG(d->table));
	else if (d->provisioned && !units)
		NOTE(l, "it is billed on demand, the design says %lld read and %lld write units. That is left as it is",
		     (long long)d->read_units, (long long)d->write_units);
	else if (units && (reads != d->read_units || writes != d->write_units))
		NOTE(l,
		     "it has %lld read and %lld write units, the design says %lld and %lld. That is left as it is: auto "
		     "scaling may have set them",
		     reads, writes, (long long)d->read_units, (long long)d->write_units);
}

static void look_at_stream(struct look *l)
{
	struct slice view = json_get_text(json_get(l->table, "StreamSpecification"), "StreamViewType");
	const struct design *d = l->t->as;

	if (d->stream == STREAM_NONE || slice_is(view, stream_view_name(d->stream)))
		return;
	if (!view.n)
		STEP(l, DEPLOY_STREAM, "stream: %s", deploy_view_words(d->stream));
	else
		OBSTACLE(l,
			 "its stream shows %.*s, the design says %s. What a stream shows cannot be changed: when nothing reads "
			 "it, turn it off with `aws dynamodb update-table --table-name %.*s --stream-specification "
			 "StreamEnabled=false`, then run this again",
			 SLICE_ARG(view), stream_view_name(d->stream), SLICE_ARG(d->table));
}

static void look_at_protection(struct look *l)
{
	const struct json *is = json_get(l->table, "DeletionProtectionEnabled");

	if (!l->t->protection)
		return;
	if (!json_is(is, JSON_BOOL))
		NOTE(l, "this endpoint has no deletion protection");
	else if (!is->boolean)
		STEP(l, DEPLOY_PROTECT, "deletion protection");
}

/* ---- indexes ---- */

static void compare_index(struct look *l, const struct json *there, const struct design_index *want)
{
	static const char advice[] =
		"cannot be changed: give the index of the design another name, and remove the old one when "
		"no server uses it";
	struct slice status = json_get_text(there, "IndexStatus");
	const struct json *backfilling = json_get(there, "Backfilling");
	struct slice name = want->name;

	if (!provision_same_key(l->table, json_get(there, "KeySchema"), &want->key))
		OBSTACLE(l, "index %.*s has the key %.*s, or other types; the design says %.*s. The key of an index %s",
			 SLICE_ARG(name), SLICE_ARG(key_in(json_get(there, "KeySchema"), l->arena)),
			 SLICE_ARG(key_words(&want->key, l->arena)), advice);
	else if (!provision_same_projection(json_get(there, "Projection"), want))
		OBSTACLE(l, "index %.*s has other attributes than the design says (%.*s). What an index has %s",
			 SLICE_ARG(name), SLICE_ARG(deploy_index_words(want, l->arena)), advice);
	else if (slice_is(status, "CREATING"))
		STEP(l, DEPLOY_WAIT, "wait: index %.*s is being built%s", SLICE_ARG(name),
		     json_is(backfilling, JSON_BOOL) && backfilling->boolean ? ", from the items that are there" : "");
	else if (!slice_is(status, "ACTIVE"))
		STEP(l, DEPLOY_WAIT, "wait: index %.*s is %.*s", SLICE_ARG(name), SLICE_ARG(status));
}

/* A new index cannot give an attribute another type than it has in the keys that are there. */
static bool types_agree(struct look *l, const struct design_index *want)
{
	const struct key_schema *k = &want->key;

	for (size_t i = 0; i < (size_t)k->hash_count + k->range_count; i++) {
		const struct key_attr *attr = i < k->hash_count ? &k->hash[i] : &k->range[i - k->hash_count];
		struct slice type = provision_type_in(l->table, attr->name);

		if (!type.n || slice_is(type, value_type_name(attr->type)))
			continue;
		OBSTACLE(l,
			 "index %.*s needs %.*s as a %s, and it is a %.*s in the keys that are there: an attribute has one type "
			 "in all keys of a table",
			 SLICE_ARG(want->name), SLICE_ARG(attr->name), value_type_name(attr->type), SLICE_ARG(type));
		return false;
	}
	return true;
}

static void look_at_others(struct look *l)
{
	const struct json *all = json_get(l->table, "GlobalSecondaryIndexes");

	for (size_t i = 0; json_is(all, JSON_ARRAY) && i < all->count; i++) {
		struct slice name = json_get_text(&all->items[i], "IndexName");

		if (!design_index(l->t->as, name))
			NOTE(l,
			     "index %.*s is not in the design, and costs a write for each item in it. It is left: `aws dynamodb "
			     "update-table --table-name %.*s --global-secondary-index-updates "
			     "'[{\"Delete\":{\"IndexName\":\"%.*s\"}}]'` removes it",
			     SLICE_ARG(name), SLICE_ARG(l->t->as->table), SLICE_ARG(name));
	}
}

/* First those that are being built: they are waited for before anything else is begun. */
static void look_at_indexes_there(struct look *l)
{
	const struct design *d = l->t->as;

	for (size_t i = 0; i < d->index_count; i++) {
		const struct json *there = provision_index_in(l->table, d->indexes[i].name);

		if (there)
			compare_index(l, there, &d->indexes[i]);
	}
	look_at_others(l);
}

static void look_for_indexes(struct look *l)
{
	const struct design *d = l->t->as;

	for (size_t i = 0; i < d->index_count; i++)
		if (!provision_index_in(l->table, d->indexes[i].name) && types_agree(l, &d->indexes[i]))
			STEP(l, DEPLOY_INDEX, "index %.*s", SLICE_ARG(deploy_index_words(&d->indexes[i], l->arena)))
				->index = &d->indexes[i];
}

/* ---- what DescribeTable does not say ---- */

static bool look_at_recovery(struct look *l)
{
	struct backend_reply r = { .status = 200 };
	struct slice status = SLICE("");

	if (!l->t->recovery)
		return true;
	if (l->table) {
		backend_call(l->backend, l->arena, "DescribeContinuousBackups", provision_describe(l->t->as, l->arena),
			     &r);
		if (r.status != 200 && !deploy_is_unknown(&r) && !is_too_early(l, &r))
			return fail_call(l->failure, l->t, "DescribeContinuousBackups", &r);
		status = json_get_text(json_get(json_get(r.body, "ContinuousBackupsDescription"),
						"PointInTimeRecoveryDescription"),
				       "PointInTimeRecoveryStatus");
	}
	if (r.status == 200 && slice_is(status, "ENABLED"))
		return true;
	if (!deploy_is_unknown(&r) && l->want->probes)
		backend_call(l->backend, l->arena, "UpdateContinuousBackups", SLICE("{}"), &r);
	if (deploy_is_unknown(&r))
		NOTE(l, "this endpoint has no point-in-time recovery");
	else
		STEP(l, DEPLOY_RECOVERY, "point-in-time recovery");
	return true;
}

static bool has_tag(const struct json *tags, const struct deploy_tag *want)
{
	for (size_t i = 0; json_is(tags, JSON_ARRAY) && i < tags->count; i++)
		if (slice_equal(json_get_text(&tags->items[i], "Key"), want->key))
			return slice_equal(json_get_text(&tags->items[i], "Value"), want->value);
	return false;
}

/* *found gets a mark for each wanted tag that is there. */
static bool read_tags(struct look *l, struct slice arn, bool *found, bool *known)
{
	struct slice next = SLICE("");
	struct backend_reply r;

	*known = true;
	do {
		backend_call(l->backend, l->arena, "ListTagsOfResource", deploy_request_list_tags(arn, next, l->arena),
			     &r);
		if (deploy_is_unknown(&r)) {
			*known = false;
			return true;
		}
		if (r.status != 200 && !is_too_early(l, &r))
			return fail_call(l->failure, l->t, "ListTagsOfResource", &r);
		for (size_t i = 0; i < l->t->tag_count; i++)
			found[i] |= r.status != 200 || has_tag(json_get(r.body, "Tags"), &l->t->tags[i]);
		next = json_get_text(r.body, "NextToken");
	} while (next.n);
	return true;
}

static struct slice tag_words(const struct deploy_table *t, const bool *found, struct arena *a)
{
	bool first = true;
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < t->tag_count; i++) {
		if (found && found[i])
			continue;
		buf_str(&b, first ? "" : ", ");
		first = false;
		buf_put(&b, t->tags[i].key);
		buf_lit(&b, "=");
		buf_put(&b, t->tags[i].value);
	}
	return buf_slice(&b);
}

static bool look_at_tags(struct look *l)
{
	bool *found = arena_array(l->arena, bool, l->t->tag_count), known;
	struct slice missing;

	if (!read_tags(l, json_get_text(l->table, "TableArn"), found, &known))
		return false;
	missing = tag_words(l->t, found, l->arena);
	if (!known)
		NOTE(l, "this endpoint has no tags");
	else if (missing.n)
		STEP(l, DEPLOY_TAG, "tags: %.*s", SLICE_ARG(missing));
	return true;
}

static bool look_at_ttl(struct look *l)
{
	const struct design *d = l->t->as;
	struct slice status, attribute;
	struct backend_reply r;

	backend_call(l->backend, l->arena, "DescribeTimeToLive", provision_describe(d, l->arena), &r);
	if (deploy_is_unknown(&r)) {
		if (d->ttl.n)
			NOTE(l, "this endpoint has no TTL: expired items stay, unseen");
		return true;
	}
	if (r.status != 200 && !is_too_early(l, &r))
		return fail_call(l->failure, l->t, "DescribeTimeToLive", &r);
	status = json_get_text(json_get(r.body, "TimeToLiveDescription"), "TimeToLiveStatus");
	attribute = json_get_text(json_get(r.body, "TimeToLiveDescription"), "AttributeName");
	if (slice_is(status, "DISABLING") && d->ttl.n)
		OBSTACLE(l, "its TTL is being turned off, which takes up to an hour: run this again then");
	else if (!slice_is(status, "ENABLED") && !slice_is(status, "ENABLING")) {
		if (d->ttl.n)
			STEP(l, DEPLOY_TTL, "TTL: by %.*s", SLICE_ARG(d->ttl));
	} else if (!d->ttl.n)
		NOTE(l, "its items expire by %.*s, the design has no `ttl`. That is left as it is",
		     SLICE_ARG(attribute));
	else if (!slice_equal(attribute, d->ttl))
		OBSTACLE(l,
			 "its items expire by %.*s, the design says %.*s. Turn TTL off with `aws dynamodb update-time-to-live "
			 "--table-name %.*s --time-to-live-specification Enabled=false,AttributeName=%.*s`, and run this again an "
			 "hour later",
			 SLICE_ARG(attribute), SLICE_ARG(d->ttl), SLICE_ARG(d->table), SLICE_ARG(attribute));
	return true;
}

/* ---- a table ---- */

static bool plan_new(struct look *l)
{
	const struct design *d = l->t->as;
	struct slice *details = arena_array(l->arena, struct slice, d->index_count + 3);
	struct deploy_step *step =
		STEP(l, DEPLOY_CREATE, "the table: key %.*s; %.*s", SLICE_ARG(key_words(&d->key, l->arena)),
		     SLICE_ARG(deploy_billing_words(d, l->arena)));
	size_t n = 0;

	for (size_t i = 0; i < d->index_count; i++)
		details[n++] =
			arena_printf(l->arena, "index %.*s", SLICE_ARG(deploy_index_words(&d->indexes[i], l->arena)));
	if (d->stream != STREAM_NONE)
		details[n++] = arena_printf(l->arena, "stream: %s", deploy_view_words(d->stream));
	if (l->t->protection)
		details[n++] = SLICE("deletion protection");
	details[n++] = arena_printf(l->arena, "tags: %.*s", SLICE_ARG(tag_words(l->t, NULL, l->arena)));
	step->details = details;
	step->detail_count = n;
	if (!look_at_recovery(l))
		return false;
	if (d->ttl.n)
		STEP(l, DEPLOY_TTL, "TTL: by %.*s", SLICE_ARG(d->ttl));
	return true;
}

static bool plan_there(struct look *l)
{
	look_at_status(l);
	look_at_key(l);
	look_at_indexes_there(l);
	look_at_billing(l);
	look_at_protection(l);
	if (!look_at_recovery(l) || !look_at_tags(l))
		return false;
	look_at_stream(l);
	look_for_indexes(l);
	return look_at_ttl(l);
}

static void measure(struct look *l, struct deploy_plan *plan)
{
	const struct json *all = json_get(l->table, "GlobalSecondaryIndexes");

	plan->table_bytes += (double)json_get_int(l->table, "TableSizeBytes");
	for (size_t i = 0; json_is(all, JSON_ARRAY) && i < all->count; i++)
		plan->index_bytes += (double)json_get_int(&all->items[i], "IndexSizeBytes");
}

bool deploy_look(struct backend *b, const struct deploy_want *w, struct arena *a, struct deploy_plan *plan,
		 struct deploy_failure *f)
{
	struct look l = { .backend = b, .want = w, .arena = a, .failure = f };

	*plan = (struct deploy_plan){ 0 };
	for (l.at = 0; l.at < DEPLOY_TABLES; l.at++) {
		l.t = &w->tables[l.at];
		if (!deploy_look_table(b, l.t, a, &l.table, f) || !(l.table ? plan_there(&l) : plan_new(&l)))
			return false;
		plan->arns[l.at] = json_get_text(l.table, "TableArn");
		measure(&l, plan);
	}
	plan->steps = l.steps;
	plan->step_count = l.step_count;
	plan->remarks = l.remarks;
	plan->remark_count = l.remark_count;
	plan->obstacle_count = l.obstacle_count;
	return true;
}
