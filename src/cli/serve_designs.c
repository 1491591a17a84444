/* The designs `thorpe serve` was given: loaded, and their tables made ready.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve_designs.h"
#include <stdio.h>
#include "app/provision.h"

/* NULL: the findings have been printed. */
static const struct design *load(struct arena *a, const char *path, bool quiet)
{
	struct findings findings;
	struct source source;
	const struct design *d;
	struct buf out;

	findings_init(&findings, a);
	d = design_load_file(a, path, &source, &findings);
	if (!d && !quiet) {
		buf_init(&out, a);
		findings_sort(&findings);
		findings_print(&out, &findings, &source);
		fwrite(out.p, 1, out.n, stderr);
	}
	return d;
}

bool serve_check_designs(const struct serve_options *o, char *why, size_t n)
{
	volatile bool ok = true;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		for (size_t i = 0; ok && i < o->design_count; i++)
			if (!load(&a, o->designs[i], false)) {
				snprintf(why, n, "%s is not a design that can be served", o->designs[i]);
				ok = false;
			}
	}, {
		snprintf(why, n, "not enough memory");
		ok = false;
	});
	arena_release(&a);
	return ok;
}

static bool provision(struct backend *b, const char *path, struct arena *a, char *why, size_t n)
{
	const struct design *d = load(a, path, true);
	struct error e = { 0 };
	const char *did = "is there";

	if (!d) {
		snprintf(why, n, "%s has changed while it was being read", path);
		return false;
	}
	switch (provision_table(b, d, a, &e)) {
	case PROVISION_FAILED:
		snprintf(why, n, "%s: %.*s", path, SLICE_ARG(e.message));
		return false;
	case PROVISION_MADE:
		did = "made";
		break;
	case PROVISION_CHANGED:
		did = "brought up to date";
		break;
	case PROVISION_THERE:
		break;
	}
	fprintf(stderr, "  design %.*s (%.*s): table %.*s %s\n", SLICE_ARG(d->name), SLICE_ARG(d->title),
		SLICE_ARG(d->table), did);
	return true;
}

bool serve_provision_designs(const struct serve_options *o, struct api *api, char *why, size_t n)
{
	struct backend *b = o->design_count ? backend_local_new(api) : NULL;
	volatile bool ok = b || !o->design_count;
	struct arena a;

	if (!ok)
		snprintf(why, n, "not enough memory");
	arena_init(&a);
	ARENA_TRY(&a, {
		for (size_t i = 0; ok && i < o->design_count; i++)
			ok = provision(b, o->designs[i], &a, why, n);
	}, {
		snprintf(why, n, "not enough memory");
		ok = false;
	});
	arena_release(&a);
	backend_local_free(b);
	return ok;
}
