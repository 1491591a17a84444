/* CreateTable's input: every check DynamoDB makes, in its order, and the resulting table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/table_spec.h"
#include "api/shape/shape_common.h"
#include "api/op/table_spec_parts.h"

#define INVALID(...) error_set(e, a, ERR_VALIDATION, INVALID_VALUES __VA_ARGS__)

/* A list of the request, absent or given. */
static const struct json *list_of(const struct json *in, const char *name)
{
	const struct json *j = json_get(in, name);

	return json_is(j, JSON_ARRAY) ? j : NULL;
}

/* An ARN is exempt from the shape's pattern, but a table needs a name. */
static bool parse_name(const struct json *in, struct arena *a, struct table *t, struct error *e)
{
	struct slice given = json_get_text(in, "TableName");

	t->name = table_name_of_arn(given);
	if (shape_is_name(t->name) && t->name.n >= TABLE_NAME_LENGTH_MIN && t->name.n <= TABLE_NAME_LENGTH_MAX)
		return true;
	return error_set(e, a, ERR_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
			 SLICE_ARG(given));
}

static bool parse_billing(const struct json *in, struct arena *a, struct table *t, struct error *e)
{
	bool has_throughput = op_has(in, "ProvisionedThroughput");

	t->on_demand = slice_is(json_get_text(in, "BillingMode"), "PAY_PER_REQUEST");
	if (t->on_demand && has_throughput)
		return INVALID("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
			       "BillingMode is PAY_PER_REQUEST");
	if (!t->on_demand && !has_throughput)
		return INVALID("ReadCapacityUnits and WriteCapacityUnits must both be specified when "
			       "BillingMode is PROVISIONED");
	if (t->on_demand)
		return true;
	return spec_throughput(json_get(in, "ProvisionedThroughput"), SLICE(""), a, &t->throughput, e);
}

static bool parse_on_demand(const struct json *in, struct arena *a, struct table *t, struct error *e)
{
	const struct json *limits = json_get(in, "OnDemandThroughput");
	const char *first = spec_on_demand_member(limits);

	if (first && !t->on_demand)
		return INVALID("%s for OnDemandThroughput cannot be specified when table BillingMode is "
			       "PROVISIONED.",
			       first);
	return spec_on_demand(&(struct spec_on_demand){ .limits = limits }, a, &t->max_read_units, &t->max_write_units,
			      e);
}

static bool parse_table_key(const struct json *in, const struct definitions *d, struct arena *a, struct table *t,
			    struct error *e)
{
	const struct json *keys = list_of(in, "KeySchema");

	if (keys->count > d->count)
		return error_set(e, a, ERR_VALIDATION, "Invalid KeySchema: Some index key attribute have no definition");
	if (!spec_key(keys, d, a, &t->key, e))
		return false;
	if (!list_of(in, "LocalSecondaryIndexes") && !list_of(in, "GlobalSecondaryIndexes") && keys->count != d->count)
		return INVALID("Number of attributes in KeySchema does not exactly match number of "
			       "attributes defined in AttributeDefinitions");
	return true;
}

static bool check_definitions(const struct definitions *d, struct arena *a, struct error *e)
{
	for (size_t i = 0; i < d->count; i++)
		if (spec_find_definition(d, d->attrs[i].name) != &d->attrs[i])
			return INVALID("Duplicate AttributeName in AttributeDefinitions: %.*s",
				       SLICE_ARG(d->attrs[i].name));
	return true;
}

/* ---- indexes ---- */

static bool check_index_name(const struct index *indexes, size_t count, struct slice name, struct arena *a,
			     struct error *e)
{
	for (size_t i = 0; i < count; i++)
		if (slice_equal(indexes[i].name, name))
			return INVALID("Duplicate index name: %.*s", SLICE_ARG(name));
	return true;
}

static bool parse_local_index(const struct json *j, const struct definitions *d, const struct table *t, struct arena *a,
			      struct index *out, struct error *e)
{
	out->name = json_get_text(j, "IndexName");
	out->max_read_units = out->max_write_units = -1;
	if (!spec_key(json_get(j, "KeySchema"), d, a, &out->key, e))
		return false;
	if (!out->key.range_count)
		return INVALID("Index KeySchema does not have a range key for index: %.*s", SLICE_ARG(out->name));
	if (!slice_equal(out->key.hash[0].name, t->key.hash[0].name))
		return INVALID("Index KeySchema does not have the same leading hash key as table KeySchema "
			       "for index: %.*s. index hash key: %.*s, table hash key: %.*s",
			       SLICE_ARG(out->name), SLICE_ARG(out->key.hash[0].name), SLICE_ARG(t->key.hash[0].name));
	return spec_projection(json_get(j, "Projection"), a, out, e);
}

static bool parse_local_indexes(const struct json *list, const struct definitions *d, struct arena *a, struct table *t,
				struct index *indexes, struct error *e)
{
	if (!list)
		return true;
	if (!list->count)
		return INVALID("List of LocalSecondaryIndexes is empty");
	if (!t->key.range_count)
		return INVALID("Table KeySchema does not have a range key, which is required when "
			       "specifying a LocalSecondaryIndex");
	for (size_t i = 0; i < list->count; i++) {
		struct index *x = &indexes[t->index_count];

		if (!parse_local_index(&list->items[i], d, t, a, x, e) ||
		    !check_index_name(indexes, t->index_count, x->name, a, e))
			return false;
		t->index_count++;
	}
	t->has_local_indexes = true;
	if (list->count > LOCAL_INDEXES_MAX)
		return INVALID("Number of LocalSecondaryIndexes exceeds per-table limit of %d", LOCAL_INDEXES_MAX);
	return true;
}

static bool parse_global_indexes(const struct json *list, const struct definitions *d, struct arena *a, struct table *t,
				 struct index *indexes, struct error *e)
{
	if (!list)
		return true;
	if (!list->count)
		return INVALID("List of GlobalSecondaryIndexes is empty");
	for (size_t i = 0; i < list->count; i++) {
		struct index *x = &indexes[t->index_count];

		if (!spec_global_index(&list->items[i], d, t->on_demand, a, x, e) ||
		    !check_index_name(indexes, t->index_count, x->name, a, e))
			return false;
		t->index_count++;
	}
	if (list->count > GLOBAL_INDEXES_MAX)
		return INVALID("GlobalSecondaryIndex count exceeds the per-table limit of %d", GLOBAL_INDEXES_MAX);
	return true;
}

static bool parse_indexes(const struct json *in, const struct definitions *d, struct arena *a, struct table *t,
			  struct error *e)
{
	const struct json *locals = list_of(in, "LocalSecondaryIndexes");
	const struct json *globals = list_of(in, "GlobalSecondaryIndexes");
	struct index *indexes =
		arena_array(a, struct index, (locals ? locals->count : 0) + (globals ? globals->count : 0));
	size_t non_keys = 0;

	t->indexes = indexes;
	if (!parse_local_indexes(locals, d, a, t, indexes, e) || !parse_global_indexes(globals, d, a, t, indexes, e))
		return false;
	for (size_t i = 0; i < t->index_count; i++)
		non_keys += indexes[i].include_count;
	return spec_check_non_key_total(non_keys, a, e);
}

static bool is_used(const struct table *t, struct slice name)
{
	if (is_key_attribute(&t->key, name))
		return true;
	for (size_t i = 0; i < t->index_count; i++)
		if (is_key_attribute(&t->indexes[i].key, name))
			return true;
	return false;
}

static bool check_all_used(const struct definitions *d, const struct table *t, struct arena *a, struct error *e)
{
	struct key_attr *used = arena_array(a, struct key_attr, d->count);
	size_t n = 0;

	for (size_t i = 0; i < d->count; i++)
		if (is_used(t, d->attrs[i].name))
			used[n++] = d->attrs[i];
	if (n == d->count)
		return true;
	struct slice all = spec_definition_names(d, a);
	struct slice keys = spec_definition_names(&(struct definitions){ used, n }, a);

	return INVALID("Some AttributeDefinitions are not used. AttributeDefinitions: %.*s, keys used: %.*s",
		       SLICE_ARG(all), SLICE_ARG(keys));
}

/* ---- settings ---- */

static bool parse_stream(const struct json *in, struct arena *a, struct table *t, struct error *e)
{
	const struct json *j = json_get(in, "StreamSpecification");
	struct slice view = json_get_text(j, "StreamViewType");

	if (!json_is(j, JSON_OBJECT))
		return true;
	if (!op_bool(j, "StreamEnabled", false)) {
		if (view.n)
			return INVALID("Table is being created with a stream disabled, UpdateViewType should "
				       "not be specified");
		return true;
	}
	if (!view.n)
		return INVALID("Table is being created with a stream enabled, UpdateViewType should be "
			       "specified");
	struct stream *s = arena_new(a, struct stream);

	s->view = stream_view_parse(view);
	t->stream = s;
	return true;
}

/* Letters, digits, white space and a few signs; everything beyond ASCII counts as a letter. */
static bool is_tag_text(struct slice s)
{
	static const char signs[] = " _.:/=+-@";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x80 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') &&
		    !memchr(signs, c, sizeof(signs) - 1))
			return false;
	}
	return true;
}

bool table_spec_tags(const struct json *list, struct arena *a, const struct tag **out, size_t *count, struct error *e)
{
	size_t n = json_is(list, JSON_ARRAY) ? list->count : 0;
	struct tag *tags = arena_array(a, struct tag, n);

	if (n > TABLE_TAGS_MAX)
		return INVALID("Too many tags: %zu. A resource can have at most %d", n, TABLE_TAGS_MAX);
	for (size_t i = 0; i < n; i++) {
		tags[i].key = json_get_text(&list->items[i], "Key");
		tags[i].value = json_get_text(&list->items[i], "Value");
		if (slice_starts(tags[i].key, SLICE("aws:")))
			return INVALID("Tag keys must not start with aws: (%.*s)", SLICE_ARG(tags[i].key));
		if (!is_tag_text(tags[i].key) || !is_tag_text(tags[i].value))
			return INVALID("Tag keys and values can only contain letters, numbers, white space "
				       "and _.:/=+-@ (%.*s)",
				       SLICE_ARG(is_tag_text(tags[i].key) ? tags[i].value : tags[i].key));
		for (size_t k = 0; k < i; k++)
			if (slice_equal(tags[k].key, tags[i].key))
				return INVALID("Duplicate tag key: %.*s", SLICE_ARG(tags[i].key));
	}
	*out = tags;
	*count = n;
	return true;
}

bool table_spec_parse(const struct json *in, struct arena *a, struct table *t, struct error *e)
{
	struct definitions d = spec_definitions(list_of(in, "AttributeDefinitions"), a);

	*t = (struct table){ .attributes = d.attrs, .attribute_count = d.count };
	if (!parse_name(in, a, t, e) || !parse_billing(in, a, t, e) || !check_definitions(&d, a, e) ||
	    !parse_table_key(in, &d, a, t, e) || !parse_indexes(in, &d, a, t, e) || !check_all_used(&d, t, a, e) ||
	    !parse_stream(in, a, t, e) || !parse_on_demand(in, a, t, e) ||
	    !table_spec_tags(json_get(in, "Tags"), a, &t->tags, &t->tag_count, e))
		return false;
	t->deletion_protection = op_bool(in, "DeletionProtectionEnabled", false);
	t->table_class = json_get_text(in, "TableClass");
	spec_sse(json_get(in, "SSESpecification"), &t->sse, &t->sse_key);
	return true;
}
