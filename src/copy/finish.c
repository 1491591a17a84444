/* Stream and TTL: off while a table is filled, on when it is full (C4).
 * SPDX-License-Identifier: Apache-2.0 */
#include "copy/copy_internal.h"
#include "deploy/deploy.h"

static bool stream_is_on(const struct json *table)
{
	const struct json *on = json_get(json_get(table, "StreamSpecification"), "StreamEnabled");

	return json_is(on, JSON_BOOL) && on->boolean;
}

static bool set_stream(struct copier *c, enum copy_at at, const char *view)
{
	struct buf b = copy_body(c, c->job->table);
	struct backend_reply r;

	if (view)
		buf_printf(&b, ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"%s\"}}", view);
	else
		buf_lit(&b, ",\"StreamSpecification\":{\"StreamEnabled\":false}}");
	/* "already": an earlier attempt succeeded, but its reply was lost. */
	if (!copier_call(c, at, "UpdateTable", buf_slice(&b), &r) &&
	    !(slice_is(r.error, "ValidationException") && memmem(r.message.p, r.message.n, "already", 7)))
		return copier_refused(c, at, "UpdateTable", &r);
	return copy_table_wait(c, at, c->job->table);
}

/* *refused: DynamoDB may refuse for an hour. The caller checks whether the TTL is as wanted. */
static bool set_ttl(struct copier *c, struct slice attribute, bool on, bool *refused)
{
	struct buf b = copy_body(c, c->job->table);
	struct backend_reply r;

	buf_printf(&b, ",\"TimeToLiveSpecification\":{\"Enabled\":%s,\"AttributeName\":", on ? "true" : "false");
	json_string(&b, attribute);
	buf_lit(&b, "}}");
	*refused = false;
	if (copier_call(c, COPY_TO, "UpdateTimeToLive", buf_slice(&b), &r))
		return true;
	*refused = slice_is(r.error, "ValidationException");
	if (*refused && memmem(r.message.p, r.message.n, "already", 7))
		*refused = false;
	else if (!*refused)
		return copier_refused(c, COPY_TO, "UpdateTimeToLive", &r);
	return true;
}

bool copy_table_still(struct copier *c)
{
	struct job *j = c->job;
	const struct json *table;
	struct slice ttl;
	bool refused;

	if (!copy_table_describe(c, COPY_TO, j->table, &table) || !copy_table_ttl(c, COPY_TO, j->table, &ttl))
		return false;
	if (stream_is_on(table)) {
		copy_job_say(
			j,
			"%.*s: the stream at %s is off until the switch, so that copied items are not taken for changes",
			SLICE_ARG(j->table), j->o->to.name);
		if (!set_stream(c, COPY_TO, NULL))
			return false;
	}
	if (!ttl.n)
		return true;
	if (!set_ttl(c, ttl, false, &refused))
		return false;
	if (refused)
		return copy_job_fail(
			j,
			"%.*s at %s: its TTL must be off while items are copied, and was changed less than an hour ago: run "
			"this again later, or delete the table if it is empty",
			SLICE_ARG(j->table), j->o->to.name);
	return true;
}

/* ---- at the end ---- */

static void say_line(void *ctx, struct slice line)
{
	copy_job_say(ctx, "%.*s", SLICE_ARG(line));
}

static bool finish_design(struct copier *c)
{
	const struct copy_options *o = c->job->o;
	struct deploy_options options = { .no_recovery = !o->to.is_far, .no_protection = !o->to.is_far };
	struct deploy_progress progress = { .say = say_line, .ctx = c->job };
	struct deploy_failure failure = { 0 };
	struct deploy_want want;

	deploy_want(o->design, &options, &c->arena, &want);
	want.probes = !o->to.is_amazon;
	if (!o->to.is_far)
		want.tables[0].tag_count = want.tables[1].tag_count = 0;
	if (deploy_run(c->backends[COPY_TO], &want, &progress, &c->arena, &failure) == DEPLOY_DONE)
		return true;
	if (failure.words.n)
		return copy_job_fail(c->job, "%.*s: %.*s", SLICE_ARG(failure.table), SLICE_ARG(failure.words));
	return copier_refused(c, COPY_TO, failure.operation, &failure.reply);
}

static bool finish_plain(struct copier *c)
{
	struct job *j = c->job;
	const struct json *table;
	bool refused = false;

	if (!copy_table_describe(c, COPY_TO, j->table, &table))
		return false;
	if (j->view[0] && !stream_is_on(table) && !set_stream(c, COPY_TO, j->view))
		return false;
	if (j->ttl[0] && !set_ttl(c, slice_str(j->ttl), true, &refused))
		return false;
	if (refused)
		return copy_job_fail(
			j, "%.*s at %s: TTL can be changed once an hour: everything else is done, run this again then",
			SLICE_ARG(j->table), j->o->to.name);
	return true;
}

bool copy_table_finish(struct copier *c)
{
	return c->job->o->design ? finish_design(c) : finish_plain(c);
}

bool copy_table_enable_source_stream(struct copier *c)
{
	const struct json *table;

	copy_job_say(c->job, "%.*s: the stream at %s is turned on", SLICE_ARG(c->job->table), c->job->o->from.name);
	return set_stream(c, COPY_FROM, "NEW_AND_OLD_IMAGES") && copy_table_read_source(c, &table);
}
