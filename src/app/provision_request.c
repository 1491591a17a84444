/* The documents that make a design's table: CreateTable, UpdateTable, UpdateTimeToLive.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/provision_request.h"
#include "app/beside.h"
#include "json/json.h"

/* Begins a document about the design's table. */
static void begin(struct buf *b, const struct design *d, struct arena *a)
{
	buf_init(b, a);
	buf_lit(b, "{\"TableName\":");
	json_string(b, d->table);
}

static void key_element(struct buf *b, const struct key_attr *k, const char *type, bool *first)
{
	buf_str(b, *first ? "" : ",");
	*first = false;
	buf_lit(b, "{\"AttributeName\":");
	json_string(b, k->name);
	buf_printf(b, ",\"KeyType\":\"%s\"}", type);
}

void provision_put_key(struct buf *b, const struct key_schema *k)
{
	bool first = true;

	buf_lit(b, "\"KeySchema\":[");
	for (size_t i = 0; i < k->hash_count; i++)
		key_element(b, &k->hash[i], "HASH", &first);
	for (size_t i = 0; i < k->range_count; i++)
		key_element(b, &k->range[i], "RANGE", &first);
	buf_lit(b, "]");
}

/* Each attribute once, however many keys it stands in. */
struct definitions {
	struct buf *b;
	struct key_attr seen[(KEY_HASH_MAX + KEY_RANGE_MAX) * (INDEXES_MAX + 1)];
	size_t count;
};

static void define(struct definitions *d, const struct key_attr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < d->count && !slice_equal(d->seen[j].name, attrs[i].name))
			j++;
		if (j < d->count)
			continue;
		d->seen[d->count++] = attrs[i];
		buf_str(d->b, j ? "," : "");
		buf_lit(d->b, "{\"AttributeName\":");
		json_string(d->b, attrs[i].name);
		buf_printf(d->b, ",\"AttributeType\":\"%s\"}", value_type_name(attrs[i].type));
	}
}

static void define_key(struct definitions *d, const struct key_schema *k)
{
	define(d, k->hash, k->hash_count);
	define(d, k->range, k->range_count);
}

void provision_put_projection(struct buf *b, const struct design_index *i)
{
	static const char *const types[] = { [PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY",
					     [PROJECT_INCLUDE] = "INCLUDE" };

	buf_printf(b, "\"Projection\":{\"ProjectionType\":\"%s\"", types[i->projection]);
	if (i->projection == PROJECT_INCLUDE) {
		buf_lit(b, ",\"NonKeyAttributes\":[");
		for (size_t n = 0; n < i->include_count; n++) {
			buf_str(b, n ? "," : "");
			json_string(b, i->include[n]);
		}
		buf_lit(b, "]");
	}
	buf_lit(b, "}");
}

static void throughput(struct buf *b, const struct design *d)
{
	buf_printf(b, ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%lld,\"WriteCapacityUnits\":%lld}",
		   (long long)d->read_units, (long long)d->write_units);
}

/* The inside of an index definition, without braces. */
static void index_members(struct buf *b, const struct design *d, const struct design_index *i)
{
	buf_lit(b, "\"IndexName\":");
	json_string(b, i->name);
	buf_lit(b, ",");
	provision_put_key(b, &i->key);
	buf_lit(b, ",");
	provision_put_projection(b, i);
	if (d->provisioned)
		throughput(b, d);
}

static void indexes(struct buf *b, const struct design *d)
{
	if (!d->index_count)
		return;
	buf_lit(b, ",\"GlobalSecondaryIndexes\":[");
	for (size_t i = 0; i < d->index_count; i++) {
		buf_str(b, i ? ",{" : "{");
		index_members(b, d, &d->indexes[i]);
		buf_lit(b, "}");
	}
	buf_lit(b, "]");
}

void provision_put_definitions(struct buf *b, const struct design *d)
{
	struct definitions defined = { .b = b };

	buf_lit(b, "\"AttributeDefinitions\":[");
	define_key(&defined, &d->key);
	for (size_t i = 0; i < d->index_count; i++)
		define_key(&defined, &d->indexes[i].key);
	buf_lit(b, "]");
}

struct slice provision_create_table(const struct design *d, struct arena *a)
{
	struct buf b;

	begin(&b, d, a);
	buf_lit(&b, ",");
	provision_put_definitions(&b, d);
	buf_lit(&b, ",");
	provision_put_key(&b, &d->key);
	indexes(&b, d);
	buf_printf(&b, ",\"BillingMode\":\"%s\"", d->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
	if (d->provisioned)
		throughput(&b, d);
	if (d->stream != STREAM_NONE)
		buf_printf(&b, ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"%s\"}",
			   stream_view_name(d->stream));
	buf_lit(&b, "}");
	return buf_slice(&b);
}

struct slice provision_add_index(const struct design *d, const struct design_index *i, struct arena *a)
{
	struct definitions defined = { 0 };
	struct buf b;

	begin(&b, d, a);
	defined.b = &b;
	buf_lit(&b, ",\"AttributeDefinitions\":[");
	define_key(&defined, &i->key);
	buf_lit(&b, "],\"GlobalSecondaryIndexUpdates\":[{\"Create\":{");
	index_members(&b, d, i);
	buf_lit(&b, "}}]}");
	return buf_slice(&b);
}

struct slice provision_enable_ttl(const struct design *d, struct arena *a)
{
	struct buf b;

	begin(&b, d, a);
	buf_lit(&b, ",\"TimeToLiveSpecification\":{\"Enabled\":true,\"AttributeName\":");
	json_string(&b, d->ttl);
	buf_lit(&b, "}}");
	return buf_slice(&b);
}

struct slice provision_describe(const struct design *d, struct arena *a)
{
	struct buf b;

	begin(&b, d, a);
	buf_lit(&b, "}");
	return buf_slice(&b);
}

static void begin_beside(struct buf *b, const struct design *d, struct arena *a)
{
	buf_init(b, a);
	buf_lit(b, "{\"TableName\":");
	json_string(b, arena_printf(a, "%.*s.thorpe", SLICE_ARG(d->table)));
}

struct slice provision_describe_beside(const struct design *d, struct arena *a)
{
	struct buf b;

	begin_beside(&b, d, a);
	buf_byte(&b, '}');
	return buf_slice(&b);
}

struct slice provision_create_beside(const struct design *d, struct arena *a)
{
	struct buf b;

	begin_beside(&b, d, a);
	buf_lit(&b, ",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
		    "{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\",\"AttributeType\":\"S\"}],"
		    "\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
		    "{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}]}");
	return buf_slice(&b);
}

struct slice provision_enable_ttl_beside(const struct design *d, struct arena *a)
{
	struct buf b;

	begin_beside(&b, d, a);
	buf_lit(&b, ",\"TimeToLiveSpecification\":{\"Enabled\":true,\"AttributeName\":\"" BESIDE_TTL "\"}}");
	return buf_slice(&b);
}
