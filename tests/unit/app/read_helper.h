/* Items put straight into the table, and lists read page by page into one text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_READ_HELPER_H
#define THORPE_TESTS_READ_HELPER_H

#include "app_fixture.h"
#include "app/db/dyn.h"
#include "app/read/read.h"

/* The next of "a=1 b=2". */
static inline bool read_pair(struct slice *rest, struct slice *name, struct slice *text)
{
	const char *end = memchr(rest->p, ' ', rest->n), *sign;
	struct slice pair = { rest->p, end ? (size_t)(end - rest->p) : rest->n };

	if (!rest->n)
		return false;
	*rest = end ? slice_make(end + 1, rest->n - pair.n - 1) : slice_make(rest->p + rest->n, 0);
	sign = memchr(pair.p, '=', pair.n);
	assert_non_null(sign);
	*name = slice_make(pair.p, (size_t)(sign - pair.p));
	*text = slice_make(sign + 1, pair.n - name->n - 1);
	return true;
}

static inline struct value read_typed(struct run *r, const struct attribute *a, struct slice text)
{
	struct value list[16];
	struct number n;
	struct error e = { 0 };
	size_t count = 0;

	if (a && (a->type == ATTR_NUMBER || a->type == ATTR_INTEGER || a->type == ATTR_EPOCH)) {
		assert_true(number_parse(text, &n, r->arena, &e));
		return value_make_n(r->arena, &n);
	}
	if (a && a->type == ATTR_BOOLEAN)
		return value_make_bool(r->arena, slice_is(text, "true"));
	if (!a || a->type != ATTR_LIST)
		return value_make_s(r->arena, text);
	while (text.n) {
		const char *comma = memchr(text.p, ',', text.n);
		size_t k = comma ? (size_t)(comma - text.p) : text.n;

		list[count++] = value_make_s(r->arena, slice_make(text.p, k));
		text = comma ? slice_make(comma + 1, text.n - k - 1) : slice_make(text.p + k, 0);
	}
	return value_make_list(r->arena, list, count);
}

/* put(&f, "Post", "id=a score=3 tags=x,y"): the item with its keys, and its companions. */
static inline void put(struct app_fixture *f, const char *entity, const char *text)
{
	struct run *r = app_fixture_run(f, "!");
	const struct entity *e = design_entity(f->design, slice_str(entity));
	struct slice rest = slice_str(text), name, v;
	struct companion_item *companions;
	struct dyn_refusal refusal;
	struct row item;
	size_t n;

	assert_non_null(e);
	row_init(&item, r->arena, NULL);
	while (read_pair(&rest, &name, &v))
		row_put(&item, arena_copy(r->arena, name), read_typed(r, entity_attribute(e, name), v));
	assert_true(entity_complete(r, e, &item, VALUE_ABSENT));
	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = entity_stored(r, e, &item) }, 1,
				   SLICE(""), &refusal),
			 DYN_DONE);
	assert_true(entity_companions(r, e, &item, &companions, &n));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = companions[i].item }, 1,
					   SLICE(""), &refusal),
				 DYN_DONE);
}

static inline void discard(struct app_fixture *f, const char *pk, const char *sk)
{
	struct run *r = app_fixture_run(f, "!");
	struct dyn_refusal refusal;
	struct value_member key[] = { { SLICE("PK"), value_make_s(r->arena, slice_str(pk)) },
				      { SLICE("SK"), value_make_s(r->arena, slice_str(sk)) } };

	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_DELETE, .key = value_make_map(r->arena, key, 2) },
				   1, SLICE(""), &refusal),
			 DYN_DONE);
}

static inline const struct access *pattern(struct app_fixture *f, const char *name)
{
	const struct access *a = design_access(f->design, slice_str(name));

	if (!a)
		fail_msg("no pattern %s", name);
	return a;
}

static inline const struct attribute *query_param(const struct access *a, struct slice name)
{
	for (size_t i = 0; i < a->query_param_count; i++)
		if (slice_equal(a->query_params[i].name, name))
			return &a->query_params[i];
	return NULL;
}

static inline struct row *params(struct run *r, const struct access *a, const char *text)
{
	struct row *out = arena_new(r->arena, struct row);
	struct slice rest = slice_str(text), name, v;

	row_init(out, r->arena, NULL);
	while (read_pair(&rest, &name, &v))
		row_put(out, name, read_typed(r, query_param(a, name), v));
	return out;
}

/* One page; the problem's status when it fails, else 200. */
static inline int read_page(struct run *r, const char *name, const char *with, int64_t limit, struct slice cursor,
			    struct read_result *out)
{
	const struct access *a = design_access(r->design, slice_str(name));
	struct read_request q = { .access = a, .params = params(r, a, with), .limit = limit, .cursor = cursor };

	return read_access(r, &q, out) ? 200 : problem_status(r->problem.type);
}

static inline void put_label(struct buf *b, const struct row *row, struct slice attribute)
{
	struct value v = value_get(row->full, attribute);

	buf_put(b, value_type(v) == VALUE_S ? value_bytes(v) : SLICE("?"));
	if (row->child_count) {
		buf_byte(b, '(');
		for (size_t i = 0; i < row->child_count; i++) {
			if (i)
				buf_byte(b, ' ');
			put_label(b, &row->children[i], attribute);
		}
		buf_byte(b, ')');
	}
}

/* Every page: "a b c". Full pages but the last, no cursor at the end. */
static inline const char *read_text(struct app_fixture *f, const char *subject, const char *name, const char *with,
				    int64_t limit, const char *attribute)
{
	struct slice cursor = SLICE("");
	struct buf b;

	buf_init(&b, &f->arena);
	for (int pages = 0;; pages++) {
		struct run *r = app_fixture_run(f, subject);
		struct read_result page;

		r->now_ms += pages * 1000; /* time goes by between pages */
		if (read_page(r, name, with, limit, cursor, &page) != 200)
			fail_msg("%s: %s %.*s", name, problem_name(r->problem.type), SLICE_ARG(r->problem.detail));
		assert_true(pages < 200);
		assert_true(!limit || page.tree || (int64_t)page.row_count <= limit);
		assert_true(!page.next.n || (int64_t)page.row_count == limit || !limit);
		assert_true(!pages || page.row_count);
		for (size_t i = 0; i < page.row_count; i++) {
			if (b.n)
				buf_byte(&b, ' ');
			put_label(&b, &page.rows[i], slice_str(attribute));
		}
		cursor = page.next;
		if (!cursor.n)
			break;
	}
	return arena_cstr(&f->arena, buf_slice(&b));
}

#define assert_reads(f, subject, name, with, expected)                                                      \
	do {                                                                                                \
		static const int sizes_[] = { 1, 2, 3, 7, 100 };                                            \
		for (size_t i_ = 0; i_ < sizeof(sizes_) / sizeof(sizes_[0]); i_++)                          \
			assert_string_equal(read_text(f, subject, name, with, sizes_[i_], "id"), expected); \
	} while (0)

/* The result as JSON. */
static inline const char *read_json(struct app_fixture *f, const char *subject, const char *name, const char *with)
{
	struct run *r = app_fixture_run(f, subject);
	struct read_result x;
	struct buf b;

	if (read_page(r, name, with, 0, SLICE(""), &x) != 200)
		fail_msg("%s: %s %.*s", name, problem_name(r->problem.type), SLICE_ARG(r->problem.detail));
	buf_init(&b, r->arena);
	assert_true(read_output(r, design_access(r->design, slice_str(name)), &x, &b));
	return arena_cstr(r->arena, buf_slice(&b));
}

static inline int read_status(struct app_fixture *f, const char *subject, const char *name, const char *with)
{
	struct read_result x;

	return read_page(app_fixture_run(f, subject), name, with, 0, SLICE(""), &x);
}

#endif
