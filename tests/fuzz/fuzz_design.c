/* Any text as a design: loaded, reviewed when it is one, its findings shown as text and as JSON. What is found
 * stands inside the file. And editors ask about some places in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "design/design.h"
#include "design/editor/editor.h"
#include "json/json.h"

static const char *no_env(void *ctx, const char *name)
{
	return name[0] == 'A' ? "set" : NULL;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static int lines_of(struct slice text)
{
	int n = 1;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

static void run(struct slice text, struct arena *a)
{
	struct source s = { SLICE("fuzz.yaml"), text };
	struct findings f;
	const struct design *d;
	struct buf out;

	findings_init(&f, a);
	d = design_load(a, s, no_env, NULL, &f);
	check(!d == (findings_errors(&f) > 0));
	if (d)
		design_check(d, &f);
	for (size_t i = 0; i < f.count; i++)
		check(f.list[i].place.line >= 0 && f.list[i].place.line <= lines_of(text) &&
		      (f.list[i].place.line == 0 || f.list[i].place.column > 0));
	buf_init(&out, a);
	findings_print(&out, &f, &s);
	buf_init(&out, a);
	findings_json(&out, &f, &s);
	check(json_parse(a, buf_slice(&out)) != NULL);
}

static void edit(struct slice text, struct arena *a)
{
	for (size_t i = 0, at = 0, from, to; i < 8; i++, at = (at * 31 + text.n / 3 + 7) % (text.n + 1)) {
		struct editor_words l = editor_words(a, text, at);

		check(l.from <= at);
		(void)editor_what(a, text, at, &from, &to);
		check(from <= to && to <= text.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;

	arena_init(&a);
	run(slice_make(data, size), &a);
	edit(slice_make(data, size), &a);
	arena_release(&a);
	return 0;
}
