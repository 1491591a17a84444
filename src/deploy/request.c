/* The documents that make and change tables, where app/db/provision_request.h does not have them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision_request.h"
#include "deploy/deploy_internal.h"

static struct slice end_request(struct buf *b)
{
	json_close(b, '}');
	return buf_slice(b);
}

void deploy_put_tags(struct buf *b, const struct deploy_table *t)
{
	json_member_open(b, "Tags", '[');
	for (size_t i = 0; i < t->tag_count; i++) {
		json_open(b, '{');
		json_member_string(b, "Key", t->tags[i].key);
		json_member_string(b, "Value", t->tags[i].value);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void put_protection(struct buf *b)
{
	json_member_bool(b, "DeletionProtectionEnabled", true);
}

static void put_recovery(struct buf *b)
{
	json_member_open(b, "PointInTimeRecoverySpecification", '{');
	json_member_bool(b, "PointInTimeRecoveryEnabled", true);
	json_close(b, '}');
}

void deploy_put_guards(struct buf *b, const struct deploy_table *t)
{
	if (t->recovery)
		put_recovery(b);
	if (t->protection)
		put_protection(b);
}

struct slice deploy_request_create(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	provision_begin(&b, t->as, a);
	provision_put_create(&b, t->as);
	deploy_put_tags(&b, t);
	if (t->protection)
		put_protection(&b);
	return end_request(&b);
}

struct slice deploy_request_stream(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	provision_begin(&b, t->as, a);
	provision_put_stream(&b, t->as);
	return end_request(&b);
}

struct slice deploy_request_protect(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	provision_begin(&b, t->as, a);
	put_protection(&b);
	return end_request(&b);
}

struct slice deploy_request_recovery(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	provision_begin(&b, t->as, a);
	put_recovery(&b);
	return end_request(&b);
}

static int64_t units_of(const struct json *units, const char *name)
{
	const struct json *j = json_get(units, name);

	return json_is(j, JSON_INT) && j->integer > 0 ? j->integer : 1;
}

struct slice deploy_request_index(const struct deploy_table *t, const struct design_index *i, const struct json *units,
				  struct arena *a)
{
	struct design as = *t->as; /* an index is billed as its table is, whatever the design says */

	as.provisioned = units != NULL;
	if (units) {
		as.read_units = units_of(units, "ReadCapacityUnits");
		as.write_units = units_of(units, "WriteCapacityUnits");
	}
	return provision_add_index(&as, i, a);
}

static void begin_of_arn(struct buf *b, struct slice arn, struct arena *a)
{
	buf_init(b, a);
	json_open(b, '{');
	json_member_string(b, "ResourceArn", arn);
}

struct slice deploy_request_tag(const struct deploy_table *t, struct slice arn, struct arena *a)
{
	struct buf b;

	begin_of_arn(&b, arn, a);
	deploy_put_tags(&b, t);
	return end_request(&b);
}

struct slice deploy_request_list_tags(struct slice arn, struct slice next, struct arena *a)
{
	struct buf b;

	begin_of_arn(&b, arn, a);
	if (next.n)
		json_member_string(&b, "NextToken", next);
	return end_request(&b);
}
