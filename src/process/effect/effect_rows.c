/* The rows of an effect, page by page, and the position among them.
 *
 * Progress, as text: "1 <sequence> <done> <hash> <cursor> <next>". The change it belongs to; the number of finished
 * steps in the page that begins at the cursor ("-": the first page); a hash of the key of the last finished step's row,
 * which finds that row again if rows before it were added or removed; the same of the next step's row, for effects that
 * remove the rows they are done with (0, or missing in positions of earlier versions: there is none).
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <xxhash.h>
#include "app/entity/entity_key.h"
#include "process/effect/effect_internal.h"

#define PAGE_ROWS (10 * EFFECT_MOST_ACTIONS) /* reading in small pieces costs more */

/* Trees are read whole; what hangs below a row is a row, too. */
static size_t count_rows(const struct row *rows, size_t n)
{
	size_t sum = n;

	for (size_t i = 0; i < n; i++)
		sum += count_rows(rows[i].children, rows[i].child_count);
	return sum;
}

static struct row *flatten(const struct row *rows, size_t n, struct row *to)
{
	for (size_t i = 0; i < n; i++) {
		*to++ = rows[i];
		to = flatten(rows[i].children, rows[i].child_count, to);
	}
	return to;
}

static void set_rows(struct effect *x, struct rows *page, struct row *list, size_t n)
{
	page->list = list;
	page->count = n;
	page->steps = n * x->processor->parts;
}

static void take_page(struct effect *x, const struct read_result *result, struct rows *page)
{
	set_rows(x, page, result->rows, result->row_count);
	page->next = result->next;
	if (!result->tree)
		return;
	page->count = count_rows(result->rows, result->row_count);
	set_rows(x, page, arena_array(x->page->arena, struct row, page->count), page->count);
	flatten(result->rows, result->row_count, page->list);
}

/* One page from page->cursor on. */
static bool read_rows(struct effect *x, struct rows *page)
{
	const struct processor *p = x->processor;
	bool each = p->each_pattern.n > 0;
	struct read_request q = {
		.access = x->processor->rows_access, .limit = PAGE_ROWS, .cursor = page->cursor, .trusted = true
	};
	struct run *r = x->page;
	struct read_result result;
	struct row params;
	int64_t was = effect_time_enter(x, r);
	bool ok;

	effect_row_enter(x, NULL);
	ok = effect_params(x, r, q.access, each ? p->each_with : p->with, each ? p->each_with_count : p->with_count,
			   &params);
	effect_time_leave(r, was);
	if (!ok)
		return false;
	q.params = &params;
	if (!read_access(r, &q, &result)) {
		if (r->problem.type != PROBLEM_NOT_FOUND)
			return false;
		r->problem = (struct problem){ 0 };
		result = (struct read_result){ 0 };
	}
	take_page(x, &result, page);
	return true;
}

/* ---- a list of the item ---- */

static bool is_in(const struct rows *page, struct value v)
{
	for (size_t i = 0; i < page->count; i++)
		if (value_equal(page->list[i].full, v))
			return true;
	return false;
}

static void add_element(struct rows *page, struct value v)
{
	if (!is_in(page, v))
		page->list[page->count++].full = v;
}

/* Each element is a row, equal ones once. */
static bool list_rows(struct effect *x, struct rows *page)
{
	struct run *r = x->page;
	int64_t was = effect_time_enter(x, r);
	struct value_iter it;
	struct value list;
	struct scope s;
	bool ok;

	effect_row_enter(x, NULL);
	s = effect_scope(x, r);
	ok = scope_value(&s, x->processor->each_list, &list);
	effect_time_leave(r, was);
	if (!ok)
		return false;
	it = value_iter(list);
	set_rows(x, page, arena_array(r->arena, struct row, value_count(list) + 1), 0);
	while (value_type_has_elements(value_type(list)) && value_next(&it))
		add_element(page, value_element(r->arena, &it));
	set_rows(x, page, page->list, page->count);
	return true;
}

/* ---- where we are ---- */

static uint64_t hash_of(struct effect *x, const struct row *row)
{
	struct value key = x->processor->each_list ? VALUE_ABSENT : dyn_key_of(x->page, row->full);
	struct value v = value_count(key) ? key : row->full;

	return XXH3_64bits(v.p ? (const void *)v.p : "", v.n);
}

struct progress {
	size_t done;
	uint64_t hash, next; /* next: 0: none */
	struct slice cursor;
};

static bool take_word(struct slice *rest, struct slice *word)
{
	const char *end = memchr(rest->p, ' ', rest->n);
	size_t n = end ? (size_t)(end - rest->p) : rest->n;

	*word = slice_make(rest->p, n);
	*rest = end ? slice_make(end + 1, rest->n - n - 1) : slice_make(rest->p + rest->n, 0);
	return n > 0;
}

static bool take_number(struct slice *rest, int base, uint64_t *out)
{
	struct slice word;

	*out = 0;
	if (!take_word(rest, &word) || word.n > 16)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : base;

		if (digit >= base)
			return false;
		*out = *out * (uint64_t)base + (uint64_t)digit;
	}
	return true;
}

/* False: none, or that of another change. */
static bool progress_read(const struct effect *x, struct progress *out)
{
	struct slice rest = x->at->progress, word;
	uint64_t done;

	if (!rest.n || !take_word(&rest, &word) || !slice_is(word, "1") || !take_word(&rest, &word) ||
	    !slice_equal(word, x->change->sequence) || !take_number(&rest, 10, &done) ||
	    !take_number(&rest, 16, &out->hash) || !take_word(&rest, &out->cursor))
		return false;
	out->done = (size_t)done;
	(void)!take_number(&rest, 16, &out->next);
	if (slice_is(out->cursor, "-"))
		out->cursor = SLICE("");
	return true;
}

struct slice effect_begun(struct slice progress)
{
	struct slice word;

	if (!progress.n || !take_word(&progress, &word) || !slice_is(word, "1") || !take_word(&progress, &word))
		return SLICE("");
	return word;
}

bool effect_is_begun(const struct effect *x)
{
	struct progress p;

	return progress_read(x, &p);
}

/* Effects that are the same when they are done again. */
static bool may_be_repeated(const struct processor *p)
{
	for (size_t i = 0; i < p->parts; i++)
		if (p[i].effect == EFFECT_COUNT || p[i].add_count)
			return false;
	return true;
}

/* The first row with that hash; page->count: none. */
static size_t find_row(struct effect *x, const struct rows *page, uint64_t hash)
{
	size_t i = 0;

	while (i < page->count && hash_of(x, &page->list[i]) != hash)
		i++;
	return i;
}

/* The last finished row may be gone, perhaps by its own effect: then the next one is looked for. Without both,
 * everything except counts is repeated from the page's beginning, which changes nothing. */
static size_t find_first(struct effect *x, const struct rows *page, const struct progress *p)
{
	size_t parts = x->processor->parts, row = p->done ? (p->done - 1) / parts : 0;
	size_t inside = p->done ? (p->done - 1) % parts + 1 : 0; /* steps of the last row that are done */

	if (!p->done)
		return 0;
	if (row < page->count && hash_of(x, &page->list[row]) == p->hash)
		return p->done;
	row = find_row(x, page, p->hash);
	if (row < page->count)
		return row * parts + inside;
	row = p->next ? find_row(x, page, p->next) : page->count;
	if (row < page->count)
		return row * parts + p->done % parts;
	if (may_be_repeated(x->processor))
		return 0;
	return p->done < page->steps ? p->done : page->steps;
}

bool effect_rows_resume(struct effect *x, struct rows *page)
{
	struct progress p = { 0 };

	*page = (struct rows){ 0 };
	if (x->processor->each_list) {
		if (!list_rows(x, page))
			return false;
		page->first = progress_read(x, &p) ? find_first(x, page, &p) : 0;
		return true;
	}
	if (!x->processor->rows_access) {
		set_rows(x, page, arena_new(x->page->arena, struct row), 1);
		if (progress_read(x, &p) && p.done < page->steps)
			page->first = p.done;
		return true;
	}
	if (progress_read(x, &p))
		page->cursor = arena_copy(x->page->arena, p.cursor);
	if (!read_rows(x, page)) {
		if (x->page->problem.type != PROBLEM_MALFORMED || !page->cursor.n)
			return false;
		/* `let` has other values now, so the cursor belongs to other parameters: starts from the beginning. */
		x->page->problem = (struct problem){ 0 };
		*page = (struct rows){ 0 };
		p = (struct progress){ 0 };
		if (!read_rows(x, page))
			return false;
	}
	page->first = find_first(x, page, &p);
	return true;
}

bool effect_rows_next(struct effect *x, struct rows *page)
{
	struct slice cursor = arena_copy(x->caller->arena, page->next);

	branch_clear(x->page, x->caller);
	*page = (struct rows){ .cursor = cursor };
	return read_rows(x, page);
}

void effect_row_enter(struct effect *x, const struct row *row)
{
	bool list = x->processor->each_list != NULL, any = row && (x->processor->rows_access || list);

	x->variables[x->variable_count].value = any && x->processor->each_variable.n ? row->full : VALUE_ABSENT;
	x->row_key = !any ? VALUE_ABSENT : list ? row->full : dyn_key_of(x->run, row->full);
}

void effect_part_enter(struct effect *x, size_t i)
{
	x->rule = x->processor + i;
	x->target = x->rule->target_entity;
}

/* ---- the position ---- */

bool effect_position_is_end(const struct rows *page, size_t done)
{
	return done == page->steps && !page->next.n;
}

struct position effect_position_after(struct effect *x, const struct rows *page, size_t done)
{
	struct position now = {
		.processor = x->at->processor,
		.shard = x->at->shard,
		.sequence = x->at->sequence,
		.stored = true,
		.time_ms = x->change->created_ms,
	};
	struct slice cursor = done == page->steps ? page->next : page->cursor;
	size_t inside = done == page->steps ? 0 : done, parts = x->processor->parts;
	uint64_t next = inside ? hash_of(x, &page->list[inside / parts]) : 0;

	if (effect_position_is_end(page, done)) {
		now.sequence = x->change->sequence;
		return now;
	}
	now.progress =
		arena_printf(x->run->arena, "1 %.*s %zu %" PRIx64 " %.*s %" PRIx64, SLICE_ARG(x->change->sequence),
			     inside, inside ? hash_of(x, &page->list[(inside - 1) / parts]) : 0,
			     SLICE_ARG(cursor.n ? cursor : SLICE("-")), next);
	return now;
}

void effect_position_ride(struct effect *x, const struct position *now)
{
	x->run->riders = checkpoint_move(x->run, x->at, now);
	x->run->rider_count = 1;
}

void effect_position_moved(struct effect *x, const struct position *now)
{
	x->progress.n = 0;
	buf_put(&x->progress, now->progress);
	x->at->sequence = now->sequence;
	x->at->progress = buf_slice(&x->progress);
	x->at->stored = true;
	x->wrote = true;
}
