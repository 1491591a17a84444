/* IAM policies: the least rights.
 * SPDX-License-Identifier: Apache-2.0 */
#include "deploy/deploy_internal.h"

struct rights {
	const char *sid;
	const char *actions; /* separated by spaces */
	const char *tails;   /* of the ARNs: "-" is the table itself */
	unsigned tables;     /* bits */
	bool of_deploying, needs_stream, needs_index;
};

#define OWN    1u
#define BESIDE 2u

/* Transactions are allowed by what they do: PutItem, UpdateItem, DeleteItem, ConditionCheckItem, GetItem. */
/* clang-format off */
static const struct rights all[] = {
	{ "Items", "BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem DescribeTable GetItem PutItem Query UpdateItem", "-",
	  OWN | BESIDE, false, false, false },
	{ "Indexes", "Query", "/index/*", OWN, false, false, true },
	{ "Stream", "DescribeStream GetRecords GetShardIterator", "/stream/*", OWN, false, true, false },
	{ "Tables",
	  "CreateTable DescribeContinuousBackups DescribeTable DescribeTimeToLive ListTagsOfResource TagResource "
	  "UpdateContinuousBackups UpdateTable UpdateTimeToLive",
	  "-", OWN | BESIDE, true, false, false },
};
/* clang-format on */

static void put_actions(struct buf *b, const char *actions)
{
	json_member_open(b, "Action", '[');
	for (const char *at = actions; *at;) {
		size_t n = strcspn(at, " ");

		json_string(b, arena_printf(b->arena, "dynamodb:%.*s", (int)n, at));
		at += n + (at[n] == ' ');
	}
	json_close(b, ']');
}

static void put_statement(struct buf *b, const struct rights *r, const struct policy_arn *arn)
{
	json_open(b, '{');
	json_member_word(b, "Sid", r->sid);
	json_member_word(b, "Effect", "Allow");
	put_actions(b, r->actions);
	json_member_open(b, "Resource", '[');
	for (size_t i = 0; i < DEPLOY_TABLES; i++)
		if (r->tables & 1u << i)
			arn->put(b, i, *r->tails == '-' ? "" : r->tails, arn->ctx);
	json_close(b, ']');
	json_close(b, '}');
}

void deploy_put_policy(struct buf *b, const struct deploy_want *w, bool of_deploying, const struct policy_arn *arn)
{
	json_open(b, '{');
	json_member_word(b, "Version", "2012-10-17");
	json_member_open(b, "Statement", '[');
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].of_deploying == of_deploying && !(all[i].needs_stream && w->design->stream == STREAM_NONE) &&
		    !(all[i].needs_index && !w->design->index_count))
			put_statement(b, &all[i], arn);
	json_close(b, ']');
	json_close(b, '}');
}

/* ---- by itself ---- */

struct plain {
	const struct deploy_want *want;
	const char *region;
};

static void put_plain(struct buf *b, size_t table, const char *tail, void *ctx)
{
	const struct plain *p = ctx;

	json_string(b, arena_printf(b->arena, "arn:aws%s:dynamodb:%s:*:table/%.*s%s",
				    !strncmp(p->region, "cn-", 3)       ? "-cn"
				    : !strncmp(p->region, "us-gov-", 7) ? "-us-gov"
									: "",
				    p->region, SLICE_ARG(p->want->tables[table].as->table), tail));
}

struct slice deploy_policy(const struct deploy_want *w, bool of_deploying, const char *region, struct arena *a)
{
	struct plain p = { w, region };
	struct buf b;

	buf_init(&b, a);
	deploy_put_policy(&b, w, of_deploying, &(struct policy_arn){ put_plain, &p });
	return deploy_pretty(buf_slice(&b), a);
}

/* ---- JSON for people ---- */

static void put_line(struct buf *b, int depth)
{
	buf_byte(b, '\n');
	for (int i = 0; i < depth; i++)
		buf_lit(b, "  ");
}

/* Whether it is short enough for one line: a list or object of nothing but texts and the like. */
static bool is_flat(const struct json *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->count; i++) {
		const struct json *child = j->type == JSON_ARRAY ? &j->items[i] : &j->members[i].value;

		if (child->type == JSON_ARRAY || child->type == JSON_OBJECT)
			return false;
		n += 12 + (child->type == JSON_STRING ? child->string.n : 0) +
		     (j->type == JSON_OBJECT ? j->members[i].name.n : 0);
	}
	return n <= 100;
}

static void put_json(struct buf *b, const struct json *j, int depth)
{
	bool object = j->type == JSON_OBJECT, flat;

	if (j->type != JSON_ARRAY && !object) {
		json_write(b, j);
		return;
	}
	flat = is_flat(j);
	buf_byte(b, object ? '{' : '[');
	for (size_t i = 0; i < j->count; i++) {
		buf_str(b, i ? "," : "");
		if (!flat)
			put_line(b, depth + 1);
		else if (i || object)
			buf_byte(b, ' ');
		if (object) {
			json_string(b, j->members[i].name);
			buf_lit(b, ": ");
		}
		put_json(b, object ? &j->members[i].value : &j->items[i], depth + 1);
	}
	if (!flat)
		put_line(b, depth);
	else if (object && j->count)
		buf_byte(b, ' ');
	buf_byte(b, object ? '}' : ']');
}

struct slice deploy_pretty(struct slice json, struct arena *a)
{
	const struct json *j = json_parse(a, json);
	struct buf b;

	buf_init(&b, a);
	put_json(&b, j, 0);
	buf_byte(&b, '\n');
	return buf_slice(&b);
}
