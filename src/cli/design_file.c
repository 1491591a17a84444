/* Loads a design, or prints why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/design_file.h"
#include <stdio.h>

const struct design *design_file_check(struct arena *a, const char *path, size_t *errors)
{
	struct findings findings;
	struct source source;
	const struct design *d;
	struct buf out;

	findings_init(&findings, a);
	d = design_load_file(a, path, &source, &findings);
	if (d)
		design_check(d, &findings);
	*errors = findings_errors(&findings);
	if (!*errors)
		return d;
	buf_init(&out, a);
	findings_sort(&findings);
	for (size_t i = 0; i < findings.count; i++)
		if (findings.list[i].severity == SEVERITY_ERROR) {
			struct findings one = { .arena = a, .list = &findings.list[i], .count = 1 };

			findings_print(&out, &one, &source);
		}
	fwrite(out.p, 1, out.n, stderr);
	return d;
}

const struct design *design_file_load(struct arena *a, const char *path)
{
	struct findings findings;
	struct source source;
	const struct design *d;
	struct buf out;

	findings_init(&findings, a);
	d = design_load_file(a, path, &source, &findings);
	if (d)
		return d;
	buf_init(&out, a);
	findings_sort(&findings);
	findings_print(&out, &findings, &source);
	fwrite(out.p, 1, out.n, stderr);
	return NULL;
}
