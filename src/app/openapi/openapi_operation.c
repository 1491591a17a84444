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

/* list, "followers, strongly consistent": listFollowersStronglyConsistent. */
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

/* Ids differ in more than capitals: clients are generated into languages, and files, that do not tell them apart. */
static void put_operation_id(struct oas *o, const char *verb, struct slice words)
{
	struct slice base = camel(o, verb, words), id = base;

	for (int n = 2; map_set(&o->operation_ids, text_lower(o->a, id), o); n++)
		id = arena_printf(o->a, "%.*s%d", SLICE_ARG(base), n);
	json_member_string(o->b, "operationId", id);
}

void oas_begin_operation(struct oas *o, const char *verb, struct slice words, struct slice tag)
{
	json_open(o->b, '{');
	put_operation_id(o, verb, words);
	json_member_strings(o->b, "tags", &tag, 1);
}

static const char *article(struct slice name)
{
	return name.n && strchr("AEIOaeio", name.p[0]) ? "an" : "a";
}

/* ---- who may ---- */

static bool asks_caller(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_CALLER || t->kind == TERM_CLAIM || t->kind == TERM_IS_ROLE || t->kind == TERM_MAY;
}

bool oas_needs_login(const struct term *t)
{
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
	case TERM_MATCHES:
	case TERM_IS_ROLE:
	case TERM_MAY:
	case TERM_EXISTS:
		/* False when the caller in them is absent. */
		return term_any(t, asks_caller, NULL);
	default: return false;
	}
}

void oas_security(struct oas *o, bool needed)
{
	oas_put(o, needed ? "'security':[{'bearer':[]}]" : "'security':[{'bearer':[]},{}]");
}

/* ---- descriptions ---- */

void oas_say_term(struct buf *b, const char *what, const struct term *t)
{
	if (!t || t->kind == TERM_ALWAYS)
		return;
	buf_printf(b, "%s: `", what);
	term_print(b, t);
	buf_lit(b, "`. ");
}

void oas_patterns(struct oas *o, const struct slice *ids, size_t n)
{
	if (n)
		json_member_strings(o->b, "x-patterns", ids, n);
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
		json_member_string(o->b, "description", buf_slice(b));
}

/* The description so far in `b`, with the rule and the pattern ids; and what else follows from these. */
static void describe_rule(struct oas *o, struct buf *b, const struct term *rule, const struct slice *ids, size_t n)
{
	oas_say_term(b, "Allowed when", rule);
	oas_say_patterns(b, ids, n);
	oas_description(o, b);
	oas_patterns(o, ids, n);
	oas_security(o, oas_needs_login(rule));
}

static void describe(struct oas *o, const struct entity *e, enum allow_verb verb, const char *more)
{
	struct buf b;

	buf_init(&b, o->a);
	if (more)
		buf_printf(&b, "%s ", more);
	describe_rule(o, &b, e->allow[verb], e->patterns[verb], e->pattern_count[verb]);
}

static void put_parameters(struct oas *o, unsigned which)
{
	json_member_open(o->b, "parameters", '[');
	oas_parameters(o, which);
	json_close(o->b, ']');
}

static void put_item_response(struct oas *o, const char *status, const char *description, const struct entity *e,
			      unsigned headers)
{
	oas_begin_content(o, status, description, headers);
	oas_ref_entity(o, e, OAS_ITEM);
	oas_end_content(o);
}

static void put_body(struct oas *o, const struct entity *e, enum oas_schema s, bool required)
{
	oas_begin_body(o, required);
	oas_ref_entity(o, e, s);
	oas_end_content(o);
}

/* ---- items ---- */

/* "Read a Post" */
static void begin_entity_operation(struct oas *o, const char *id, const char *verb, const struct entity *e)
{
	oas_begin_operation(o, id, e->name, e->name);
	oas_member_printf(o, "summary", "%s %s %.*s", verb, article(e->name), SLICE_ARG(e->name));
}

/* Whether a client can address what the attribute names by values of the item. */
static bool is_linked(const struct attribute *a)
{
	const struct reference *f = a->refers;

	if (!f || attribute_has_references(a) || f->to->internal || !oas_is_allowed(f->to->allow[ALLOW_READ]))
		return false;
	for (size_t i = 0; i < f->arg_count; i++)
		if (!term_name(f->args[i]))
			return false;
	return true;
}

static void put_link(struct oas *o, const struct attribute *a)
{
	const struct reference *f = a->refers;

	json_name_string(o->b, a->name);
	json_open(o->b, '{');
	json_member_string(o->b, "operationId", camel(o, "get", f->to->name));
	json_member_open(o->b, "parameters", '{');
	for (size_t i = 0; i < f->arg_count; i++) {
		json_name_string(o->b, f->to->params[i]);
		json_string(o->b, arena_printf(o->a, "$response.body#/%.*s", SLICE_ARG(*term_name(f->args[i]))));
	}
	json_close(o->b, '}');
	json_close(o->b, '}');
}

/* From an item to those that it refers to. */
static void put_links(struct oas *o, const struct entity *e)
{
	bool any = false;

	for (size_t i = 0; i < e->attribute_count && !any; i++)
		any = is_linked(&e->attributes[i]) && !e->attributes[i].hidden;
	if (!any)
		return;
	json_member_open(o->b, "links", '{');
	for (size_t i = 0; i < e->attribute_count; i++)
		if (is_linked(&e->attributes[i]) && !e->attributes[i].hidden)
			put_link(o, &e->attributes[i]);
	json_close(o->b, '}');
}

static void put_read(struct oas *o, const struct entity *e)
{
	begin_entity_operation(o, "get", "Read", e);
	describe(o, e, ALLOW_READ, NULL);
	put_parameters(o, OAS_BIT(OAS_IF_NONE_MATCH));
	oas_begin_responses(o);
	oas_begin_content(o, "200", "The item", OAS_ETAG);
	if (e->show_count)
		oas_put(o, "{'allOf':[");
	oas_ref_entity(o, e, OAS_ITEM);
	if (e->show_count) {
		oas_shown(o, e->show, e->show_count);
		oas_put(o, "]}");
	}
	oas_put(o, "}}"); /* oas_end_content(), before which come the links */
	put_links(o, e);
	json_close(o->b, '}');
	oas_no_content(o, "304", "Not changed");
	oas_end_responses(o, OAS_BIT(OAS_401) | OAS_BIT(OAS_404));
}

#define WRITE_PROBLEMS                                                                                  \
	(OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_409) | \
	 OAS_BIT(OAS_422))

static void put_create(struct oas *o, const struct entity *e)
{
	begin_entity_operation(o, "create", "Create", e);
	describe(o, e, ALLOW_CREATE, NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY));
	put_body(o, e, OAS_CREATE, true);
	oas_begin_responses(o);
	put_item_response(o, "201", "Created", e, OAS_ETAG | OAS_LOCATION);
	oas_end_responses(o, WRITE_PROBLEMS);
}

bool oas_is_allowed(const struct term *t)
{
	return t && t->kind != TERM_NEVER;
}

bool oas_put_creates(const struct entity *e)
{
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);

		if (a && !a->the_caller && input_is_kept(a))
			return false; /* only the server can make this address */
	}
	return oas_is_allowed(e->allow[ALLOW_CREATE]);
}

/* PUT creates, and with If-Match replaces. An entity may allow only one of the two. */
static void put_put(struct oas *o, const struct entity *e)
{
	bool creates = oas_put_creates(e), replaces = oas_is_allowed(e->allow[ALLOW_UPDATE]);

	oas_begin_operation(o, "put", e->name, e->name);
	oas_member_printf(o, "summary", "%s %s %.*s at its address", creates ? "Create" : "Replace", article(e->name),
			  SLICE_ARG(e->name));
	describe(o, e, creates ? ALLOW_CREATE : ALLOW_UPDATE,
		 replaces ? "With If-Match: replaces the item that is there." : NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | (replaces ? OAS_BIT(OAS_IF_MATCH) : 0));
	put_body(o, e, oas_put_differs(e) || replaces ? OAS_PUT : OAS_CREATE, false);
	oas_begin_responses(o);
	if (replaces)
		put_item_response(o, "200", "Replaced", e, OAS_ETAG);
	if (creates)
		put_item_response(o, "201", "Created", e, OAS_ETAG | OAS_LOCATION);
	oas_end_responses(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
}

static void put_changed(struct oas *o, const struct entity *e)
{
	const struct term *read = e->allow[ALLOW_READ];

	put_item_response(o, "200", "The item as it is now", e, OAS_ETAG);
	if (!read || read->kind != TERM_ALWAYS)
		oas_no_content(o, "204", "Done; the item is not visible to you");
}

static void put_update(struct oas *o, const struct entity *e)
{
	begin_entity_operation(o, "update", "Change", e);
	describe(o, e, ALLOW_UPDATE,
		 "Sets the attributes given; null restores the default or removes; maps are merged (RFC 7396).");
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	oas_begin_body(o, true);
	oas_ref_entity(o, e, OAS_UPDATE);
	oas_put(o, "},'application/merge-patch+json':{'schema':");
	oas_ref_entity(o, e, OAS_UPDATE);
	oas_end_content(o);
	oas_begin_responses(o);
	put_changed(o, e);
	oas_end_responses(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
}

/* /users/{user}/addresses/{entry} */
static void put_entry(struct oas *o, const struct route *r)
{
	const struct entity *e = r->entity;
	bool put = r->kind == ROUTE_PUT_ENTRY;

	oas_begin_operation(o, put ? "put" : "delete",
			    arena_printf(o->a, "%.*s %.*s entry", SLICE_ARG(e->name), SLICE_ARG(r->map->name)), e->name);
	oas_member_printf(o, "summary", "%s one of the %.*s of %s %.*s", put ? "Set" : "Remove",
			  SLICE_ARG(r->map->name), article(e->name), SLICE_ARG(e->name));
	describe(o, e, ALLOW_UPDATE, NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	if (put) {
		oas_begin_body(o, true);
		oas_attribute(o, r->map->each);
		oas_end_content(o);
	}
	oas_begin_responses(o);
	if (put)
		put_changed(o, e);
	else
		oas_no_content(o, "204", "Removed");
	oas_end_responses(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
}

static void put_delete(struct oas *o, const struct entity *e)
{
	begin_entity_operation(o, "delete", "Delete", e);
	describe(o, e, ALLOW_DELETE, e->delete_.soft ? "The item stays, marked as deleted." : NULL);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	oas_begin_responses(o);
	oas_no_content(o, "204", "Deleted");
	oas_end_responses(o,
			  OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_409) | OAS_BIT(OAS_412));
}

static void put_action(struct oas *o, const struct entity *e, const struct action *x)
{
	struct buf b;

	oas_begin_operation(o, arena_cstr(o->a, camel(o, "", x->name)), e->name, e->name);
	oas_member_printf(o, "summary", "%.*s: %s %.*s", SLICE_ARG(x->name), article(e->name), SLICE_ARG(e->name));
	buf_init(&b, o->a);
	oas_say_term(&b, "Only while", x->when);
	if (x->creates)
		buf_lit(&b, "Creates the item if there is none. ");
	describe_rule(o, &b, x->allow ? x->allow : e->allow[ALLOW_UPDATE], x->patterns, x->pattern_count);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY) | OAS_BIT(OAS_IF_MATCH));
	if (x->input_count) {
		oas_begin_body(o, false);
		oas_action_input(o, e, x);
		oas_end_content(o);
	}
	oas_begin_responses(o);
	if (x->gather_seconds)
		oas_no_content(o, "202", "Accepted; written soon");
	else
		put_changed(o, e);
	oas_end_responses(o, WRITE_PROBLEMS | OAS_BIT(OAS_412));
}

/* ---- files ---- */

bool oas_file_is_offered(const struct entity *e, const struct attribute *a)
{
	for (size_t i = 0; i < e->action_count; i++)
		if (names_among(e->actions[i].input_at, e->actions[i].input_count, a->at))
			return true;
	return !input_is_kept(a) && (oas_is_allowed(e->allow[ALLOW_UPDATE]) || oas_put_creates(e));
}

/* /posts/{post}/files/picture. Clients send the bytes themselves: `x-upload`. */
static void put_file(struct oas *o, const struct route *r)
{
	const struct entity *e = r->entity;
	bool new_ = r->kind == ROUTE_FILE_NEW;

	oas_begin_operation(o, "upload",
			    arena_printf(o->a, "%s%.*s %.*s", new_ ? "new " : "", SLICE_ARG(e->name),
					 SLICE_ARG(r->file->name)),
			    e->name);
	oas_member_printf(o, "summary", "Ask for an upload: %.*s of %s %.*s", SLICE_ARG(r->file->name),
			  new_ ? "a new" : article(e->name), SLICE_ARG(e->name));
	oas_member_printf(o, "description",
			  "A file %.*s. Send its bytes as the answer says, and then write its id into the item.",
			  SLICE_ARG(file_rule_text(o->a, attribute_file(r->file))));
	json_member_bool(o->b, "x-upload", true);
	oas_security(o, oas_needs_login(new_ ? e->allow[ALLOW_CREATE] : e->allow[ALLOW_UPDATE]));
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY));
	oas_begin_body(o, true);
	oas_ref_common(o, OAS_FILE_ASK);
	oas_end_content(o);
	oas_begin_responses(o);
	oas_begin_content(o, "201", "Where to send it", 0);
	oas_ref_common(o, OAS_FILE_SLOT);
	oas_end_content(o);
	oas_end_responses(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) |
				     OAS_BIT(OAS_422) | OAS_BIT(OAS_429));
}

/* An action on all rows of a list. */
static void put_each(struct oas *o, const struct access *c, struct slice action)
{
	const struct entity *e = read_entity(o->d, c);

	oas_begin_operation(o, arena_cstr(o->a, camel(o, "", action)), c->name, e ? e->name : SLICE("access patterns"));
	oas_member_printf(o, "summary", "%.*s: all of %.*s", SLICE_ARG(action), SLICE_ARG(c->name));
	oas_put(o, "'description':'At most a thousand items; `more` says that some are left. "
		   "Items whose state does not allow it are skipped.'");
	oas_security(o, true);
	put_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY));
	oas_begin_responses(o);
	oas_begin_content(o, "200", "How many", 0);
	oas_put(o, "{'type':'object','properties':{'done':{'type':'integer'},'more':{'type':'boolean'}}}");
	oas_end_content(o);
	oas_end_responses(o, WRITE_PROBLEMS);
}

void oas_operation(struct oas *o, const struct route *r)
{
	switch (r->kind) {
	case ROUTE_ITEM: put_read(o, r->entity); break;
	case ROUTE_CREATE: put_create(o, r->entity); break;
	case ROUTE_PUT: put_put(o, r->entity); break;
	case ROUTE_PATCH: put_update(o, r->entity); break;
	case ROUTE_DELETE: put_delete(o, r->entity); break;
	case ROUTE_PUT_ENTRY:
	case ROUTE_DELETE_ENTRY: put_entry(o, r); break;
	case ROUTE_FILE:
	case ROUTE_FILE_NEW: put_file(o, r); break;
	case ROUTE_ACTION: put_action(o, r->entity, r->action); break;
	case ROUTE_ACCESS: oas_access(o, r->access); break;
	case ROUTE_EACH: put_each(o, r->access, r->name); break;
	default: oas_service(o, r); break;
	}
}
