/* TagResource, UntagResource, ListTagsOfResource.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"
#include "api/reply.h"
#include "api/shape/shape_common.h"
#include "api/op/table_spec.h"

/* arn:aws:dynamodb:<region>:<account>:table/<name> */
static bool is_table_arn(struct slice arn)
{
	struct slice name = table_name_of_arn(arn);

	return slice_starts(arn, SLICE("arn:aws")) && name.n < arn.n && name.p + name.n == arn.p + arn.n &&
	       name.n >= TABLE_NAME_LENGTH_MIN && name.n <= TABLE_NAME_LENGTH_MAX && shape_is_name(name);
}

/* `list`, named `place` in messages, must be present besides the ARN; NULL: only the ARN. */
static bool check_arn(struct op_state *s, const char *list, const char *place, struct error *e)
{
	struct slice arn = json_get_text(s->in, "ResourceArn");

	if (!op_has(s->in, "ResourceArn"))
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid TableArn");
	if (list && !json_is(json_get(s->in, list), JSON_ARRAY))
		return error_set(e, s->arena, ERR_VALIDATION,
				 "1 validation error detected: Value null at '%s' failed to satisfy "
				 "constraint: Member must not be null",
				 place);
	if (is_table_arn(arn))
		return true;
	if (!slice_starts(arn, SLICE("arn:")))
		return error_set(e, s->arena, ERR_VALIDATION, "ARNs must start with 'arn:': %.*s", SLICE_ARG(arn));
	return error_set(e, s->arena, ERR_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
			 SLICE_ARG(arn));
}

/* The list `member`, which must not be empty. */
static const struct json *check_list(struct op_state *s, const char *member, const char *what, struct error *e)
{
	const struct json *list = json_get(s->in, member);

	if (list->count)
		return list;
	(void)!error_set(e, s->arena, ERR_VALIDATION, "Atleast one %s needs to be provided as Input.", what);
	return NULL;
}

/* A success has no body. */
static bool nothing_to_say(struct op_state *s, struct error *e)
{
	(void)s;
	(void)e;
	return true;
}

static bool check_total(const struct table *t, const struct tag *tags, size_t count, struct arena *a, struct error *e)
{
	size_t total = t->tag_count + count;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < t->tag_count; k++)
			total -= slice_equal(tags[i].key, t->tags[k].key);
	if (total <= TABLE_TAGS_MAX)
		return true;
	return error_set(e, a, ERR_VALIDATION, INVALID_VALUES "Too many tags: %zu. A resource can have at most %d",
			 total, TABLE_TAGS_MAX);
}

bool op_tag_resource(struct op_state *s, struct error *e)
{
	struct control *c = arena_new(s->arena, struct control);
	const struct json *list;
	const struct table *t;

	c->kind = CONTROL_TAG;
	c->table = json_get_text(s->in, "ResourceArn");
	if (!check_arn(s, "Tags", "tags", e))
		return false;
	list = check_list(s, "Tags", "Tag", e);
	if (!list || !table_spec_tags(list, s->arena, &c->tags, &c->tag_count, e))
		return false;
	t = catalog_table(s->catalog, c->table);
	if (!t)
		return error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found: ResourcArn: %.*s not found",
				 SLICE_ARG(c->table));
	return check_total(t, c->tags, c->tag_count, s->arena, e) && op_control_submit(s, c, nothing_to_say);
}

bool op_untag_resource(struct op_state *s, struct error *e)
{
	struct control *c = arena_new(s->arena, struct control);
	const struct json *list;
	struct slice *keys;

	c->kind = CONTROL_UNTAG;
	c->table = json_get_text(s->in, "ResourceArn");
	if (!check_arn(s, "TagKeys", "tagKeys", e))
		return false;
	list = check_list(s, "TagKeys", "Tag Key", e);
	if (!list || !op_table(s, c->table, e))
		return false;
	keys = arena_array(s->arena, struct slice, list->count);
	for (size_t i = 0; i < list->count; i++)
		keys[i] = list->items[i].string;
	c->tag_keys = keys;
	c->tag_key_count = list->count;
	return op_control_submit(s, c, nothing_to_say);
}

/* A table has at most 50 tags, which fit one reply: no token is ever issued, so none is accepted. DynamoDB does not
 * distinguish a missing table from one of another account. */
bool op_list_tags_of_resource(struct op_state *s, struct error *e)
{
	struct slice arn = json_get_text(s->in, "ResourceArn");
	const struct table *t;

	if (!check_arn(s, NULL, NULL, e))
		return false;
	t = catalog_table(s->catalog, arn);
	if (!t)
		return error_set(e, s->arena, ERR_ACCESS_DENIED,
				 "User: arn:aws:iam::000000000000:root is not authorized to perform: "
				 "dynamodb:ListTagsOfResource on resource: %.*s",
				 SLICE_ARG(arn));
	if (json_get_text(s->in, "NextToken").n)
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid NextToken");
	json_open(&s->out, '{');
	json_member_open(&s->out, "Tags", '[');
	for (size_t i = 0; i < t->tag_count; i++) {
		json_open(&s->out, '{');
		json_member_string(&s->out, "Key", t->tags[i].key);
		json_member_string(&s->out, "Value", t->tags[i].value);
		json_close(&s->out, '}');
	}
	buf_lit(&s->out, "]}");
	return true;
}
