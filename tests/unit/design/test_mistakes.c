/* Typical mistakes of newcomers: each is a change to a correct design, and what is said of it, where, and what to do.
 *
 * mistakes/helpdesk.yaml is the design; the other files of that directory are the mistakes:
 *
 *   = a clause is misspelt                          what was done wrong
 *   -      name: string 1..50, required             these lines of the design, whole and in it once,
 *   +      name: string 1..50, requird              become these; a tab is written as an arrow
 *   ! error unknown-clause                          then this and nothing else is found: severity and rule,
 *   @ name: string 1..50, «requird»                 the line, with the place that is underlined,
 *   : there is no clause 'requird'                  the message,
 *   > did you mean 'required'?                      and the repair; '…' at its end is any rest
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "load_helper.h"

#define TAB "⇥"

static struct slice read_text(const char *name)
{
	const char *path =
		arena_cstr(&arena, arena_printf(&arena, "%s/tests/unit/design/mistakes/%s", THORPE_ROOT, name));
	FILE *file = fopen(path, "rb");
	struct buf b;
	size_t n;

	if (!file)
		fail_msg("cannot read %s", path);
	buf_init(&b, &arena);
	do {
		n = fread(buf_room(&b, 65536), 1, 65536, file);
		b.n += n;
	} while (n);
	(void)fclose(file);
	return buf_slice(&b);
}

/* Takes the next line; false: there is none. */
static bool take_line(struct slice *text, struct slice *line)
{
	const char *end = text->n ? memchr(text->p, '\n', text->n) : NULL;
	size_t n = end ? (size_t)(end - text->p) : text->n;

	if (!text->n)
		return false;
	*line = slice_make(text->p, n);
	*text = slice_make(text->p + n + (end != NULL), text->n - n - (end != NULL));
	return true;
}

/* The design in which the lines `from` (once in it) have become `to`. */
static struct slice change(struct slice design, struct slice from, struct slice to, struct slice title)
{
	const char *at = NULL;
	struct buf b;

	for (const char *p = design.p; (p = memmem(p, design.n - (size_t)(p - design.p), from.p, from.n)); p++)
		if (p == design.p || p[-1] == '\n') {
			if (at)
				fail_msg("%.*s: these lines are in the design twice: %.*s", SLICE_ARG(title),
					 SLICE_ARG(from));
			at = p;
		}
	if (!from.n || !at)
		fail_msg("%.*s: these lines are not in the design: %.*s", SLICE_ARG(title), SLICE_ARG(from));
	buf_init(&b, &arena);
	buf_put(&b, slice_make(design.p, (size_t)(at - design.p)));
	while (to.n) {
		bool tab = slice_starts(to, SLICE(TAB));

		buf_byte(&b, tab ? '\t' : (uint8_t)to.p[0]);
		to = slice_make(to.p + (tab ? strlen(TAB) : 1), to.n - (tab ? strlen(TAB) : 1));
	}
	at += from.n;
	buf_put(&b, slice_make(at, design.n - (size_t)(at - design.p)));
	return buf_slice(&b);
}

static struct slice line_of(struct slice text, int number)
{
	struct slice line = SLICE("");

	for (int i = 0; i < number; i++)
		if (!take_line(&text, &line))
			return SLICE("");
	return line;
}

/* The line without its indentation, the place in marks. */
static void add_line(struct buf *b, struct slice line, struct place p)
{
	int column = 0;
	bool begun = false;

	for (size_t i = 0; i < line.n; i++) {
		column += ((unsigned char)line.p[i] & 0xc0) != 0x80;
		if (((unsigned char)line.p[i] & 0xc0) != 0x80) {
			if (column == p.column)
				buf_str(b, OPEN);
			if (column == p.column + p.length && p.length)
				buf_str(b, CLOSE);
		}
		begun = begun || line.p[i] != ' ' || column >= p.column;
		if (line.p[i] == '\t')
			buf_str(b, TAB);
		else if (begun)
			buf_byte(b, (uint8_t)line.p[i]);
	}
	if (column < p.column)
		buf_str(b, OPEN);
	if (p.length && column < p.column + p.length)
		buf_str(b, CLOSE);
}

static struct slice found(struct slice design)
{
	static const char *const severities[] = { "error", "warning", "note" };
	const struct design *d;
	struct buf b;

	source = (struct source){ SLICE("helpdesk.yaml"), design };
	findings_init(&findings, &arena);
	d = design_load(&arena, source, no_env, NULL, &findings);
	if (d)
		design_check(d, &findings);
	buf_init(&b, &arena);
	for (size_t i = 0; i < findings.count; i++) {
		const struct finding *f = &findings.list[i];

		buf_printf(&b, "! %s %s\n@ ", severities[f->severity], f->rule);
		add_line(&b, line_of(design, f->place.line), f->place);
		buf_printf(&b, "\n: %.*s\n", SLICE_ARG(f->message));
		if (f->repair.n)
			buf_printf(&b, "> %.*s\n", SLICE_ARG(f->repair));
	}
	return b.n ? buf_slice(&b) : SLICE("");
}

/* What has neither a repair nor says what was expected, leaves the reader alone. */
static bool helps(void)
{
	for (size_t i = 0; i < findings.count; i++)
		if (!findings.list[i].place.line ||
		    (!findings.list[i].repair.n && !contains(findings.list[i].message, "expected")))
			return false;
	return findings.count > 0;
}

/* Line by line; an expected line may end in '…'. */
static bool is_as_expected(struct slice is, struct slice expected)
{
	static const struct slice any = { "…", sizeof("…") - 1 };
	struct slice got, want;

	while (take_line(&expected, &want)) {
		bool open = want.n > any.n && !memcmp(want.p + want.n - any.n, any.p, any.n);

		if (!take_line(&is, &got))
			return false;
		if (open ? !slice_starts(got, slice_make(want.p, want.n - any.n)) : !slice_equal(got, want))
			return false;
	}
	return !is.n;
}

/* One mistake, from what follows "= "; returns whether it is found as it should be. */
static bool try_mistake(struct slice design, struct slice text)
{
	struct slice title = SLICE(""), line, is;
	struct buf from, to, expected;

	(void)take_line(&text, &title);
	buf_init(&from, &arena);
	buf_init(&to, &arena);
	buf_init(&expected, &arena);
	while (take_line(&text, &line)) {
		bool old = slice_starts(line, SLICE("-")), new = slice_starts(line, SLICE("+"));

		if (from.n && ((old && to.n) || (!old && !new))) {
			design = change(design, buf_slice(&from), to.n ? buf_slice(&to) : SLICE(""), title);
			from.n = to.n = 0;
		}
		buf_printf(old   ? &from
			   : new ? &to
				 : &expected,
			   "%.*s\n", (int)line.n - (old || new), line.p + (old || new));
	}
	is = found(design);
	if (is_as_expected(is, buf_slice(&expected)) && helps())
		return true;
	print_message("= %.*s\nexpected:\n%.*sfound:\n%.*s%s", SLICE_ARG(title), SLICE_ARG(buf_slice(&expected)),
		      SLICE_ARG(is), helps() ? "" : "without saying what to do\n");
	return false;
}

/* The end of the mistake that begins at `p`: the next one, or the end of the text. */
static const char *end_of(struct slice text, const char *p)
{
	const char *end = text.p + text.n, *next = memmem(p, (size_t)(end - p), "\n= ", 3);

	return next ? next + 1 : end;
}

static void try_all(void **state)
{
	struct arena texts;
	struct slice design, text;
	size_t count = 0, wrong = 0;

	arena_init(&texts);
	design = arena_copy(&texts, read_text("helpdesk.yaml"));
	text = arena_copy(&texts, read_text(*state));
	for (const char *p = text.p, *next; p < text.p + text.n; p = next) {
		next = end_of(text, p);
		(void)end(NULL);
		(void)begin(NULL);
		wrong += !try_mistake(design, slice_make(p + 2, (size_t)(next - p) - 2));
		count++;
	}
	arena_release(&texts);
	print_message("%s: %zu mistakes\n", (const char *)*state, count);
	assert_true(count >= 25);
	assert_int_equal(wrong, 0);
}

static void the_design_is_correct(void **state)
{
	(void)state;
	assert_int_equal(found(read_text("helpdesk.yaml")).n, 0);
}

#define MISTAKES(file)                                                 \
	{                                                              \
		"the mistakes of " file, try_all, begin, end, (char[]) \
		{                                                      \
			file                                           \
		}                                                      \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_design_is_correct, begin, end),
		MISTAKES("file.txt"),
		MISTAKES("entities.txt"),
		MISTAKES("access.txt"),
		MISTAKES("review.txt"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
