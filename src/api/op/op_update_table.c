/* UpdateTable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"
#include "api/reply.h"
#include "api/op/table_spec.h"

static const struct gsi_change *change_of(const struct table_change *change, struct slice index)
{
	for (size_t i = 0; i < change->index_count; i++)
		if (slice_equal(change->indexes[i].index.name, index))
			return &change->indexes[i];
	return NULL;
}

static enum resource_status shown_status(enum gsi_change_kind kind)
{
	switch (kind) {
	case GSI_CREATE: return STATUS_CREATING;
	case GSI_DELETE: return STATUS_DELETING;
	default: return STATUS_UPDATING;
	}
}

/* The indexes of `after` and those being removed, each in its transitional state. */
static void show_indexes(struct table *shown, const struct table *before, const struct table_change *change,
			 struct arena *a)
{
	struct index *indexes = arena_array(a, struct index, shown->index_count + before->index_count);
	size_t n = 0;

	for (size_t i = 0; i < shown->index_count; i++) {
		const struct gsi_change *c = change_of(change, shown->indexes[i].name);

		indexes[n] = shown->indexes[i];
		if (c)
			indexes[n].status = shown_status(c->kind);
		n++;
	}
	for (size_t i = 0; i < before->index_count; i++) {
		const struct gsi_change *c = change_of(change, before->indexes[i].name);

		if (!c || c->kind != GSI_DELETE || table_index(shown, before->indexes[i].name))
			continue;
		indexes[n] = before->indexes[i];
		indexes[n++].status = STATUS_DELETING;
	}
	shown->indexes = indexes;
	shown->index_count = n;
}

/* The change is complete, but clients of DynamoDB expect to see it under way, with the old capacity. */
static bool updated(struct op_state *s, struct error *e)
{
	const struct control *c = s->write.control;
	const struct table *before = s->data;
	struct table shown = *c->result;

	(void)e;
	show_indexes(&shown, before, c->change, s->arena);
	if (!c->change->has_billing) {
		shown.throughput.read = before->throughput.read;
		shown.throughput.write = before->throughput.write;
		shown.throughput.decreases_today = before->throughput.decreases_today;
	}
	json_open(&s->out, '{');
	json_name(&s->out, "TableDescription");
	reply_table(&s->out, &shown, STATUS_UPDATING, s->arena);
	json_close(&s->out, '}');
	return true;
}

bool op_update_table(struct op_state *s, struct error *e)
{
	struct control *c = arena_new(s->arena, struct control);
	struct table_change *change = arena_new(s->arena, struct table_change);
	const struct table *t;

	if (!table_change_check(s->in, s->arena, e))
		return false;
	t = op_control_table(s, json_get_text(s->in, "TableName"), e);
	if (!t || !table_change_parse(s->in, t, s->arena, change, e))
		return false;
	c->kind = CONTROL_UPDATE_TABLE;
	c->table = t->name;
	c->change = change;
	s->data = (void *)t;
	return op_control_submit(s, c, updated);
}
