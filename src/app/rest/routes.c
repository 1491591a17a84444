/* The tree of paths: making it, finding a route in it, listing it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/mail.h"
#include "app/auth/caller.h"
#include "app/entity/input.h"
#include "app/rest/routes.h"
#include "design/slots.h"

enum segment_class { SEGMENT_LITERAL, SEGMENT_MIXED, SEGMENT_PLACEHOLDER };

enum priority {
	PRIORITY_BUILT_IN = 1,
	PRIORITY_ENTRY,
	PRIORITY_INTERNAL,
	PRIORITY_CLOSED,
	PRIORITY_ENTITY,
	PRIORITY_NAMED,
	PRIORITY_FIXED
};

struct node {
	struct node *next; /* sibling; more literal ones first */
	struct node *children;
	enum segment_class class;
	struct slice literal;     /* LITERAL */
	struct template template; /* MIXED */
	const struct route *routes[ROUTE_METHODS];
	enum priority priority[ROUTE_METHODS];
};

struct route_table {
	struct node root;
};

/* ---- making it ---- */

struct segment {
	struct template_part *parts;
	size_t count;
};

struct route_path {
	struct segment segments[ROUTE_MOST_SEGMENTS];
	size_t count;
	bool bad; /* longer than any request */
};

static void path_part(struct arena *a, struct route_path *p, struct template_part part)
{
	struct segment *s;

	if (!p->count)
		return;
	s = &p->segments[p->count - 1];
	s->parts = arena_grow(a, s->parts, s->count * sizeof(*s->parts), (s->count + 1) * sizeof(*s->parts));
	s->parts[s->count++] = part;
}

static void path_slash(struct arena *a, struct route_path *p)
{
	if (p->count && !p->segments[p->count - 1].count)
		return; /* the segment before it is empty: a double slash */
	if (p->count == ROUTE_MOST_SEGMENTS) {
		p->bad = true;
		return;
	}
	p->segments[p->count++] = (struct segment){ .parts = arena_alloc(a, 1) };
}

static void path_literal(struct arena *a, struct route_path *p, struct slice text)
{
	struct slice part;

	while (slice_next(&text, '/', &part)) {
		if (part.n)
			path_part(a, p, (struct template_part){ .literal = part });
		if (text.p)
			path_slash(a, p);
	}
}

static void path_of(struct arena *a, const struct template *t, struct route_path *p)
{
	*p = (struct route_path){ 0 };
	for (size_t i = 0; i < t->part_count; i++) {
		if (t->parts[i].names)
			path_part(a, p, t->parts[i]);
		else
			path_literal(a, p, t->parts[i].literal);
	}
	if (p->count && !p->segments[p->count - 1].count)
		p->count--;
}

static void path_add(struct arena *a, struct route_path *p, struct slice name)
{
	path_slash(a, p);
	path_part(a, p, (struct template_part){ .literal = name });
}

static enum segment_class segment_class(const struct segment *s)
{
	if (s->count > 1)
		return SEGMENT_MIXED;
	return s->parts[0].names ? SEGMENT_PLACEHOLDER : SEGMENT_LITERAL;
}

static bool same_parts(const struct template *t, const struct segment *s)
{
	if (t->part_count != s->count)
		return false;
	for (size_t i = 0; i < s->count; i++)
		if (!t->parts[i].names != !s->parts[i].names ||
		    (!s->parts[i].names && !slice_equal(t->parts[i].literal, s->parts[i].literal)))
			return false;
	return true;
}

static bool same_segment(const struct node *n, enum segment_class class, const struct segment *s)
{
	if (n->class != class || class == SEGMENT_PLACEHOLDER)
		return n->class == class;
	return class == SEGMENT_LITERAL ? slice_equal(n->literal, s->parts[0].literal) : same_parts(&n->template, s);
}

static struct node *child(struct arena *a, struct node *parent, const struct segment *s)
{
	enum segment_class class = segment_class(s);
	struct node **at = &parent->children;
	struct node *n;

	for (; *at && (*at)->class <= class; at = &(*at)->next)
		if (same_segment(*at, class, s))
			return *at;
	n = arena_new(a, struct node);
	n->class = class;
	n->literal = s->parts[0].literal;
	n->template = (struct template){ .parts = s->parts, .part_count = s->count };
	n->next = *at;
	*at = n;
	return n;
}

struct maker {
	struct arena *a;
	const struct design *d;
	struct route_table *t;
};

static const struct attribute *param_type(const struct maker *m, const struct route *r, const struct name *name)
{
	return !name       ? NULL
	       : r->entity ? slots_attribute(r->entity->slots, name)
	       : r->access ? route_param(m->a, m->d, r->access, name)
			   : NULL;
}

static void name_params(const struct maker *m, const struct route_path *p, struct route *r)
{
	struct slice *names = arena_array(m->a, struct slice, ROUTE_MOST_VALUES);
	const struct name **at = arena_array(m->a, const struct name *, ROUTE_MOST_VALUES);
	const struct attribute **types = arena_array(m->a, const struct attribute *, ROUTE_MOST_VALUES);

	for (size_t i = 0; i < p->count; i++) {
		for (size_t k = 0; k < p->segments[i].count && r->count < ROUTE_MOST_VALUES; k++) {
			const struct template_part *part = &p->segments[i].parts[k];

			if (!part->names)
				continue;
			names[r->count] = part->names[0];
			at[r->count] = part->at;
			types[r->count] = param_type(m, r, part->at);
			r->count++;
		}
	}
	r->names = names;
	r->at = at;
	r->types = types;
}

static void add_route(const struct maker *m, const struct route_path *p, enum app_method method, enum priority priority,
		      struct route r)
{
	struct route *made = arena_new(m->a, struct route);
	struct node *n = &m->t->root;

	if (p->bad)
		return;
	for (size_t i = 0; i < p->count; i++)
		n = child(m->a, n, &p->segments[i]);
	if (n->priority[method] >= priority)
		return;
	*made = r;
	name_params(m, p, made);
	n->routes[method] = made;
	n->priority[method] = priority;
}

/* The path without the placeholders at its end. */
static void collection_of(struct route_path *p)
{
	while (p->count && segment_class(&p->segments[p->count - 1]) == SEGMENT_PLACEHOLDER)
		p->count--;
}

/* The entries of each `map of` something that clients may set: /users/<user>/addresses/<entry> */
static void add_entries(const struct maker *m, const struct entity *e, const struct route_path *item)
{
	struct slice *name = arena_new(m->a, struct slice);

	*name = SLICE("entry");
	while (slice_among(e->params, e->param_count, *name))
		*name = arena_printf(m->a, "%.*s_", SLICE_ARG(*name));
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		struct route r = { .kind = ROUTE_PUT_ENTRY, .entity = e, .map = a, .internal = e->internal };
		struct route_path p = *item;

		if (a->type != ATTR_MAP || !a->each || a->compressed || a->fixed || input_is_kept(a))
			continue;
		path_add(m->a, &p, a->name);
		path_slash(m->a, &p);
		path_part(m->a, &p, (struct template_part){ .names = name, .name_count = 1 });
		add_route(m, &p, APP_PUT, PRIORITY_ENTRY, r);
		r.kind = ROUTE_DELETE_ENTRY;
		add_route(m, &p, APP_DELETE, PRIORITY_ENTRY, r);
	}
}

/* Whether some action of the entity lets clients give the attribute. */
static bool is_given_by_action(const struct entity *e, const struct attribute *a)
{
	for (size_t i = 0; i < e->action_count; i++)
		if (names_among(e->actions[i].input_at, e->actions[i].input_count, a->at))
			return true;
	return false;
}

/* Uploads: /posts/<post>/files/picture, and /posts/files/picture for a post that will be made with it. */
static void add_files(const struct maker *m, const struct entity *e, const struct route_path *item)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		struct route r = { .kind = ROUTE_FILE, .entity = e, .file = a, .internal = e->internal };
		struct route_path p = *item;

		if (!attribute_file(a))
			continue;
		r.internal |= input_is_kept(a) && !is_given_by_action(e, a);
		path_add(m->a, &p, SLICE("files"));
		path_add(m->a, &p, a->name);
		add_route(m, &p, APP_POST, PRIORITY_ENTRY, r);
		p = *item;
		collection_of(&p);
		path_add(m->a, &p, SLICE("files"));
		path_add(m->a, &p, a->name);
		r.kind = ROUTE_FILE_NEW;
		r.internal |= !e->allow[ALLOW_CREATE];
		add_route(m, &p, APP_POST, PRIORITY_ENTRY, r);
	}
}

static void add_entity(const struct maker *m, const struct entity *e)
{
	static const struct {
		enum app_method method;
		enum route_kind kind;
	} rows[] = {
		{ APP_GET, ROUTE_ITEM }, { APP_PUT, ROUTE_PUT }, { APP_PATCH, ROUTE_PATCH }, { APP_DELETE, ROUTE_DELETE }
	};
	enum priority priority = e->internal ? PRIORITY_INTERNAL : PRIORITY_ENTITY;
	struct route r = { .entity = e, .internal = e->internal };
	struct route_path item, p;

	if (!e->path_template)
		return;
	path_of(m->a, e->path_template, &item);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		r.kind = rows[i].kind;
		r.quick = r.kind == ROUTE_ITEM && !e->found_by.n && !e->show_count;
		add_route(m, &item, rows[i].method, priority, r);
	}
	add_entries(m, e, &item);
	add_files(m, e, &item);
	p = item;
	collection_of(&p);
	r.kind = ROUTE_CREATE;
	add_route(m, &p, APP_POST, priority == PRIORITY_ENTITY && !e->allow[ALLOW_CREATE] ? PRIORITY_CLOSED : priority,
		  r);
	r.kind = ROUTE_ACTION;
	for (size_t i = 0; i < e->action_count; i++) {
		p = item;
		path_add(m->a, &p, e->actions[i].name);
		r.action = &e->actions[i];
		add_route(m, &p, APP_POST, e->internal ? PRIORITY_INTERNAL : PRIORITY_NAMED, r);
	}
}

static const struct action *const *actions_named(const struct maker *m, struct slice name)
{
	const struct action **list = arena_array(m->a, const struct action *, m->d->entity_count);

	for (size_t i = 0; i < m->d->entity_count; i++)
		list[i] = entity_action(&m->d->entities[i], name);
	return list;
}

static void add_access(const struct maker *m, const struct access *c)
{
	struct route r = { .kind = ROUTE_ACCESS, .access = c };
	struct route_path p;

	if (!c->path_template)
		return;
	/* A rank that keeps the best rows reads as many as the pattern says, whatever the page, and more if a filter
	 * drops rows. */
	r.quick = (c->kind == ACCESS_GET || c->kind == ACCESS_QUERY) && !c->has_then && !c->walk_param.n &&
		  (!c->rank || !c->rank_keep || (c->limit <= APP_QUICK_LIMIT && !c->filter)) && !c->unite.n &&
		  !c->tree_parent.n && !c->count_only && !c->show_count;
	path_of(m->a, c->path_template, &p);
	add_route(m, &p, APP_GET, PRIORITY_NAMED, r);
	for (size_t i = 0; i < c->action_count; i++) {
		path_of(m->a, c->path_template, &p);
		path_add(m->a, &p, c->actions[i]);
		add_route(m, &p, APP_POST, PRIORITY_NAMED,
			  (struct route){ .kind = ROUTE_EACH,
					  .access = c,
					  .name = c->actions[i],
					  .each = actions_named(m, c->actions[i]) });
	}
}

static void path_add_all(struct arena *a, struct route_path *p, struct slice path)
{
	const char *slash = memchr(path.p, '/', path.n);
	size_t n = slash ? (size_t)(slash - path.p) : path.n;

	path_add(a, p, slice_make(path.p, n));
	if (slash)
		path_add(a, p, slice_make(slash + 1, path.n - n - 1));
}

static bool has_roles(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].login.role.n && !d->callers.issuer.n)
			return true;
	return false;
}

static bool has_built_in(const struct design *d, enum route_kind kind)
{
	switch (kind) {
	case ROUTE_ROLE: return has_roles(d);
	case ROUTE_LOGIN: return caller_first_login(d) && !d->callers.issuer.n;
	case ROUTE_RENEW:
	case ROUTE_LOGOUT: return caller_has_sessions(d);
	case ROUTE_RESET_SEND:
	case ROUTE_RESET: return mail_login(d);
	case ROUTE_PROOF_SEND:
	case ROUTE_PROOF: return mail_login(d) && mail_login(d)->mail.verified.n;
	default: return true;
	}
}

static void add_built_ins(const struct maker *m)
{
	static const struct {
		const char *name;
		enum app_method method;
		enum route_kind kind;
		enum priority priority;
	} rows[] = {
		{ "openapi.json", APP_GET, ROUTE_OPENAPI, PRIORITY_FIXED },
		{ "login", APP_POST, ROUTE_LOGIN, PRIORITY_BUILT_IN },
		{ "renew", APP_POST, ROUTE_RENEW, PRIORITY_BUILT_IN },
		{ "logout", APP_POST, ROUTE_LOGOUT, PRIORITY_BUILT_IN },
		{ "role", APP_POST, ROUTE_ROLE, PRIORITY_BUILT_IN },
		{ "password/reset", APP_POST, ROUTE_RESET_SEND, PRIORITY_BUILT_IN },
		{ "password", APP_POST, ROUTE_RESET, PRIORITY_BUILT_IN },
		{ "proof/send", APP_POST, ROUTE_PROOF_SEND, PRIORITY_BUILT_IN },
		{ "proof", APP_POST, ROUTE_PROOF, PRIORITY_BUILT_IN },
		{ "me", APP_GET, ROUTE_ME, PRIORITY_BUILT_IN },
		{ "batch", APP_POST, ROUTE_BATCH, PRIORITY_BUILT_IN },
		{ "call", APP_POST, ROUTE_CALL, PRIORITY_BUILT_IN },
	};
	struct route_path p = { 0 };

	add_route(m, &p, APP_GET, PRIORITY_BUILT_IN, (struct route){ .kind = ROUTE_INDEX, .quick = true });
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!has_built_in(m->d, rows[i].kind))
			continue;
		p = (struct route_path){ 0 };
		path_add_all(m->a, &p, slice_str(rows[i].name));
		add_route(m, &p, rows[i].method, rows[i].priority,
			  (struct route){ .kind = rows[i].kind, .quick = rows[i].kind == ROUTE_ME });
	}
}

const struct route_table *routes_new(struct arena *a, const struct design *d)
{
	struct maker m = { .a = a, .d = d, .t = arena_new(a, struct route_table) };

	add_built_ins(&m);
	for (size_t i = 0; i < d->access_count; i++)
		add_access(&m, &d->accesses[i]);
	for (size_t i = 0; i < d->entity_count; i++)
		add_entity(&m, &d->entities[i]);
	return m.t;
}

/* ---- finding ---- */

struct finder {
	const struct slice *segments;
	size_t n;
	enum app_method method;
	bool operator_;
	struct route_match *out;
};

/* Whether the node takes the segment; fills the values of its placeholders. */
static bool fits(const struct node *n, struct slice s, struct slice *values, size_t room, size_t *count)
{
	struct slice parts[ROUTE_MOST_VALUES];

	*count = 0;
	if (n->class == SEGMENT_LITERAL)
		return slice_equal(n->literal, s);
	if (!s.n || !room)
		return false;
	if (n->class == SEGMENT_PLACEHOLDER) {
		values[(*count)++] = s;
		return true;
	}
	if (n->template.part_count > ROUTE_MOST_VALUES || !template_match(&n->template, s, parts))
		return false;
	for (size_t i = 0; i < n->template.part_count; i++) {
		if (!n->template.parts[i].names)
			continue;
		if (*count == room)
			return false;
		values[(*count)++] = parts[i];
	}
	return true;
}

static bool visible(const struct finder *f, const struct route *r)
{
	return r && (!r->internal || f->operator_);
}

static bool end_here(const struct finder *f, const struct node *n, size_t values)
{
	for (size_t m = 0; m < ROUTE_METHODS; m++)
		if (visible(f, n->routes[m]))
			f->out->allow |= 1u << m;
	if (f->method >= ROUTE_METHODS || !visible(f, n->routes[f->method]))
		return false;
	f->out->route = n->routes[f->method];
	f->out->count = values;
	return true;
}

static bool find_below(const struct finder *f, const struct node *n, size_t at, size_t values)
{
	size_t more;

	if (at == f->n)
		return end_here(f, n, values);
	for (const struct node *c = n->children; c; c = c->next)
		if (fits(c, f->segments[at], f->out->values + values, ROUTE_MOST_VALUES - values, &more) &&
		    find_below(f, c, at + 1, values + more))
			return true;
	return false;
}

void routes_find(const struct route_table *t, const struct slice *segments, size_t n, enum app_method m, bool operator_,
		 struct route_match *out)
{
	struct finder f = { .segments = segments, .n = n, .operator_ = operator_, .out = out };

	f.method = m == APP_HEAD ? APP_GET : m;
	out->route = NULL;
	out->allow = 0;
	out->count = 0;
	find_below(&f, &t->root, 0, 0);
}

/* ---- listing ---- */

struct lister {
	struct arena *a;
	void (*visit)(void *ctx, struct slice path, const struct route *const *routes);
	void *ctx;
};

static struct slice path_below(const struct lister *l, struct slice path, const struct node *n)
{
	struct buf b;

	buf_init(&b, l->a);
	buf_put(&b, path);
	buf_byte(&b, '/');
	for (size_t i = 0; i < n->template.part_count; i++)
		buf_put(&b, n->template.parts[i].names ? SLICE("{}") : n->template.parts[i].literal);
	return buf_slice(&b);
}

static void list(const struct lister *l, const struct node *n, struct slice path)
{
	l->visit(l->ctx, path.n ? path : SLICE("/"), n->routes);
	for (const struct node *c = n->children; c; c = c->next)
		list(l, c, path_below(l, path, c));
}

void routes_each(const struct route_table *t, struct arena *a,
		 void (*visit)(void *ctx, struct slice path, const struct route *const *routes), void *ctx)
{
	list(&(struct lister){ a, visit, ctx }, &t->root, SLICE(""));
}
