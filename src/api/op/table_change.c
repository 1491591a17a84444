/* UpdateTable's input: every check DynamoDB makes, in its order, and the resulting change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/table_spec.h"
#include "api/op/table_spec_parts.h"

#define INVALID(...)  error_set(e, a, ERR_VALIDATION, INVALID_VALUES __VA_ARGS__)
#define REFUSE(...)   error_set(e, a, ERR_VALIDATION, __VA_ARGS__)
#define INDEX_CHANGES "GlobalSecondaryIndexUpdates"

/* ---- without the table ---- */

static const struct json *index_changes(const struct json *in)
{
	const struct json *list = json_get(in, INDEX_CHANGES);

	return json_is(list, JSON_ARRAY) && list->count ? list : NULL;
}

static bool check_anything_asked(const struct json *in, struct arena *a, struct error *e)
{
	static const char *const settings[] = { "ProvisionedThroughput",     "BillingMode",   "StreamSpecification",
						"SSESpecification",          "TableClass",    "OnDemandThroughput",
						"DeletionProtectionEnabled", "WarmThroughput" };

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (op_has(in, settings[i]))
			return true;
	if (index_changes(in))
		return true;
	return REFUSE("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
		      "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
}

static bool check_throughput(const struct json *in, struct arena *a, struct error *e)
{
	struct throughput ignored;

	if (slice_is(json_get_text(in, "BillingMode"), "PROVISIONED") && !op_has(in, "ProvisionedThroughput"))
		return INVALID("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
	return !op_has(in, "ProvisionedThroughput") ||
	       spec_throughput(json_get(in, "ProvisionedThroughput"), SLICE(""), a, &ignored, e);
}

/* Which of the three members is given, and its value; NULL: none. `more`: several are. */
static const struct json *action_of(const struct json *update, enum gsi_change_kind *kind, bool *more)
{
	static const struct {
		const char *name;
		enum gsi_change_kind kind;
	} actions[] = { { "Update", GSI_UPDATE }, { "Create", GSI_CREATE }, { "Delete", GSI_DELETE } };
	const struct json *found = NULL;

	*more = false;
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (!op_has(update, actions[i].name))
			continue;
		*more = found != NULL;
		found = json_get(update, actions[i].name);
		*kind = actions[i].kind;
	}
	return found;
}

static bool check_index_changes(const struct json *list, struct arena *a, struct error *e)
{
	struct slice *names = arena_array(a, struct slice, list->count);

	for (size_t i = 0; i < list->count; i++) {
		enum gsi_change_kind kind;
		bool more;
		const struct json *action = action_of(&list->items[i], &kind, &more);

		if (more)
			return INVALID("Only one of GlobalSecondaryIndexUpdate.Update, "
				       "GlobalSecondaryIndexUpdate.Create, "
				       "GlobalSecondaryIndexUpdate.Delete can be specified");
		if (!action)
			return INVALID("One of GlobalSecondaryIndexUpdate.Update, "
				       "GlobalSecondaryIndexUpdate.Create, "
				       "GlobalSecondaryIndexUpdate.Delete must not be null");
		names[i] = json_get_text(action, "IndexName");
		for (size_t k = 0; k < i; k++)
			if (slice_equal(names[k], names[i]))
				return INVALID("Only one global secondary index update per index is allowed "
					       "simultaneously. Index: %.*s",
					       SLICE_ARG(names[i]));
	}
	return true;
}

static bool check_stream(const struct json *in, struct arena *a, struct error *e)
{
	const struct json *j = json_get(in, "StreamSpecification");
	bool has_view = op_has(j, "StreamViewType");

	if (!json_is(j, JSON_OBJECT) || op_bool(j, "StreamEnabled", false) == has_view)
		return true;
	if (has_view)
		return INVALID("If stream is being disabled, then UpdateViewType must not be specified");
	return INVALID("If stream is being enabled, then UpdateViewType must be specified");
}

bool table_change_check(const struct json *in, struct arena *a, struct error *e)
{
	const struct json *list = index_changes(in);

	return check_anything_asked(in, a, e) && check_throughput(in, a, e) &&
	       (!list || check_index_changes(list, a, e)) && check_stream(in, a, e);
}

/* ---- on a table ---- */

struct parse {
	const struct json *in;
	const struct table *table;
	struct arena *a;
	bool on_demand;           /* the table's billing mode afterwards */
	struct definitions given; /* the request's: a new index requires them */
	struct table_change *out;
};

static bool parse_billing(struct parse *p, struct error *e)
{
	struct slice mode = json_get_text(p->in, "BillingMode");
	struct arena *a = p->a;

	p->on_demand = mode.n ? slice_is(mode, "PAY_PER_REQUEST") : p->table->on_demand;
	p->out->has_billing = mode.n > 0;
	p->out->on_demand = p->on_demand;
	if (!op_has(p->in, "ProvisionedThroughput"))
		return true;
	if (p->on_demand)
		return INVALID("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
			       "BillingMode is PAY_PER_REQUEST");
	p->out->has_throughput = true;
	return spec_throughput(json_get(p->in, "ProvisionedThroughput"), SLICE(""), a, &p->out->throughput, e);
}

static bool parse_on_demand(struct parse *p, struct error *e)
{
	const struct json *limits = json_get(p->in, "OnDemandThroughput");
	const char *first = spec_on_demand_member(limits);
	struct table_change *out = p->out;
	struct arena *a = p->a;

	if (!first)
		return true;
	if (!p->on_demand)
		return INVALID("%s for OnDemandThroughput cannot be specified when the table BillingMode is "
			       "PROVISIONED",
			       first);
	if (!spec_on_demand(&(struct spec_on_demand){ .limits = limits, .removable = true }, a, &out->max_read_units,
			    &out->max_write_units, e))
		return false;
	out->has_on_demand_limits = true;
	if (!op_has(limits, "MaxReadRequestUnits"))
		out->max_read_units = p->table->max_read_units;
	if (!op_has(limits, "MaxWriteRequestUnits"))
		out->max_write_units = p->table->max_write_units;
	return true;
}

static const char *role_of(const struct key_schema *k, struct slice name)
{
	for (size_t i = 0; i < k->range_count; i++)
		if (slice_equal(k->range[i].name, name))
			return "RANGE";
	return "HASH";
}

static const char *role_in_table(const struct table *t, struct slice name)
{
	if (is_key_attribute(&t->key, name))
		return role_of(&t->key, name);
	for (size_t i = 0; i < t->index_count; i++)
		if (is_key_attribute(&t->indexes[i].key, name))
			return role_of(&t->indexes[i].key, name);
	return "HASH";
}

static struct slice role_in_request(const struct json *in, struct slice name)
{
	const struct json *list = index_changes(in);

	for (size_t i = 0; list && i < list->count; i++) {
		const struct json *keys = json_get(json_get(&list->items[i], "Create"), "KeySchema");

		for (size_t k = 0; json_is(keys, JSON_ARRAY) && k < keys->count; k++)
			if (slice_equal(json_get_text(&keys->items[k], "AttributeName"), name))
				return json_get_text(&keys->items[k], "KeyType");
	}
	return SLICE("HASH");
}

/* The request may repeat the table's definitions, but not change them. */
static bool parse_definitions(struct parse *p, struct error *e)
{
	const struct table *t = p->table;
	struct arena *a = p->a;

	p->given = spec_definitions(json_get(p->in, "AttributeDefinitions"), a);
	for (size_t i = 0; i < p->given.count; i++) {
		struct slice name = p->given.attrs[i].name;
		enum value_type is = p->given.attrs[i].type, was = table_attribute_type(t, name);

		if (was == VALUE_NONE || was == is)
			continue;
		struct slice role = role_in_request(p->in, name);

		return INVALID("Attributes cannot be redefined. Please check that your attribute has "
			       "the same type as previously defined. Existing schema: "
			       "Schema:[SchemaElement: key{%.*s:%s:%s}] New schema: "
			       "Schema:[SchemaElement: key{%.*s:%s:%.*s}]",
			       SLICE_ARG(name), value_type_name(was), role_in_table(t, name), SLICE_ARG(name),
			       value_type_name(is), SLICE_ARG(role));
	}
	return true;
}

static bool parse_index_update(struct parse *p, const struct json *action, struct gsi_change *c, struct error *e)
{
	const struct json *throughput = json_get(action, "ProvisionedThroughput");
	const struct json *limits = json_get(action, "OnDemandThroughput");
	struct index *x = &c->index;
	struct arena *a = p->a;

	c->has_throughput = json_is(throughput, JSON_OBJECT);
	c->has_on_demand = spec_on_demand_member(limits) != NULL;
	if (c->has_throughput && p->on_demand)
		return INVALID("ProvisionedThroughput should not be specified for index: %.*s when "
			       "BillingMode is PAY_PER_REQUEST",
			       SLICE_ARG(x->name));
	if (c->has_throughput && !spec_throughput(throughput, x->name, a, &x->throughput, e))
		return REFUSE("This operation cannot be performed with given input values. Please contact "
			      "DynamoDB service team for more info: Action Blocked: IndexUpdate");
	if (c->has_on_demand && !p->on_demand)
		return INVALID("%s for OnDemandThroughput cannot be specified for index: %.*s when the table "
			       "BillingMode is PROVISIONED",
			       spec_on_demand_member(limits), SLICE_ARG(x->name));
	return spec_on_demand(&(struct spec_on_demand){ limits, x->name, true }, a, &x->max_read_units,
			      &x->max_write_units, e);
}

static bool parse_index_change(struct parse *p, const struct json *update, struct gsi_change *c, struct error *e)
{
	bool ignored;
	const struct json *action = action_of(update, &c->kind, &ignored);

	c->index.name = json_get_text(action, "IndexName");
	c->index.global = true;
	if (c->kind == GSI_UPDATE)
		return parse_index_update(p, action, c, e);
	if (c->kind == GSI_DELETE)
		return true;
	c->has_throughput = op_has(action, "ProvisionedThroughput");
	c->has_on_demand = spec_on_demand_member(json_get(action, "OnDemandThroughput")) != NULL;
	return spec_global_index(action, &p->given, p->on_demand, p->a, &c->index, e);
}

/* One index is created or removed at a time; the capacity of several may change. */
static bool check_one_online_change(const struct gsi_change *changes, size_t count, struct arena *a, struct error *e)
{
	size_t online = 0;

	for (size_t i = 0; i < count; i++)
		online += changes[i].kind != GSI_UPDATE;
	if (online <= 1)
		return true;
	return error_set(e, a, ERR_LIMIT_EXCEEDED,
			 "Subscriber limit exceeded: Only 1 online index can be created or deleted "
			 "simultaneously per table");
}

static bool check_index_limits(struct parse *p, struct error *e)
{
	size_t globals = 0, non_keys = 0;
	struct arena *a = p->a;

	for (size_t i = 0; i < p->table->index_count; i++) {
		globals += p->table->indexes[i].global;
		non_keys += p->table->indexes[i].include_count;
	}
	for (size_t i = 0; i < p->out->index_count; i++) {
		const struct gsi_change *c = &p->out->indexes[i];

		if (c->kind != GSI_CREATE)
			continue;
		if (globals + 1 > GLOBAL_INDEXES_MAX)
			return INVALID("GlobalSecondaryIndex count exceeds the per-table limit of %d",
				       GLOBAL_INDEXES_MAX);
		if (!spec_check_non_key_total(non_keys + c->index.include_count, a, e))
			return false;
	}
	return true;
}

/* When switching from on-demand to provisioned, every index needs a capacity too. */
static bool check_all_provisioned(struct parse *p, struct error *e)
{
	struct buf missing;

	if (p->on_demand || !p->table->on_demand)
		return true;
	buf_init(&missing, p->a);
	for (size_t i = 0; i < p->table->index_count; i++) {
		const struct index *x = &p->table->indexes[i];
		bool given = !x->global;

		for (size_t k = 0; k < p->out->index_count && !given; k++) {
			const struct gsi_change *c = &p->out->indexes[k];

			given = slice_equal(c->index.name, x->name) && (c->kind == GSI_DELETE || c->has_throughput);
		}
		if (given)
			continue;
		if (missing.n)
			buf_lit(&missing, ",");
		buf_put(&missing, x->name);
	}
	if (!missing.n)
		return true;
	return error_set(e, p->a, ERR_VALIDATION,
			 INVALID_VALUES "ProvisionedThroughput must be specified for index: %.*s",
			 SLICE_ARG(buf_slice(&missing)));
}

static bool is_new_key(const struct parse *p, struct slice name)
{
	for (size_t i = 0; i < p->out->index_count; i++)
		if (p->out->indexes[i].kind == GSI_CREATE && is_key_attribute(&p->out->indexes[i].index.key, name))
			return table_attribute_type(p->table, name) == VALUE_NONE;
	return false;
}

static bool parse_indexes(struct parse *p, struct error *e)
{
	const struct json *list = index_changes(p->in);
	size_t n = list ? list->count : 0;
	struct gsi_change *changes = arena_array(p->a, struct gsi_change, n);
	struct key_attr *added = arena_array(p->a, struct key_attr, p->given.count);

	for (size_t i = 0; i < n; i++)
		if (!parse_index_change(p, &list->items[i], &changes[i], e))
			return false;
	p->out->indexes = changes;
	p->out->index_count = n;
	if (!check_one_online_change(changes, n, p->a, e) || !check_index_limits(p, e) || !check_all_provisioned(p, e))
		return false;
	/* Keeps no definition that no index uses. */
	for (size_t i = 0; i < p->given.count; i++)
		if (is_new_key(p, p->given.attrs[i].name))
			added[p->out->attribute_count++] = p->given.attrs[i];
	p->out->attributes = added;
	return true;
}

static void parse_settings(struct parse *p)
{
	const struct json *stream = json_get(p->in, "StreamSpecification");
	struct table_change *out = p->out;
	struct slice ignored;

	if (json_is(stream, JSON_OBJECT)) {
		out->has_stream = true;
		out->stream = stream_view_parse(json_get_text(stream, "StreamViewType"));
	}
	out->has_deletion_protection = op_has(p->in, "DeletionProtectionEnabled");
	out->deletion_protection = op_bool(p->in, "DeletionProtectionEnabled", false);
	out->has_table_class = op_has(p->in, "TableClass");
	out->table_class = json_get_text(p->in, "TableClass");
	out->has_sse = op_has(p->in, "SSESpecification");
	spec_sse(json_get(p->in, "SSESpecification"), &out->sse, &ignored);
}

bool table_change_parse(const struct json *in, const struct table *t, struct arena *a, struct table_change *out,
			struct error *e)
{
	struct parse p = { .in = in, .table = t, .a = a, .out = out };

	*out = (struct table_change){ .max_read_units = -1, .max_write_units = -1 };
	if (!parse_billing(&p, e) || !parse_on_demand(&p, e) || !parse_definitions(&p, e) || !parse_indexes(&p, e))
		return false;
	parse_settings(&p);
	return true;
}
