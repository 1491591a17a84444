/* DescribeTable, ListTables, DeleteTable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"
#include "api/reply.h"

#define TABLES_PER_PAGE 100

bool op_describe_table(struct op_state *s, struct error *e)
{
	const struct table *t = op_control_table(s, op_string(s->in, "TableName"), e);

	if (!t)
		return false;
	json_open(&s->out, '{');
	json_name(&s->out, "Table");
	reply_table(&s->out, t, t->status, s->arena);
	json_close(&s->out, '}');
	return true;
}

/* The first table whose name comes after `name`. */
static size_t position_after(const struct catalog *c, struct slice name)
{
	size_t low = 0, high = catalog_count(c);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slice_cmp(catalog_at(c, middle)->name, name) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool op_list_tables(struct op_state *s, struct error *e)
{
	struct slice after = op_string(s->in, "ExclusiveStartTableName");
	size_t limit = (size_t)op_int(s->in, "Limit", TABLES_PER_PAGE);
	size_t first = after.n ? position_after(s->catalog, after) : 0;
	size_t count = catalog_count(s->catalog);
	size_t end = count - first > limit ? first + limit : count;

	(void)e;
	json_open(&s->out, '{');
	if (end < count) {
		json_member_string(&s->out, "LastEvaluatedTableName", catalog_at(s->catalog, end - 1)->name);
	}
	json_member_open(&s->out, "TableNames", '[');
	for (size_t i = first; i < end; i++)
		json_string(&s->out, catalog_at(s->catalog, i)->name);
	json_close(&s->out, ']');
	json_close(&s->out, '}');
	return true;
}

static bool deleted(struct op_state *s, struct error *e)
{
	(void)e;
	json_open(&s->out, '{');
	json_name(&s->out, "TableDescription");
	reply_table(&s->out, s->write.control->result, STATUS_DELETING, s->arena);
	json_close(&s->out, '}');
	return true;
}

bool op_delete_table(struct op_state *s, struct error *e)
{
	struct control *c = arena_new(s->arena, struct control);

	(void)e; /* the writer says whether the table is there and may go */
	c->kind = CONTROL_DELETE_TABLE;
	c->table = op_string(s->in, "TableName");
	return op_control_submit(s, c, deleted);
}
