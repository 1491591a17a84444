/* Prints what a pattern gave, and what it took.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/call.h"
#include "cli/json_text.h"
#include "json/json.h"

struct cost {
	size_t requests;
	double read, write;
	int64_t us;
};

static void print_units(struct buf *b, double read, double write)
{
	if (read > 0 || write <= 0)
		buf_printf(b, ", %g read unit%s", read, read == 1 ? "" : "s");
	if (write > 0)
		buf_printf(b, ", %g write unit%s", write, write == 1 ? "" : "s");
}

static void print_time(struct buf *b, int64_t us)
{
	if (us < 1000)
		buf_printf(b, ", %lld µs", (long long)us);
	else
		buf_printf(b, ", %.1f ms", (double)us / 1000);
}

/* `raw`: the same as it is written. */
static void print_request(struct buf *b, const struct json *request, struct slice raw, struct cost *total)
{
	const struct json *items = json_get(request, "items"), *document = json_get(request, "request");
	double read = json_get_number(request, "read_units"), write = json_get_number(request, "write_units");
	struct slice error = json_get_text(request, "error");
	int64_t us = (int64_t)json_get_number(request, "us");

	total->requests++;
	total->read += read;
	total->write += write;
	total->us += us;
	buf_printf(b, "\n%zu. %.*s", total->requests, SLICE_ARG(json_get_text(request, "operation")));
	if (json_is(items, JSON_INT))
		buf_printf(b, ": %lld item%s", (long long)items->integer, items->integer == 1 ? "" : "s");
	print_units(b, read, write);
	print_time(b, us);
	if (error.n)
		buf_printf(b, ", %.*s", SLICE_ARG(error));
	buf_lit(b, "\n   ");
	json_text_indent(b, json_is(document, JSON_STRING) ? document->string : json_text_member(raw, "request"), 3);
	buf_byte(b, '\n');
}

void call_print(struct buf *b, struct slice reply)
{
	const struct json *tree = json_parse(b->arena, reply), *requests = json_get(tree, "requests");
	const struct json *trips = json_get(tree, "round_trips");
	struct slice raw = json_text_member(reply, "requests"), one;
	struct cost total = { 0 };
	size_t at = 0;

	if (!tree) {
		buf_put(b, reply);
		return;
	}
	json_text_indent(b, json_get(tree, "result") ? json_text_member(reply, "result") : reply, 0);
	buf_byte(b, '\n');
	if (!json_is(requests, JSON_ARRAY))
		return;
	for (uint32_t i = 0; i < requests->count && json_text_next(raw, &at, &one); i++)
		print_request(b, &requests->items[i], one, &total);
	buf_printf(b, "\n%zu request%s", total.requests, total.requests == 1 ? "" : "s");
	if (json_is(trips, JSON_INT))
		buf_printf(b, ", %lld round trip%s", (long long)trips->integer, trips->integer == 1 ? "" : "s");
	print_units(b, total.read, total.write);
	print_time(b, total.us);
	buf_byte(b, '\n');
}

/* ---- the patterns of a design ---- */

/* name=… for each <name> of a path; <name:format> too. */
static void print_placeholders(struct buf *b, struct slice path)
{
	while (path.n) {
		const char *from = memchr(path.p, '<', path.n), *end;
		size_t n = 0;

		if (!from)
			return;
		end = path.p + path.n;
		while (from + 1 + n < end && from[1 + n] != '>' && from[1 + n] != ':')
			n++;
		buf_printf(b, " %.*s=…", (int)n, from + 1);
		path = slice_make(from + 1 + n, (size_t)(end - (from + 1 + n)));
	}
}

static void print_pattern(struct buf *b, const struct json *pattern)
{
	const struct json *further = json_get(pattern, "parameters"), *ids = json_get(pattern, "ids");

	buf_lit(b, "  \"");
	buf_put(b, json_get_text(pattern, "name"));
	buf_byte(b, '"');
	print_placeholders(b, json_get_text(pattern, "path"));
	for (uint32_t i = 0; json_is(further, JSON_ARRAY) && i < further->count; i++)
		if (json_is(&further->items[i], JSON_STRING))
			buf_printf(b, " [%.*s=…]", SLICE_ARG(further->items[i].string));
	for (uint32_t i = 0; json_is(ids, JSON_ARRAY) && i < ids->count; i++)
		if (json_is(&ids->items[i], JSON_STRING))
			buf_printf(b, "%s%.*s", i ? ", " : "   ", SLICE_ARG(ids->items[i].string));
	buf_byte(b, '\n');
}

void call_print_patterns(struct buf *b, struct slice index, struct slice design)
{
	const struct json *list = json_get(json_parse(b->arena, index), "access");

	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++)
		print_pattern(b, &list->items[i]);
	buf_printf(b, "\nthorpe call %.*s PATTERN [NAME=VALUE]... runs one; --explain shows its requests.\n",
		   SLICE_ARG(design));
}
