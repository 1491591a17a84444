/* `thorpe doc`: what serves each access pattern of a design, for documents.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/design_file.h"
#include "design/describe/describe.h"

struct doc_options {
	bool json;
};

static const struct flag flags[] = {
	FLAG_SWITCH("json", struct doc_options, json, "print a JSON array, for machines"),
	FLAG_END,
};

static void put_member(struct buf *b, const char *name, struct slice value)
{
	buf_printf(b, ",\"%s\":", name);
	json_string(b, value);
}

static void put_json(struct buf *b, const struct design *d, const struct services *all, bool *first)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct service *s = &all->list[i];

		buf_str(b, *first ? "\n{\"design\":" : ",\n{\"design\":");
		*first = false;
		json_string(b, d->name);
		put_member(b, "id", s->id);
		put_member(b, "name", s->name);
		if (s->method) {
			put_member(b, "method", slice_str(s->method));
			put_member(b, "path", s->path);
		}
		put_member(b, "request", s->request);
		buf_byte(b, '}');
	}
}

/* '|' would end the cell. */
static void put_cell(struct buf *b, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '|')
			buf_byte(b, '\\');
		buf_byte(b, (uint8_t)text.p[i]);
	}
}

static void put_table(struct buf *b, const struct design *d, const struct services *all)
{
	buf_printf(b, "## %.*s\n\n| id | | route | requests |\n|---|---|---|---|\n", SLICE_ARG(d->title));
	for (size_t i = 0; i < all->count; i++) {
		const struct service *s = &all->list[i];

		buf_printf(b, "| %.*s | %.*s | ", SLICE_ARG(s->id), SLICE_ARG(s->name));
		if (s->method)
			buf_printf(b, "`%s /api/%.*s%.*s`", s->method, SLICE_ARG(d->name), SLICE_ARG(s->path));
		buf_lit(b, " | `");
		put_cell(b, s->request);
		buf_lit(b, "` |\n");
	}
	buf_byte(b, '\n');
}

static bool doc_file(struct arena *a, struct buf *out, const char *path, bool json, bool *first)
{
	const struct design *d = design_file_load(a, path);
	struct services all;

	if (!d)
		return false;
	describe_services(a, d, &all);
	if (json)
		put_json(out, d, &all, first);
	else
		put_table(out, d, &all);
	return true;
}

static int doc(char **paths, int count, bool json)
{
	volatile int status = 0;
	bool first = true;
	struct arena a;
	struct buf out;

	arena_init(&a);
	ARENA_TRY(&a, {
		buf_init(&out, &a);
		if (json)
			buf_byte(&out, '[');
		for (int i = 0; !status && i < count; i++)
			if (!doc_file(&a, &out, paths[i], json, &first))
				status = EXIT_REFUSED;
		if (json)
			buf_lit(&out, "\n]\n");
		if (!status)
			fwrite(out.p, 1, out.n, stdout);
	}, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&a);
	return status;
}

static int run(void *options, char **words, int count)
{
	return doc(words, count, ((struct doc_options *)options)->json);
}

const struct command command_doc = {
	.name = "doc",
	.summary = "list the routes and DynamoDB requests of a design's access patterns",
	.usage = "FILE... [--json]",
	.about = "Prints a Markdown table: for every access pattern that has an id in the design, the route that\n"
		 "serves it and its DynamoDB requests. For a design without ids: for everything it serves.",
	.flags = flags,
	.examples = "  thorpe doc designs/social.yaml",
	.least_words = 1,
	.most_words = -1,
	.lacking = "which design? thorpe doc FILE",
	.size = sizeof(struct doc_options),
	.run = run,
};
