/* Key templates: parsed once, filled on every write, matched to read a key back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "base/ulid.h"
#include "design/term/template.h"
#include "design/term/term_lex.h"
#include "design/term/term_parts.h"
#include "design/term/term_text.h"

#define WIDTH_MAX 37 /* with an offset a number still has fewer than 38 digits */

/* ---- parsing ---- */

struct parser {
	struct arena *arena;
	struct findings *findings;
	struct slice text;
	struct place place;
	struct template_part *parts;
	size_t count, room;
};

static bool refuse_template(struct parser *p, size_t at, size_t end, const char *message, const char *repair)
{
	struct place place = term_place(p->text, p->place, at, end);
	struct finding *f = findings_add(p->findings, SEVERITY_ERROR, "bad-template", place, "%s", message);

	if (repair)
		f->repair = slice_str(repair);
	return false;
}

static struct template_part *add_part(struct parser *p)
{
	GROW_IN(p->arena, p->parts, p->count, p->room, 4);
	p->parts[p->count] = (struct template_part){ .format = FORMAT_PLAIN };
	return &p->parts[p->count++];
}

/* name { "." name | "[" number "]" } at [at, end) */
static bool parse_names(struct parser *p, struct template_part *part, size_t at, size_t end)
{
	size_t most = 1, start = at, element;
	struct slice *names;

	for (size_t i = at; i < end; i++)
		most += p->text.p[i] == '.' || p->text.p[i] == '[';
	names = arena_array(p->arena, struct slice, most);
	for (size_t i = at; i <= end; i++) {
		if (i < end && (lex_is_name(p->text.p[i]) || p->text.p[i] == '-'))
			continue;
		element = i < end ? lex_element(p->text, i) : 0;
		if (i < end && p->text.p[i] != '.' && !element)
			return refuse_template(p, i, i + 1, "this is not allowed in a placeholder's name",
					       "a placeholder is <name>, <variable.name> or <name:format>");
		if (i == start)
			return refuse_template(p, at - 1, end + 1, "this placeholder lacks a name",
					       "a placeholder is <name>, <variable.name> or <name:format>");
		names[part->name_count++] = arena_copy(p->arena, slice_make(p->text.p + start, i - start));
		for (; element; element = i < end ? lex_element(p->text, i) : 0) {
			names[part->name_count++] = arena_copy(p->arena, slice_make(p->text.p + i, element - i));
			i = element;
		}
		if (i < end && p->text.p[i] != '.')
			return refuse_template(p, i, i + 1, "this is not allowed after an element",
					       "as in <lines[0].sku>");
		start = i + 1;
	}
	part->names = names;
	part->of = term_path_of(names, part->name_count);
	return true;
}

/* The digits after + or 0. */
static bool parse_width(struct slice digits, int *out)
{
	*out = 0;
	if (digits.n == 0 || digits.n > 2)
		return false;
	for (size_t i = 0; i < digits.n; i++) {
		if (!lex_is_digit(digits.p[i]))
			return false;
		*out = *out * 10 + (digits.p[i] - '0');
	}
	return *out >= 1 && *out <= WIDTH_MAX;
}

static const char *const words[] = { "hour", "date", "week", "month", "year", "lower", "slug", "ulid", "shard", NULL };
static const enum template_format formats[] = { FORMAT_HOUR,  FORMAT_DATE,        FORMAT_WEEK,
						FORMAT_MONTH, FORMAT_YEAR,        FORMAT_LOWER,
						FORMAT_SLUG,  FORMAT_ULID_LOWEST, FORMAT_SHARD };

/* shard 10 */
static bool parse_shard(struct parser *p, struct template_part *part, size_t at, size_t end)
{
	size_t i = at;

	part->format = FORMAT_SHARD;
	while (i < end && p->text.p[i] == ' ')
		i++;
	for (; i < end && lex_is_digit(p->text.p[i]) && part->width <= SHARDS_MOST; i++)
		part->width = part->width * 10 + (p->text.p[i] - '0');
	if (i == end && part->width >= 2 && part->width <= SHARDS_MOST)
		return true;
	return refuse_template(p, at, end, "this is not a number of shards from 2 to 1000", "as in <id:shard 10>");
}

static bool parse_format(struct parser *p, struct template_part *part, size_t at, size_t end)
{
	struct slice text = slice_make(p->text.p + at, end - at);
	const char *meant;

	if (slice_starts(text, SLICE("shard")) && (text.n == 5 || !lex_is_name(text.p[5])))
		return parse_shard(p, part, at + 5, end);
	for (size_t i = 0; words[i]; i++) {
		if (!slice_is(text, words[i]))
			continue;
		part->format = formats[i];
		return true;
	}
	if (text.n > 1 && (text.p[0] == '0' || text.p[0] == '+')) {
		part->format = text.p[0] == '0' ? FORMAT_PAD : FORMAT_OFFSET;
		if (parse_width(slice_make(text.p + 1, text.n - 1), &part->width))
			return true;
		return refuse_template(p, at, end, "this width is not a number from 1 to 37",
				       "as in <order:06> or <score:+10>");
	}
	if (text.n && lex_is_digit(text.p[0]))
		return refuse_template(p, at, end, "a width begins with 0 (padded) or + (offset)",
				       "as in <order:06> or <score:+10>");
	meant = suggest_word(text, words);
	return refuse_template(
		p, at, end, "there is no such format",
		meant ? arena_cstr(p->arena, arena_printf(p->arena, "did you mean %s?", meant))
		      : "formats are hour, date, week, month, year, lower, slug, ulid, shard 10, 06 (padded) and +10 (offset)");
}

/* The placeholder that opens at `at`; *next is after it. */
static bool parse_placeholder(struct parser *p, size_t at, size_t *next)
{
	struct template_part *part;
	size_t end = at + 1, colon;

	while (end < p->text.n && p->text.p[end] != '>' && p->text.p[end] != '<')
		end++;
	if (end == p->text.n || p->text.p[end] == '<')
		return refuse_template(p, at, end, "this placeholder has no end", "close it with >");
	for (colon = at + 1; colon < end && p->text.p[colon] != ':'; colon++)
		;
	part = add_part(p);
	*next = end + 1;
	return parse_names(p, part, at + 1, colon) && (colon == end || parse_format(p, part, colon + 1, end));
}

static bool parse_parts(struct parser *p)
{
	for (size_t at = 0, end; at < p->text.n; at = end) {
		end = at;
		while (end < p->text.n && p->text.p[end] != '<' && p->text.p[end] != '>')
			end++;
		if (end > at) {
			add_part(p)->literal = arena_copy(p->arena, slice_make(p->text.p + at, end - at));
			continue;
		}
		if (p->text.p[at] == '>')
			return refuse_template(p, at, at + 1, "no placeholder is open here", NULL);
		if (!parse_placeholder(p, at, &end))
			return false;
	}
	return true;
}

const struct template *template_parse(struct arena *a, struct slice text, struct place place, struct findings *f)
{
	struct parser p = { .arena = a, .findings = f, .text = text, .place = place };
	struct template *t;

	if (text.n == 0) {
		refuse_template(&p, 0, 0, "a template cannot be empty", NULL);
		return NULL;
	}
	if (!text_is_utf8(text)) {
		findings_add(f, SEVERITY_ERROR, "bad-template", place, "this template is not UTF-8");
		return NULL;
	}
	if (!parse_parts(&p))
		return NULL;
	t = arena_new(a, struct template);
	t->text = arena_copy(a, text);
	t->place = place;
	t->parts = p.parts;
	t->part_count = p.count;
	return t;
}

/* ---- filling ---- */

struct filler {
	struct arena *arena;
	struct error *e;
	bool in_key;
};

static struct slice part_name(struct arena *a, const struct template_part *part)
{
	struct buf b;

	buf_init(&b, a);
	term_print_path(&b, part->names, part->name_count);
	return buf_slice(&b);
}

static enum template_result refuse_value(struct filler *f, const struct template_part *part, const char *what)
{
	struct slice name = part_name(f->arena, part);

	(void)error_set(f->e, f->arena, ERR_VALIDATION, "%.*s %s", SLICE_ARG(name), what);
	return TEMPLATE_BAD;
}

/* Whether the text may be part of a key: '#' separates the parts, and DynamoDB takes no empty key. */
static enum template_result check_key(struct filler *f, const struct template_part *part, struct slice text)
{
	if (!f->in_key)
		return TEMPLATE_OK;
	if (text.n == 0)
		return refuse_value(f, part, "is part of a key and cannot be empty");
	if (memchr(text.p, '#', text.n))
		return refuse_value(f, part, "is part of a key and cannot contain '#'");
	return TEMPLATE_OK;
}

static enum template_result fill_plain(struct filler *f, const struct template_part *part, struct value v,
				       struct slice *out)
{
	char number[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_S: *out = value_bytes(v); return TEMPLATE_OK;
	case VALUE_BOOL: *out = value_bool(v) ? SLICE("true") : SLICE("false"); return TEMPLATE_OK;
	case VALUE_N:
		n = value_number(v);
		*out = arena_copy(f->arena, slice_make(number, number_format(&n, number)));
		return TEMPLATE_OK;
	default: return refuse_value(f, part, "must be a string or a number");
	}
}

/* Numbers of query strings come as text. */
static bool to_number(struct filler *f, struct value v, struct number *n)
{
	struct error ignored;

	if (value_type(v) == VALUE_S)
		return number_parse(value_bytes(v), n, f->arena, &ignored);
	if (value_type(v) != VALUE_N)
		return false;
	*n = value_number(v);
	return true;
}

static enum template_result fill_time(struct filler *f, const struct template_part *part, struct value v,
				      struct slice *out)
{
	char text[TIME_TEXT_MAX];
	int64_t ms;

	if (!term_moment(v, &ms))
		return refuse_value(f, part, "must be a timestamp such as 2026-11-15T12:00:00Z");
	*out = arena_copy(f->arena, time_format_unit(ms, format_unit(part->format), text));
	return TEMPLATE_OK;
}

/* The lowest ULID of that time, or the highest: of the whole day if it is a day. */
static enum template_result fill_ulid(struct filler *f, const struct template_part *part, struct value v,
				      struct slice *out)
{
	bool highest = part->format == FORMAT_ULID_HIGHEST;
	char *text = arena_alloc(f->arena, ULID_LENGTH);
	enum time_unit unit = TIME_SECOND;
	uint8_t rest[ULID_REST];
	int64_t ms;

	if (value_type(v) == VALUE_S ? !time_parse_unit(value_bytes(v), &unit, &ms) : !term_moment(v, &ms))
		return refuse_value(f, part, "must be a date or timestamp such as 2026-11-15 or 2026-11-15T12:00:00Z");
	if (highest)
		ms = time_add(ms, unit, 1) - 1;
	memset(rest, highest ? 0xff : 0, sizeof(rest));
	ulid_text(ms < 0 ? 0 : ms, rest, text);
	*out = slice_make(text, ULID_LENGTH);
	return TEMPLATE_OK;
}

static enum template_result fill_shard(struct filler *f, const struct template_part *part, struct value v,
				       struct slice *out)
{
	struct slice text;

	if (!term_as_text(f->arena, v, &text))
		return refuse_value(f, part, "must be a string or a number");
	*out = arena_printf(f->arena, "%u", term_hash(text, (uint32_t)part->width));
	return TEMPLATE_OK;
}

/* `n` in exactly part->width digits, with leading zeros. */
static enum template_result fill_digits(struct filler *f, const struct template_part *part, const struct number *n,
					struct slice *out)
{
	char number[NUMBER_TEXT_MAX], *text;
	size_t len = number_format(n, number), width = (size_t)part->width;

	if (n->negative || n->exponent < 0 || len > width) {
		struct slice why =
			part->format == FORMAT_PAD
				? arena_printf(f->arena, "must be a whole number of at most %d digits, not negative",
					       part->width)
				: arena_printf(f->arena, "must be a whole number from -5E%d to below 5E%d",
					       part->width - 1, part->width - 1);

		return refuse_value(f, part, arena_cstr(f->arena, why));
	}
	text = arena_alloc(f->arena, width);
	memset(text, '0', width - len);
	memcpy(text + width - len, number, len);
	*out = slice_make(text, width);
	return TEMPLATE_OK;
}

static enum template_result fill_number(struct filler *f, const struct template_part *part, struct value v,
					struct slice *out)
{
	struct number n, half = { .digits = 5, .exponent = part->width - 1 };
	struct error ignored;

	if (!to_number(f, v, &n))
		return refuse_value(f, part, "must be a number");
	if (part->format == FORMAT_OFFSET && (n.exponent < 0 || !number_add(&n, &half, &n, f->arena, &ignored)))
		n = (struct number){ .digits = 1, .exponent = -1 }; /* reported below */
	return fill_digits(f, part, &n, out);
}

static enum template_result fill_part(struct filler *f, const struct template_part *part, struct value v,
				      struct slice *out)
{
	enum template_result r;

	switch (part->format) {
	case FORMAT_HOUR:
	case FORMAT_DATE:
	case FORMAT_WEEK:
	case FORMAT_MONTH:
	case FORMAT_YEAR: return fill_time(f, part, v, out);
	case FORMAT_ULID_LOWEST:
	case FORMAT_ULID_HIGHEST: return fill_ulid(f, part, v, out);
	case FORMAT_SHARD: return fill_shard(f, part, v, out);
	case FORMAT_PAD:
	case FORMAT_OFFSET: return fill_number(f, part, v, out);
	default: break;
	}
	r = fill_plain(f, part, v, out);
	if (r == TEMPLATE_OK && part->format == FORMAT_LOWER)
		*out = text_lower(f->arena, *out);
	if (r == TEMPLATE_OK && part->format == FORMAT_SLUG) {
		*out = text_slug(f->arena, *out);
		if (!out->n) /* of nothing but punctuation there is none */
			return TEMPLATE_ABSENT;
	}
	return r == TEMPLATE_OK ? check_key(f, part, *out) : r;
}

static bool is_nothing(struct value v)
{
	return !value_present(v) || value_type(v) == VALUE_NULL;
}

/* The whole value is the placeholder's, with its type. */
static enum template_result fill_bare(struct filler *f, const struct template_part *part, struct value v,
				      struct value *out)
{
	enum value_type t = value_type(v);

	if (is_nothing(v))
		return TEMPLATE_ABSENT;
	*out = value_copy(f->arena, v);
	if (!f->in_key || t == VALUE_N)
		return TEMPLATE_OK;
	if (t == VALUE_B)
		return value_bytes(v).n ? TEMPLATE_OK : refuse_value(f, part, "is part of a key and cannot be empty");
	if (t != VALUE_S)
		return refuse_value(f, part, "must be a string or a number");
	return check_key(f, part, value_bytes(v));
}

/* of a placeholder's value */
struct source_of {
	const struct term_scope *scope; /* NULL: `value` for all */
	struct value value;
};

static struct value value_of(const struct source_of *x, const struct template_part *p)
{
	return x->scope ? term_path(x->scope, p->names, p->name_count, p->of, p->at) : x->value;
}

static enum template_result fill_template(struct filler *f, const struct template *t, const struct source_of *from,
					  struct value *out)
{
	const struct template_part *first = &t->parts[0];
	struct buf b;

	*out = VALUE_ABSENT;
	if (template_is_bare(t))
		return fill_bare(f, first, value_of(from, first), out);
	buf_init(&b, f->arena);
	for (const struct template_part *part = t->parts; part < t->parts + t->part_count; part++) {
		enum template_result r;
		struct slice text;
		struct value v;

		if (!part->names) {
			buf_put(&b, part->literal);
			continue;
		}
		v = value_of(from, part);
		if (is_nothing(v))
			return TEMPLATE_ABSENT;
		r = fill_part(f, part, v, &text);
		if (r != TEMPLATE_OK)
			return r;
		buf_put(&b, text);
	}
	*out = value_make_s(f->arena, buf_slice(&b));
	return TEMPLATE_OK;
}

enum template_result template_fill(const struct template *t, const struct term_scope *s, bool in_key, struct value *out,
				   struct error *e)
{
	struct filler f = { s->arena, e, in_key };

	return fill_template(&f, t, &(struct source_of){ .scope = s }, out);
}

enum template_result template_fill_with(const struct template *t, struct value v, bool in_key, struct arena *a,
					struct value *out, struct error *e)
{
	struct filler f = { a, e, in_key };

	return fill_template(&f, t, &(struct source_of){ .value = v }, out);
}

struct slice template_prefix(const struct template *t)
{
	return t->part_count && !t->parts[0].names ? t->parts[0].literal : SLICE("");
}

struct slice template_format_text(struct arena *a, const struct template_part *part)
{
	switch (part->format) {
	case FORMAT_PLAIN: return SLICE("");
	case FORMAT_PAD: return arena_printf(a, "0%d", part->width);
	case FORMAT_OFFSET: return arena_printf(a, "+%d", part->width);
	case FORMAT_SHARD: return arena_printf(a, "shard %d", part->width);
	case FORMAT_ULID_HIGHEST: return SLICE("ulid");
	default: break;
	}
	for (size_t i = 0; words[i]; i++)
		if (formats[i] == part->format)
			return slice_str(words[i]);
	return SLICE("");
}

bool template_is_constant(const struct template *t)
{
	for (size_t i = 0; i < t->part_count; i++)
		if (t->parts[i].names)
			return false;
	return true;
}

bool template_alike(const struct template *a, const struct template *b)
{
	if (!a || !b || a->part_count != b->part_count)
		return false;
	for (size_t i = 0; i < a->part_count; i++) {
		const struct template_part *x = &a->parts[i], *y = &b->parts[i];

		if (!x->names != !y->names || (!x->names && !slice_equal(x->literal, y->literal)))
			return false;
	}
	return true;
}
