/* The documents that make and change tables, where app/provision_request.h does not have them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/provision_request.h"
#include "deploy/deploy_internal.h"

static void begin(struct buf *b, const struct deploy_table *t, struct arena *a)
{
	buf_init(b, a);
	buf_lit(b, "{\"TableName\":");
	json_string(b, t->as->table);
}

void deploy_put_tags(struct buf *b, const struct deploy_table *t)
{
	buf_lit(b, "\"Tags\":[");
	for (size_t i = 0; i < t->tag_count; i++) {
		buf_str(b, i ? ",{\"Key\":" : "{\"Key\":");
		json_string(b, t->tags[i].key);
		buf_lit(b, ",\"Value\":");
		json_string(b, t->tags[i].value);
		buf_lit(b, "}");
	}
	buf_lit(b, "]");
}

struct slice deploy_request_create(const struct deploy_table *t, struct arena *a)
{
	struct slice plain = provision_create_table(t->as, a);
	struct buf b;

	buf_init(&b, a);
	buf_add(&b, plain.p, plain.n - 1); /* without its closing brace */
	buf_lit(&b, ",");
	deploy_put_tags(&b, t);
	if (t->protection)
		buf_lit(&b, ",\"DeletionProtectionEnabled\":true");
	buf_lit(&b, "}");
	return buf_slice(&b);
}

struct slice deploy_request_stream(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	begin(&b, t, a);
	buf_printf(&b, ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"%s\"}}", stream_view_name(t->as->stream));
	return buf_slice(&b);
}

struct slice deploy_request_protect(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	begin(&b, t, a);
	buf_lit(&b, ",\"DeletionProtectionEnabled\":true}");
	return buf_slice(&b);
}

struct slice deploy_request_recovery(const struct deploy_table *t, struct arena *a)
{
	struct buf b;

	begin(&b, t, a);
	buf_lit(&b, ",\"PointInTimeRecoverySpecification\":{\"PointInTimeRecoveryEnabled\":true}}");
	return buf_slice(&b);
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

struct slice deploy_request_tag(const struct deploy_table *t, struct slice arn, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "{\"ResourceArn\":");
	json_string(&b, arn);
	buf_lit(&b, ",");
	deploy_put_tags(&b, t);
	buf_lit(&b, "}");
	return buf_slice(&b);
}

struct slice deploy_request_list_tags(struct slice arn, struct slice next, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "{\"ResourceArn\":");
	json_string(&b, arn);
	if (next.n) {
		buf_lit(&b, ",\"NextToken\":");
		json_string(&b, next);
	}
	buf_lit(&b, "}");
	return buf_slice(&b);
}
