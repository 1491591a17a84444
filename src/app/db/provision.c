/* A design's table: created if missing, otherwise compared. SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision.h"
#include "app/db/beside.h"
#include "app/db/provision_compare.h"
#include "app/db/provision_request.h"
#include "base/clock.h"
#include "base/log.h"

#define POLL_MS     20
#define POLL_MAX_MS (10 * 60 * 1000) /* the longest wait for an index to be built before adding the next */

struct provision {
	struct backend *backend;
	const struct design *design;
	struct arena *arena;
	struct error *error;
	bool changed;
	bool only_look; /* provision_check() */
};

#define DIFFERS(p, ...) error_set((p)->error, (p)->arena, ERR_VALIDATION, __VA_ARGS__)

static bool call_table(struct provision *p, const char *operation, struct slice body, struct backend_reply *r)
{
	backend_call(p->backend, p->arena, operation, body, r);
	if (r->status == 200)
		return true;
	return error_set(p->error, p->arena, ERR_INTERNAL, "table %.*s: %s: %.*s", SLICE_ARG(p->design->table),
			 operation, SLICE_ARG(r->message));
}

/* ---- comparing ---- */

static bool compare_index(struct provision *p, const struct json *table, const struct json *there,
			  const struct design_index *want)
{
	if (!provision_same_key(table, json_get(there, "KeySchema"), &want->key))
		return DIFFERS(p,
			       "table %.*s has an index %.*s with other keys than the design; an index's keys "
			       "cannot be changed, give the new one another name",
			       SLICE_ARG(p->design->table), SLICE_ARG(want->name));
	if (!provision_same_projection(json_get(there, "Projection"), want))
		return DIFFERS(p,
			       "table %.*s has an index %.*s with another projection than the design; a projection "
			       "cannot be changed, give the new index another name",
			       SLICE_ARG(p->design->table), SLICE_ARG(want->name));
	return true;
}

static bool compare_stream(struct provision *p, const struct json *table)
{
	const struct design *d = p->design;
	struct slice view = json_get_text(json_get(table, "StreamSpecification"), "StreamViewType");

	if (d->stream == STREAM_NONE || slice_is(view, stream_view_name(d->stream)))
		return true;
	if (view.n)
		return DIFFERS(p, "the stream of table %.*s shows %.*s, the design says %s; disable it first",
			       SLICE_ARG(d->table), SLICE_ARG(view), stream_view_name(d->stream));
	return DIFFERS(p, "table %.*s has no stream, the design says %s%s", SLICE_ARG(d->table),
		       stream_view_name(d->stream),
		       p->only_look ? "" : "; enable it with UpdateTable, or `thorpe deploy`");
}

/* A query of an index that is being built is refused. */
static bool compare_indexes(struct provision *p, const struct json *table)
{
	const struct design *d = p->design;

	for (size_t i = 0; i < d->index_count; i++) {
		const struct json *there = provision_index_in(table, d->indexes[i].name);

		if (there && !compare_index(p, table, there, &d->indexes[i]))
			return false;
		if (!p->only_look)
			continue;
		if (!there)
			return DIFFERS(p, "table %.*s has no index %.*s", SLICE_ARG(d->table),
				       SLICE_ARG(d->indexes[i].name));
		if (slice_is(json_get_text(there, "IndexStatus"), "CREATING"))
			return DIFFERS(p, "index %.*s of table %.*s is still being built",
				       SLICE_ARG(d->indexes[i].name), SLICE_ARG(d->table));
	}
	return true;
}

/* ---- changing ---- */

static bool describe(struct provision *p, const struct json **table)
{
	struct backend_reply r;

	if (!call_table(p, "DescribeTable", provision_describe(p->design, p->arena), &r))
		return false;
	*table = json_get(r.body, "Table");
	return true;
}

/* DynamoDB builds one index of a table at a time. */
static bool wait_for_index(struct provision *p, const struct design_index *i)
{
	const struct json *table;

	for (int waited = 0; waited < POLL_MAX_MS; waited += POLL_MS) {
		if (!describe(p, &table))
			return false;
		if (slice_is(json_get_text(provision_index_in(table, i->name), "IndexStatus"), "ACTIVE"))
			return true;
		clock_pause_us(POLL_MS * 1000);
	}
	return error_set(p->error, p->arena, ERR_INTERNAL, "index %.*s of table %.*s takes too long to be built",
			 SLICE_ARG(i->name), SLICE_ARG(p->design->table));
}

static bool add_index(struct provision *p, const struct design_index *i)
{
	const struct json *table;
	struct backend_reply r;
	struct error error;

	if (call_table(p, "UpdateTable", provision_add_index(p->design, i, p->arena), &r))
		return true;
	error = *p->error;
	if (!describe(p, &table))
		return false;
	if (!provision_index_in(table, i->name)) {
		*p->error = error;
		return false;
	}
	*p->error = (struct error){ 0 }; /* another server was quicker */
	return true;
}

static bool bring_indexes(struct provision *p, const struct json *table)
{
	const struct design *d = p->design;

	if (!compare_indexes(p, table))
		return false;
	for (size_t i = 0; i < d->index_count; i++) {
		const struct json *there = provision_index_in(table, d->indexes[i].name);

		/* Another server may be adding it, or one that was killed may have begun to. */
		if (there && slice_is(json_get_text(there, "IndexStatus"), "CREATING") &&
		    !wait_for_index(p, &d->indexes[i]))
			return false;
		if (there)
			continue;
		if (!add_index(p, &d->indexes[i]) || !wait_for_index(p, &d->indexes[i]))
			return false;
		p->changed = true;
	}
	return true;
}

/* Enabled or about to be, by the design's attribute. False: an error. */
static bool look_at_ttl(struct provision *p, bool *is_on)
{
	const struct design *d = p->design;
	const struct json *is;
	struct backend_reply r;

	if (!call_table(p, "DescribeTimeToLive", provision_describe(d, p->arena), &r))
		return false;
	is = json_get(r.body, "TimeToLiveDescription");
	*is_on = slice_starts(json_get_text(is, "TimeToLiveStatus"), SLICE("ENABL"));
	if (!*is_on || slice_equal(json_get_text(is, "AttributeName"), d->ttl))
		return true;
	return DIFFERS(p, "items of table %.*s expire by %.*s, the design says %.*s; disable it first",
		       SLICE_ARG(d->table), SLICE_ARG(json_get_text(is, "AttributeName")), SLICE_ARG(d->ttl));
}

static bool bring_ttl(struct provision *p)
{
	struct backend_reply r;
	struct error error;
	bool is_on;

	if (!p->design->ttl.n)
		return true;
	if (!look_at_ttl(p, &is_on))
		return false;
	if (is_on)
		return true;
	if (call_table(p, "UpdateTimeToLive", provision_enable_ttl(p->design, p->arena), &r))
		return p->changed = true;
	error = *p->error;
	if (!look_at_ttl(p, &is_on))
		return false;
	*p->error = is_on ? (struct error){ 0 } : error; /* another server may have been quicker */
	return is_on;
}

static bool compare_key(struct provision *p, const struct json *table)
{
	if (provision_same_key(table, json_get(table, "KeySchema"), &p->design->key))
		return true;
	return DIFFERS(p, "table %.*s has another key than the design; choose another table name",
		       SLICE_ARG(p->design->table));
}

static bool bring_table(struct provision *p, const struct json *table)
{
	return compare_key(p, table) && compare_stream(p, table) && bring_indexes(p, table) && bring_ttl(p);
}

/* A table that is CREATING accepts no requests yet. */
static bool wait_for_table(struct provision *p, struct slice describe_it, struct slice name)
{
	struct backend_reply r;

	for (int waited = 0; waited < POLL_MAX_MS; waited += POLL_MS) {
		if (!call_table(p, "DescribeTable", describe_it, &r))
			return false;
		if (slice_is(json_get_text(json_get(r.body, "Table"), "TableStatus"), "ACTIVE"))
			return true;
		clock_pause_us(POLL_MS * 1000);
	}
	return error_set(p->error, p->arena, ERR_INTERNAL, "table %.*s takes too long to be made", SLICE_ARG(name));
}

/* Enabled, or about to be. */
static bool has_ttl_beside(struct backend *b, const struct design *d, struct arena *a)
{
	struct backend_reply r;

	backend_call(b, a, "DescribeTimeToLive", provision_describe_beside(d, a), &r);
	return r.status == 200 &&
	       slice_starts(json_get_text(json_get(r.body, "TimeToLiveDescription"), "TimeToLiveStatus"),
			    SLICE("ENABL"));
}

void provision_beside_ttl(struct backend *b, const struct design *d, struct arena *a)
{
	struct backend_reply r;

	if (has_ttl_beside(b, d, a))
		return;
	backend_call(b, a, "UpdateTimeToLive", provision_enable_ttl_beside(d, a), &r);
	if (r.status != 200 && !has_ttl_beside(b, d, a)) /* another server may have been quicker */
		log_warn("table %.*s.thorpe: items that have expired stay: %.*s", SLICE_ARG(d->table),
			 SLICE_ARG(r.message));
}

bool provision_beside(struct backend *b, const struct design *d, struct arena *a, struct error *e)
{
	struct provision p = { .backend = b, .design = d, .arena = a, .error = e };
	struct backend_reply r;

	backend_call(b, a, "DescribeTable", provision_describe_beside(d, a), &r);
	if (r.status == 200)
		return true;
	if (!slice_is(r.error, "ResourceNotFoundException"))
		return error_set(e, a, ERR_INTERNAL, "table %.*s.thorpe: %.*s", SLICE_ARG(d->table),
				 SLICE_ARG(r.message));
	backend_call(b, a, "CreateTable", provision_create_beside(d, a), &r);
	if (r.status != 200 && !slice_is(r.error, "ResourceInUseException"))
		return DIFFERS(&p, "table %.*s.thorpe: %.*s", SLICE_ARG(d->table), SLICE_ARG(r.message));
	if (!wait_for_table(&p, provision_describe_beside(d, a), beside_name(a, d->table)))
		return false;
	provision_beside_ttl(b, d, a);
	return true;
}

/* Cascades leave their markers there, logins the sessions, requests for mail their notes. */
static bool needs_beside(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].delete_.then_count || d->entities[i].rename.then_count ||
		    d->entities[i].login.session_seconds || d->entities[i].login.mail.address.n)
			return true;
	return false;
}

/* Another server may be creating it right now. */
static enum provision_result bring_existing(struct provision *p)
{
	const struct json *table;

	if (!wait_for_table(p, provision_describe(p->design, p->arena), p->design->table) || !describe(p, &table) ||
	    !bring_table(p, table))
		return PROVISION_FAILED;
	return p->changed ? PROVISION_CHANGED : PROVISION_THERE;
}

static enum provision_result provision_own(struct backend *b, const struct design *d, struct arena *a, struct error *e)
{
	struct provision p = { .backend = b, .design = d, .arena = a, .error = e };
	struct backend_reply r;

	backend_call(b, a, "DescribeTable", provision_describe(d, a), &r);
	if (r.status == 200 && slice_is(json_get_text(json_get(r.body, "Table"), "TableStatus"), "CREATING"))
		return bring_existing(&p);
	if (r.status == 200) {
		if (!bring_table(&p, json_get(r.body, "Table")))
			return PROVISION_FAILED;
		return p.changed ? PROVISION_CHANGED : PROVISION_THERE;
	}
	if (!slice_is(r.error, "ResourceNotFoundException")) {
		(void)!error_set(e, a, ERR_INTERNAL, "table %.*s: %.*s", SLICE_ARG(d->table), SLICE_ARG(r.message));
		return PROVISION_FAILED;
	}
	backend_call(b, a, "CreateTable", provision_create_table(d, a), &r);
	if (slice_is(r.error, "ResourceInUseException"))
		return bring_existing(&p);
	if (r.status != 200) {
		(void)!error_set(e, a, ERR_INTERNAL, "table %.*s: CreateTable: %.*s", SLICE_ARG(d->table),
				 SLICE_ARG(r.message));
		return PROVISION_FAILED;
	}
	if (!wait_for_table(&p, provision_describe(d, a), d->table) || !bring_ttl(&p))
		return PROVISION_FAILED;
	return PROVISION_MADE;
}

enum provision_result provision_table(struct backend *b, const struct design *d, struct arena *a, struct error *e)
{
	if (needs_beside(d) && !provision_beside(b, d, a, e))
		return PROVISION_FAILED;
	return provision_own(b, d, a, e);
}

/* ---- looking ---- */

/* The description of a table that can be used. */
static bool find_table(struct provision *p, struct slice describe_it, struct slice name, const struct json **table)
{
	struct backend_reply r;
	struct slice status;

	backend_call(p->backend, p->arena, "DescribeTable", describe_it, &r);
	if (r.status != 200 && slice_is(r.error, "ResourceNotFoundException"))
		return DIFFERS(p, "there is no table %.*s", SLICE_ARG(name));
	if (r.status != 200)
		return error_set(p->error, p->arena, ERR_INTERNAL, "table %.*s: %.*s: %.*s", SLICE_ARG(name),
				 SLICE_ARG(r.error), SLICE_ARG(r.message));
	*table = json_get(r.body, "Table");
	status = json_get_text(*table, "TableStatus");
	if (slice_is(status, "ACTIVE") || slice_is(status, "UPDATING"))
		return true;
	return DIFFERS(p, "table %.*s cannot be used yet: it is %.*s", SLICE_ARG(name), SLICE_ARG(status));
}

bool provision_check(struct backend *b, const struct design *d, struct arena *a, struct error *e)
{
	struct provision p = { .backend = b, .design = d, .arena = a, .error = e, .only_look = true };
	const struct json *table, *beside;

	return find_table(&p, provision_describe(d, a), d->table, &table) && compare_key(&p, table) &&
	       compare_stream(&p, table) && compare_indexes(&p, table) &&
	       find_table(&p, provision_describe_beside(d, a), beside_name(a, d->table), &beside);
}
