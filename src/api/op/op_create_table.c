/* CreateTable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"
#include "api/reply.h"
#include "api/op/table_spec.h"

/* The table is ready at once, but clients of DynamoDB expect to see it as CREATING. */
static bool created(struct op_state *s, struct error *e)
{
	(void)e;
	json_open(&s->out, '{');
	json_name(&s->out, "TableDescription");
	reply_table(&s->out, s->write.control->result, STATUS_CREATING, s->arena);
	json_close(&s->out, '}');
	return true;
}

bool op_create_table(struct op_state *s, struct error *e)
{
	struct control *c = arena_new(s->arena, struct control);
	struct table *spec = arena_new(s->arena, struct table);

	if (!table_spec_parse(s->in, s->arena, spec, e))
		return false;
	c->kind = CONTROL_CREATE_TABLE;
	c->table = spec->name;
	c->spec = spec;
	return op_control_submit(s, c, created);
}
