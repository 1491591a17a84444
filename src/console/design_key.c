/* Templates and the attributes computed from them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/design_doc.h"

void design_line(struct buf *b, struct place p)
{
	json_member_int(b, "line", p.line);
}

static void put_placeholder(struct buf *b, const struct template_part *p)
{
	struct slice format = template_format_text(b->arena, p);
	struct buf name;

	buf_init(&name, b->arena);
	term_print_path(&name, p->names, p->name_count);
	doc_member(b, "name", buf_slice(&name));
	if (format.n)
		doc_member(b, "format", format);
}

void design_parts_doc(struct buf *b, const struct template *t)
{
	json_open(b, '[');
	for (size_t i = 0; t && i < t->part_count; i++) {
		json_open(b, '{');
		if (t->parts[i].names)
			put_placeholder(b, &t->parts[i]);
		else
			doc_member(b, "text", t->parts[i].literal);
		json_close(b, '}');
	}
	json_close(b, ']');
}

void design_keys_doc(struct buf *b, const struct key_rule *rules, size_t n)
{
	json_open(b, '[');
	for (size_t i = 0; i < n; i++) {
		json_open(b, '{');
		doc_member(b, "attribute", rules[i].attribute);
		doc_member(b, "template", rules[i].template->text);
		json_name(b, "parts");
		design_parts_doc(b, rules[i].template);
		doc_member_term(b, "when", rules[i].when);
		design_line(b, rules[i].place);
		json_close(b, '}');
	}
	json_close(b, ']');
}
