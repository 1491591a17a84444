/* JSON Merge Patch (RFC 7396) of maps: sets given members, removes those given as null, merges maps in maps, and
 * replaces everything else, lists too.
 *
 * Merges values, not texts: members that the patch does not name stay exactly as stored, even if JSON cannot express
 * them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input_internal.h"
#include "app/entity/packed.h"

/* of a map, in their order: by name */
struct members {
	struct value_iter it;
	bool more;
};

static struct members members_of(struct value map)
{
	struct members m = { .it = value_iter(map) };

	m.more = value_type(map) == VALUE_M && value_next(&m.it);
	return m;
}

/* Walks both in parallel: a patch may name any number of members. */
static struct value merge(struct arena *a, struct value was, struct value patch)
{
	struct members old = members_of(was), new_ = members_of(patch);
	size_t most = (value_type(was) == VALUE_M ? value_count(was) : 0) + value_count(patch), n = 0;
	struct value_member *list = arena_array(a, struct value_member, most);

	while (old.more || new_.more) {
		int order = !old.more ? 1 : !new_.more ? -1 : slice_cmp(old.it.name, new_.it.name);
		struct value before = order <= 0 ? old.it.value : VALUE_ABSENT;

		if (order < 0)
			list[n++] = (struct value_member){ old.it.name, before };
		else if (value_type(new_.it.value) == VALUE_M)
			list[n++] = (struct value_member){ new_.it.name, merge(a, before, new_.it.value) };
		else if (value_type(new_.it.value) != VALUE_NULL)
			list[n++] = (struct value_member){ new_.it.name, new_.it.value };
		if (order <= 0)
			old.more = value_next(&old.it);
		if (order >= 0)
			new_.more = value_next(&new_.it);
	}
	return value_make_map(a, list, n);
}

/* Unpacks a compressed map; absent if it is not a map. */
static struct value unpacked(struct run *r, const struct attribute *a, struct value v)
{
	struct attribute any = { .name = a->name, .type = ATTR_MAP };
	struct value map = VALUE_ABSENT;
	const struct json *j;
	struct buf b;

	buf_init(&b, r->arena);
	if (value_type(v) != VALUE_B || !packed_write(&b, v))
		return VALUE_ABSENT;
	j = json_parse(r->arena, buf_slice(&b));
	return j && input_json(r, &any, a->name, j, &map) ? map : VALUE_ABSENT;
}

bool input_merge(struct run *r, const struct attribute *attribute, struct value was, struct value patch,
		 struct value *out)
{
	struct input_place at = { .r = r, .attribute = attribute, .name = attribute->name };

	if (attribute->compressed)
		was = unpacked(r, attribute, was);
	*out = merge(r->arena, was, patch);
	return input_place_whole(&at, out);
}
