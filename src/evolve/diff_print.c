/* A diff for people, and for machines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evolve/diff.h"
#include "json/json.h"

#define LINE_MOST 200 /* characters of a text */

static void put_text(struct buf *b, char sign, struct slice text)
{
	size_t n = text.n;

	if (!n)
		return;
	if (n > LINE_MOST)
		for (n = LINE_MOST; n && ((unsigned char)text.p[n] & 0xc0) == 0x80;)
			n--;
	buf_printf(b, "    %c %.*s%s\n", sign, (int)n, text.p, n < text.n ? "…" : "");
}

static void put_change(struct buf *b, const struct diff_change *c)
{
	buf_printf(b, "%.*s: %s [%s]\n", SLICE_ARG(c->subject), diff_act_names[c->act], diff_need_names[c->need]);
	put_text(b, '-', c->was);
	put_text(b, '+', c->is);
	buf_printf(b, "    %.*s\n", SLICE_ARG(c->means));
}

void diff_print(struct buf *b, const struct diff *x)
{
	size_t counts[DIFF_NEEDS] = { 0 };
	const char *between = "";

	for (size_t i = 0; i < x->count; i++) {
		put_change(b, &x->list[i]);
		counts[x->list[i].need]++;
	}
	if (!x->count) {
		buf_lit(b, "Nothing changed.\n");
		return;
	}
	buf_printf(b, "%zu change%s: ", x->count, x->count == 1 ? "" : "s");
	for (size_t i = DIFF_NEEDS; i-- > 0;) {
		if (!counts[i])
			continue;
		buf_printf(b, "%s%zu %s", between, counts[i], diff_need_names[i]);
		between = ", ";
	}
	buf_byte(b, '\n');
}

static void put_member(struct buf *b, const char *name, struct slice text)
{
	if (!text.n)
		return;
	buf_printf(b, ",\"%s\":", name);
	json_string(b, text);
}

void diff_json(struct buf *b, const struct diff *x)
{
	buf_byte(b, '[');
	for (size_t i = 0; i < x->count; i++) {
		const struct diff_change *c = &x->list[i];

		buf_str(b, i ? ",\n {\"subject\":" : "\n {\"subject\":");
		json_string(b, c->subject);
		put_member(b, "change", slice_str(diff_act_names[c->act]));
		put_member(b, "need", slice_str(diff_need_names[c->need]));
		put_member(b, "was", c->was);
		put_member(b, "is", c->is);
		put_member(b, "means", c->means);
		buf_printf(b, ",\"line\":%d}", c->place.line);
	}
	buf_str(b, x->count ? "\n]\n" : "]\n");
}
