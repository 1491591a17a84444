/* Compares a table with a design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision_compare.h"

struct slice provision_type_in(const struct json *table, struct slice attribute)
{
	const struct json *definitions = json_get(table, "AttributeDefinitions");

	for (size_t i = 0; json_is(definitions, JSON_ARRAY) && i < definitions->count; i++)
		if (slice_equal(json_get_text(&definitions->items[i], "AttributeName"), attribute))
			return json_get_text(&definitions->items[i], "AttributeType");
	return (struct slice){ "", 0 };
}

static bool same_key_element(const struct json *table, const struct json *element, const struct key_attr *want,
			     const char *key_type)
{
	return slice_equal(json_get_text(element, "AttributeName"), want->name) &&
	       slice_is(json_get_text(element, "KeyType"), key_type) &&
	       slice_is(provision_type_in(table, want->name), value_type_name(want->type));
}

bool provision_same_key(const struct json *table, const struct json *schema, const struct key_schema *want)
{
	size_t n = 0;

	if (!json_is(schema, JSON_ARRAY) || schema->count != (size_t)want->hash_count + want->range_count)
		return false;
	for (size_t i = 0; i < want->hash_count; i++)
		if (!same_key_element(table, &schema->items[n++], &want->hash[i], "HASH"))
			return false;
	for (size_t i = 0; i < want->range_count; i++)
		if (!same_key_element(table, &schema->items[n++], &want->range[i], "RANGE"))
			return false;
	return true;
}

static bool lists(const struct json *names, struct slice name)
{
	for (size_t i = 0; json_is(names, JSON_ARRAY) && i < names->count; i++)
		if (json_is(&names->items[i], JSON_STRING) && slice_equal(names->items[i].string, name))
			return true;
	return false;
}

bool provision_same_projection(const struct json *projection, const struct design_index *want)
{
	const struct json *names = json_get(projection, "NonKeyAttributes");
	struct slice type = json_get_text(projection, "ProjectionType");

	if (want->projection != PROJECT_INCLUDE)
		return slice_is(type, want->projection == PROJECT_ALL ? "ALL" : "KEYS_ONLY");
	if (!slice_is(type, "INCLUDE") || !json_is(names, JSON_ARRAY) || names->count != want->include_count)
		return false;
	for (size_t i = 0; i < want->include_count; i++)
		if (!lists(names, want->include[i]))
			return false;
	return true;
}

const struct json *provision_index_in(const struct json *table, struct slice name)
{
	const struct json *all = json_get(table, "GlobalSecondaryIndexes");

	for (size_t i = 0; json_is(all, JSON_ARRAY) && i < all->count; i++)
		if (slice_equal(json_get_text(&all->items[i], "IndexName"), name))
			return &all->items[i];
	return NULL;
}
