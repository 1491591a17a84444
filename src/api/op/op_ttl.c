/* UpdateTimeToLive, DescribeTimeToLive.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"
#include "api/reply.h"

static bool ttl_updated(struct op_state *s, struct error *e)
{
	const struct control *c = s->write.control;

	(void)e;
	json_open(&s->out, '{');
	json_member_open(&s->out, "TimeToLiveSpecification", '{');
	json_member_string(&s->out, "AttributeName", c->ttl_attribute);
	json_member_bool(&s->out, "Enabled", c->ttl_enable);
	buf_lit(&s->out, "}}");
	return true;
}

bool op_update_time_to_live(struct op_state *s, struct error *e)
{
	const struct json *spec = json_get(s->in, "TimeToLiveSpecification");
	struct control *c = arena_new(s->arena, struct control);

	(void)e; /* the writer checks that the table exists, and its current TTL */
	c->kind = CONTROL_UPDATE_TTL;
	c->table = json_get_text(s->in, "TableName");
	c->ttl_enable = op_bool(spec, "Enabled", false);
	c->ttl_attribute = json_get_text(spec, "AttributeName");
	return op_control_submit(s, c, ttl_updated);
}

bool op_describe_time_to_live(struct op_state *s, struct error *e)
{
	const struct table *t = op_control_table(s, json_get_text(s->in, "TableName"), e);

	if (!t)
		return false;
	json_open(&s->out, '{');
	json_member_open(&s->out, "TimeToLiveDescription", '{');
	if (t->ttl == TTL_ENABLED)
		json_member_string(&s->out, "AttributeName", t->ttl_attribute);
	json_member_word(&s->out, "TimeToLiveStatus", t->ttl == TTL_ENABLED ? "ENABLED" : "DISABLED");
	buf_lit(&s->out, "}}");
	return true;
}
