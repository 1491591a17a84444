/* Parts that CreateTable and UpdateTable have in common: definitions, keys, projections, capacity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/table_spec_parts.h"

#define INVALID(...) error_set(e, a, ERR_VALIDATION, INVALID_VALUES __VA_ARGS__)
#define REFUSE(...)  error_set(e, a, ERR_VALIDATION, __VA_ARGS__)

/* ---- definitions ---- */

struct definitions spec_definitions(const struct json *list, struct arena *a)
{
	size_t n = json_is(list, JSON_ARRAY) ? list->count : 0;
	struct key_attr *attrs = arena_array(a, struct key_attr, n);

	for (size_t i = 0; i < n; i++) {
		attrs[i].name = json_get_text(&list->items[i], "AttributeName");
		attrs[i].type = value_type_parse(json_get_text(&list->items[i], "AttributeType"));
	}
	return (struct definitions){ attrs, n };
}

const struct key_attr *spec_find_definition(const struct definitions *d, struct slice name)
{
	for (size_t i = 0; i < d->count; i++)
		if (slice_equal(d->attrs[i].name, name))
			return &d->attrs[i];
	return NULL;
}

struct slice spec_definition_names(const struct definitions *d, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "[");
	for (size_t i = 0; i < d->count; i++) {
		if (i)
			buf_lit(&b, ", ");
		buf_put(&b, d->attrs[i].name);
	}
	buf_lit(&b, "]");
	return buf_slice(&b);
}

/* ---- keys ---- */

static struct slice element_name(const struct json *list, size_t i)
{
	return json_get_text(&list->items[i], "AttributeName");
}

static bool element_is(const struct json *list, size_t i, const char *type)
{
	return slice_is(json_get_text(&list->items[i], "KeyType"), type);
}

static bool check_defined(const struct json *list, const struct definitions *d, struct arena *a, struct error *e)
{
	struct key_attr *keys = arena_array(a, struct key_attr, list->count);
	bool defined = true;

	for (size_t i = 0; i < list->count; i++) {
		keys[i].name = element_name(list, i);
		defined = defined && spec_find_definition(d, keys[i].name);
	}
	if (defined)
		return true;
	struct slice used = spec_definition_names(&(struct definitions){ keys, list->count }, a);
	struct slice known = spec_definition_names(d, a);

	return INVALID("Some index key attributes are not defined in AttributeDefinitions. Keys: %.*s, "
		       "AttributeDefinitions: %.*s",
		       SLICE_ARG(used), SLICE_ARG(known));
}

static bool check_distinct(const struct json *list, struct arena *a, struct error *e)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < i; k++)
			if (slice_equal(element_name(list, i), element_name(list, k)))
				return REFUSE("Both the Hash Key and the Range Key element in the KeySchema "
					      "have the same name");
	return true;
}

static bool check_first_is_hash(const struct json *list, struct arena *a, struct error *e)
{
	if (list->count && element_is(list, 0, "HASH"))
		return true;
	return REFUSE("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
}

static void fill_key(const struct json *list, const struct definitions *d, struct key_schema *out)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct key_attr *k = spec_find_definition(d, element_name(list, i));

		if (element_is(list, i, "HASH"))
			out->hash[out->hash_count++] = *k;
		else
			out->range[out->range_count++] = *k;
	}
}

bool spec_key(const struct json *list, const struct definitions *d, struct arena *a, struct key_schema *out,
	      struct error *e)
{
	if (!check_defined(list, d, a, e) || !check_distinct(list, a, e) || !check_first_is_hash(list, a, e))
		return false;
	if (list->count > 1 && !element_is(list, 1, "RANGE"))
		return REFUSE("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
	fill_key(list, d, out);
	return true;
}

/* The key of a global index: one to four HASH, then up to four RANGE. */
static bool global_key(const struct json *list, const struct definitions *d, struct arena *a, struct key_schema *out,
		       struct error *e)
{
	size_t hashes = 0, ranges = 0;

	if (!check_defined(list, d, a, e) || !check_distinct(list, a, e) || !check_first_is_hash(list, a, e))
		return false;
	for (size_t i = 0; i < list->count; i++) {
		if (!element_is(list, i, "HASH"))
			ranges++;
		else if (ranges)
			return INVALID("All HASH key attributes must precede RANGE key attributes in the "
				       "KeySchema");
		else
			hashes++;
	}
	if (hashes > KEY_HASH_MAX)
		return INVALID("The KeySchema exceeds the maximum allowed number of HASH key attributes");
	if (ranges > KEY_RANGE_MAX)
		return INVALID("The KeySchema exceeds the maximum allowed number of RANGE key attributes");
	fill_key(list, d, out);
	return true;
}

/* ---- projections ---- */

bool spec_projection(const struct json *projection, struct arena *a, struct index *out, struct error *e)
{
	struct slice type = json_get_text(projection, "ProjectionType");
	bool has_names = op_has(projection, "NonKeyAttributes");

	if (!type.n)
		return INVALID("Unknown ProjectionType: null");
	if (!slice_is(type, "INCLUDE")) {
		if (has_names)
			return INVALID("ProjectionType is %.*s, but NonKeyAttributes is specified", SLICE_ARG(type));
		out->projection = slice_is(type, "ALL") ? PROJECT_ALL : PROJECT_KEYS_ONLY;
		return true;
	}
	if (!has_names)
		return INVALID("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
	const struct json *names = json_get(projection, "NonKeyAttributes");
	struct slice *include = arena_array(a, struct slice, names->count);

	for (size_t i = 0; i < names->count; i++) {
		struct slice name = names->items[i].string;

		for (size_t k = 0; k < i; k++)
			if (slice_equal(include[k], name))
				return INVALID("Duplicate attribute in NonKeyAttributes: %.*s", SLICE_ARG(name));
		include[out->include_count++] = name;
	}
	out->projection = PROJECT_INCLUDE;
	out->include = include;
	return true;
}

bool spec_check_non_key_total(size_t total, struct arena *a, struct error *e)
{
	if (total <= NON_KEY_ATTRIBUTES_MAX)
		return true;
	return INVALID("Number of NonKeyAttributes of all indexes exceeds the per-table limit of %d",
		       NON_KEY_ATTRIBUTES_MAX);
}

/* ---- capacity ---- */

static bool check_bounds(int64_t units, const char *name, struct slice index, struct arena *a, struct error *e)
{
	if (units <= CAPACITY_UNITS_MAX)
		return true;
	if (!index.n)
		return REFUSE("Given value %lld for %s is out of bounds", (long long)units, name);
	return REFUSE("Given value %lld for %s is out of bounds for index %.*s", (long long)units, name,
		      SLICE_ARG(index));
}

bool spec_throughput(const struct json *throughput, struct slice index, struct arena *a, struct throughput *out,
		     struct error *e)
{
	out->read = op_int(throughput, "ReadCapacityUnits", 0);
	out->write = op_int(throughput, "WriteCapacityUnits", 0);
	return check_bounds(out->read, "ReadCapacityUnits", index, a, e) &&
	       check_bounds(out->write, "WriteCapacityUnits", index, a, e);
}

const char *spec_on_demand_member(const struct json *limits)
{
	if (op_has(limits, "MaxReadRequestUnits"))
		return "MaxReadRequestUnits";
	return op_has(limits, "MaxWriteRequestUnits") ? "MaxWriteRequestUnits" : NULL;
}

static bool on_demand_limit(const struct spec_on_demand *q, const char *name, struct arena *a, int64_t *out,
			    struct error *e)
{
	*out = op_int(q->limits, name, -1);
	if (!op_has(q->limits, name) || *out >= 1 || (q->removable && *out == -1))
		return true;
	if (!q->index.n)
		return INVALID("Requested %s for OnDemandThroughput for table is outside of valid range", name);
	return INVALID("Requested %s for OnDemandThroughput for index : %.*s is outside of valid range", name,
		       SLICE_ARG(q->index));
}

bool spec_on_demand(const struct spec_on_demand *q, struct arena *a, int64_t *read, int64_t *write, struct error *e)
{
	return on_demand_limit(q, "MaxReadRequestUnits", a, read, e) &&
	       on_demand_limit(q, "MaxWriteRequestUnits", a, write, e);
}

static bool index_capacity(const struct json *j, bool on_demand, struct arena *a, struct index *out, struct error *e)
{
	const struct json *limits = json_get(j, "OnDemandThroughput");

	if (on_demand) {
		if (op_has(j, "ProvisionedThroughput"))
			return INVALID("ProvisionedThroughput should not be specified for index: %.*s when "
				       "BillingMode is PAY_PER_REQUEST",
				       SLICE_ARG(out->name));
		return spec_on_demand(&(struct spec_on_demand){ .limits = limits, .index = out->name }, a,
				      &out->max_read_units, &out->max_write_units, e);
	}
	if (!op_has(j, "ProvisionedThroughput"))
		return INVALID("ProvisionedThroughput must be specified for index: %.*s", SLICE_ARG(out->name));
	if (spec_on_demand_member(limits))
		return INVALID("%s for OnDemandThroughput cannot be specified for index: %.*s when table "
			       "BillingMode is PROVISIONED",
			       spec_on_demand_member(limits), SLICE_ARG(out->name));
	return spec_throughput(json_get(j, "ProvisionedThroughput"), out->name, a, &out->throughput, e);
}

bool spec_global_index(const struct json *j, const struct definitions *d, bool on_demand, struct arena *a,
		       struct index *out, struct error *e)
{
	out->name = json_get_text(j, "IndexName");
	out->global = true;
	out->max_read_units = out->max_write_units = -1;
	return global_key(json_get(j, "KeySchema"), d, a, &out->key, e) &&
	       spec_projection(json_get(j, "Projection"), a, out, e) && index_capacity(j, on_demand, a, out, e);
}

/* ---- encryption ---- */

void spec_sse(const struct json *sse, bool *enabled, struct slice *key)
{
	*enabled = op_bool(sse, "Enabled", false);
	*key = *enabled ? json_get_text(sse, "KMSMasterKeyId") : (struct slice){ "", 0 };
}
