/* Loads a design, or prints why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/design_file.h"
#include <stdio.h>

struct load {
	struct findings findings;
	struct source source;
};

static const struct design *load(struct load *l, struct arena *a, const char *path)
{
	findings_init(&l->findings, a);
	return design_load_file(a, path, &l->source, &l->findings);
}

static void print(struct load *l)
{
	struct buf out;

	buf_init(&out, l->findings.arena);
	findings_sort(&l->findings);
	findings_print(&out, &l->findings, &l->source);
	fwrite(out.p, 1, out.n, stderr);
}

static void keep_errors(struct findings *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].severity == SEVERITY_ERROR)
			f->list[n++] = f->list[i];
	f->count = n;
}

const struct design *design_file_check(struct arena *a, const char *path, size_t *errors)
{
	struct load l;
	const struct design *d = load(&l, a, path);

	if (d)
		design_check(d, &l.findings);
	keep_errors(&l.findings);
	*errors = l.findings.count;
	print(&l);
	return d;
}

const struct design *design_file_load(struct arena *a, const char *path)
{
	struct load l;
	const struct design *d = load(&l, a, path);

	if (!d)
		print(&l);
	return d;
}
