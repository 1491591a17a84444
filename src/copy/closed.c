/* Makes servers of the source refuse writes from the switch on: a marker in the table beside the design's, which they
 * look for (app/db/moved.h). They notice within MOVED_LOOK_MS; the switch waits longer than that for quiet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/moved.h"
#include "base/clock.h"
#include "base/timestamp.h"
#include "copy/copy_internal.h"

#define SWITCHED "switched" /* the copy came to its end */
#define KEY      "{\"PK\":{\"S\":\"" MOVED_PK "\"},\"SK\":{\"S\":\"" MOVED_SK "\"}"

/* … that the marker is of this copy. */
static void put_condition(struct buf *b, const char *owner)
{
	buf_printf(b,
		   ",\"ConditionExpression\":\"#c = :c\",\"ExpressionAttributeNames\":{\"#c\":\"copy\"},"
		   "\"ExpressionAttributeValues\":{\":c\":{\"S\":\"%s\"}}",
		   owner);
}

/* Reports which writers are stopped and which are not. */
static void say_closed(struct job *j)
{
	copy_job_say(j,
		     "%.*s: servers of the design at %s refuse writes from now on (`thorpe copy --reopen` undoes that); "
		     "%s",
		     SLICE_ARG(j->table), j->o->from.name,
		     j->o->from.is_amazon ? "programs that write to Amazon's table directly are not stopped"
					  : "programs that bypass them are not stopped");
}

/* Puts the marker of this copy. `switched`: it is there and this copy's, and becomes that of a source that has been
 * left. */
static bool put_marker(struct copier *c, bool switched, struct backend_reply *r)
{
	struct job *j = c->job;
	struct buf b = copy_body(c, copy_beside(c));
	char now[TIME_TEXT_MAX];

	buf_lit(&b, ",\"Item\":" KEY ",\"to\":{\"S\":");
	json_string(&b, slice_str(j->o->to.name));
	time_format(clock_now_ms(&clock_system), now);
	buf_printf(&b, "},\"at\":{\"S\":\"%s\"},\"copy\":{\"S\":\"%s\"}", now, j->owner);
	buf_printf(&b, switched ? ",\"" SWITCHED "\":{\"BOOL\":true}}" : "}");
	if (switched)
		put_condition(&b, j->owner);
	buf_byte(&b, '}');
	return copier_call(c, COPY_FROM, "PutItem", buf_slice(&b), r);
}

bool copy_source_close(struct copier *c)
{
	struct job *j = c->job;
	struct backend_reply r;

	if (!j->o->design) {
		copy_job_say(j, "%.*s: this copy cannot stop the writers at %s: make sure that they have stopped",
			     SLICE_ARG(j->table), j->o->from.name);
		return true;
	}
	j->is_closed = put_marker(c, false, &r);
	if (j->is_closed)
		say_closed(j);
	else if (r.error.n)
		copy_job_say(
			j,
			"%.*s: servers of the design at %s cannot be made to refuse writes (%.*s): make sure that there are no writers",
			SLICE_ARG(j->table), j->o->from.name, SLICE_ARG(r.error));
	return j->is_closed || r.error.n;
}

bool copy_source_leave(struct copier *c)
{
	struct job *j = c->job;
	struct backend_reply r;

	if (!j->is_closed || put_marker(c, true, &r))
		return true;
	if (!slice_is(r.error, "ConditionalCheckFailedException"))
		return copier_refused(c, COPY_FROM, "PutItem", &r);
	j->is_closed = false;
	return copy_job_fail(
		j,
		"%.*s: servers of the design at %s were told meanwhile to accept writes again (--reopen), so nothing "
		"was switched: run this again",
		SLICE_ARG(j->table), j->o->from.name);
}

bool copy_source_is_open(struct copier *c, bool *out)
{
	struct buf b = copy_body(c, copy_beside(c));
	struct backend_reply r;

	*out = false;
	if (!c->job->o->design)
		return true;
	buf_lit(&b, ",\"ConsistentRead\":true,\"Key\":" KEY "}}");
	if (!copier_call(c, COPY_FROM, "GetItem", buf_slice(&b), &r) && !slice_is(r.error, "ResourceNotFoundException"))
		return copier_refused(c, COPY_FROM, "GetItem", &r);
	*out = r.status != 200 || !json_get(r.body, "Item");
	return true;
}

/* What taking writes again means, by the marker that was there. */
static const char *what_follows(const struct json *marker)
{
	if (json_get(marker, SWITCHED))
		return ": they are not copied any more";
	return json_get(marker, "copy") ? "; a switch that is under way ends without having switched" : "";
}

bool copy_source_open(struct copier *c, bool any)
{
	struct buf b = copy_body(c, copy_beside(c));
	struct backend_reply r;

	buf_lit(&b, ",\"Key\":" KEY "}");
	if (any)
		buf_lit(&b, ",\"ReturnValues\":\"ALL_OLD\"");
	else
		put_condition(&b, c->job->owner);
	buf_byte(&b, '}');
	if (!copier_call(c, COPY_FROM, "DeleteItem", buf_slice(&b), &r)) {
		if (slice_is(r.error, "ConditionalCheckFailedException")) /* another copy has closed it since */
			return true;
		if (!slice_is(r.error, "ResourceNotFoundException"))
			return copier_refused(c, COPY_FROM, "DeleteItem", &r);
	}
	c->job->is_closed = false;
	copy_job_say(c->job, "%.*s: servers of the design at %s accept writes again%s", SLICE_ARG(c->job->table),
		     c->job->o->from.name, any ? what_follows(json_get(r.body, "Attributes")) : "");
	return true;
}
