/* Names and ARNs; checks of items and keys against a table; the attributes an index stores of an item.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/schema.h"

#define INVALID   "One or more parameter values were invalid: "
#define NOT_VALID "One or more parameter values are not valid. "

const char *resource_status_name(enum resource_status s)
{
	static const char *const names[] = { "CREATING", "ACTIVE", "UPDATING", "DELETING" };

	return names[s];
}

static const char *const view_names[] = { "", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES" };

const char *stream_view_name(enum stream_view v)
{
	return view_names[v];
}

enum stream_view stream_view_parse(struct slice s)
{
	int v;

	for (v = STREAM_KEYS_ONLY; v <= STREAM_NEW_AND_OLD; v++)
		if (slice_is(s, view_names[v]))
			return (enum stream_view)v;
	return STREAM_NONE;
}

/* ---- names ---- */
const struct index *table_index(const struct table *t, struct slice name)
{
	size_t i;

	for (i = 0; i < t->index_count; i++)
		if (slice_equal(t->indexes[i].name, name))
			return &t->indexes[i];
	return NULL;
}

enum value_type table_attribute_type(const struct table *t, struct slice name)
{
	size_t i;

	for (i = 0; i < t->attribute_count; i++)
		if (slice_equal(t->attributes[i].name, name))
			return t->attributes[i].type;
	return VALUE_NONE;
}

struct slice table_arn(const struct table *t, struct arena *a)
{
	struct slice region = t->region.n ? t->region : SLICE("us-east-1");

	return arena_printf(a, "arn:aws:dynamodb:%.*s:000000000000:table/%.*s", SLICE_ARG(region), SLICE_ARG(t->name));
}

struct slice index_arn(const struct table *t, const struct index *i, struct arena *a)
{
	struct slice table = table_arn(t, a);

	return arena_printf(a, "%.*s/index/%.*s", SLICE_ARG(table), SLICE_ARG(i->name));
}

struct slice stream_arn(const struct table *t, const struct stream *s, struct arena *a)
{
	struct slice table = table_arn(t, a);

	return arena_printf(a, "%.*s/stream/%.*s", SLICE_ARG(table), SLICE_ARG(s->label));
}

struct slice table_name_of_arn(struct slice s)
{
	static const char mark[] = ":table/";
	const char *name, *end;

	if (!slice_starts(s, SLICE("arn:")))
		return s;
	name = memmem(s.p, s.n, mark, sizeof(mark) - 1);
	if (!name)
		return s;
	name += sizeof(mark) - 1;
	s = slice_make(name, (size_t)(s.p + s.n - name));
	end = s.n ? memchr(s.p, '/', s.n) : NULL;
	return end ? slice_make(s.p, (size_t)(end - s.p)) : s;
}

bool is_key_attribute(const struct key_schema *k, struct slice name)
{
	size_t i;

	for (i = 0; i < k->hash_count; i++)
		if (slice_equal(k->hash[i].name, name))
			return true;
	for (i = 0; i < k->range_count; i++)
		if (slice_equal(k->range[i].name, name))
			return true;
	return false;
}

/* ---- primary keys ---- */
static bool check_key_size(struct slice bytes, enum value_type type, bool hash, struct arena *a, struct error *e)
{
	if (type == VALUE_N)
		return true;
	if (hash && bytes.n > HASH_KEY_BYTES_MAX)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes");
	if (!hash && bytes.n > RANGE_KEY_BYTES_MAX)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Aggregated size of all range keys has exceeded the size limit of "
					 "1024 bytes");
	return true;
}

/* The text depends on whether the key comes from an item or a Key parameter. */
static bool check_key_value(const struct key_attr *k, struct value v, bool hash, struct arena *a, struct slice *out,
			    struct error *e)
{
	*out = value_bytes(v);
	if (!out->n)
		return error_set(e, a, ERR_VALIDATION,
				 NOT_VALID "The AttributeValue for a key attribute cannot contain an empty %s "
					   "value. Key: %.*s",
				 k->type == VALUE_S ? "string" : "binary", SLICE_ARG(k->name));
	return check_key_size(*out, k->type, hash, a, e);
}

static bool item_key_attr(const struct key_attr *k, struct value item, bool hash, struct arena *a, struct slice *out,
			  struct error *e)
{
	struct value v = value_get(item, k->name);

	if (!value_present(v))
		return error_set(e, a, ERR_VALIDATION, INVALID "Missing the key %.*s in the item", SLICE_ARG(k->name));
	if (value_type(v) != k->type)
		return error_set(e, a, ERR_VALIDATION, INVALID "Type mismatch for key %.*s expected: %s actual: %s",
				 SLICE_ARG(k->name), value_type_name(k->type), value_type_name(value_type(v)));
	return check_key_value(k, v, hash, a, out, e);
}

bool table_key_of_item(const struct table *t, struct value item, struct arena *a, struct item_key *out, struct error *e)
{
	out->sk = SLICE("");
	if (!item_key_attr(&t->key.hash[0], item, true, a, &out->pk, e))
		return false;
	return !t->key.range_count || item_key_attr(&t->key.range[0], item, false, a, &out->sk, e);
}

static bool key_key_attr(const struct key_attr *k, struct value key, bool hash, struct arena *a, struct slice *out,
			 struct error *e)
{
	struct value v = value_get(key, k->name);

	if (value_type(v) != k->type)
		return error_set(e, a, ERR_VALIDATION, "The provided key element does not match the schema");
	return check_key_value(k, v, hash, a, out, e);
}

bool table_key_of_key(const struct table *t, struct value key, struct arena *a, struct item_key *out, struct error *e)
{
	out->sk = SLICE("");
	if (value_count(key) != (size_t)t->key.hash_count + t->key.range_count)
		return error_set(e, a, ERR_VALIDATION, "The provided key element does not match the schema");
	if (!key_key_attr(&t->key.hash[0], key, true, a, &out->pk, e))
		return false;
	return !t->key.range_count || key_key_attr(&t->key.range[0], key, false, a, &out->sk, e);
}

bool table_check_item_size(struct value item, bool updating, struct arena *a, struct error *e)
{
	/* No item counts as more than twice its encoded bytes, so most need not be measured. */
	if (item.n <= ITEM_BYTES_MAX / 2 || item_size(item) <= ITEM_BYTES_MAX)
		return true;
	return error_set(e, a, ERR_VALIDATION,
			 updating ? "Item size to update has exceeded the maximum allowed size"
				  : "Item size has exceeded the maximum allowed size");
}

/* ---- keys of indexes ---- */
/* How an attribute of an index's key is wrong. */
enum index_key_fault { FAULT_NONE, FAULT_TYPE, FAULT_EMPTY };

static enum index_key_fault index_key_fault(const struct key_attr *k, struct value v)
{
	if (!value_present(v))
		return FAULT_NONE;
	if (value_type(v) != k->type)
		return FAULT_TYPE;
	return value_bytes(v).n ? FAULT_NONE : FAULT_EMPTY;
}

static size_t key_bytes(const struct key_attr *k, size_t count, struct value item)
{
	size_t n = 0, i;

	for (i = 0; i < count; i++)
		if (k[i].type != VALUE_N)
			n += value_bytes(value_get(item, k[i].name)).n;
	return n;
}

static bool index_type_error(const struct index *i, struct slice name, enum value_type expected, enum value_type actual,
			     struct arena *a, struct error *e)
{
	return error_set(e, a, ERR_VALIDATION,
			 INVALID "Type mismatch for Index Key %.*s Expected: %s Actual: %s IndexName: %.*s",
			 SLICE_ARG(name), value_type_name(expected), value_type_name(actual), SLICE_ARG(i->name));
}

static bool index_fault_error(const struct index *i, const struct key_attr *k, struct value v,
			      enum index_key_fault fault, struct arena *a, struct error *e)
{
	if (fault == FAULT_TYPE)
		return index_type_error(i, k->name, k->type, value_type(v), a, e);
	return error_set(e, a, ERR_VALIDATION,
			 NOT_VALID "A value specified for a secondary index key is not supported. The "
				   "AttributeValue for a key attribute cannot contain an empty %s value. "
				   "IndexName: %.*s, IndexKey: %.*s",
			 k->type == VALUE_S ? "string" : "binary", SLICE_ARG(i->name), SLICE_ARG(k->name));
}

static bool update_fault_error(const struct key_attr *k, enum index_key_fault fault, struct arena *a, struct error *e)
{
	if (fault == FAULT_TYPE)
		return error_set(e, a, ERR_VALIDATION,
				 "The update expression attempted to update the secondary index key to "
				 "unsupported type");
	return error_set(e, a, ERR_VALIDATION,
			 NOT_VALID "The update expression attempted to update a secondary index key to a value "
				   "that is not supported. The AttributeValue for a key attribute cannot contain "
				   "an empty %s value.",
			 k->type == VALUE_S ? "string" : "binary");
}

/* Checks the bytes of both parts of an index's key. */
static bool check_index_size(size_t hash, size_t range, struct arena *a, struct error *e)
{
	return check_key_size(slice_make(NULL, hash), VALUE_B, true, a, e) &&
	       check_key_size(slice_make(NULL, range), VALUE_B, false, a, e);
}

static bool size_fits(const struct index *i, struct value item)
{
	return key_bytes(i->key.hash, i->key.hash_count, item) <= HASH_KEY_BYTES_MAX &&
	       key_bytes(i->key.range, i->key.range_count, item) <= RANGE_KEY_BYTES_MAX;
}

/* Of several indexes with the same fault, DynamoDB names the first alphabetically. NULL: no index has the attribute
 * in its key. */
static const struct index *first_index_of(const struct table *t, struct slice name)
{
	const struct index *first = NULL;

	for (size_t n = 0; n < t->index_count; n++)
		if ((!first || slice_cmp(t->indexes[n].name, first->name) < 0) &&
		    is_key_attribute(&t->indexes[n].key, name))
			first = &t->indexes[n];
	return first;
}

/* Adds the attribute's bytes in the key to *bytes. */
static bool check_attr_of_index(const struct table *t, const struct key_attr *k, struct value item, size_t *bytes,
				struct arena *a, struct error *e)
{
	struct value v = value_get(item, k->name);
	enum index_key_fault fault = index_key_fault(k, v);

	if (fault != FAULT_NONE)
		return index_fault_error(first_index_of(t, k->name), k, v, fault, a, e);
	*bytes += k->type == VALUE_N ? 0 : value_bytes(v).n;
	return true;
}

bool table_check_index_key_type(const struct table *t, struct slice name, enum value_type type, struct arena *a,
				struct error *e)
{
	const struct index *i = first_index_of(t, name);
	enum value_type expected = table_attribute_type(t, name);

	return !i || type == expected || index_type_error(i, name, expected, type, a, e);
}

bool table_check_index_keys(const struct table *t, struct value item, struct arena *a, struct error *e)
{
	size_t n, k;

	for (n = 0; n < t->index_count; n++) {
		const struct index *i = &t->indexes[n];
		size_t hash = 0, range = 0;

		for (k = 0; k < i->key.hash_count; k++)
			if (!check_attr_of_index(t, &i->key.hash[k], item, &hash, a, e))
				return false;
		for (k = 0; k < i->key.range_count; k++)
			if (!check_attr_of_index(t, &i->key.range[k], item, &range, a, e))
				return false;
		if (!check_index_size(hash, range, a, e))
			return false;
	}
	return true;
}

/* *bytes as above. */
static bool check_updated_attr(const struct key_attr *k, struct value old, struct value item, size_t *bytes,
			       struct arena *a, struct error *e)
{
	struct value v = value_get(item, k->name), was;
	enum index_key_fault fault = index_key_fault(k, v);

	if (k->type != VALUE_N)
		*bytes += value_bytes(v).n;
	if (fault == FAULT_NONE)
		return true;
	was = value_get(old, k->name);
	if (value_present(was) && value_equal(was, v))
		return true;
	return update_fault_error(k, fault, a, e);
}

bool table_check_updated_index_keys(const struct table *t, struct value old, struct value item, struct arena *a,
				    struct error *e)
{
	size_t n, k;

	for (n = 0; n < t->index_count; n++) {
		const struct index *i = &t->indexes[n];
		size_t hash = 0, range = 0;

		for (k = 0; k < i->key.hash_count; k++)
			if (!check_updated_attr(&i->key.hash[k], old, item, &hash, a, e))
				return false;
		for (k = 0; k < i->key.range_count; k++)
			if (!check_updated_attr(&i->key.range[k], old, item, &range, a, e))
				return false;
		if ((hash > HASH_KEY_BYTES_MAX || range > RANGE_KEY_BYTES_MAX) &&
		    (!value_present(old) || size_fits(i, old)))
			return check_index_size(hash, range, a, e);
	}
	return true;
}

static bool has_key_attr(const struct key_attr *k, struct value item)
{
	struct value v = value_get(item, k->name);

	return value_present(v) && index_key_fault(k, v) == FAULT_NONE;
}

bool index_holds(const struct index *i, struct value item)
{
	size_t k;

	for (k = 0; k < i->key.hash_count; k++)
		if (!has_key_attr(&i->key.hash[k], item))
			return false;
	for (k = 0; k < i->key.range_count; k++)
		if (!has_key_attr(&i->key.range[k], item))
			return false;
	return size_fits(i, item);
}

/* ---- parts of items ---- */
/* The members of `item` for which `wanted` is true. */
static struct value filtered(struct value item, struct arena *a, const struct table *t, const struct index *i,
			     bool (*wanted)(const struct table *, const struct index *, struct slice))
{
	struct value_member *m = arena_array(a, struct value_member, value_count(item));
	struct value_iter it = value_iter(item);
	size_t n = 0;

	while (value_next(&it))
		if (wanted(t, i, it.name))
			m[n++] = (struct value_member){ it.name, it.value };
	return value_make_map(a, m, n);
}

static bool is_any_key(const struct table *t, const struct index *i, struct slice name)
{
	return is_key_attribute(&t->key, name) || (i && is_key_attribute(&i->key, name));
}

bool index_has_attribute(const struct table *t, const struct index *i, struct slice name)
{
	if (i->projection == PROJECT_ALL || is_any_key(t, i, name))
		return true;
	for (size_t n = 0; n < i->include_count; n++)
		if (slice_equal(i->include[n], name))
			return true;
	return false;
}

struct value table_key_item(const struct table *t, const struct index *i, struct value item, struct arena *a)
{
	return filtered(item, a, t, i, is_any_key);
}

struct value index_projected(const struct table *t, const struct index *i, struct value item, struct arena *a)
{
	return i->projection == PROJECT_ALL ? item : filtered(item, a, t, i, index_has_attribute);
}
