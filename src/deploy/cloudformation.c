/* The same as a CloudFormation template, in JSON.
 *
 * Properties as in the reference of AWS::DynamoDB::Table and AWS::IAM::ManagedPolicy. They are CreateTable's, but for
 * the stream, which is on when it has a view.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision_request.h"
#include "deploy/deploy_internal.h"

static const char *const ids[DEPLOY_TABLES] = { "Table", "ThorpeTable" };

static void put_stream(struct buf *b, const struct design *d)
{
	if (d->stream == STREAM_NONE)
		return;
	json_member_open(b, "StreamSpecification", '{');
	json_member_word(b, "StreamViewType", stream_view_name(d->stream));
	json_close(b, '}');
}

static void put_properties(struct buf *b, const struct deploy_table *t)
{
	const struct design *d = t->as;

	json_member_open(b, "Properties", '{');
	json_member_string(b, "TableName", d->table);
	provision_put_billing(b, d);
	provision_put_definitions(b, d);
	provision_put_key(b, &d->key);
	provision_put_indexes(b, d);
	put_stream(b, d);
	if (d->ttl.n)
		provision_put_ttl(b, d->ttl);
	deploy_put_guards(b, t);
	deploy_put_tags(b, t);
	json_close(b, '}');
}

/* {"Fn::GetAtt":["Table","Arn"]} */
static void put_attribute_of(struct buf *b, const char *id, const char *attribute)
{
	json_open(b, '{');
	json_member_strings(b, "Fn::GetAtt", (struct slice[]){ slice_str(id), slice_str(attribute) }, 2);
	json_close(b, '}');
}

static void put_arn(struct buf *b, size_t table, const char *tail, void *ctx)
{
	(void)ctx;
	if (!*tail) {
		put_attribute_of(b, ids[table], "Arn");
		return;
	}
	json_open(b, '{');
	json_member_string(b, "Fn::Sub", arena_printf(b->arena, "${%s.Arn}%s", ids[table], tail));
	json_close(b, '}');
}

/* Begins an output; its value follows. */
static void put_output(struct buf *b, const char *name, const char *description)
{
	json_member_open(b, name, '{');
	json_member_word(b, "Description", description);
	json_name(b, "Value");
}

static void put_outputs(struct buf *b, const struct deploy_want *w)
{
	json_member_open(b, "Outputs", '{');
	put_output(b, "TableArn", "The design's table");
	put_attribute_of(b, "Table", "Arn");
	json_close(b, '}');
	if (w->design->stream != STREAM_NONE) {
		put_output(b, "StreamArn", "Its stream");
		put_attribute_of(b, "Table", "StreamArn");
		json_close(b, '}');
	}
	put_output(b, "ThorpeTableArn", "What servers remember beside it");
	put_attribute_of(b, "ThorpeTable", "Arn");
	json_close(b, '}');
	put_output(b, "ServerPolicyArn", "What servers may do: attach it to their role");
	json_open(b, '{');
	json_member_word(b, "Ref", "ServerPolicy");
	json_close(b, '}');
	json_close(b, '}');
	json_close(b, '}');
}

static void put_table(struct buf *b, const char *id, const struct deploy_table *t)
{
	json_member_open(b, id, '{');
	json_member_word(b, "Type", "AWS::DynamoDB::Table");
	json_member_word(b, "DeletionPolicy", "Retain");
	json_member_word(b, "UpdateReplacePolicy", "Retain");
	put_properties(b, t);
	json_close(b, '}');
}

static void put_server_policy(struct buf *b, const struct deploy_want *w)
{
	json_member_open(b, "ServerPolicy", '{');
	json_member_word(b, "Type", "AWS::IAM::ManagedPolicy");
	json_member_open(b, "Properties", '{');
	json_member_string(b, "Description",
			   arena_printf(b->arena, "What servers of the design %.*s may do", SLICE_ARG(w->design->name)));
	json_name(b, "PolicyDocument");
	deploy_put_policy(b, w, false, &(struct policy_arn){ put_arn, NULL });
	json_close(b, '}');
	json_close(b, '}');
}

struct slice deploy_cloudformation(const struct deploy_want *w, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	json_member_word(&b, "AWSTemplateFormatVersion", "2010-09-09");
	json_member_string(&b, "Description",
			   arena_printf(a, "The tables of the design %.*s", SLICE_ARG(w->design->name)));
	json_member_open(&b, "Resources", '{');
	for (size_t i = 0; i < DEPLOY_TABLES; i++)
		put_table(&b, ids[i], &w->tables[i]);
	put_server_policy(&b, w);
	json_close(&b, '}');
	put_outputs(&b, w);
	json_close(&b, '}');
	return deploy_pretty(buf_slice(&b), a);
}
