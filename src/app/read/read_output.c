/* Results as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/output.h"
#include "app/read/read_internal.h"

/* Rows being written. */
struct rows {
	struct run *r;
	const struct read_result *x;
	const struct attribute *show;
	size_t show_count;
	/* attributes that are not written: `without`, and those that `show` replaces */
	const struct name **without;
	size_t without_count;
};

static struct rows rows_of(struct run *r, const struct access *access, const struct read_result *x)
{
	struct rows w = { .r = r, .x = x, .show = access->show, .show_count = access->show_count };

	w.without = arena_array(r->arena, const struct name *, access->without_count + access->show_count);
	for (size_t i = 0; i < access->without_count; i++)
		w.without[w.without_count++] = access->without_at[i];
	for (size_t i = 0; i < access->show_count; i++)
		w.without[w.without_count++] = access->show[i].at;
	return w;
}

/* Opens the object again that the buffer ends with. */
static void reopen(struct buf *b)
{
	b->n--; /* its closing brace */
	if (b->p[b->n - 1] != '{')
		buf_byte(b, ',');
}

static void put_shown(const struct attribute *show, size_t count, const struct value *values, struct buf *b)
{
	for (size_t i = 0; values && i < count; i++) {
		if (!value_present(values[i]))
			continue;
		reopen(b);
		json_string(b, show[i].name);
		buf_byte(b, ':');
		output_value(b, values[i]);
		buf_byte(b, '}');
	}
}

static bool put_row(const struct rows *w, const struct row *row, struct buf *b);

static bool put_rows(const struct rows *w, const struct row *rows, size_t n, struct buf *b)
{
	buf_byte(b, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_byte(b, ',');
		if (!put_row(w, &rows[i], b))
			return false;
	}
	buf_byte(b, ']');
	return true;
}

static bool put_row(const struct rows *w, const struct row *row, struct buf *b)
{
	if (!output_row(w->r, row, w->x->mixed, w->without, w->without_count, b))
		return false;
	put_shown(w->show, w->show_count, row->shown, b);
	if (!w->x->tree)
		return true;
	reopen(b);
	buf_lit(b, "\"children\":");
	if (!put_rows(w, row->children, row->child_count, b))
		return false;
	buf_byte(b, '}');
	return true;
}

bool read_output_item(struct run *r, const struct row *item, struct buf *b)
{
	if (!output_row(r, item, false, NULL, 0, b))
		return false;
	if (item->entity)
		put_shown(item->entity->show, item->entity->show_count, item->shown, b);
	return true;
}

/* The mean of the labels, to four places. */
static void put_mean(struct run *r, const struct read_result *x, struct buf *b)
{
	struct number sum = number_from_i64(0), count = number_from_i64(x->count), mean;
	char text[NUMBER_TEXT_MAX];
	struct error e = { 0 };
	bool ok = x->count > 0;

	for (size_t i = 0; i < x->count_count && ok; i++) {
		struct number n = number_from_i64(x->counts[i]), label = value_number(x->labels[i]), product;

		ok = number_mul(&n, &label, &product, r->arena, &e) && number_add(&sum, &product, &sum, r->arena, &e);
	}
	ok = ok && number_div(&sum, &count, &mean, r->arena, &e) && number_round(&mean, -4, &mean, r->arena, &e);
	if (ok)
		buf_add(b, text, number_format(&mean, text));
	else
		buf_lit(b, "null");
}

static void put_counts(struct run *r, const struct read_result *x, struct buf *b)
{
	char text[NUMBER_TEXT_MAX];

	buf_lit(b, "{\"count\":");
	buf_i64(b, x->count);
	buf_lit(b, ",\"mean\":");
	put_mean(r, x, b);
	buf_lit(b, ",\"counts\":{");
	for (size_t i = 0; i < x->count_count; i++) {
		struct number n = value_number(x->labels[i]);

		buf_printf(b, "%s\"", i ? "," : "");
		buf_add(b, text, number_format(&n, text));
		buf_lit(b, "\":");
		buf_i64(b, x->counts[i]);
	}
	buf_lit(b, "}}");
}

static bool put_list(struct run *r, const struct access *access, const struct read_result *x, struct buf *b)
{
	const struct rows w = rows_of(r, access, x);
	size_t likely = 64;

	for (size_t i = 0; i < x->row_count; i++)
		likely += x->rows[i].full.n;
	buf_room(b, likely); /* grows once */
	buf_lit(b, "{\"items\":");
	if (!put_rows(&w, x->rows, x->row_count, b))
		return false;
	if (x->next.n) {
		buf_lit(b, ",\"next\":");
		json_string(b, x->next);
	}
	buf_byte(b, '}');
	return true;
}

static bool put_one(struct run *r, const struct access *access, const struct read_result *x, struct buf *b)
{
	const struct rows w = rows_of(r, access, x);

	return put_row(&w, &x->rows[0], b);
}

bool read_output(struct run *r, const struct access *access, const struct read_result *x, struct buf *b)
{
	switch (x->shape) {
	case READ_ONE: return put_one(r, access, x, b);
	case READ_LIST: return put_list(r, access, x, b);
	case READ_COUNT:
		buf_lit(b, "{\"count\":");
		buf_i64(b, x->count);
		buf_byte(b, '}');
		return true;
	case READ_COUNTS: put_counts(r, x, b); return true;
	case READ_VALUES:
		buf_lit(b, "{\"items\":[");
		for (size_t i = 0; i < x->value_count; i++) {
			if (i)
				buf_byte(b, ',');
			output_value(b, x->values[i]);
		}
		buf_lit(b, "]}");
		return true;
	}
	return run_fail(r, PROBLEM_INTERNAL, "A result of unknown shape");
}
