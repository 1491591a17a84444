/* Designs as texts with the offending part «marked», and what loading says of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_DESIGN_LOAD_HELPER_H
#define TESTS_UNIT_DESIGN_LOAD_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "design/design.h"

#define OPEN  "«"
#define CLOSE "»"

static struct arena arena;
static struct findings findings;
static struct source source;

static int begin(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static const char *no_env(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return NULL;
}

/* Takes the marks out of `text`; the places of what was marked, in order. */
static inline struct slice unmark(const char *text, struct place *places, size_t *count)
{
	struct place at = { 1, 1, 0 };
	struct buf b;

	*count = 0;
	buf_init(&b, &arena);
	for (const char *p = text; *p; p++) {
		if (!strncmp(p, OPEN, 2)) {
			places[*count] = at;
			p++;
			continue;
		}
		if (!strncmp(p, CLOSE, 2)) {
			places[*count].length = at.column - places[*count].column;
			(*count)++;
			p++;
			continue;
		}
		buf_byte(&b, (uint8_t)*p);
		if (*p == '\n')
			at = (struct place){ at.line + 1, 1, 0 };
		else
			at.column += ((unsigned char)*p & 0xc0) != 0x80;
	}
	return buf_slice(&b);
}

static inline const struct design *load(const char *text)
{
	source = (struct source){ SLICE("test.yaml"), slice_str(text) };
	findings_init(&findings, &arena);
	return design_load(&arena, source, no_env, NULL, &findings);
}

static inline void show_findings(void)
{
	struct buf b;

	buf_init(&b, &arena);
	findings_print(&b, &findings, &source);
	print_message("%.*s", (int)b.n, b.p ? b.p : "");
}

/* Loads what must be right. */
static inline const struct design *load_well(const char *text)
{
	const struct design *d = load(text);

	if (!d || findings.count)
		show_findings();
	assert_int_equal(findings.count, 0);
	assert_non_null(d);
	return d;
}

static inline bool contains(struct slice s, const char *part)
{
	return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

/* Loads a text with one «wrong» part: one finding, exactly there, whose message and repair hold `says`. */
static inline void expect_error(const char *marked, const char *rule, const char *says)
{
	struct place places[8] = { { 0 } };
	size_t count;
	struct slice text = unmark(marked, places, &count);
	const struct design *d;
	const struct finding *f = NULL;

	source = (struct source){ SLICE("test.yaml"), text };
	findings_init(&findings, &arena);
	d = design_load(&arena, source, no_env, NULL, &findings);
	if (findings.count != 1 || strcmp(findings.list[0].rule, rule) != 0)
		show_findings();
	assert_null(d);
	assert_int_equal(findings.count, 1);
	f = &findings.list[0];
	assert_string_equal(f->rule, rule);
	if (!contains(f->message, says) && !contains(f->repair, says)) {
		show_findings();
		fail_msg("expected: %s", says);
	}
	if (count && !places[0].length)
		places[0].length = 1; /* a place between characters */
	if (count) {
		if (f->place.line != places[0].line || f->place.column != places[0].column ||
		    f->place.length != places[0].length)
			show_findings();
		assert_int_equal(f->place.line, places[0].line);
		assert_int_equal(f->place.column, places[0].column);
		assert_int_equal(f->place.length, places[0].length);
	}
}

#define SLICE_IS(s, text) assert_true(slice_is((s), (text)))

#endif
