/* Names, keys, and slots for uploads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/file/file_internal.h"
#include "app/run/state.h"
#include "base/ulid.h"
#include "json/json.h"

#define TRIES 8

/* ---- names and keys ---- */
struct value file_key(struct run *r, struct slice id)
{
	return beside_key(r, arena_printf(r->arena, "FILE#%.*s", SLICE_ARG(id)), SLICE("-"));
}

struct value file_new_key(struct run *r, struct slice id)
{
	return beside_key(r, SLICE(FILES_NEW), id);
}

struct value file_quota_key(struct run *r, struct slice owner)
{
	return beside_key(r, arena_printf(r->arena, "FILES#BY#%.*s", SLICE_ARG(owner)), SLICE("-"));
}

struct value_member file_text(struct run *r, const char *name, struct slice v)
{
	return (struct value_member){ slice_str(name), value_make_s(r->arena, v) };
}

struct value_member file_number(struct run *r, const char *name, int64_t v)
{
	return (struct value_member){ slice_str(name), value_make_i64(r->arena, v) };
}

struct slice file_owner(struct run *r)
{
	const struct caller *c = &r->caller;

	return c->operator_   ? SLICE("operator")
	       : c->subject.n ? arena_printf(r->arena, "user %.*s", SLICE_ARG(c->subject))
			      : SLICE("anyone");
}

struct slice file_of(struct run *r, const struct entity *e, const struct attribute *a)
{
	return arena_printf(r->arena, "%.*s.%.*s", SLICE_ARG(e->name), SLICE_ARG(a->name));
}

int64_t file_until_ms(const struct run *r, struct slice id)
{
	int64_t ms = 0;

	return ulid_ms(id.p, id.n, &ms) ? ms + r->app->file_hold_ms : 0;
}

struct media_name file_name(const struct run *r, struct slice id)
{
	return (struct media_name){ r->design->name, id };
}

int64_t file_counted(int64_t size)
{
	return size < FILE_LEAST_BYTES ? FILE_LEAST_BYTES : size;
}

struct media *file_store(const struct app *app)
{
	return app->media;
}

/* ---- values ---- */
static bool is_id(struct slice s)
{
	int64_t ms;

	return ulid_ms(s.p, s.n, &ms);
}

bool file_input(struct arena *a, const struct json *j, struct value *out)
{
	const struct json *id = j->type == JSON_OBJECT ? json_get(j, "file") : j;
	struct value_member m = { SLICE("file"), VALUE_ABSENT };

	if (!id || id->type != JSON_STRING || !is_id(id->string))
		return false;
	m.value = value_make_s(a, id->string);
	*out = value_make_map(a, &m, 1);
	return true;
}

struct slice file_id(struct value v)
{
	struct value id = value_type(v) == VALUE_M ? value_get(v, SLICE("file")) : VALUE_ABSENT;

	return value_type(id) == VALUE_S && is_id(value_bytes(id)) ? value_bytes(id) : SLICE("");
}

/* ---- slots ---- */
static bool fits(struct run *r, const struct file_ask *q)
{
	const struct file_rule *f = attribute_file(q->attribute);

	if (q->size >= 1 && q->size <= f->most && file_rule_allows(f, q->type))
		return true;
	return run_invalid(r, q->attribute->name, "a file %.*s", SLICE_ARG(file_rule_text(r->arena, f)));
}

static struct value new_record(struct run *r, const struct file_ask *q, struct slice id)
{
	struct value_member m[7] = {
		file_text(r, "PK", SLICE(FILES_NEW)),
		file_text(r, "SK", id),
		file_text(r, "of", file_of(r, q->entity, q->attribute)),
		file_text(r, "owner", file_owner(r)),
		file_text(r, "type", q->type),
		file_number(r, "size", q->size),
	};
	size_t n = 6;

	if (q->name.n)
		m[n++] = file_text(r, "name", q->name);
	return value_make_map(r->arena, m, n);
}

/* B7. Operators have no limit. */
static const struct test *has_room(struct run *r, int64_t more)
{
	struct slice bytes = SLICE("bytes");

	if (r->caller.operator_)
		return NULL;
	return test_join(r->arena, TEST_OR, test_attribute(r->arena, TEST_NOT_EXISTS, bytes, VALUE_ABSENT),
			 test_attribute(r->arena, TEST_LE, bytes,
					value_make_i64(r->arena, r->app->file_caller_most - more)));
}

static bool too_much(struct run *r)
{
	return run_fail(r, PROBLEM_TOO_MANY,
			"your files have all the room that there is for one caller: remove some, or wait until uploads that "
			"no item has taken are gone");
}

static bool put_record(struct run *r, const struct file_ask *q, struct slice id)
{
	int64_t counted = file_counted(q->size);
	struct value_member bytes = file_number(r, "bytes", counted);
	struct dyn_write w[2] = {
		{ .kind = DYN_PUT, .table = beside_table(r), .item = new_record(r, q, id), .must_not_exist = true },
		{ .kind = DYN_UPDATE,
		  .table = beside_table(r),
		  .key = file_quota_key(r, file_owner(r)),
		  .add = &bytes,
		  .add_count = 1,
		  .also = has_room(r, counted) },
	};
	struct dyn_refusal refusals[2];

	w[0].key = file_new_key(r, id);
	if (!r->caller.operator_ && counted > r->app->file_caller_most)
		return too_much(r);
	for (int i = 0; i < TRIES; i++) {
		switch (dyn_write(r, w, 2, SLICE(""), refusals)) {
		case DYN_DONE: return true;
		case DYN_REFUSED: return too_much(r);
		case DYN_CONFLICT: clock_pause_us((int64_t)1000 << i); break;
		case DYN_MISMATCH:
		case DYN_FAILED: return false;
		}
		r->problem = (struct problem){ 0 };
	}
	return run_busy(r);
}

static bool no_store(struct run *r)
{
	(void)run_fail(r, PROBLEM_BUSY, "this server has not been told where files are kept");
	r->problem.retry_after = 60;
	return false;
}

bool file_open_slot(struct run *r, const struct file_ask *q, struct file_slot *out)
{
	char ulid[ULID_LENGTH];

	if (!r->app->media)
		return no_store(r);
	if (!fits(r, q))
		return false;
	if (!ulid_new(r->now_ms, ulid))
		return run_fail(r, PROBLEM_INTERNAL, "there are no random numbers");
	out->id = arena_copy(r->arena, slice_make(ulid, sizeof(ulid)));
	out->until_ms = file_until_ms(r, out->id);
	if (!put_record(r, q, out->id))
		return false;
	out->url = file_upload_url(r, q, out->id, out->until_ms);
	return out->url.n;
}
