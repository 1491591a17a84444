/* The texts of a YAML tree: where they came from, variables, and values that commas in flow style split.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdlib.h>

#include "design/source/yaml.h"

#define NAME_MOST  128
#define LOOK_AHEAD 256

/* ---- places ---- */
static int characters(const char *p, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)p[i] & 0xc0) != 0x80;
	return count;
}

/* Only what is on the first line can be underlined. */
static int length_of(const struct source *s, size_t from, size_t to)
{
	const char *newline;

	if (to > s->text.n)
		to = s->text.n;
	if (from >= to)
		return 1;
	newline = memchr(s->text.p + from, '\n', to - from);
	if (newline)
		to = (size_t)(newline - s->text.p);
	return to > from ? characters(s->text.p + from, to - from) : 1;
}

struct place yaml_locate(const struct yaml_file *x, size_t from, size_t to)
{
	const struct source *s = x->s;
	const uint32_t *lines = x->lines;
	size_t low = 0, high = x->line_count;

	if (from > s->text.n)
		from = s->text.n;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (lines[middle] <= from)
			low = middle;
		else
			high = middle;
	}
	return (struct place){ .line = (int)low + 1,
			       .column = 1 +
					 (from < lines[low] ? 0 : characters(s->text.p + lines[low], from - lines[low])),
			       .length = length_of(s, from, to) };
}

struct place yaml_place(const struct source *s, const struct yaml *y, size_t from, size_t n)
{
	size_t last = n ? from + n - 1 : from, at, end;
	struct place p = y->place;

	if (y->kind != YAML_SCALAR || !y->text.n)
		return p;
	if (from > y->text.n)
		from = y->text.n;
	at = from == y->text.n ? y->end : y->offsets ? y->offsets[from] : y->at + from;
	if (last >= y->text.n)
		end = y->end;
	else
		end = y->offsets ? y->offsets[last] + 1 : y->at + last + 1;
	for (size_t i = y->at; i < at && i < s->text.n; i++)
		if (s->text.p[i] == '\n') {
			p.line++;
			p.column = 1;
		} else {
			p.column += ((unsigned char)s->text.p[i] & 0xc0) != 0x80;
		}
	p.length = length_of(s, at, end);
	return p;
}

/* ---- where the bytes of a scalar came from ---- */
static bool is_as_written(const struct source *s, const struct yaml *y)
{
	return y->end - y->at == y->text.n && y->end <= s->text.n &&
	       memcmp(s->text.p + y->at, y->text.p, y->text.n) == 0;
}

/* Folding and escapes leave bytes out; each byte is looked for a little ahead of the one before. */
static const uint32_t *align(struct arena *a, const struct source *s, const struct yaml *y)
{
	uint32_t *offsets = arena_array(a, uint32_t, y->text.n + 1), at = y->at;
	uint32_t end = y->end <= s->text.n ? y->end : (uint32_t)s->text.n;

	for (size_t i = 0; i < y->text.n; i++) {
		uint32_t stop = end - at < LOOK_AHEAD ? end : at + LOOK_AHEAD;
		const char *found = at < stop ? memchr(s->text.p + at, y->text.p[i], stop - at) : NULL;

		if (found)
			at = (uint32_t)(found - s->text.p);
		offsets[i] = at;
		at += found != NULL;
	}
	return offsets;
}

/* ---- ${NAME:-default} ---- */
struct variable {
	size_t length; /* of the whole ${…} */
	char name[NAME_MOST];
	bool has_default;
	struct slice default_;
};

static bool is_name(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

/* `s` starts with "${". */
static bool read_variable(struct slice s, struct variable *v)
{
	const char *brace = memchr(s.p, '}', s.n);
	size_t n = 2;

	if (!brace)
		return false;
	v->length = (size_t)(brace - s.p) + 1;
	while (is_name(s.p[n], n == 2))
		n++;
	if (n == 2 || n - 2 >= NAME_MOST)
		return false;
	memcpy(v->name, s.p + 2, n - 2);
	v->name[n - 2] = '\0';
	v->has_default = s.p[n] == ':' && s.p[n + 1] == '-';
	v->default_ = v->has_default ? slice_make(s.p + n + 2, v->length - n - 3) : SLICE("");
	return v->has_default || s.p[n] == '}';
}

static const char *from_environment(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

/* The value of the variable that stands at byte `at` of the scalar. */
static struct slice value_of(const struct yaml_file *x, const struct variable *v, const struct yaml *y, size_t at)
{
	const char *value = (x->env ? x->env : from_environment)(x->env_ctx, v->name);
	struct place place = yaml_place(x->s, y, at, v->length);

	if (value && (*value || !v->has_default)) {
		size_t n = strlen(value), i = 0, k;

		while (i < n && (k = source_character(slice_make(value + i, n - i))) > 0)
			i += k;
		if (i == n)
			return arena_copy(x->a, slice_make(value, n));
		findings_add(x->f, SEVERITY_ERROR, "bad-variable", place, "the environment's %s is not UTF-8", v->name);
		return SLICE("");
	}
	if (!v->has_default)
		findings_add(x->f, SEVERITY_ERROR, "unset-variable", place, "the environment has no %s", v->name)->repair =
			arena_printf(x->a, "set it, or give a default: ${%s:-…}", v->name);
	return v->default_;
}

static void add_from(struct buf *text, struct buf *offsets, struct slice s, uint32_t at, bool moves)
{
	buf_put(text, s);
	for (size_t i = 0; i < s.n; i++, at += moves)
		buf_add(offsets, &at, sizeof(at));
}

static uint32_t offset_of(const struct yaml *y, size_t i)
{
	return y->offsets ? y->offsets[i] : y->at + (uint32_t)i;
}

static void replace_variables(const struct yaml_file *x, struct yaml *y)
{
	struct buf text, offsets;

	buf_init(&text, x->a);
	buf_init(&offsets, x->a);
	for (size_t i = 0; i < y->text.n;) {
		struct slice rest = slice_make(y->text.p + i, y->text.n - i);
		struct variable v;

		if (!slice_starts(rest, SLICE("${"))) {
			add_from(&text, &offsets, slice_make(rest.p, 1), offset_of(y, i), false);
			i++;
		} else if (read_variable(rest, &v)) {
			add_from(&text, &offsets, value_of(x, &v, y, i), offset_of(y, i), false);
			i += v.length;
		} else {
			findings_add(x->f, SEVERITY_ERROR, "bad-variable", yaml_place(x->s, y, i, rest.n),
				     "'${' begins a variable: ${NAME} or ${NAME:-default}")
				->repair = SLICE("close it with }; a placeholder is <name>");
			break;
		}
	}
	y->text = text.n ? buf_slice(&text) : SLICE("");
	buf_add(&offsets, &y->end, sizeof(y->end));
	y->offsets = (const uint32_t *)(const void *)offsets.p;
}

void yaml_finish_scalar(const struct yaml_file *x, struct yaml *y)
{
	if (!is_as_written(x->s, y))
		y->offsets = align(x->a, x->s, y);
	if (y->text.n > 1 && memmem(y->text.p, y->text.n, "${", 2))
		replace_variables(x, y);
}

/* ---- values that commas split ---- */
static struct yaml joined(struct arena *a, const struct source *s, const struct yaml *x, const struct yaml *y)
{
	struct yaml both = *x;
	struct buf text, offsets;

	buf_init(&text, a);
	buf_init(&offsets, a);
	for (size_t i = 0; i < x->text.n; i++)
		add_from(&text, &offsets, slice_make(x->text.p + i, 1), offset_of(x, i), false);
	add_from(&text, &offsets, SLICE(", "), x->end, true);
	for (size_t i = 0; i < y->text.n; i++)
		add_from(&text, &offsets, slice_make(y->text.p + i, 1), offset_of(y, i), false);
	both.text = buf_slice(&text);
	both.offsets = (const uint32_t *)(const void *)offsets.p;
	both.end = y->end;
	both.place.length = length_of(s, both.at, both.end);
	return both;
}

/* More parentheses opened than closed, outside of 'text'. */
static bool is_open(const struct yaml *y)
{
	int depth = 0;
	bool in_text = false;

	if (y->kind != YAML_SCALAR || y->quoted)
		return false;
	for (size_t i = 0; i < y->text.n; i++) {
		char c = y->text.p[i];

		if (c == '\'')
			in_text = !in_text;
		else if (!in_text)
			depth += (c == '(') - (c == ')');
	}
	return depth > 0;
}

size_t yaml_mend_list(const struct yaml_file *x, struct yaml *items, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++)
		if (out && is_open(&items[out - 1]) && items[i].kind == YAML_SCALAR)
			items[out - 1] = joined(x->a, x->s, &items[out - 1], &items[i]);
		else
			items[out++] = items[i];
	return out;
}

/* Whether the bare entry goes on with the value before it, and does not begin the next key. */
static bool continues(const struct yaml_entry *before, const struct yaml_entry *e, enum yaml_join join)
{
	if (!e->bare || before->bare || before->value.kind != YAML_SCALAR)
		return false;
	return is_open(&before->value) || (join == YAML_JOIN_VALUES && !is_open(&e->key));
}

const struct yaml_entry *yaml_entries(struct arena *a, const struct source *s, const struct yaml *map,
				      enum yaml_join join, size_t *count)
{
	struct yaml_entry *list;
	size_t n = 0;

	*count = map->count;
	if (!map->flow)
		return map->entries;
	list = arena_array(a, struct yaml_entry, map->count);
	for (size_t i = 0; i < map->count; i++) {
		const struct yaml_entry *e = &map->entries[i];

		if (n && list[n - 1].bare) { /* it waits for the rest of its key */
			list[n - 1].key = joined(a, s, &list[n - 1].key, &e->key);
			list[n - 1].value = e->value;
			list[n - 1].bare = e->bare;
		} else if (n && continues(&list[n - 1], e, join)) {
			list[n - 1].value = joined(a, s, &list[n - 1].value, &e->key);
		} else {
			list[n++] = *e;
		}
	}
	*count = n;
	return list;
}
