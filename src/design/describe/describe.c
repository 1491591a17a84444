/* Which route and which requests serve each id of a requirements list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/describe.h"
#include <stdlib.h>
#include "base/grow.h"

struct build {
	struct arena *arena;
	const struct design *design;
	struct service *list;
	size_t count, capacity;
	bool all; /* the design has no ids: list everything, without ids */
};

static void add_services(struct build *x, const struct slice *ids, size_t n, struct service s)
{
	static const struct slice none = { .p = "" };

	if (!n && x->all) {
		ids = &none;
		n = 1;
	}
	for (size_t i = 0; i < n; i++) {
		GROW_IN(x->arena, x->list, x->count, x->capacity, 64);
		s.id = ids[i];
		x->list[x->count++] = s;
	}
}

static bool is_served(const struct entity *e, enum allow_verb v)
{
	const struct term *rule = e->allow[v];

	return !e->internal && v != ALLOW_LIST && rule && rule->kind != TERM_NEVER;
}

static void add_verbs(struct build *x, const struct entity *e)
{
	static const char *const methods[ALLOW_VERBS] = { "POST", "GET", "PATCH", "DELETE", "GET" };

	for (int v = 0; v < ALLOW_VERBS; v++) {
		struct service s = { .method = methods[v], .path = e->path };
		struct buf b;

		if (!e->pattern_count[v] && !(x->all && is_served(e, (enum allow_verb)v)))
			continue;
		buf_init(&b, x->arena);
		describe_write(&b, x->design, e, (enum allow_verb)v, NULL);
		s.request = buf_slice(&b);
		s.name = arena_printf(x->arena, "%s %.*s", allow_verb_names[v], SLICE_ARG(e->name));
		if (v == ALLOW_CREATE && entity_collection(e).n != e->path.n)
			s.path = entity_collection(e);
		else if (v == ALLOW_CREATE)
			s.method = "PUT";
		add_services(x, e->patterns[v], e->pattern_count[v], s);
	}
}

static void add_actions(struct build *x, const struct entity *e)
{
	EACH (struct action, a, e->actions, e->action_count) {
		struct service s = { .method = "POST" };
		struct buf b;

		if (!a->pattern_count && !x->all)
			continue;
		buf_init(&b, x->arena);
		describe_write(&b, x->design, e, ALLOW_UPDATE, a);
		s.request = buf_slice(&b);
		s.name = arena_printf(x->arena, "%.*s: %.*s", SLICE_ARG(e->name), SLICE_ARG(a->name));
		s.path = arena_printf(x->arena, "%.*s/%.*s", SLICE_ARG(e->path), SLICE_ARG(a->name));
		add_services(x, a->patterns, a->pattern_count, s);
	}
	if (e->login.pattern_count || (x->all && e->login.present))
		add_services(
			x, e->login.patterns, e->login.pattern_count,
			(struct service){
				.name = SLICE("log in"),
				.method = "POST",
				.path = SLICE("/login"),
				.request = SLICE(
					"GetItem, strongly consistent, of the guard of the name, of the account and of its credentials; then bcrypt") });
}

static void add_access(struct build *x, const struct access *ac)
{
	struct service s = { .name = ac->name, .method = ac->path.n ? "GET" : NULL, .path = ac->path };
	struct buf b;

	if (!ac->id_count && !x->all)
		return;
	buf_init(&b, x->arena);
	describe_access(&b, x->design, ac);
	s.request = buf_slice(&b);
	add_services(x, ac->ids, ac->id_count, s);
}

static int by_id(const void *p, const void *q)
{
	const struct service *x = p, *y = q;
	int order = slice_cmp(x->id, y->id);

	/* What was declared first comes first. */
	return order ? order : x->name.p < y->name.p ? -1 : x->name.p > y->name.p;
}

static void add_all(struct build *x)
{
	const struct design *d = x->design;

	EACH (struct access, a, d->accesses, d->access_count)
		add_access(x, a);
	EACH (struct entity, e, d->entities, d->entity_count) {
		add_verbs(x, e);
		add_actions(x, e);
	}
}

void describe_services(struct arena *a, const struct design *d, struct services *out)
{
	struct build x = { .arena = a, .design = d };

	add_all(&x);
	x.all = !x.count;
	if (x.all)
		add_all(&x);
	else
		qsort(x.list, x.count, sizeof(*x.list), by_id);
	*out = (struct services){ .list = x.list, .count = x.count };
}
