/* Turns libfyaml's events into a tree.
 *
 * The parser is released by arena_defer(), so that running out of memory leaks nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <libfyaml.h>

#include "base/grow.h"
#include "base/map.h"
#include "design/source/yaml.h"

struct reader {
	struct yaml_file file;
	size_t base;                       /* length of a byte order mark */
	uint32_t open[YAML_DEPTH_MAX + 1]; /* where the flow maps and lists around us begin */
	size_t open_count;
	bool failed;
	struct fy_diag *diag;
	struct fy_parser *parser;
	struct fy_event *event; /* the one being looked at */
};

static void close_reader(void *p)
{
	struct reader *r = p;

	if (r->event)
		fy_parser_event_free(r->parser, r->event);
	if (r->parser)
		fy_parser_destroy(r->parser);
	if (r->diag)
		fy_diag_destroy(r->diag);
	r->event = NULL;
	r->parser = NULL;
	r->diag = NULL;
}

static void say_nothing(struct fy_diag *diag, void *user, const char *buf, size_t len)
{
	(void)diag, (void)user, (void)buf, (void)len;
}

static bool open_reader(struct reader *r)
{
	struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET | FYPCF_DISABLE_MMAP_OPT | FYPCF_JSON_NONE };
	struct fy_diag_cfg diag;

	fy_diag_cfg_default(&diag);
	diag.fp = NULL;
	diag.output_fn = say_nothing;
	diag.colorize = false;
	arena_defer(r->file.a, close_reader, r);
	r->diag = fy_diag_create(&diag);
	if (!r->diag)
		return false;
	fy_diag_set_collect_errors(r->diag, true);
	cfg.diag = r->diag;
	r->parser = fy_parser_create(&cfg);
	return r->parser &&
	       fy_parser_set_string(r->parser, r->file.s->text.p + r->base, r->file.s->text.n - r->base) == 0;
}

static struct place place_at(const struct reader *r, size_t from, size_t to)
{
	return yaml_locate(&r->file, from, to);
}

static struct finding *report(struct reader *r, struct place p, const char *sentence)
{
	return findings_add(r->file.f, SEVERITY_ERROR, "yaml", p, "%s", sentence);
}

/* ---- libfyaml's messages, for people ---- */
/* clang-format off */
static const struct {
	const char *says, *message, *repair;
} sentences[] = {
	{ "block scalar", "'>' and '|' begin a block of text",
	  "put a value that begins with > or | in quotes: '>= POST#<from>'" },
	{ "tab character", "a tab does not indent", "indent with spaces" },
	{ "missing comma", "expected a comma or the end of the list or map",
	  "separate with commas; in [ ] and { } a value with quotes and commas, or with brackets of its own, needs quotes around all of it, which must end" },
	{ "nested block mapping", "a second ': ' on one line",
	  "put a text with ': ' in it in quotes, and each name on a line of its own" },
	{ "cannot start", "a value cannot begin with this character", "put it in quotes" },
	{ "alias", "'*' begins an alias, and a design cannot have aliases", "put a value that begins with * in quotes" },
	{ "escape", "'\\' begins an escape, and there is none like this", "put the text in single quotes" },
	{ "trailing content", "something follows the closing quote", "put the whole value in quotes" },
	{ "quoted scalar", "this quote is not closed", "expected a closing quote" },
	{ "find expected ':'", "expected ': ' after a word", "as in 'table: Shop'" },
	{ "end of block sequence", "this line has no '- ', and the lines before it have one",
	  "a list has '- ' in each line, a map has 'name: value' in each" },
	{ "indent", "this line is not indented like the lines before it",
	  "indent it as far as the lines that it belongs with" },
};
/* clang-format on */

/* The token's bytes; false: they are not known. */
static bool token_bytes(const struct reader *r, struct fy_token *t, size_t *from, size_t *to)
{
	const struct fy_mark *start = t ? fy_token_start_mark(t) : NULL;
	const struct fy_mark *end = t ? fy_token_end_mark(t) : NULL;

	if (!start)
		return false;
	*from = start->input_pos + r->base;
	*to = end && end->input_pos >= start->input_pos ? end->input_pos + r->base : *from;
	return true;
}

static struct place place_of_error(const struct reader *r, const struct fy_diag_error *e)
{
	size_t from, to;

	if (token_bytes(r, e->fyt, &from, &to))
		return place_at(r, from, to);
	return (struct place){ e->line > 0 ? e->line : 1, e->column > 0 ? e->column : 1, 1 };
}

static struct place place_of_opening(const struct reader *r)
{
	size_t at = r->open[r->open_count - 1];

	return place_at(r, at, at + 1);
}

/* The first word of a line, or of the next one that has one; line 0: there is none. */
static struct place first_word(const struct reader *r, int line)
{
	const struct slice s = r->file.s->text;
	size_t at = (size_t)line <= r->file.line_count ? r->file.lines[line - 1] : s.n, end;

	while (at < s.n && strchr(" \t\r\n", s.p[at]))
		at++;
	for (end = at; end < s.n && !strchr(": \t\r\n", s.p[end]);)
		end++;
	return at < s.n ? place_at(r, at, end) : (struct place){ 0 };
}
/* Whether the file ended too soon. */
static bool is_at_end(const struct reader *r, const struct fy_diag_error *e)
{
	size_t at, to;

	if (!token_bytes(r, e->fyt, &at, &to))
		return false;
	while (at < r->file.s->text.n && strchr(" \t\r\n", r->file.s->text.p[at]))
		at++;
	return at >= r->file.s->text.n;
}

/* USER#{name} */
static bool is_brace(const struct reader *r, const struct fy_diag_error *e)
{
	size_t at, to;

	return token_bytes(r, e->fyt, &at, &to) && at && at < r->file.s->text.n && r->file.s->text.p[at] == '{' &&
	       strchr("#$", r->file.s->text.p[at - 1]);
}

/* list of {sku: string, …} in the line */
static bool is_structure(const struct reader *r, struct place p)
{
	const struct slice s = r->file.s->text;
	size_t at = p.line > 0 && (size_t)p.line <= r->file.line_count ? r->file.lines[p.line - 1] : s.n;
	const char *end = at < s.n ? memchr(s.p + at, '\n', s.n - at) : NULL;

	return at < s.n && memmem(s.p + at, end ? (size_t)(end - s.p) - at : s.n - at, " of {", 5);
}

/* The first tab before the first word of a line; line 0: there is none. */
static struct place indenting_tab(const struct reader *r, int line)
{
	const struct slice s = r->file.s->text;
	size_t at = line > 0 && (size_t)line <= r->file.line_count ? r->file.lines[line - 1] : s.n;

	while (at < s.n && s.p[at] == ' ')
		at++;
	return at < s.n && s.p[at] == '\t' ? place_at(r, at, at + 1) : (struct place){ 0 };
}

/* The file ends, or something that cannot stand there follows in a later line. */
static void report_unclosed(struct reader *r, bool ends, struct place p)
{
	struct place opening = place_of_opening(r);
	char open = r->file.s->text.p[r->open[r->open_count - 1]];
	struct finding *f;

	if (ends)
		f = findings_add(r->file.f, SEVERITY_ERROR, "yaml", opening, "this '%c' is not closed", open);
	else
		f = findings_add(r->file.f, SEVERITY_ERROR, "yaml", p, "the '%c' in line %d is not closed before this",
				 open, opening.line);
	f->repair = arena_printf(r->file.a, "expected ',' or '%c'; note that ' #' begins a comment",
				 open == '[' ? ']' : '}');
}

/* A value that seems to go on in the next line: that line is indented too deep, or this one lacks its ':'. */
static void report_continued(struct reader *r, struct place p)
{
	struct place next = first_word(r, p.line + 1);

	if (next.column > first_word(r, p.line).column)
		report(r, next, "this line is indented deeper than the line before, and so continues its value")->repair =
			SLICE("indent all lines of a map alike");
	else
		report(r, p, "expected ': ' after a word")->repair = SLICE("as in 'table: Shop'");
}

static void report_error(struct reader *r)
{
	void *iterator = NULL;
	struct fy_diag_error *e = fy_diag_errors_iterate(r->diag, &iterator);
	const char *says = e && e->msg ? e->msg : "something unexpected";
	struct place p = e ? place_of_error(r, e) : (struct place){ 1, 1, 1 };

	r->failed = true;
	if (e && r->open_count && (is_at_end(r, e) || p.line > place_of_opening(r).line)) {
		report_unclosed(r, is_at_end(r, e), p);
		return;
	}
	if (strstr(says, "multiline plain key")) {
		report_continued(r, p);
		return;
	}
	if (indenting_tab(r, p.line).line) {
		report(r, indenting_tab(r, p.line), "a tab does not indent")->repair = SLICE("indent with spaces");
		return;
	}
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		if (strstr(says, sentences[i].says)) {
			report(r, p, sentences[i].message)->repair =
				is_brace(r, e) ? SLICE("a placeholder is written <name>")
				: is_structure(r, p)
					? SLICE("name the structure in 'types', as in types: {Line: {sku: string}}, "
						"and write list of Line")
					: slice_str(sentences[i].repair);
			return;
		}
	findings_add(r->file.f, SEVERITY_ERROR, "yaml", p, "this is not YAML: %s", says);
}

/* ---- events ---- */
static enum fy_event_type next_event(struct reader *r)
{
	if (r->event)
		fy_parser_event_free(r->parser, r->event);
	r->event = NULL;
	if (r->failed)
		return FYET_NONE;
	r->event = fy_parser_parse(r->parser);
	if (!r->event && fy_parser_get_stream_error(r->parser))
		report_error(r);
	return r->event ? r->event->type : FYET_NONE;
}

static void mark_place(const struct reader *r, struct fy_token *t, struct yaml *y)
{
	size_t from, to;

	if (!token_bytes(r, t, &from, &to))
		return;
	y->at = (uint32_t)from;
	y->end = (uint32_t)to;
	y->place = place_at(r, from, to);
}

static void report_properties(struct reader *r, struct fy_token *anchor, struct fy_token *tag)
{
	struct yaml y = { 0 };

	if (anchor) {
		mark_place(r, anchor, &y);
		report(r, y.place, "a design cannot have anchors")->repair =
			SLICE("write the value where it is used; a value that begins with & needs quotes");
	}
	if (tag) {
		mark_place(r, tag, &y);
		report(r, y.place, "a design cannot have tags")->repair =
			SLICE("leave it out; a value that begins with ! needs quotes");
	}
}

static bool read_node(struct reader *r, int depth, struct yaml *y);

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The text between single quotes. libfyaml miscounts and leaks when many '' follow one another. */
static struct slice unquoted(struct reader *r, struct slice s)
{
	struct buf b;

	buf_init(&b, r->file.a);
	for (size_t i = 0; i < s.n; i++) {
		size_t breaks = 0;

		if (s.p[i] != '\n') {
			buf_byte(&b, (uint8_t)s.p[i]);
			i += s.p[i] == '\'' && i + 1 < s.n && s.p[i + 1] == '\'';
			continue;
		}
		while (b.n && is_blank(b.p[b.n - 1]))
			b.n--;
		for (; i < s.n && (s.p[i] == '\n' || is_blank(s.p[i])); i++)
			breaks += s.p[i] == '\n';
		i--;
		if (breaks == 1)
			buf_byte(&b, ' ');
		while (breaks-- > 1)
			buf_byte(&b, '\n');
	}
	return b.n ? buf_slice(&b) : SLICE("");
}

static struct slice text_of(struct reader *r, struct fy_token *t, const struct yaml *y)
{
	const char *text;
	size_t n = 0;

	if (fy_token_scalar_style(t) == FYSS_SINGLE_QUOTED && y->end <= r->file.s->text.n)
		return unquoted(r, slice_make(r->file.s->text.p + y->at, y->end - y->at));
	text = fy_token_get_text(t, &n);
	return text ? arena_copy(r->file.a, slice_make(text, n)) : SLICE("");
}

/* NULL when there is no value: libfyaml has an empty token for it since 0.8, and had none before. */
static struct fy_token *token_of_scalar(const struct reader *r)
{
	struct fy_token *t = r->event->scalar.value;
	size_t n = 0;

	if (t && fy_token_scalar_style(t) == FYSS_PLAIN && (!fy_token_get_text(t, &n) || !n))
		return NULL;
	return t;
}

/* An absent value keeps the place that the caller gave it. */
static void read_scalar(struct reader *r, struct yaml *y)
{
	struct fy_token *t = token_of_scalar(r);

	report_properties(r, r->event->scalar.anchor, r->event->scalar.tag);
	if (!t)
		return;
	mark_place(r, t, y);
	y->text = text_of(r, t, y);
	y->quoted = fy_token_scalar_style(t) != FYSS_PLAIN;
	y->kind = YAML_SCALAR;
	yaml_finish_scalar(&r->file, y);
}

static bool begins_with(const struct reader *r, const struct yaml *y, char bracket)
{
	return y->at < r->file.s->text.n && r->file.s->text.p[y->at] == bracket;
}

static void open_flow(struct reader *r, const struct yaml *y)
{
	if (y->flow)
		r->open[r->open_count++] = y->at; /* depth is limited */
}

static bool read_list(struct reader *r, int depth, struct yaml *y)
{
	struct yaml *items = NULL;
	size_t n = 0, room = 0;

	y->kind = YAML_LIST;
	report_properties(r, r->event->sequence_start.anchor, r->event->sequence_start.tag);
	mark_place(r, r->event->sequence_start.sequence_start, y);
	y->flow = begins_with(r, y, '[');
	open_flow(r, y);
	while (next_event(r) != FYET_SEQUENCE_END) {
		struct yaml item = { .place = y->place, .at = y->at, .end = y->at };

		if (!read_node(r, depth + 1, &item))
			return false;
		GROW_IN(r->file.a, items, n, room, 8);
		items[n++] = item;
	}
	r->open_count -= y->flow;
	y->items = items;
	y->count = y->flow ? yaml_mend_list(&r->file, items, n) : n;
	return true;
}

/* {a, b: c}: a has no colon. */
static bool is_bare(const struct reader *r, const struct yaml *map, const struct yaml_entry *e)
{
	size_t i = e->key.end + e->key.quoted;

	if (!map->flow || e->value.kind != YAML_NULL)
		return false;
	while (i < r->file.s->text.n && strchr(" \t\r\n", r->file.s->text.p[i]))
		i++;
	return i >= r->file.s->text.n || r->file.s->text.p[i] != ':';
}

/* Whether the entry can be kept. */
static bool is_new_key(struct reader *r, struct map *seen, const struct yaml_entry *e)
{
	const struct place *first;
	struct place *place;

	if (e->key.kind != YAML_SCALAR) {
		report(r, e->key.place, "expected a word before ':'");
		return false;
	}
	if (e->bare)
		return true;
	first = map_get(seen, e->key.text);
	if (first) {
		findings_add(r->file.f, SEVERITY_ERROR, "duplicate-key", e->key.place,
			     "'%.*s' is given twice, first in line %d", SLICE_ARG(e->key.text), first->line)
			->repair = SLICE("leave one of them out; if both are meant, look at how they are indented");
		return false;
	}
	place = arena_new(r->file.a, struct place);
	*place = e->key.place;
	map_set(seen, e->key.text, place);
	return true;
}

static bool read_map(struct reader *r, int depth, struct yaml *y)
{
	struct yaml_entry *entries = NULL;
	size_t n = 0, room = 0;
	struct map seen;

	y->kind = YAML_MAP;
	map_init(&seen, r->file.a);
	report_properties(r, r->event->mapping_start.anchor, r->event->mapping_start.tag);
	mark_place(r, r->event->mapping_start.mapping_start, y);
	y->flow = begins_with(r, y, '{');
	open_flow(r, y);
	while (next_event(r) != FYET_MAPPING_END) {
		struct yaml_entry e = { .key = { .place = y->place, .at = y->at, .end = y->at } };

		if (!read_node(r, depth + 1, &e.key))
			return false;
		e.value = (struct yaml){ .place = e.key.place, .at = e.key.end, .end = e.key.end };
		next_event(r);
		if (!read_node(r, depth + 1, &e.value))
			return false;
		e.bare = is_bare(r, y, &e);
		GROW_IN(r->file.a, entries, n, room, 8);
		entries[n] = e;
		if (!y->flow && n == 0)
			y->place = e.key.place; /* the mark of [a: b] is its colon */
		n += is_new_key(r, &seen, &e);
	}
	r->open_count -= y->flow;
	y->entries = entries;
	y->count = n;
	return true;
}

/* The node whose first event is the current one. False: there is none, which has been reported. */
static bool read_node(struct reader *r, int depth, struct yaml *y)
{
	if (!r->event)
		return false;
	switch (r->event->type) {
	case FYET_SCALAR: read_scalar(r, y); return true;
	case FYET_ALIAS:
		mark_place(r, r->event->alias.anchor, y);
		report(r, y->place, "a design cannot have aliases")->repair =
			SLICE("write the value again; a value that begins with * needs quotes");
		r->failed = true;
		return false;
	case FYET_SEQUENCE_START:
	case FYET_MAPPING_START:
		if (depth < YAML_DEPTH_MAX)
			return r->event->type == FYET_MAPPING_START ? read_map(r, depth, y) : read_list(r, depth, y);
		report(r, y->place, "maps and lists are nested too deeply");
		break;
	default: report(r, y->place, "this is not YAML"); break;
	}
	r->failed = true;
	return false;
}

static bool read_document(struct reader *r, struct yaml *root)
{
	enum fy_event_type type = next_event(r);

	while (type == FYET_STREAM_START || type == FYET_DOCUMENT_START)
		type = next_event(r);
	if (type == FYET_NONE && r->failed)
		return false;
	if (type != FYET_STREAM_END && type != FYET_NONE && !read_node(r, 0, root))
		return false;
	while ((type = next_event(r)) != FYET_NONE && type != FYET_DOCUMENT_START)
		;
	if (type == FYET_DOCUMENT_START) {
		struct yaml y = { .place = { 1, 1, 1 } };

		mark_place(r, r->event->document_start.document_start, &y);
		report(r, y.place, "one file is one design: a second document begins here")->repair =
			SLICE("leave '---' out, or put what follows into a file of its own");
	}
	return !r->failed;
}

/* ---- the text ---- */
static void find_lines(struct reader *r)
{
	const char *text = r->file.s->text.p;
	size_t n = 1, line = 1;
	uint32_t *lines;

	for (size_t i = 0; i < r->file.s->text.n; i++)
		n += text[i] == '\n';
	lines = arena_array(r->file.a, uint32_t, n);
	lines[0] = (uint32_t)r->base;
	for (size_t i = 0; i < r->file.s->text.n; i++)
		if (text[i] == '\n')
			lines[line++] = (uint32_t)i + 1;
	r->file.lines = lines;
	r->file.line_count = n;
}

static bool is_text(struct reader *r)
{
	struct slice s = r->file.s->text;

	for (size_t i = r->base; i < s.n;) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = source_character(slice_make(s.p + i, s.n - i));

		if (n == 0) {
			report(r, place_at(r, i, i + 1), "this is not UTF-8")->repair = SLICE("save the file as UTF-8");
			return false;
		}
		if ((c < 32 && c != '\t' && c != '\n' && c != '\r') || c == 127) {
			findings_add(r->file.f, SEVERITY_ERROR, "yaml", place_at(r, i, i + 1),
				     "a control character, byte 0x%02x, cannot be in a design", c);
			return false;
		}
		i += n;
	}
	return true;
}

const struct yaml *yaml_parse(struct arena *a, const struct source *s, yaml_env *env, void *env_ctx, struct findings *f)
{
	struct reader *r = arena_new(a, struct reader);
	struct yaml *root = arena_new(a, struct yaml);
	bool read;

	r->file = (struct yaml_file){ .a = a, .s = s, .f = f, .env = env, .env_ctx = env_ctx };
	r->base = slice_starts(s->text, SLICE("\xef\xbb\xbf")) ? 3 : 0;
	if (s->text.n > YAML_SIZE_MAX) {
		report(r, (struct place){ 0 }, "a design is at most 1 MiB of text, and this file is larger");
		return NULL;
	}
	root->place = (struct place){ 1, 1, 1 };
	if (s->text.n == r->base) /* libfyaml would ask for the length of an empty string again */
		return root;
	find_lines(r);
	if (!is_text(r))
		return NULL;
	if (!open_reader(r)) {
		close_reader(r);
		arena_out_of_memory(a);
	}
	read = read_document(r, root);
	close_reader(r);
	return read ? root : NULL;
}
