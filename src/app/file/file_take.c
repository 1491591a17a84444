/* Files that an item takes: checked, and in its transaction.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/file/file_internal.h"
#include "app/run/state.h"
#include "base/grow.h"

/* ---- checking ---- */
static bool refuse(struct run *r, const struct file_ask *q, struct slice id, const char *what)
{
	return run_invalid(r, q->attribute->name, "the file %.*s %s", SLICE_ARG(id), what);
}

/* Answers alike whether there is no such file or it is another caller's. */
static bool is_callers(struct run *r, const struct file_ask *q, struct slice id, struct value record)
{
	if (!value_present(record) || !slice_equal(beside_text(record, "owner"), file_owner(r)) ||
	    !slice_equal(beside_text(record, "of"), file_of(r, q->entity, q->attribute)))
		return refuse(r, q, id, "is not one that you have uploaded for this and that no item has");
	if (r->now_ms >= file_until_ms(r, id))
		return refuse(r, q, id, "was uploaded too long ago: upload it again");
	return true;
}

/* An attribute's limits may have changed since the upload was asked for. */
static bool fits_rule(struct run *r, const struct file_ask *q, struct slice id, struct value record)
{
	const struct file_rule *f = attribute_file(q->attribute);

	if (beside_number(record, "size") <= f->most && file_rule_allows(f, beside_text(record, "type")))
		return true;
	return refuse(r, q, id, "does not fit");
}

static bool is_uploaded(struct run *r, const struct file_ask *q, struct slice id, struct value record)
{
	struct slice type = beside_text(record, "type");
	struct media_look look;

	switch (media_look_at(r->app->media, r->arena, file_name(r, id), &look)) {
	case MEDIA_DONE: break;
	case MEDIA_NONE: return refuse(r, q, id, "has not been uploaded");
	case MEDIA_THERE:
	case MEDIA_FULL:
	case MEDIA_TROUBLE:
		(void)run_fail(r, PROBLEM_BUSY, "the store of files does not answer");
		r->problem.retry_after = 2;
		return false;
	}
	if (look.size != beside_number(record, "size") || (look.type.n && !slice_equal_any_case(look.type, type)))
		return refuse(r, q, id, "was uploaded with another length or type than was asked for");
	if (!media_kind_fits(type, slice_make((const char *)look.head, look.head_size)))
		return refuse(r, q, id, "does not begin as files of its type do");
	return true;
}

/* ---- claims ---- */
static struct value stored(struct run *r, struct slice id, struct value record)
{
	struct value_member m[4] = { file_text(r, "file", id), file_text(r, "type", beside_text(record, "type")),
				     file_number(r, "size", beside_number(record, "size")) };
	size_t n = 3;

	if (beside_text(record, "name").n)
		m[n++] = file_text(r, "name", beside_text(record, "name"));
	return value_make_map(r->arena, m, n);
}

static struct file_claim *claim_of(struct file_claims *c, struct slice id)
{
	for (size_t i = 0; i < c->count; i++)
		if (slice_equal(c->list[i].id, id))
			return &c->list[i];
	return NULL;
}

static bool claim(struct run *r, struct file_claims *c, const struct file_ask *q, struct value *v)
{
	struct slice id = file_id(*v);
	struct file_claim *known = claim_of(c, id);
	struct value record;

	if (!id.n)
		return run_invalid(r, q->attribute->name, "the id of an uploaded file");
	if (known && known->used)
		return refuse(r, q, id, "is here twice");
	if (known) {
		known->used = true;
		*v = known->value;
		return true;
	}
	if (c->count >= FILE_CLAIMS_MOST)
		return run_invalid(r, q->attribute->name, "one write takes at most %d files that are new to the item",
				   FILE_CLAIMS_MOST);
	if (!r->app || !r->app->media)
		return run_fail(r, PROBLEM_BUSY, "this server has not been told where files are kept");
	if (!beside_get(r, file_new_key(r, id), &record))
		return false;
	if (run_explores(r))
		return true;
	if (!is_callers(r, q, id, record) || !fits_rule(r, q, id, record) || !is_uploaded(r, q, id, record))
		return false;
	*v = stored(r, id, record);
	GROW_IN(r->arena, c->list, c->count, c->capacity, 4);
	c->list[c->count++] = (struct file_claim){ .id = id,
						   .value = *v,
						   .of = beside_text(record, "of"),
						   .owner = beside_text(record, "owner"),
						   .size = beside_number(record, "size"),
						   .used = true };
	return true;
}

/* The file of that id that the attribute has already; absent: none. */
static struct value had(struct value was, struct slice id)
{
	if (!id.n || !value_present(was))
		return VALUE_ABSENT;
	if (value_type(was) == VALUE_M)
		return slice_equal(file_id(was), id) ? was : VALUE_ABSENT;
	if (value_type(was) != VALUE_L)
		return VALUE_ABSENT;
	for (struct value_iter it = value_iter(was); value_next(&it);)
		if (slice_equal(file_id(it.value), id))
			return it.value;
	return VALUE_ABSENT;
}

static bool take_one(struct run *r, struct file_claims *c, const struct file_ask *q, struct value was, struct value *v)
{
	struct value old = had(was, file_id(*v));

	if (!value_present(old))
		return claim(r, c, q, v);
	*v = old;
	return true;
}

static bool is_twice(const struct value *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (slice_equal(file_id(list[k]), file_id(list[i])))
			return true;
	return false;
}

bool file_take(struct run *r, struct file_claims *c, const struct file_ask *q, struct value was, struct value *v)
{
	struct value *list;
	size_t n = 0;

	if (value_type(*v) == VALUE_M)
		return take_one(r, c, q, was, v);
	if (value_type(*v) != VALUE_L)
		return true;
	list = arena_array(r->arena, struct value, value_count(*v));
	for (struct value_iter it = value_iter(*v); value_next(&it); n++) {
		list[n] = it.value;
		if (!take_one(r, c, q, was, &list[n]))
			return false;
		if (is_twice(list, n))
			return refuse(r, q, file_id(list[n]), "is here twice");
	}
	*v = value_make_list(r->arena, list, n);
	return true;
}

/* ---- writes ---- */
void file_claim_writes(struct run *r, const struct file_claim *c, struct value key,
		       struct dyn_write out[FILE_CLAIM_WRITES])
{
	struct value_member m[6] = {
		file_text(r, "PK", arena_printf(r->arena, "FILE#%.*s", SLICE_ARG(c->id))),
		file_text(r, "SK", SLICE("-")),
		file_text(r, "of", c->of),
		file_text(r, "owner", c->owner),
		file_number(r, "size", c->size),
		{ SLICE("item"), key },
	};

	out[0] = (struct dyn_write){
		.kind = DYN_DELETE, .table = beside_table(r), .key = file_new_key(r, c->id), .must_exist = true
	};
	out[1] = (struct dyn_write){ .kind = DYN_PUT,
				     .table = beside_table(r),
				     .key = file_key(r, c->id),
				     .item = value_make_map(r->arena, m, 6),
				     .must_not_exist = true };
}

struct dyn_write file_move_write(struct run *r, const struct entity *e, const struct attribute *a, struct value file,
				 struct value key)
{
	struct value_member *set = arena_array(r->arena, struct value_member, 3);

	set[0] = (struct value_member){ SLICE("item"), key };
	set[1] = file_text(r, "of", file_of(r, e, a));
	set[2] = file_number(r, "size", beside_number(file, "size"));
	return (struct dyn_write){ .kind = DYN_UPDATE,
				   .table = beside_table(r),
				   .key = file_key(r, file_id(file)),
				   .set = set,
				   .set_count = 3 };
}
