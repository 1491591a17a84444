/* Files that no item has any more, or never had: found, and removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/file/file_internal.h"
#include "app/run/state.h"
#include "base/log.h"

#define PAGE    100
#define TRIES   8
#define GRACE   4 /* a file that is too late for an item is removed this part of its time later */
#define TIDY_MS INT64_C(3600000)

/* ---- one transaction ---- */
enum moved { MOVED, MOVED_NOT, MOVED_FAILED };

/* NOT: a condition does not hold. */
static enum moved commit(struct run *r, const struct dyn_write *w, size_t n)
{
	struct dyn_refusal refusals[2];

	for (int i = 0; i < TRIES; i++) {
		switch (dyn_write(r, w, n, SLICE(""), refusals)) {
		case DYN_DONE: return MOVED;
		case DYN_REFUSED: r->problem = (struct problem){ 0 }; return MOVED_NOT;
		case DYN_CONFLICT: clock_pause_us((int64_t)1000 << i); break;
		case DYN_MISMATCH:
		case DYN_FAILED: return MOVED_FAILED;
		}
		r->problem = (struct problem){ 0 };
	}
	(void)run_busy(r);
	return MOVED_FAILED;
}

/* B1: the other record becomes that of a file to be removed. */
static enum moved give_up(struct run *r, struct slice id, struct dyn_write other, struct value record)
{
	struct value_member m[4] = { file_text(r, "PK", SLICE(FILES_GONE)), file_text(r, "SK", id),
				     file_text(r, "owner", beside_text(record, "owner")),
				     file_number(r, "size", beside_number(record, "size")) };
	struct dyn_write w[2] = { other,
				  { .kind = DYN_PUT,
				    .table = beside_table(r),
				    .key = beside_key(r, SLICE(FILES_GONE), id),
				    .item = value_make_map(r->arena, m, 4) } };

	return commit(r, w, 2);
}

/* ---- what an item has lost ---- */
static bool is_file_name(const struct run *r, struct slice name)
{
	const struct name *n = design_named(r->design, name);

	EACH (struct entity, e, r->design->entities, n ? r->design->entity_count : 0)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (a->at == n && attribute_file(a))
				return true;
	return false;
}

typedef bool file_fn(struct run *r, void *ctx, struct slice id);

/* Each file in an image, until `fn` returns false. */
static bool each_file(struct run *r, struct value image, file_fn *fn, void *ctx)
{
	struct value_iter it, in;

	if (value_type(image) != VALUE_M)
		return true;
	for (it = value_iter(image); value_next(&it);) {
		if ((value_type(it.value) != VALUE_M && value_type(it.value) != VALUE_L) || !is_file_name(r, it.name))
			continue;
		if (value_type(it.value) == VALUE_M && file_id(it.value).n && !fn(r, ctx, file_id(it.value)))
			return false;
		if (value_type(it.value) != VALUE_L)
			continue;
		for (in = value_iter(it.value); value_next(&in);)
			if (file_id(in.value).n && !fn(r, ctx, file_id(in.value)))
				return false;
	}
	return true;
}

static bool differs(struct run *r, void *ctx, struct slice id)
{
	const struct slice *sought = ctx;

	(void)r;
	return !slice_equal(*sought, id);
}

static bool holds(struct run *r, struct value image, struct slice id)
{
	return !each_file(r, image, differs, &id);
}

struct losing {
	struct value key, now; /* the item after the change */
};

/* The record says whose the file is: after a move that is the item at its new key. An item that was written by another
 * program may hold it again. */
static bool lose(struct run *r, void *ctx, struct slice id)
{
	const struct losing *x = ctx;
	struct value record, item;
	struct value_member same = { SLICE("item"), x->key };

	if (holds(r, x->now, id))
		return true;
	if (!beside_get(r, file_key(r, id), &record))
		return false;
	if (!value_present(record) || !value_equal(value_get(record, SLICE("item")), x->key))
		return true;
	if (!dyn_get(r, x->key, true, &item))
		return false;
	if (holds(r, item, id))
		return true;
	return give_up(r, id,
		       (struct dyn_write){ .kind = DYN_DELETE,
					   .table = beside_table(r),
					   .key = file_key(r, id),
					   .equal = &same,
					   .equal_count = 1 },
		       record) != MOVED_FAILED;
}

bool file_follow(struct run *r, struct value key, struct value old_image, struct value new_image)
{
	struct losing x = { key, new_image };

	return each_file(r, old_image, lose, &x);
}

/* The address for its upload is still good, or what has begun there may still come to its end. */
static bool may_come_again(const struct run *r, struct slice id)
{
	return r->now_ms < file_until_ms(r, id) + r->app->file_hold_ms / GRACE;
}

/* ---- what no item has taken in time ---- */
static bool sweep_new(struct run *r)
{
	struct dyn_page page = { 0 };

	do {
		if (!beside_query(r, SLICE(FILES_NEW), PAGE, page.last, &page))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			struct slice id = beside_text(page.items[i], "SK");

			/* Ids sort by time: the rest is younger. */
			if (may_come_again(r, id))
				return true;
			if (give_up(r, id,
				    (struct dyn_write){ .kind = DYN_DELETE,
							.table = beside_table(r),
							.key = file_new_key(r, id),
							.must_exist = true },
				    page.items[i]) == MOVED_FAILED)
				return false;
		}
	} while (value_present(page.last));
	return true;
}

/* ---- what is to be removed ---- */
static bool is_removed(struct value record)
{
	return value_present(value_get(record, SLICE("removed")));
}

static bool note_removed(struct run *r, struct slice id)
{
	struct value_member at = file_number(r, "removed", r->now_ms);
	struct dyn_write w = { .kind = DYN_UPDATE,
			       .table = beside_table(r),
			       .key = beside_key(r, SLICE(FILES_GONE), id),
			       .set = &at,
			       .set_count = 1,
			       .must_exist = true };

	return commit(r, &w, 1) != MOVED_FAILED;
}

/* B6, B7 */
static bool remove_gone(struct run *r, struct value record)
{
	struct slice id = beside_text(record, "SK");
	struct value_member bytes = file_number(r, "bytes", -file_counted(beside_number(record, "size")));
	struct dyn_write w[2] = {
		{ .kind = DYN_DELETE,
		  .table = beside_table(r),
		  .key = beside_key(r, SLICE(FILES_GONE), id),
		  .must_exist = true },
		{ .kind = DYN_UPDATE,
		  .table = beside_table(r),
		  .key = file_quota_key(r, beside_text(record, "owner")),
		  .add = &bytes,
		  .add_count = 1,
		  .must_exist = true },
	};
	enum moved end;

	if (may_come_again(r, id) && is_removed(record))
		return true;
	if (media_remove(r->app->media, r->arena, file_name(r, id)) != MEDIA_DONE)
		return run_fail(r, PROBLEM_BUSY, "a file cannot be removed from its store");
	if (may_come_again(r, id))
		return note_removed(r, id);
	end = commit(r, w, 2);
	if (end == MOVED_NOT) /* another server was faster, or there is no sum, as after a restore */
		end = commit(r, w, 1);
	return end != MOVED_FAILED;
}

static bool sweep_gone(struct run *r)
{
	struct dyn_page page = { 0 };

	do {
		if (!beside_query(r, SLICE(FILES_GONE), PAGE, page.last, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!remove_gone(r, page.items[i]))
				return false;
	} while (value_present(page.last));
	return true;
}

bool file_sweep(struct run *r)
{
	if (r->now_ms >= r->app->file_tidy_ms || r->now_ms < r->app->file_tidy_ms - TIDY_MS) {
		r->app->file_tidy_ms = r->now_ms + TIDY_MS;
		media_tidy(r->app->media);
	}
	return sweep_new(r) && sweep_gone(r);
}
