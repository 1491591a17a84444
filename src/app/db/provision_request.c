/* The documents that create a design's table: CreateTable, UpdateTable, UpdateTimeToLive.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision_request.h"
#include "app/db/beside.h"
#include "json/json.h"

void provision_begin(struct buf *b, const struct design *d, struct arena *a)
{
	buf_init(b, a);
	json_open(b, '{');
	json_member_string(b, "TableName", d->table);
}

static struct slice end(struct buf *b)
{
	json_close(b, '}');
	return buf_slice(b);
}

static void key_elements(struct buf *b, const struct key_attr *attrs, size_t n, const char *type)
{
	for (size_t i = 0; i < n; i++) {
		json_open(b, '{');
		json_member_string(b, "AttributeName", attrs[i].name);
		json_member_word(b, "KeyType", type);
		json_close(b, '}');
	}
}

void provision_put_key(struct buf *b, const struct key_schema *k)
{
	json_member_open(b, "KeySchema", '[');
	key_elements(b, k->hash, k->hash_count, "HASH");
	key_elements(b, k->range, k->range_count, "RANGE");
	json_close(b, ']');
}

/* Each attribute once, however many keys use it. */
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
		json_open(d->b, '{');
		json_member_string(d->b, "AttributeName", attrs[i].name);
		json_member_word(d->b, "AttributeType", value_type_name(attrs[i].type));
		json_close(d->b, '}');
	}
}

static void define_key(struct definitions *d, const struct key_schema *k)
{
	define(d, k->hash, k->hash_count);
	define(d, k->range, k->range_count);
}

static void provision_put_projection(struct buf *b, const struct design_index *i)
{
	static const char *const types[] = {
		[PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY", [PROJECT_INCLUDE] = "INCLUDE"
	};

	json_member_open(b, "Projection", '{');
	json_member_word(b, "ProjectionType", types[i->projection]);
	if (i->projection == PROJECT_INCLUDE)
		json_member_strings(b, "NonKeyAttributes", i->include, i->include_count);
	json_close(b, '}');
}

static void put_throughput(struct buf *b, const struct design *d)
{
	if (!d->provisioned)
		return;
	json_member_open(b, "ProvisionedThroughput", '{');
	json_member_int(b, "ReadCapacityUnits", d->read_units);
	json_member_int(b, "WriteCapacityUnits", d->write_units);
	json_close(b, '}');
}

void provision_put_billing(struct buf *b, const struct design *d)
{
	json_member_word(b, "BillingMode", d->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
	put_throughput(b, d);
}

static void put_index(struct buf *b, const struct design *d, const struct design_index *i)
{
	json_open(b, '{');
	json_member_string(b, "IndexName", i->name);
	provision_put_key(b, &i->key);
	provision_put_projection(b, i);
	put_throughput(b, d);
	json_close(b, '}');
}

void provision_put_indexes(struct buf *b, const struct design *d)
{
	if (!d->index_count)
		return;
	json_member_open(b, "GlobalSecondaryIndexes", '[');
	for (size_t i = 0; i < d->index_count; i++)
		put_index(b, d, &d->indexes[i]);
	json_close(b, ']');
}

void provision_put_definitions(struct buf *b, const struct design *d)
{
	struct definitions defined = { .b = b };

	json_member_open(b, "AttributeDefinitions", '[');
	define_key(&defined, &d->key);
	for (size_t i = 0; i < d->index_count; i++)
		define_key(&defined, &d->indexes[i].key);
	json_close(b, ']');
}

void provision_put_stream(struct buf *b, const struct design *d)
{
	if (d->stream == STREAM_NONE)
		return;
	json_member_open(b, "StreamSpecification", '{');
	json_member_bool(b, "StreamEnabled", true);
	json_member_word(b, "StreamViewType", stream_view_name(d->stream));
	json_close(b, '}');
}

void provision_put_create(struct buf *b, const struct design *d)
{
	provision_put_definitions(b, d);
	provision_put_key(b, &d->key);
	provision_put_indexes(b, d);
	provision_put_billing(b, d);
	provision_put_stream(b, d);
}

struct slice provision_create_table(const struct design *d, struct arena *a)
{
	struct buf b;

	provision_begin(&b, d, a);
	provision_put_create(&b, d);
	return end(&b);
}

struct slice provision_add_index(const struct design *d, const struct design_index *i, struct arena *a)
{
	struct definitions defined = { 0 };
	struct buf b;

	provision_begin(&b, d, a);
	defined.b = &b;
	json_member_open(&b, "AttributeDefinitions", '[');
	define_key(&defined, &i->key);
	json_close(&b, ']');
	json_member_open(&b, "GlobalSecondaryIndexUpdates", '[');
	json_open(&b, '{');
	json_name(&b, "Create");
	put_index(&b, d, i);
	json_close(&b, '}');
	json_close(&b, ']');
	return end(&b);
}

void provision_put_ttl(struct buf *b, struct slice attribute)
{
	json_member_open(b, "TimeToLiveSpecification", '{');
	json_member_bool(b, "Enabled", true);
	json_member_string(b, "AttributeName", attribute);
	json_close(b, '}');
}

struct slice provision_enable_ttl(const struct design *d, struct arena *a)
{
	struct buf b;

	provision_begin(&b, d, a);
	provision_put_ttl(&b, d->ttl);
	return end(&b);
}

struct slice provision_describe(const struct design *d, struct arena *a)
{
	struct buf b;

	provision_begin(&b, d, a);
	return end(&b);
}

static void begin_beside(struct buf *b, const struct design *d, struct arena *a)
{
	buf_init(b, a);
	json_open(b, '{');
	json_member_string(b, "TableName", beside_name(a, d->table));
}

struct slice provision_describe_beside(const struct design *d, struct arena *a)
{
	struct buf b;

	begin_beside(&b, d, a);
	return end(&b);
}

struct slice provision_create_beside(const struct design *d, struct arena *a)
{
	static const struct key_schema key = { .hash = { { SLICE("PK"), VALUE_S } },
					       .hash_count = 1,
					       .range = { { SLICE("SK"), VALUE_S } },
					       .range_count = 1 };
	struct buf b;
	struct definitions defined = { .b = &b };

	begin_beside(&b, d, a);
	json_member_word(&b, "BillingMode", "PAY_PER_REQUEST");
	json_member_open(&b, "AttributeDefinitions", '[');
	define_key(&defined, &key);
	json_close(&b, ']');
	provision_put_key(&b, &key);
	return end(&b);
}

struct slice provision_enable_ttl_beside(const struct design *d, struct arena *a)
{
	struct buf b;

	begin_beside(&b, d, a);
	provision_put_ttl(&b, SLICE(BESIDE_TTL));
	return end(&b);
}
