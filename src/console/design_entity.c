/* An entity: its attributes, keys, companions, rules and routes. SPDX-License-Identifier: Apache-2.0 */
#include "console/design_doc.h"
#include "design/describe/describe.h"

/* ---- companions ---- */

/* Few have a name of their own. */
static struct slice companion_name(struct arena *a, const struct companion *c)
{
	if (c->name.n)
		return c->name;
	if (c->unique.n)
		return arena_printf(a, "unique %.*s", SLICE_ARG(c->unique));
	if (c->each_variable.n)
		return arena_printf(a, "each %.*s", SLICE_ARG(c->each_variable));
	return SLICE("companion");
}

static void put_companion(struct buf *b, const struct companion *c)
{
	struct buf each;

	json_open(b, '{');
	doc_member(b, "name", companion_name(b->arena, c));
	if (c->unique.n)
		doc_member(b, "unique", c->unique);
	if (c->each_list) {
		buf_init(&each, b->arena);
		buf_printf(&each, "%.*s in ", SLICE_ARG(c->each_variable));
		term_print(&each, c->each_list);
		doc_member(b, "each", buf_slice(&each));
	}
	doc_member_term(b, "when", c->when);
	json_name(b, "keys");
	design_keys_doc(b, c->rules, c->rule_count);
	design_line(b, c->place);
	json_close(b, '}');
}

static bool has_rule(const struct entity *e, const struct key_rule *rule)
{
	for (size_t i = 0; i < e->key_count; i++)
		if (slice_equal(e->keys[i].attribute, rule->attribute) &&
		    slice_equal(e->keys[i].template->text, rule->template->text))
			return true;
	return false;
}

/* Whether the item that a login compares with is an entity of the design. */
static bool is_described(const struct design *d, const struct login *l)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		size_t same = 0;

		while (same < l->secret_count && has_rule(&d->entities[i], &l->secret[same]))
			same++;
		if (same == l->secret_count)
			return true;
	}
	return false;
}

/* The credentials of a login are an item beside the account, as companions are. */
static void put_companions(struct buf *b, const struct design *d, const struct entity *e)
{
	struct companion secret = { .place = e->login.place,
				    .name = SLICE("credentials"),
				    .rules = e->login.secret,
				    .rule_count = e->login.secret_count };

	json_member_open(b, "companions", '[');
	for (size_t i = 0; i < e->companion_count; i++)
		put_companion(b, &e->companions[i]);
	if (secret.rule_count && !is_described(d, &e->login))
		put_companion(b, &secret);
	json_close(b, ']');
}

/* ---- rules ---- */

static void put_count(struct buf *b, const struct count_rule *c)
{
	struct buf text;

	buf_init(&text, b->arena);
	describe_reference(&text, &c->target);
	buf_printf(&text, ".%.*s", SLICE_ARG(c->attribute));
	if (c->by) {
		buf_lit(&text, " by ");
		term_print(&text, c->by);
	}
	if (c->each.list) {
		buf_printf(&text, " for each %.*s in ", SLICE_ARG(c->each.variable));
		term_print(&text, c->each.list);
	}
	if (c->when) {
		buf_lit(&text, " when ");
		term_print(&text, c->when);
	}
	doc_text(b, buf_slice(&text));
}

static void put_rule(struct buf *b, const struct also_rule *x, struct slice action)
{
	static const char *const events[] = { "created", "updated", "deleted" };
	struct buf text;

	buf_init(&text, b->arena);
	buf_put(&text, action);
	for (int i = 0; i < 3; i++)
		if (x->events >> i & 1)
			buf_printf(&text, "%s%s", text.n ? ", " : "", events[i]);
	buf_lit(&text, ": ");
	describe_also(&text, x);
	doc_text(b, buf_slice(&text));
}

static void put_also(struct buf *b, const struct entity *e)
{
	json_member_open(b, "also", '[');
	for (size_t i = 0; i < e->also_count; i++)
		put_rule(b, &e->also[i], (struct slice){ 0 });
	for (size_t i = 0; i < e->action_count; i++)
		for (size_t k = 0; k < e->actions[i].also_count; k++)
			put_rule(b, &e->actions[i].also[k], e->actions[i].name);
	json_close(b, ']');
}

static void put_allow(struct buf *b, const struct entity *e)
{
	static const char *const verbs[ALLOW_VERBS] = {
		[ALLOW_CREATE] = "create", [ALLOW_READ] = "read", [ALLOW_UPDATE] = "update",
		[ALLOW_DELETE] = "delete", [ALLOW_LIST] = "list",
	};

	json_member_open(b, "allow", '{');
	for (int v = 0; v < ALLOW_VERBS; v++)
		doc_member_term(b, verbs[v], e->allow[v]);
	json_close(b, '}');
}

static void put_action(struct buf *b, const struct action *a)
{
	json_open(b, '{');
	doc_member(b, "name", a->name);
	doc_member_texts(b, "input", a->input, a->input_count);
	doc_member_texts(b, "removes_at", a->cut, a->cut_count);
	doc_member_term(b, "when", a->when);
	design_line(b, a->place);
	json_close(b, '}');
}

static struct slice renames(struct arena *a, const struct rename_rule *r)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < r->then_count; i++)
		buf_printf(&b, "%s%.*s", i ? ", " : "then moves ", SLICE_ARG(r->then_move[i]));
	return buf_slice(&b);
}

static struct slice deletes(struct arena *a, const struct delete_rule *r)
{
	struct buf b;

	buf_init(&b, a);
	buf_str(&b, !r->soft ? "deletes the item" : r->set_count ? "sets " : "leaves the item");
	for (size_t i = 0; r->soft && i < r->set_count; i++) {
		buf_printf(&b, "%s%.*s to ", i ? ", " : "", SLICE_ARG(r->set[i].attribute));
		term_print(&b, r->set[i].term);
	}
	for (size_t i = 0; i < r->remove_count; i++)
		buf_printf(&b, "%s%.*s", i ? ", " : "; removes ", SLICE_ARG(r->remove[i]));
	for (size_t i = 0; i < r->refuse_count; i++)
		buf_printf(&b, "; not while there are %.*s", SLICE_ARG(r->refuse_while[i]));
	for (size_t i = 0; i < r->then_count; i++)
		buf_printf(&b, "; then removes %.*s", SLICE_ARG(r->then_remove[i]));
	return buf_slice(&b);
}

/* ---- routes ---- */

struct route_doc {
	const char *method;
	struct slice path, does;
	enum allow_verb verb;
	const struct action *action; /* NULL: not an action */
};

static void put_route(struct buf *b, const struct design *d, const struct entity *e, const struct route_doc *r)
{
	struct buf request;

	buf_init(&request, b->arena);
	describe_write(&request, d, e, r->verb, r->action);
	json_open(b, '{');
	doc_member_str(b, "method", r->method);
	doc_member(b, "path", r->path);
	doc_member(b, "does", r->does);
	doc_member(b, "request", buf_slice(&request));
	json_close(b, '}');
}

/* Operators may use all of them, whatever the rules say. */
static void put_routes(struct buf *b, const struct design *d, const struct entity *e)
{
	struct slice collection = entity_collection(e);
	bool posts = collection.n != e->path.n, shown = e->path.n && !e->internal;
	const struct route_doc own[] = {
		{ posts ? "POST" : "PUT", posts ? collection : e->path, SLICE("create"), ALLOW_CREATE, NULL },
		{ "GET", e->path, SLICE("read"), ALLOW_READ, NULL },
		{ "PATCH", e->path, SLICE("update"), ALLOW_UPDATE, NULL },
		{ "DELETE", e->path, SLICE("delete"), ALLOW_DELETE, NULL },
	};

	json_member_open(b, "routes", '[');
	for (size_t i = 0; shown && i < sizeof(own) / sizeof(*own); i++)
		put_route(b, d, e, &own[i]);
	for (size_t i = 0; shown && i < e->action_count; i++) {
		struct slice name = e->actions[i].name;
		struct slice path = arena_printf(b->arena, "%.*s/%.*s", SLICE_ARG(e->path), SLICE_ARG(name));

		put_route(b, d, e, &(struct route_doc){ "POST", path, name, ALLOW_UPDATE, &e->actions[i] });
	}
	json_close(b, ']');
}

/* ---- the whole ---- */

#define PUT_LIST(b, name, put, list, n)             \
	do {                                        \
		json_member_open(b, name, '[');     \
		for (size_t i_ = 0; i_ < (n); i_++) \
			put(b, &(list)[i_]);        \
		json_close(b, ']');                 \
	} while (0)

void design_entity_doc(struct buf *b, const struct design *d, const struct entity *e)
{
	json_open(b, '{');
	doc_member(b, "name", e->name);
	design_line(b, e->place);
	doc_member(b, "path", e->path);
	json_name(b, "path_parts");
	design_parts_doc(b, e->path_template);
	doc_member_texts(b, "params", e->params, e->param_count);
	json_member_bool(b, "internal", e->internal);
	doc_member_or_null(b, "version", e->version);
	PUT_LIST(b, "attributes", design_attribute_doc, e->attributes, e->attribute_count);
	json_name(b, "keys");
	design_keys_doc(b, e->keys, e->key_count);
	put_companions(b, d, e);
	json_name(b, "references");
	design_references_doc(b, d, e);
	PUT_LIST(b, "counts", put_count, e->counts, e->count_count);
	put_also(b, e);
	put_allow(b, e);
	PUT_LIST(b, "actions", put_action, e->actions, e->action_count);
	doc_member(b, "deletes", deletes(b->arena, &e->delete_));
	doc_member(b, "renames", renames(b->arena, &e->rename));
	put_routes(b, d, e);
	json_close(b, '}');
}
