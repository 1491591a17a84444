/* UpdateTable: global secondary indexes added, changed and removed on a live table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/control/control_internal.h"

/* ---- attribute definitions ---- */
static const struct key_attr *find_attr(const struct key_attr *k, size_t n, struct slice name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slice_equal(k[i].name, name))
			return &k[i];
	return NULL;
}

/* Merges the table's and the request's definitions. */
static bool merge_attributes(struct stage *s, const struct table_change *change, struct table *t, struct error *e)
{
	size_t n = t->attribute_count, i;
	struct key_attr *all = arena_array(s->arena, struct key_attr, n + change->attribute_count);

	if (n)
		memcpy(all, t->attributes, n * sizeof(*all));
	for (i = 0; i < change->attribute_count; i++) {
		const struct key_attr *new = &change->attributes[i];
		const struct key_attr *known = find_attr(all, n, new->name);

		if (!known)
			all[n++] = *new;
		else if (known->type != new->type)
			return error_set(e, s->arena, ERR_VALIDATION,
					 INVALID "Attribute %.*s is already defined with type %s", SLICE_ARG(new->name),
					 value_type_name(known->type));
	}
	t->attributes = all;
	t->attribute_count = n;
	return true;
}

static bool is_used(const struct table *t, struct slice attribute)
{
	size_t i;

	if (is_key_attribute(&t->key, attribute))
		return true;
	for (i = 0; i < t->index_count; i++)
		if (is_key_attribute(&t->indexes[i].key, attribute))
			return true;
	return false;
}

/* Removes definitions that no key uses any more, as DynamoDB does. */
static void prune_attributes(struct stage *s, struct table *t)
{
	struct key_attr *left = arena_array(s->arena, struct key_attr, t->attribute_count);
	size_t n = 0, i;

	for (i = 0; i < t->attribute_count; i++)
		if (is_used(t, t->attributes[i].name))
			left[n++] = t->attributes[i];
	t->attributes = left;
	t->attribute_count = n;
}

static void list_names(struct buf *b, const struct key_attr *k, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (b->n)
			buf_lit(b, ", ");
		buf_put(b, k[i].name);
	}
}

static bool undefined_attribute(struct stage *s, const struct table *t, const struct index *i, struct error *e)
{
	struct buf keys, defined;

	buf_init(&keys, s->arena);
	buf_init(&defined, s->arena);
	list_names(&keys, i->key.hash, i->key.hash_count);
	list_names(&keys, i->key.range, i->key.range_count);
	list_names(&defined, t->attributes, t->attribute_count);
	return error_set(e, s->arena, ERR_VALIDATION,
			 INVALID "Some index key attributes are not defined in AttributeDefinitions. "
				 "Keys: [%.*s], AttributeDefinitions: [%.*s]",
			 SLICE_ARG(buf_slice(&keys)), SLICE_ARG(buf_slice(&defined)));
}

/* Sets the types of the index's key attributes from the definitions. */
static bool type_keys(const struct table *t, struct key_attr *k, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		k[i].type = table_attribute_type(t, k[i].name);
		if (k[i].type == VALUE_NONE)
			return false;
	}
	return true;
}

/* ---- the three changes ---- */
static size_t count_global(const struct table *t)
{
	size_t n = 0, i;

	for (i = 0; i < t->index_count; i++)
		n += t->indexes[i].global;
	return n;
}

static bool check_new(struct stage *s, const struct gsi_change *g, const struct table *t, struct error *e)
{
	if (table_index(t, g->index.name))
		return error_set(e, s->arena, ERR_VALIDATION, "Attempting to create an index which already exists");
	if (count_global(t) >= GLOBAL_INDEXES_MAX)
		return error_set(e, s->arena, ERR_VALIDATION,
				 INVALID "GlobalSecondaryIndex count exceeds the per-table limit of %d",
				 GLOBAL_INDEXES_MAX);
	if (t->on_demand && g->has_throughput)
		return error_set(e, s->arena, ERR_VALIDATION,
				 INVALID "ProvisionedThroughput should not be specified for index: %.*s "
					 "when BillingMode is PAY_PER_REQUEST",
				 SLICE_ARG(g->index.name));
	if (!t->on_demand && !g->has_throughput)
		return error_set(e, s->arena, ERR_VALIDATION,
				 INVALID "ProvisionedThroughput must be specified for index: %.*s",
				 SLICE_ARG(g->index.name));
	return true;
}

static bool create_index(struct stage *s, const struct gsi_change *g, struct table *t, struct index *x, struct error *e)
{
	struct index new = g->index;

	if (!check_new(s, g, t, e))
		return false;
	if (!type_keys(t, new.key.hash, new.key.hash_count) || !type_keys(t, new.key.range, new.key.range_count))
		return undefined_attribute(s, t, &new, e);
	new.id = stage_new_id(s);
	new.global = true;
	new.status = STATUS_CREATING;
	new.backfilling = true;
	new.stats = control_new_stats(s, new.id);
	x[t->index_count++] = new;
	s->wake = true;
	return true;
}

static struct index *find_global(struct index *x, size_t n, struct slice name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (x[i].global && slice_equal(x[i].name, name))
			return &x[i];
	return NULL;
}

static bool update_index(struct stage *s, const struct gsi_change *g, const struct table *t, struct index *i,
			 struct error *e)
{
	struct slice what = arena_printf(s->arena, "index %.*s", SLICE_ARG(i->name));

	if (g->has_on_demand) {
		i->max_read_units = g->index.max_read_units;
		i->max_write_units = g->index.max_write_units;
	}
	if (!g->has_throughput)
		return true;
	if (t->on_demand)
		return error_set(e, s->arena, ERR_VALIDATION,
				 INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
					 "specified when BillingMode is PAY_PER_REQUEST");
	return control_change_throughput(s, what.p, g->index.throughput, &i->throughput, e);
}

static void delete_index(struct stage *s, struct table *t, struct index *x, struct index *i)
{
	control_drop_index(s, i);
	t->index_count--;
	memmove(i, i + 1, (size_t)(x + t->index_count - i) * sizeof(*i));
}

/* ---- all changes ---- */
/* One index at a time may be created or deleted; one being created may be deleted. */
static bool check_one_at_a_time(struct stage *s, const struct table *was, const struct table_change *change,
				struct error *e)
{
	size_t moves = 0, i, n;

	for (i = 0; i < change->index_count; i++) {
		const struct gsi_change *g = &change->indexes[i];

		if (g->kind == GSI_UPDATE)
			continue;
		moves++;
		for (n = 0; n < was->index_count; n++)
			if (was->indexes[n].status == STATUS_CREATING &&
			    !slice_equal(was->indexes[n].name, g->index.name))
				moves++;
	}
	if (moves <= 1)
		return true;
	return error_set(e, s->arena, ERR_LIMIT_EXCEEDED,
			 "Subscriber limit exceeded: Only 1 online index can be created or deleted "
			 "simultaneously per table");
}

static bool change_one(struct stage *s, const struct gsi_change *g, struct table *t, struct index *x, struct error *e)
{
	struct index *i = find_global(x, t->index_count, g->index.name);

	if (g->kind == GSI_CREATE)
		return create_index(s, g, t, x, e);
	if (!i)
		return error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found");
	if (g->kind == GSI_UPDATE)
		return update_index(s, g, t, i, e);
	delete_index(s, t, x, i);
	return true;
}

bool control_change_indexes(struct stage *s, const struct table *was, const struct table_change *change,
			    struct table *t, struct error *e)
{
	struct index *x;
	size_t i;

	if (!change->index_count)
		return true;
	if (!check_one_at_a_time(s, was, change, e) || !merge_attributes(s, change, t, e))
		return false;
	x = arena_array(s->arena, struct index, t->index_count + change->index_count);
	if (t->index_count)
		memcpy(x, t->indexes, t->index_count * sizeof(*x));
	t->indexes = x;
	for (i = 0; i < change->index_count; i++)
		if (!change_one(s, &change->indexes[i], t, x, e))
			return false;
	prune_attributes(s, t);
	return true;
}
