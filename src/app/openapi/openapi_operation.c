/* Operations on items, and what all operations have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/openapi/openapi.h"
#include "app/read/read.h"
#include "design/term/term_text.h"

/* ---- names ---- */
static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "followers, strongly consistent" behind "list": listFollowersStronglyConsistent. */
static struct slice camel(struct oas *o, const char *verb, struct slice words)
{
	bool first = true;
	struct buf b;

	buf_init(&b, o->a);
	buf_str(&b, verb);
	for (size_t i = 0; i < words.n; i++) {
		char c = words.p[i];

		if (is_word(c))
			buf_byte(&b, (uint8_t)(first && b.n && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
		first = !is_word(c);
	}
	if (!b.n || (b.p[0] >= '0' && b.p[0] <= '9'))
		return arena_printf(o->a, "do%.*s", SLICE_ARG(buf_slice(&b)));
	return buf_slice(&b);
}

/* Clients may be generated into languages, and files, that do not tell capitals apart. */
void oas_operation_id(struct oas *o, const char *verb, struct slice words)
{
	struct slice base = camel(o, verb, words), id = base;

	for (int n = 2; map_set(&o->operation_ids, text_lower(o->a, id), o); n++)
		id = arena_printf(o->a, "%.*s%d", SLICE_ARG(base), n);
	oas_member_slice(o, "operationId", id);
}

void oas_summary(struct oas *o, const char *fmt, ...)
{
	struct slice text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(o->a, fmt, ap);
	va_end(ap);
	oas_member_slice(o, "summary", text);
}

static const char *article(struct slice name)
{
	return name.n && strchr("AEIOaeio", name.p[0]) ? "an" : "a";
}

void oas_tag(struct oas *o, struct slice tag)
{
	oas_list(o, "tags");
	oas_text(o, tag);
	oas_close(o, ']');
}

/* ---- who may ---- */
static void see_caller(void *ctx, const struct term *t)
{
	if (t->kind == TERM_CALLER || t->kind == TERM_IS_ROLE || t->kind == TERM_MAY)
		*(bool *)ctx = true;
}

bool oas_needs_login(const struct term *t)
{
	bool any = false;

	if (!t)
		return true; /* operators */
	switch (t->kind) {
	case TERM_AND: return oas_needs_login(t->args[0]) || oas_needs_login(t->args[1]);
	case TERM_OR: return oas_needs_login(t->args[0]) && oas_needs_login(t->args[1]);
	case TERM_EQ:
	case TERM_LT:
	case TERM_LE:
	case TERM_GT:
	case TERM_GE:
	case TERM_IN:
	case TERM_BETWEEN:
	case TERM_PRESENT:
	case TERM_BEGINS:
	case TERM_CONTAINS:
	case TERM_IS_ROLE:
	case TERM_MAY:
	case TERM_EXISTS:
		/* With nobody in them they do not hold. */
		term_walk(t, see_caller, &any);
		return any;
	default: return false;
	}
}

void oas_security(struct oas *o, bool needed)
{
	oas_list(o, "security");
	oas_open(o, '{');
	oas_list(o, "bearer");
	oas_close(o, ']');
	oas_close(o, '}');
	if (!needed) {
		oas_open(o, '{');
		oas_close(o, '}');
	}
	oas_close(o, ']');
}

void oas_say_rule(struct buf *b, const struct term *t)
{
	if (!t || t->kind == TERM_ALWAYS)
		return;
	buf_lit(b, "Allowed when: `");
	term_print(b, t);
	buf_lit(b, "`. ");
}

/* ---- descriptions ---- */
void oas_patterns(struct oas *o, const struct slice *ids, size_t n)
{
	if (!n)
		return;
	oas_list(o, "x-patterns");
	for (size_t i = 0; i < n; i++)
		oas_text(o, ids[i]);
	oas_close(o, ']');
}

void oas_say_patterns(struct buf *b, const struct slice *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s%.*s", i ? ", " : "Access pattern ", SLICE_ARG(ids[i]));
	if (n)
		buf_lit(b, ". ");
}

void oas_description(struct oas *o, struct buf *b)
{
	while (b->n && b->p[b->n - 1] == ' ')
		b->n--;
	if (b->n)
		oas_member_slice(o, "description", buf_slice(b));
}

static void describe(struct oas *o, const struct entity *e, enum allow_verb verb, const char *more)
{
	struct buf b;

	buf_init(&b, o->a);
	if (more)
		buf_printf(&b, "%s ", more);
	oas_say_rule(&b, e->allow[verb]);
	oas_say_patterns(&b, e->patterns[verb], e->pattern_count[verb]);
	oas_description(o, &b);
	oas_patterns(o, e->patterns[verb], e->pattern_count[verb]);
	oas_security(o, oas_needs_login(e->allow[verb]));
}

static void begin_operation(struct oas *o, const char *verb, const struct entity *e)
{
	oas_open(o, '{');
	oas_operation_id(o, verb, e->name);
	oas_tag(o, e->name);
}

static void put_parameters(struct oas *o, unsigned which)
{
	oas_list(o, "parameters");
	for (unsigned p = 0; p < OAS_PARAMETERS; p++)
		if (which & OAS_BIT(p))
			oas_parameter(o, p);
	oas_close(o, ']');
}

static void put_item_response(struct oas *o, const char *status, const char *description, const struct entity *e,
			      unsigned headers)
{
	oas_begin_content(o, status, description, headers);
	oas_ref_entity(o, e, OAS_ITEM);
	oas_end_content(o);
}

/* ---- items ---- */
static void put_read(struct oas *o, const struct entity *e)
{
	begin_operation(o, "get", e);
	oas_summary(o, "Read %s %.*s", article(e->name), SLICE_ARG(e->name));
	describe(o, e, ALLOW_READ, NULL);
	put_parameters(o, OAS_BIT(OAS_IF_NONE_MATCH));
	oas_object(o, "responses");
	put_item_response(o, "200", "The item", e, OAS_ETAG);
	oas_no_content(o, "304", "Not changed");
	oas_problems(o, OAS_BIT(OAS_401) | OAS_BIT(OAS_404));
	oas_close(o, '}');
	oas_close(o, '}');
}

#define WRITE_PROBLEMS                                                                                  \
	(OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_409) | \
	 OAS_BIT(OAS_422))

static void put_create(struct oas *o, const struct entity *e)
{
	begin_operation(o, "create", e);
	oas_summary(o, "Create %s %.*s", article(e->name), SLICE_ARG(e->name));
	describe(o, e, ALLOW_CREATE, NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY));
	oas_begin_body(o, true);
	oas_ref_entity(o, e, OAS_CREATE);
	oas_end_content(o);
	oas_object(o, "responses");
	put_item_response(o, "201", "Created", e, OAS_ETAG | OAS_LOCATION);
	oas_problems(o, WRITE_PROBLEMS);
	oas_close(o, '}');
	oas_close(o, '}');
}

bool oas_is_allowed(const struct term *t)
{
	return t && t->kind != TERM_NEVER;
}

bool oas_put_creates(const struct entity *e)
{
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (a && !a->the_caller && input_is_kept(a))
			return false; /* an address that only the server can make */
	}
	return oas_is_allowed(e->allow[ALLOW_CREATE]);
}

/* Creates, and with If-Match replaces; an entity may allow one of them alone. */
static void put_put(struct oas *o, const struct entity *e)
{
	bool creates = oas_put_creates(e), replaces = oas_is_allowed(e->allow[ALLOW_UPDATE]);

	begin_operation(o, "put", e);
	oas_summary(o, "%s %s %.*s at its address", creates ? "Create" : "Replace", article(e->name),
		    SLICE_ARG(e->name));
	describe(o, e, creates ? ALLOW_CREATE : ALLOW_UPDATE,
		 replaces ? "With If-Match: replaces the one that is there." : NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | (replaces ? OAS_BIT(OAS_IF_MATCH) : 0));
	oas_begin_body(o, false);
	oas_ref_entity(o, e, oas_put_differs(e) || replaces ? OAS_PUT : OAS_CREATE);
	oas_end_content(o);
	oas_object(o, "responses");
	if (replaces)
		put_item_response(o, "200", "Replaced", e, OAS_ETAG);
	if (creates)
		put_item_response(o, "201", "Created", e, OAS_ETAG | OAS_LOCATION);
	oas_problems(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_changed(struct oas *o, const struct entity *e)
{
	const struct term *read = e->allow[ALLOW_READ];

	put_item_response(o, "200", "The item as it is now", e, OAS_ETAG);
	if (!read || read->kind != TERM_ALWAYS)
		oas_no_content(o, "204", "Done; it is not for you to read");
}

static void put_update(struct oas *o, const struct entity *e)
{
	begin_operation(o, "update", e);
	oas_summary(o, "Change %s %.*s", article(e->name), SLICE_ARG(e->name));
	describe(o, e, ALLOW_UPDATE,
		 "What is given is set; null puts the default back, or removes; maps are merged (RFC 7396).");
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	oas_begin_body(o, true);
	oas_ref_entity(o, e, OAS_UPDATE);
	oas_close(o, '}');
	oas_object(o, "application/merge-patch+json");
	oas_name(o, SLICE("schema"));
	oas_ref_entity(o, e, OAS_UPDATE);
	oas_end_content(o);
	oas_object(o, "responses");
	put_changed(o, e);
	oas_problems(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_delete(struct oas *o, const struct entity *e)
{
	begin_operation(o, "delete", e);
	oas_summary(o, "Delete %s %.*s", article(e->name), SLICE_ARG(e->name));
	describe(o, e, ALLOW_DELETE, e->delete_.soft ? "The item stays, marked." : NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	oas_object(o, "responses");
	oas_no_content(o, "204", "Deleted");
	oas_problems(o, OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_409) | OAS_BIT(OAS_412));
	oas_close(o, '}');
	oas_close(o, '}');
}

static void describe_action(struct oas *o, const struct entity *e, const struct action *x)
{
	const struct term *rule = x->allow ? x->allow : e->allow[ALLOW_UPDATE];
	struct buf b;

	buf_init(&b, o->a);
	if (x->when) {
		buf_lit(&b, "Only while: `");
		term_print(&b, x->when);
		buf_lit(&b, "`. ");
	}
	if (x->creates)
		buf_lit(&b, "Creates the item when there is none. ");
	oas_say_rule(&b, rule);
	oas_say_patterns(&b, x->patterns, x->pattern_count);
	oas_description(o, &b);
	oas_patterns(o, x->patterns, x->pattern_count);
	oas_security(o, oas_needs_login(rule));
}

static void put_action(struct oas *o, const struct entity *e, const struct action *x)
{
	struct slice verb = camel(o, "", x->name);

	begin_operation(o, arena_cstr(o->a, verb), e);
	oas_summary(o, "%.*s: %s %.*s", SLICE_ARG(x->name), article(e->name), SLICE_ARG(e->name));
	describe_action(o, e, x);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	if (x->input_count) {
		oas_begin_body(o, false);
		oas_action_input(o, e, x);
		oas_end_content(o);
	}
	oas_object(o, "responses");
	if (x->gather_seconds)
		oas_no_content(o, "202", "Taken; written soon");
	else
		put_changed(o, e);
	oas_problems(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
	oas_close(o, '}');
	oas_close(o, '}');
}

/* An action on all rows of a list. */
static void put_each(struct oas *o, const struct access *c, struct slice action)
{
	const struct entity *e = read_entity(o->d, c);
	struct buf b;

	oas_open(o, '{');
	oas_operation_id(o, arena_cstr(o->a, camel(o, "", action)), c->name);
	oas_tag(o, e ? e->name : SLICE("access patterns"));
	oas_summary(o, "%.*s: all of %.*s", SLICE_ARG(action), SLICE_ARG(c->name));
	buf_init(&b, o->a);
	buf_lit(&b,
		"At most a thousand; `more` says that some are left. Those that are not in a state for it are passed over.");
	oas_description(o, &b);
	oas_security(o, true);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY));
	oas_object(o, "responses");
	oas_begin_content(o, "200", "How many", 0);
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_object(o, "properties");
	oas_object(o, "done");
	oas_member(o, "type", "integer");
	oas_close(o, '}');
	oas_object(o, "more");
	oas_member(o, "type", "boolean");
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
	oas_end_content(o);
	oas_problems(o, WRITE_PROBLEMS);
	oas_close(o, '}');
	oas_close(o, '}');
}

void oas_operation(struct oas *o, const struct route *r)
{
	switch (r->kind) {
	case ROUTE_ITEM: put_read(o, r->entity); break;
	case ROUTE_CREATE: put_create(o, r->entity); break;
	case ROUTE_PUT: put_put(o, r->entity); break;
	case ROUTE_PATCH: put_update(o, r->entity); break;
	case ROUTE_DELETE: put_delete(o, r->entity); break;
	case ROUTE_ACTION: put_action(o, r->entity, r->action); break;
	case ROUTE_ACCESS: oas_access(o, r->access); break;
	case ROUTE_EACH: put_each(o, r->access, r->name); break;
	default: oas_service(o, r); break;
	}
}
