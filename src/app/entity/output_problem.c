/* Problems as application/problem+json.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/output.h"
#include "design/term/term_text.h"

/* A sentence may quote what a client sent in a path, which nothing has checked. */
static void put_text(struct buf *b, struct slice s)
{
	char *clean;

	if (!text_is_utf8(s)) {
		clean = arena_cstr(b->arena, s);
		for (size_t i = 0; i < s.n; i++)
			if ((uint8_t)clean[i] >= 0x80)
				clean[i] = '?';
		s.p = clean;
	}
	json_string(b, s);
}

static void put_parts(const struct problem *p, struct buf *b)
{
	buf_lit(b, ",\"errors\":[");
	for (size_t i = 0; i < p->part_count; i++) {
		buf_str(b, i ? ",{\"attribute\":" : "{\"attribute\":");
		put_text(b, p->parts[i].attribute);
		buf_lit(b, ",\"detail\":");
		put_text(b, p->parts[i].detail);
		buf_byte(b, '}');
	}
	buf_byte(b, ']');
}

void output_problem(const struct problem *p, struct buf *b)
{
	buf_lit(b, "{\"type\":\"urn:thorpe:");
	buf_str(b, problem_name(p->type));
	buf_lit(b, "\",\"title\":");
	json_string(b, slice_str(problem_title(p->type)));
	buf_lit(b, ",\"status\":");
	buf_i64(b, problem_status(p->type));
	if (p->detail.n) {
		buf_lit(b, ",\"detail\":");
		put_text(b, p->detail);
	}
	if (p->attribute.n) {
		buf_lit(b, ",\"attribute\":");
		put_text(b, p->attribute);
	}
	if (p->outcome != OUTCOME_NOT_DONE)
		buf_str(b, p->outcome == OUTCOME_DONE ? ",\"outcome\":\"done\"" : ",\"outcome\":\"unknown\"");
	if (p->part_count)
		put_parts(p, b);
	buf_byte(b, '}');
}
