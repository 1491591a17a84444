/* Keeps the sources of documents, and caches those of designs. SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "console/console_internal.h"
#include "console/design_doc.h"

struct console *console_new(const struct console_options *o)
{
	struct console *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	c->options = *o;
	if (!c->options.region)
		c->options.region = "us-east-1";
	c->documents = mem_zalloc((o->app_count + 1) * sizeof(*c->documents));
	c->verifications = mem_zalloc((o->app_count + 1) * sizeof(struct verify *));
	if (!c->documents || !c->verifications) {
		mem_free(c->documents);
		mem_free(c->verifications);
		mem_free(c);
		return NULL;
	}
	arena_init(&c->arena);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void console_free(struct console *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->options.app_count; i++)
		verify_free(c->verifications[i]);
	mem_free(c->verifications);
	pthread_mutex_destroy(&c->lock);
	arena_release(&c->arena);
	mem_free(c->documents);
	mem_free(c);
}

/* Uses an arena of its own: intermediate results are much larger than the document. */
static bool make_document(struct console *c, const struct design *d, struct console_document *out)
{
	volatile bool ok = true;
	struct arena scratch;
	struct slice body;

	arena_init(&scratch);
	ARENA_TRY(&scratch, {
		c->arena.oom = scratch.oom;
		body = design_document(&scratch, d);
		body = arena_copy(&c->arena, body);
		out->etag = arena_printf(&c->arena, "\"%016llx\"", (unsigned long long)XXH3_64bits(body.p, body.n));
		out->body = body;
	}, { ok = false; });
	c->arena.oom = NULL;
	arena_release(&scratch);
	return ok;
}

const struct console_document *console_design(struct console *c, struct slice name, bool *missing)
{
	struct console_document *found = NULL;

	*missing = true;
	for (size_t i = 0; i < c->options.app_count; i++) {
		const struct design *d = app_design(c->options.apps[i]);

		if (!slice_equal(d->name, name))
			continue;
		*missing = false;
		pthread_mutex_lock(&c->lock);
		if (c->documents[i].body.n || make_document(c, d, &c->documents[i]))
			found = &c->documents[i];
		pthread_mutex_unlock(&c->lock);
	}
	return found;
}

/* ---- the oracle ---- */

static struct process *process_of(const struct console *c, struct slice design)
{
	for (size_t i = 0; i < c->options.process_count; i++)
		if (process_reading_count(c->options.processes[i]) &&
		    slice_equal(process_reading(c->options.processes[i], 0).design, design))
			return c->options.processes[i];
	return NULL;
}

struct slice console_verification(struct console *c, struct arena *a, struct slice name, bool start)
{
	struct verify *v = NULL;

	for (size_t i = 0; i < c->options.app_count; i++) {
		const struct design *d = app_design(c->options.apps[i]);

		if (!slice_equal(d->name, name))
			continue;
		pthread_mutex_lock(&c->lock);
		if (!c->verifications[i])
			c->verifications[i] = verify_new(d, process_of(c, d->name), app_database(c->options.apps[i]));
		v = c->verifications[i];
		if (v && start)
			verify_start(v);
		pthread_mutex_unlock(&c->lock);
	}
	return v ? verify_document(v, a) : SLICE("");
}
