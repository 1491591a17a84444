/* DescribeTable, ListTables, DeleteTable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"
#include "api/op/op_control.h"
#include "api/reply.h"

#define TABLES_PER_PAGE 100

bool op_describe_table(struct op_state *s, struct error *e)
{
	const struct table *t = op_control_table(s, json_get_text(s->in, "TableName"), e);

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

/* The names after `after`, in order, from the catalog and of tables elsewhere. Reads one more than `limit`, to see
 * whether there are more. */
static struct slice *names_after(struct op_state *s, struct slice after, size_t limit, size_t *count)
{
	const struct api *api = s->api;
	size_t first = after.n ? position_after(s->catalog, after) : 0;
	size_t here = catalog_count(s->catalog) - first, n = 0;
	struct slice *names;

	if (here > limit + 1)
		here = limit + 1;
	names = arena_alloc(s->arena, arena_array_size(sizeof(*names), here + api->elsewhere_count));
	for (; n < here; n++)
		names[n] = catalog_at(s->catalog, first + n)->name;
	for (size_t i = 0; i < api->elsewhere_count; i++)
		if (slice_cmp(api->elsewhere[i], after) > 0 && !catalog_table(s->catalog, api->elsewhere[i]))
			names[n++] = api->elsewhere[i];
	if (n > here)
		qsort(names, n, sizeof(*names), slice_order);
	*count = n;
	return names;
}

bool op_list_tables(struct op_state *s, struct error *e)
{
	size_t limit = (size_t)op_int(s->in, "Limit", TABLES_PER_PAGE), count;
	const struct slice *names = names_after(s, json_get_text(s->in, "ExclusiveStartTableName"), limit, &count);
	size_t end = count > limit ? limit : count;

	(void)e;
	json_open(&s->out, '{');
	if (end < count)
		json_member_string(&s->out, "LastEvaluatedTableName", names[end - 1]);
	json_member_open(&s->out, "TableNames", '[');
	for (size_t i = 0; i < end; i++)
		json_string(&s->out, names[i]);
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

	(void)e; /* the writer checks that the table exists and may be deleted */
	c->kind = CONTROL_DELETE_TABLE;
	c->table = json_get_text(s->in, "TableName");
	return op_control_submit(s, c, deleted);
}
