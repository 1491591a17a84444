/* The same as a CloudFormation template, in JSON.
 *
 * Properties as in the reference of AWS::DynamoDB::Table and AWS::IAM::ManagedPolicy. They are CreateTable's, but for the
 * stream, which is on when it has a view.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/provision_request.h"
#include "deploy/deploy_internal.h"

static const char *const ids[DEPLOY_TABLES] = { "Table", "ThorpeTable" };

static void put_throughput(struct buf *b, const struct design *d)
{
	buf_printf(b, "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%lld,\"WriteCapacityUnits\":%lld}", (long long)d->read_units,
		   (long long)d->write_units);
}

static void put_indexes(struct buf *b, const struct design *d)
{
	if (!d->index_count)
		return;
	buf_lit(b, ",\"GlobalSecondaryIndexes\":[");
	for (size_t i = 0; i < d->index_count; i++) {
		buf_str(b, i ? ",{\"IndexName\":" : "{\"IndexName\":");
		json_string(b, d->indexes[i].name);
		buf_lit(b, ",");
		provision_put_key(b, &d->indexes[i].key);
		buf_lit(b, ",");
		provision_put_projection(b, &d->indexes[i]);
		if (d->provisioned) {
			buf_lit(b, ",");
			put_throughput(b, d);
		}
		buf_lit(b, "}");
	}
	buf_lit(b, "]");
}

static void put_properties(struct buf *b, const struct deploy_table *t)
{
	const struct design *d = t->as;

	buf_lit(b, "{\"TableName\":");
	json_string(b, d->table);
	buf_printf(b, ",\"BillingMode\":\"%s\",", d->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
	if (d->provisioned) {
		put_throughput(b, d);
		buf_lit(b, ",");
	}
	provision_put_definitions(b, d);
	buf_lit(b, ",");
	provision_put_key(b, &d->key);
	put_indexes(b, d);
	if (d->stream != STREAM_NONE)
		buf_printf(b, ",\"StreamSpecification\":{\"StreamViewType\":\"%s\"}", stream_view_name(d->stream));
	if (d->ttl.n) {
		buf_lit(b, ",\"TimeToLiveSpecification\":{\"AttributeName\":");
		json_string(b, d->ttl);
		buf_lit(b, ",\"Enabled\":true}");
	}
	if (t->recovery)
		buf_lit(b, ",\"PointInTimeRecoverySpecification\":{\"PointInTimeRecoveryEnabled\":true}");
	if (t->protection)
		buf_lit(b, ",\"DeletionProtectionEnabled\":true");
	buf_lit(b, ",");
	deploy_put_tags(b, t);
	buf_lit(b, "}");
}

static void put_arn(struct buf *b, size_t table, const char *tail, void *ctx)
{
	(void)ctx;
	if (*tail)
		buf_printf(b, "{\"Fn::Sub\":\"${%s.Arn}%s\"}", ids[table], tail);
	else
		buf_printf(b, "{\"Fn::GetAtt\":[\"%s\",\"Arn\"]}", ids[table]);
}

static void put_output(struct buf *b, const char *name, const char *description, const char *value)
{
	buf_printf(b, "\"%s\":{\"Description\":\"%s\",\"Value\":%s}", name, description, value);
}

static void put_outputs(struct buf *b, const struct deploy_want *w)
{
	buf_lit(b, ",\"Outputs\":{");
	put_output(b, "TableArn", "The design's table", "{\"Fn::GetAtt\":[\"Table\",\"Arn\"]}");
	buf_lit(b, ",");
	if (w->design->stream != STREAM_NONE) {
		put_output(b, "StreamArn", "Its stream", "{\"Fn::GetAtt\":[\"Table\",\"StreamArn\"]}");
		buf_lit(b, ",");
	}
	put_output(b, "ThorpeTableArn", "What servers remember beside it", "{\"Fn::GetAtt\":[\"ThorpeTable\",\"Arn\"]}");
	buf_lit(b, ",");
	put_output(b, "ServerPolicyArn", "What servers may do: attach it to their role", "{\"Ref\":\"ServerPolicy\"}");
	buf_lit(b, "}");
}

struct slice deploy_cloudformation(const struct deploy_want *w, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "{\"AWSTemplateFormatVersion\":\"2010-09-09\",\"Description\":");
	json_string(&b, arena_printf(a, "The tables of the design %.*s", SLICE_ARG(w->design->name)));
	buf_lit(&b, ",\"Resources\":{");
	for (size_t i = 0; i < DEPLOY_TABLES; i++) {
		buf_printf(&b, "\"%s\":{\"Type\":\"AWS::DynamoDB::Table\",\"DeletionPolicy\":\"Retain\",\"UpdateReplacePolicy\":\"Retain\","
			       "\"Properties\":", ids[i]);
		put_properties(&b, &w->tables[i]);
		buf_lit(&b, "},");
	}
	buf_lit(&b, "\"ServerPolicy\":{\"Type\":\"AWS::IAM::ManagedPolicy\",\"Properties\":{\"Description\":");
	json_string(&b, arena_printf(a, "What servers of the design %.*s may do", SLICE_ARG(w->design->name)));
	buf_lit(&b, ",\"PolicyDocument\":");
	deploy_put_policy(&b, w, false, &(struct policy_arn){ put_arn, NULL });
	buf_lit(&b, "}}}");
	put_outputs(&b, w);
	buf_lit(&b, "}");
	return deploy_pretty(buf_slice(&b), a);
}
