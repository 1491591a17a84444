/* The designs that are shipped, and five of them as their documents have them: the first are
 * clean, and in the second check finds what is listed beside them. The list of rules in
 * docs/design-check.md is the list in the program. SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include "design/design.h"

/* THORPE_ROOT: the top of the source tree, given by the build. */
static const char *const systems[] = { "wavyblog", "blog", "fus", "social", "perfectit" };
#define SYSTEMS (sizeof(systems) / sizeof(systems[0]))

static struct slice read_text(struct arena *a, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot read %s", path);
	struct buf b;
	buf_init(&b, a);
	char chunk[4096];
	size_t n;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(&b, chunk, n);
	(void)fclose(file);
	return buf_slice(&b);
}

static void check_file(struct arena *a, const char *path, struct findings *f)
{
	struct source s = { slice_str(path), read_text(a, path) };
	findings_init(f, a);
	const struct design *d = design_load(a, s, NULL, NULL, f);
	if (d)
		design_check(d, f);
	bool loud = !d;
	for (size_t i = 0; i < f->count; i++)
		loud |= f->list[i].severity != SEVERITY_NOTE;
	if (loud && !strstr(path, "as-written")) {
		struct buf b;
		buf_init(&b, a);
		findings_print(&b, f, &s);
		print_message("%.*s\n", SLICE_ARG(buf_slice(&b)));
	}
	if (!d) {
		for (size_t i = 0; i < f->count; i++)
			print_message("%d: %.*s\n", f->list[i].place.line, SLICE_ARG(f->list[i].message));
		fail_msg("%s does not load", path);
	}
}

static bool found(const struct findings *f, struct slice rule, struct slice subject)
{
	for (size_t i = 0; i < f->count; i++)
		if (slice_equal(slice_str(f->list[i].rule), rule) && slice_equal(f->list[i].subject, subject))
			return true;
	return false;
}

static void the_shipped_designs_have_no_errors_and_no_warnings(void **state)
{
	(void)state;
	glob_t files;
	assert_int_equal(glob(THORPE_ROOT "/designs/*.yaml", 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, SYSTEMS);
	int found_more = glob(THORPE_ROOT "/designs/examples/*.yaml", GLOB_APPEND, NULL, &files);
	assert_true(found_more == 0 || found_more == GLOB_NOMATCH);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct arena a;
		struct findings f;
		arena_init(&a);
		check_file(&a, files.gl_pathv[i], &f);
		for (size_t k = 0; k < f.count; k++)
			if (f.list[k].severity != SEVERITY_NOTE)
				fail_msg("%s: %s of %.*s", files.gl_pathv[i], f.list[k].rule,
					 SLICE_ARG(f.list[k].subject));
		arena_release(&a);
	}
	globfree(&files);
}

static struct slice word(struct slice *line)
{
	size_t n = 0;
	while (n < line->n && line->p[n] != ' ')
		n++;
	struct slice out = slice_make(line->p, n);
	while (n < line->n && line->p[n] == ' ')
		n++;
	*line = slice_make(line->p + n, line->n - n);
	return out;
}

static struct slice without_comment(struct slice line)
{
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '#' && (i == 0 || line.p[i - 1] == ' '))
			line.n = i;
	while (line.n && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\r'))
		line.n--;
	return line;
}

/* Lines `<defect> <rule> <subject>`; returns how many were not found. */
static size_t compare(const char *system, struct slice expected, const struct findings *f)
{
	size_t missing = 0;
	while (expected.n) {
		const char *end = memchr(expected.p, '\n', expected.n);
		size_t n = end ? (size_t)(end - expected.p) : expected.n;
		struct slice line = without_comment(slice_make(expected.p, n));
		expected = slice_make(expected.p + n + (end != NULL), expected.n - n - (end != NULL));
		if (!line.n)
			continue;
		struct slice defect = word(&line), rule = word(&line);
		if (found(f, rule, line))
			continue;
		print_message("%s: %.*s not found: %.*s of %.*s\n", system, SLICE_ARG(defect), SLICE_ARG(rule),
			      SLICE_ARG(line));
		missing++;
	}
	return missing;
}

static void the_defects_of_the_documents_are_found(void **state)
{
	size_t missing = 0;
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		struct arena a;
		struct findings f;
		arena_init(&a);
		struct slice path =
			arena_printf(&a, "%s/tests/designs/as-written/%s.yaml%c", THORPE_ROOT, systems[i], 0);
		check_file(&a, path.p, &f);
		path = arena_printf(&a, "%s/tests/designs/as-written/%s.expected%c", THORPE_ROOT, systems[i], 0);
		missing += compare(systems[i], read_text(&a, path.p), &f);
		arena_release(&a);
	}
	assert_int_equal(missing, 0);
}

static void the_documentation_lists_every_rule(void **state)
{
	struct arena a;
	(void)state;
	arena_init(&a);
	struct slice doc = read_text(&a, THORPE_ROOT "/docs/design-check.md");
	size_t rows = 0, rules = 0;
	for (; design_check_name(rules); rules++) {
		struct slice row = arena_printf(&a, "\n| `%s` |", design_check_name(rules));
		if (!memmem(doc.p, doc.n, row.p, row.n))
			fail_msg("docs/design-check.md lacks %s", design_check_name(rules));
	}
	for (size_t i = 0; i + 4 < doc.n; i++)
		rows += memcmp(doc.p + i, "\n| `", 4) == 0;
	assert_int_equal(rows, rules);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shipped_designs_have_no_errors_and_no_warnings),
		cmocka_unit_test(the_defects_of_the_documents_are_found),
		cmocka_unit_test(the_documentation_lists_every_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
