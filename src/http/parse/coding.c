/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/parse/coding.h"
#include "http/parse/request.h"

static const struct slice names[] = {
	[CODING_NONE] = SLICE("identity"),
	[CODING_GZIP] = SLICE("gzip"),
	[CODING_DEFLATE] = SLICE("deflate"),
};

#define CODINGS           (sizeof(names) / sizeof(names[0]))
#define WEIGHT_DIGITS_MAX 15

struct slice coding_name(enum coding c)
{
	return names[c];
}

static bool is(struct slice s, struct slice name)
{
	return s.n == name.n && strncasecmp(s.p, name.p, name.n) == 0;
}

bool coding_parse(struct slice content_encoding, enum coding *out)
{
	*out = CODING_NONE;
	if (!content_encoding.n)
		return true;
	for (size_t i = 0; i < CODINGS; i++) {
		*out = (enum coding)i;
		if (is(content_encoding, names[i]))
			return true;
	}
	return false;
}

/* The number after the first "q=", wherever it is. */
static double weight_of(struct slice params)
{
	const char *q = params.n ? memmem(params.p, params.n, "q=", 2) : NULL;
	char text[WEIGHT_DIGITS_MAX + 1], *end;
	const char *stop;
	struct slice s;
	double w;

	if (!q)
		return 1;
	q += 2;
	stop = memchr(q, ';', (size_t)(params.p + params.n - q));
	s = http_trim(slice_make(q, (size_t)((stop ? stop : params.p + params.n) - q)));
	if (!s.n || s.n > WEIGHT_DIGITS_MAX)
		return 1;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	if (strspn(text, "-0123456789.") != s.n)
		return 1;
	w = strtod(text, &end);
	return *end || w > 1 ? 1 : w;
}

/* A client's preferences among the codings. */
struct wishes {
	double weight[CODINGS]; /* -1: not given */
	size_t place[CODINGS];  /* position in the list; codings matched by "*" come after all others */
	double others;
	size_t count;
};

static void add_wish(struct wishes *w, struct slice item)
{
	struct slice params = item, name;
	double weight;

	slice_next(&params, ';', &name);
	name = http_trim(name);
	weight = weight_of(params);
	w->count++;
	if (slice_is(name, "*"))
		w->others = weight;
	for (size_t i = 0; i < CODINGS; i++)
		if (is(name, names[i]) && weight > w->weight[i]) {
			w->weight[i] = weight;
			w->place[i] = w->count;
		}
}

enum coding coding_chosen(struct slice list)
{
	struct wishes w = { .weight = { -1, -1, -1 } };
	enum coding best = CODING_NONE;
	struct slice item;

	while (slice_next(&list, ',', &item))
		add_wish(&w, item);
	for (size_t i = CODING_GZIP; i < CODINGS; i++) {
		if (w.weight[i] < 0) {
			w.weight[i] = w.others;
			w.place[i] = w.count + i;
		}
		if (w.weight[i] <= 0)
			continue;
		if (best == CODING_NONE || w.weight[i] > w.weight[best] ||
		    (w.weight[i] >= w.weight[best] && w.place[i] < w.place[best]))
			best = (enum coding)i;
	}
	return best;
}
