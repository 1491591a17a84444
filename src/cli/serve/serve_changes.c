/* Says at the start what changed in a design since its items were written, and what that means for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision.h"
#include "base/log.h"
#include "cli/serve/serve_changes.h"
#include "evolve/served.h"

#define SHOWN 20 /* changes; `thorpe diff` shows all */

static size_t count_work(const struct diff *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->count; i++)
		n += x->list[i].need > DIFF_TABLE;
	return n;
}

static void say_work(const struct design *d, const char *path, const struct diff *x, size_t work)
{
	size_t shown = 0;

	log_warn("%.*s is not the design that its items were written by: %zu of %zu changes mean work for them",
		 SLICE_ARG(d->name), work, x->count);
	for (size_t i = 0; i < x->count && shown < SHOWN; i++) {
		const struct diff_change *c = &x->list[i];

		if (c->need <= DIFF_TABLE)
			continue;
		log_warn("  %.*s: %s [%s]: %.*s", SLICE_ARG(c->subject), diff_act_names[c->act],
			 diff_need_names[c->need], SLICE_ARG(c->means));
		shown++;
	}
	if (shown < work)
		log_warn("  and %zu more", work - shown);
	log_warn("  until that is done, items can be missing from lists, and values can be there twice. Stop the server and "
		 "run 'thorpe verify --design %s --repair': it does what is marked rewrite, count or guard",
		 path);
}

static void keep(struct backend *b, const struct design *d, struct arena *a)
{
	struct error e = { 0 };

	if (!provision_beside(b, d, a, &e) || !served_keep(b, d, a, &e))
		log_warn("%.*s: the design could not be kept, so its next change will not be noticed: %.*s",
			 SLICE_ARG(d->name), SLICE_ARG(e.message));
}

void serve_changes_say(const struct design *d, const char *path, struct backend *b, struct arena *a)
{
	struct served now;
	size_t work;

	served_look(b, d, a, &now);
	switch (now.is) {
	case SERVED_SAME: return;
	case SERVED_FIRST: keep(b, d, a); return;
	case SERVED_FAILED:
		log_warn("%.*s: whether it has changed is not known: %.*s", SLICE_ARG(d->name), SLICE_ARG(now.why));
		return;
	case SERVED_UNKNOWN:
		log_warn("%.*s: what has changed is not known: %.*s", SLICE_ARG(d->name), SLICE_ARG(now.why));
		keep(b, d, a);
		return;
	case SERVED_CHANGED: break;
	}
	work = count_work(&now.changes);
	if (work) {
		say_work(d, path, &now.changes, work);
		return;
	}
	log_info("%.*s has changed, and nothing has to be done for its items: %zu change%s", SLICE_ARG(d->name),
		 now.changes.count, now.changes.count == 1 ? "" : "s");
	keep(b, d, a);
}
