/* Findings of `thorpe check`, including those the design accepts, with the reason.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/design_doc.h"

/* "entity Post" is Post; the table itself needs no name. */
static struct slice subject_name(struct slice subject)
{
	const char *space = subject.n ? memchr(subject.p, ' ', subject.n) : NULL;

	return space ? slice_make(space + 1, (size_t)(subject.p + subject.n - space - 1)) : (struct slice){ 0 };
}

static void put_finding(struct buf *b, const struct finding *f)
{
	static const char *const severities[] = {
		[SEVERITY_ERROR] = "error",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_NOTE] = "note",
	};

	json_open(b, '{');
	doc_member_str(b, "severity", severities[f->severity]);
	doc_member_str(b, "rule", f->rule);
	json_member_int(b, "line", f->place.line);
	json_member_int(b, "column", f->place.column);
	doc_member_or_null(b, "subject", subject_name(f->subject));
	doc_member(b, "message", f->message);
	doc_member_or_null(b, "repair", f->repair);
	doc_member_or_null(b, "accepted", f->accepted);
	json_close(b, '}');
}

void design_findings_doc(struct buf *b, const struct design *d)
{
	struct findings all;

	findings_init(&all, b->arena);
	design_check_all(d, &all);
	json_open(b, '[');
	for (size_t i = 0; i < all.count; i++)
		put_finding(b, &all.list[i]);
	json_close(b, ']');
}
