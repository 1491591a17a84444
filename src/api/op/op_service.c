/* DescribeLimits, DescribeEndpoints, DescribeContinuousBackups: what a client may ask about the
 * service. SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"
#include "api/op/op_control.h"
#include "api/reply.h"

#define ENDPOINT_CACHE_MINUTES 1440

bool op_describe_limits(struct op_state *s, struct error *e)
{
	(void)e;
	json_open(&s->out, '{');
	json_member_int(&s->out, "AccountMaxReadCapacityUnits", ACCOUNT_UNITS_MAX);
	json_member_int(&s->out, "AccountMaxWriteCapacityUnits", ACCOUNT_UNITS_MAX);
	json_member_int(&s->out, "TableMaxReadCapacityUnits", TABLE_UNITS_MAX);
	json_member_int(&s->out, "TableMaxWriteCapacityUnits", TABLE_UNITS_MAX);
	json_close(&s->out, '}');
	return true;
}

bool op_describe_endpoints(struct op_state *s, struct error *e)
{
	(void)e;
	json_open(&s->out, '{');
	json_member_open(&s->out, "Endpoints", '[');
	json_open(&s->out, '{');
	json_member_word(&s->out, "Address", s->api->endpoint);
	json_member_int(&s->out, "CachePeriodInMinutes", ENDPOINT_CACHE_MINUTES);
	buf_lit(&s->out, "}]}");
	return true;
}

/* Every DynamoDB table has continuous backups; point-in-time recovery is what one turns on. */
bool op_describe_continuous_backups(struct op_state *s, struct error *e)
{
	struct slice name = json_get_text(s->in, "TableName");

	if (!catalog_table(s->catalog, name))
		return error_set(e, s->arena, ERR_TABLE_NOT_FOUND, "Table not found: %.*s", SLICE_ARG(name));
	buf_lit(&s->out, "{\"ContinuousBackupsDescription\":{\"ContinuousBackupsStatus\":\"ENABLED\","
			 "\"PointInTimeRecoveryDescription\":{\"PointInTimeRecoveryStatus\":\"DISABLED\"}}}");
	return true;
}
