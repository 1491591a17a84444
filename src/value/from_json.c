/* Attribute values from the wire's JSON into the binary form.
 *
 * One pass writes a value into a buf, the members of a map in order of their names. If that pass fails, its error
 * is discarded. To find the right error, it checks the shapes first and then everything again in order of
 * appearance. Only refused requests pay for this.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/layout.h"
#include "value/wire.h"
#include "value/sort.h"

#define INVALID "One or more parameter values were invalid: "

struct encoder {
	struct arena *arena;
	struct buf *out;
	struct error *e;
	bool in_order; /* only looking for the first error: keep members in order of appearance */
};

static bool put_value(struct encoder *x, const struct json *j, int depth);

/* ---- errors ---- */

static bool refuse_empty_set(struct arena *a, enum value_type t, struct error *e)
{
	return error_set(e, a, ERR_VALIDATION, "%s",
			 t == VALUE_SS   ? INVALID "An string set  may not be empty"
			 : t == VALUE_NS ? INVALID "An number set  may not be empty"
					 : INVALID "Binary sets should not be empty");
}

static bool refuse_depth(struct arena *a, struct error *e)
{
	return error_set(e, a, ERR_VALIDATION,
			 "Nesting Levels have exceeded supported limits: "
			 "Attributes in the item have nested levels beyond supported limit");
}

static bool name_is_allowed(struct slice name, struct arena *a, struct error *e)
{
	if (name.n == 0)
		return error_set(e, a, ERR_VALIDATION, "Empty attribute name");
	if (name.n > ATTRIBUTE_NAME_BYTES_MAX)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Attribute name is too large, must be less than 65536 bytes");
	return true;
}

static bool is_allowed(struct value v, int levels, struct arena *a, struct error *e);

static bool elements_are_allowed(struct value v, int levels, struct arena *a, struct error *e)
{
	struct value_iter it = value_iter(v);

	while (value_next(&it))
		if ((it.type == VALUE_M && !name_is_allowed(it.name, a, e)) || !is_allowed(it.value, levels, a, e))
			return false;
	return true;
}

static bool is_allowed(struct value v, int levels, struct arena *a, struct error *e)
{
	switch (value_type(v)) {
	case VALUE_M:
	case VALUE_L: return levels > 1 ? elements_are_allowed(v, levels - 1, a, e) : refuse_depth(a, e);
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return value_count(v) > 0 || refuse_empty_set(a, value_type(v), e);
	case VALUE_NONE:
		return error_set(e, a, ERR_VALIDATION,
				 "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
	default: return true;
	}
}

bool value_is_allowed(struct value v, struct arena *a, struct error *e)
{
	return is_allowed(v, VALUE_LEVELS_MAX, a, e);
}

bool item_is_allowed(struct value item, struct arena *a, struct error *e)
{
	if (value_type(item) != VALUE_M)
		return is_allowed(VALUE_ABSENT, VALUE_LEVELS_MAX, a, e);
	return elements_are_allowed(item, VALUE_LEVELS_MAX, a, e);
}

/* ---- reading ---- */

static bool put_string(struct encoder *x, const struct json *j)
{
	if (!wire_string(x->arena, j, x->e))
		return false;
	buf_byte(x->out, VALUE_S);
	layout_add_bytes(x->out, j->string);
	return true;
}

static bool put_number(struct encoder *x, const struct json *j)
{
	uint8_t *to;
	size_t n;

	if (!wire_string(x->arena, j, x->e))
		return false;
	to = (uint8_t *)buf_room(x->out, 2 + NUMBER_ENCODED_MAX);
	if (!number_encode_text(j->string, to + 2, &n, x->arena, x->e))
		return false;
	to[0] = VALUE_N;
	to[1] = (uint8_t)n;
	x->out->n += 2 + n;
	return true;
}

static bool put_binary(struct encoder *x, const struct json *j)
{
	size_t most = wire_blob_max(j), n, head;
	uint8_t *to = (uint8_t *)buf_room(x->out, 11 + most);

	/* Padding is known, so the length can be written first and the bytes decoded in place. */
	n = most;
	if (most && j->string.p[j->string.n - 1] == '=')
		n -= 1 + (j->string.p[j->string.n - 2] == '=');
	to[0] = VALUE_B;
	head = (size_t)(layout_put_varint(to + 1, n) - to);
	if (!wire_blob(x->arena, j, to + head, &n, x->e))
		return false;
	x->out->n += head + n;
	return true;
}

static bool put_bool(struct encoder *x, const struct json *j)
{
	bool v;

	if (!bool_from_json(x->arena, j, &v, x->e))
		return false;
	buf_byte(x->out, VALUE_BOOL);
	buf_byte(x->out, v);
	return true;
}

static bool put_null(struct encoder *x, const struct json *j)
{
	bool v;

	if (!bool_from_json(x->arena, j, &v, x->e))
		return false;
	if (!v)
		return error_set(x->e, x->arena, ERR_VALIDATION,
				 INVALID "Null attribute value types must have the value of true");
	buf_byte(x->out, VALUE_NULL);
	return true;
}

static bool null_element(struct encoder *x, enum value_type t)
{
	if (t == VALUE_BS)
		return error_set(x->e, x->arena, ERR_VALIDATION, INVALID "Binary sets may not contain null values");
	return error_set(x->e, x->arena, ERR_VALIDATION, INVALID "An %s set may not have a null string as a member",
			 t == VALUE_SS ? "string" : "number");
}

static bool read_element(struct encoder *x, enum value_type t, const struct json *j, struct slice *out)
{
	uint8_t *bytes;

	if (j->type == JSON_NULL)
		return null_element(x, t);
	if (t == VALUE_BS) {
		bytes = arena_alloc(x->arena, wire_blob_max(j));
		out->p = (const char *)bytes;
		return wire_blob(x->arena, j, bytes, &out->n, x->e);
	}
	if (!wire_string(x->arena, j, x->e))
		return false;
	*out = j->string;
	if (t == VALUE_SS)
		return true;
	bytes = arena_alloc(x->arena, NUMBER_ENCODED_MAX);
	out->p = (const char *)bytes;
	return number_encode_text(j->string, bytes, &out->n, x->arena, x->e);
}

static bool duplicates(struct encoder *x, enum value_type t, const struct json *j)
{
	struct buf list;

	if (t == VALUE_NS)
		return error_set(x->e, x->arena, ERR_VALIDATION, "Input collection contains duplicates");
	buf_init(&list, x->arena);
	for (uint32_t i = 0; i < j->count; i++) {
		if (i)
			buf_lit(&list, ", ");
		buf_put(&list, j->items[i].string);
	}
	return error_set(x->e, x->arena, ERR_VALIDATION, INVALID "Input collection [%.*s]%s contains duplicates.",
			 SLICE_ARG(buf_slice(&list)), t == VALUE_BS ? "of type BS" : "");
}

static bool put_set(struct encoder *x, enum value_type t, const struct json *j)
{
	struct sort_entry stack[SORT_ON_STACK], *entries = stack;
	size_t n = j->count, start;

	if (!wire_array(x->arena, j, x->e))
		return false;
	if (n == 0)
		return refuse_empty_set(x->arena, t, x->e);
	if (n > SORT_ON_STACK)
		entries = arena_alloc(x->arena, arena_array_size(sizeof(*entries), n));
	for (size_t i = 0; i < n; i++) {
		struct slice raw;

		if (!read_element(x, t, &j->items[i], &raw))
			return false;
		entries[i] = sort_entry(raw, NULL);
	}
	sort_entries(x->arena, entries, n);
	start = layout_open(x->out, t);
	for (size_t i = 0; i < n; i++) {
		if (sort_repeats(entries, i, n))
			return duplicates(x, t, j);
		layout_add_bytes(x->out, entries[i].key);
	}
	layout_close(x->out, start, n);
	return true;
}

static bool put_list(struct encoder *x, const struct json *j, int depth)
{
	size_t start;

	if (!wire_array(x->arena, j, x->e))
		return false;
	start = layout_open(x->out, VALUE_L);
	for (uint32_t i = 0; i < j->count; i++)
		if (!put_value(x, &j->items[i], depth + 1))
			return false;
	layout_close(x->out, start, j->count);
	return true;
}

static bool put_member(struct encoder *x, struct slice name, const struct json *j, int depth)
{
	if (!name_is_allowed(name, x->arena, x->e))
		return false;
	layout_add_bytes(x->out, name);
	return put_value(x, j, depth);
}

static bool put_map_in_order(struct encoder *x, const struct json *j, int depth)
{
	for (uint32_t i = 0; i < j->count; i++)
		if (!put_member(x, j->members[i].name, &j->members[i].value, depth + 1))
			return false;
	return true;
}

/* `depth` is that of the map itself: 0 for an attribute's value, -1 for an item. */
static bool put_map(struct encoder *x, const struct json *j, int depth)
{
	struct sort_entry stack[SORT_ON_STACK], *entries = stack;
	size_t n = j->count, count = 0, start;

	if (!wire_map(x->arena, j, x->e))
		return false;
	if (x->in_order)
		return put_map_in_order(x, j, depth);
	if (n > SORT_ON_STACK)
		entries = arena_alloc(x->arena, arena_array_size(sizeof(*entries), n));
	for (size_t i = 0; i < n; i++)
		entries[i] = sort_entry(j->members[i].name, &j->members[i].value);
	sort_entries(x->arena, entries, n);
	start = layout_open(x->out, VALUE_M);
	for (size_t i = 0; i < n; i++) {
		if (sort_repeats(entries, i, n))
			continue;
		if (!put_member(x, entries[i].key, entries[i].data, depth + 1))
			return false;
		count++;
	}
	layout_close(x->out, start, count);
	return true;
}

static bool put_typed(struct encoder *x, enum value_type t, const struct json *j, int depth)
{
	switch (t) {
	case VALUE_S: return put_string(x, j);
	case VALUE_N: return put_number(x, j);
	case VALUE_B: return put_binary(x, j);
	case VALUE_BOOL: return put_bool(x, j);
	case VALUE_NULL: return put_null(x, j);
	case VALUE_M:
	case VALUE_L:
		if (depth >= VALUE_LEVELS_MAX - 1)
			return refuse_depth(x->arena, x->e);
		return t == VALUE_M ? put_map(x, j, depth) : put_list(x, j, depth);
	default: return put_set(x, t, j);
	}
}

/* For an object without exactly one member: unknown and null ones do not count. DynamoDB reports errors in the
 * members before it reports that there are several. */
static bool put_unusual(struct encoder *x, const struct json *j, int depth)
{
	const struct json *found[WIRE_TYPES];
	int n = 0;

	if (j->type != JSON_NULL) {
		if (!wire_struct(x->arena, j, x->e))
			return false;
		n = wire_types(j, found);
	}
	if (n == 0)
		return error_set(x->e, x->arena, ERR_VALIDATION,
				 "Supplied AttributeValue is empty, "
				 "must contain exactly one of the supported datatypes");
	for (const enum value_type *t = wire_order; *t; t++)
		if (found[*t] && !put_typed(x, *t, found[*t], depth))
			return false;
	return n == 1 || error_set(x->e, x->arena, ERR_VALIDATION,
				   "Supplied AttributeValue has more than one datatypes set, "
				   "must contain exactly one of the supported datatypes");
}

/* `depth` is the number of the attribute's lists and maps around the value. */
static bool put_value(struct encoder *x, const struct json *j, int depth)
{
	if (j->type == JSON_OBJECT && j->count == 1 && j->members[0].value.type != JSON_NULL) {
		enum value_type t = value_type_parse(j->members[0].name);

		if (t != VALUE_NONE)
			return put_typed(x, t, &j->members[0].value, depth);
	}
	return put_unusual(x, j, depth);
}

static bool encode(struct arena *a, const struct json *j, bool item, bool in_order, struct value *out, struct error *e)
{
	struct buf b;
	struct encoder x = { a, &b, e, in_order };

	buf_init(&b, a);
	buf_room(&b, 480); /* most items fit without growing */
	if (!(item ? put_map(&x, j, -1) : put_value(&x, j, 0)))
		return false;
	*out = (struct value){ (const uint8_t *)b.p, b.n };
	return true;
}

bool value_from_json(struct arena *a, const struct json *j, struct value *out, struct error *e)
{
	return encode(a, j, false, false, out, e) || (value_check_shape(a, j, e) && encode(a, j, false, true, out, e));
}

bool item_from_json(struct arena *a, const struct json *j, struct value *out, struct error *e)
{
	return encode(a, j, true, false, out, e) || (item_check_shape(a, j, e) && encode(a, j, true, true, out, e));
}
