/* The schemas: attributes, entities and what is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/openapi/openapi.h"
#include "app/entity/output.h"

/* ---- names ---- */
/* A sixth design may call an entity Problem, or PostPage beside Post: entities keep their names. */
static struct slice free_name(struct oas *o, struct slice name)
{
	while (design_entity(o->d, name))
		name = arena_printf(o->a, "%.*s_", SLICE_ARG(name));
	return name;
}

static struct slice entity_schema_name(struct oas *o, const struct entity *e, enum oas_schema s)
{
	static const char *const suffixes[] = {
#define X(name, suffix) suffix,
		OAS_SCHEMA_MAP(X)
#undef X
	};

	return s == OAS_ITEM ? e->name : free_name(o, arena_printf(o->a, "%.*s%s", SLICE_ARG(e->name), suffixes[s]));
}

static struct slice common_name(struct oas *o, enum oas_common c)
{
	static const char *const names[] = {
#define X(name, text) text,
		OAS_COMMON_MAP(X)
#undef X
	};

	return free_name(o, slice_str(names[c]));
}

void oas_ref_entity(struct oas *o, const struct entity *e, enum oas_schema s)
{
	o->used[e - o->d->entities] |= 1u << s;
	if (s == OAS_PAGE || s == OAS_NESTED)
		o->used[e - o->d->entities] |= 1u << OAS_ITEM;
	oas_ref(o, "schemas", entity_schema_name(o, e, s));
}

void oas_ref_common(struct oas *o, enum oas_common c)
{
	o->commons |= 1u << c;
	oas_ref(o, "schemas", common_name(o, c));
}

/* ---- entities ---- */
static bool is_param(const struct slice *params, size_t n, struct slice name)
{
	for (size_t i = 0; i < n; i++)
		if (slice_equal(params[i], name))
			return true;
	return false;
}

/* How many parameters the address has that an item is created at: those at the end of its path are left off. */
static size_t collection_params(const struct entity *e)
{
	const struct template *t = e->path_template;
	size_t n = e->param_count, i = t ? t->part_count : 0;

	while (i && t->parts[i - 1].names && n) {
		n--;
		i--;
		if (i && !(t->parts[i - 1].literal.n && t->parts[i - 1].literal.p[t->parts[i - 1].literal.n - 1] == '/'))
			return n + 1; /* the rest of its segment is text */
		if (i && t->parts[i - 1].literal.n == 1)
			i--; /* only a slash: the one before it is at the end, too */
		else
			break;
	}
	return n;
}

static bool must_be_given(const struct entity *e, const struct attribute *a, size_t params)
{
	return a->required && !a->when && !a->default_ && !input_is_kept(a) && !is_param(e->params, params, a->name);
}

bool oas_put_differs(const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (must_be_given(e, &e->attributes[i], collection_params(e)) !=
		    must_be_given(e, &e->attributes[i], e->param_count))
			return true;
	return false;
}

static bool has_login(const struct oas *o, const struct entity *e)
{
	return e->login.present && !o->d->callers.issuer.n;
}

static void put_password(struct oas *o, const char *name, const char *description)
{
	oas_object(o, name);
	oas_member(o, "type", "string");
	oas_member(o, "format", "password");
	oas_member(o, "description", description);
	oas_member_bool(o, "writeOnly", true);
	oas_member_number(o, "minLength", 8);
	oas_member_number(o, "maxLength", 72);
	oas_close(o, '}');
}

static bool in_input(const struct attribute *a, enum oas_schema s)
{
	if (input_is_kept(a))
		return false;
	return s != OAS_UPDATE || (!a->fixed && !a->id && !a->from_key);
}

static void put_input_attribute(struct oas *o, const struct attribute *a, bool nullable)
{
	oas_name(o, a->name);
	oas_open(o, '{');
	oas_value_schema(o, a, nullable);
	oas_attribute_description(o, a);
	if (!nullable && a->default_ && a->default_->kind == TERM_LITERAL)
		oas_name(o, SLICE("default")), oas_value(o, a->default_->value);
	oas_close(o, '}');
}

/* `password`: an account is made with one; who replaces an item need not give it again. */
static void put_required(struct oas *o, const struct entity *e, size_t params, bool password)
{
	bool any = password;

	if (password) {
		oas_list(o, "required");
		oas_text(o, SLICE("password"));
	}
	for (size_t i = 0; i < e->attribute_count; i++) {
		if (!must_be_given(e, &e->attributes[i], params))
			continue;
		if (!any)
			oas_list(o, "required");
		any = true;
		oas_text(o, e->attributes[i].name);
	}
	if (any)
		oas_close(o, ']');
}

static void put_input(struct oas *o, const struct entity *e, enum oas_schema s)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	if (s != OAS_UPDATE)
		put_required(o, e, s == OAS_PUT ? e->param_count : collection_params(e),
			     s == OAS_CREATE && has_login(o, e));
	oas_object(o, "properties");
	for (size_t i = 0; i < e->attribute_count; i++)
		if (in_input(&e->attributes[i], s))
			put_input_attribute(o, &e->attributes[i], s == OAS_UPDATE && !e->attributes[i].required);
	if (has_login(o, e))
		put_password(o, "password", "8 to 72 bytes.");
	if (has_login(o, e) && s != OAS_CREATE)
		put_password(o, "current_password", "Needed to change the password.");
	oas_close(o, '}');
	if (s != OAS_PUT) /* who replaces an item may send back what the server keeps */
		oas_member_bool(o, "additionalProperties", false);
	oas_close(o, '}');
}

void oas_action_input(struct oas *o, const struct entity *e, const struct action *action)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_object(o, "properties");
	for (size_t i = 0; i < action->input_count; i++) {
		const struct attribute *a = entity_attribute(e, action->input[i]);

		if (a)
			put_input_attribute(o, a, !a->required);
	}
	oas_close(o, '}');
	oas_member_bool(o, "additionalProperties", false);
	oas_close(o, '}');
}

/* ---- items as they are shown ---- */
static void put_identity(struct oas *o, const struct entity *e)
{
	bool any = false;

	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (!a || a->hidden || a->private_)
			continue;
		if (!any)
			oas_list(o, "required");
		any = true;
		oas_text(o, a->name);
	}
	if (any)
		oas_close(o, ']');
}

static void put_shown(struct oas *o, const struct attribute *a)
{
	oas_name(o, a->name);
	oas_open(o, '{');
	oas_value_schema(o, a, a->compressed);
	oas_attribute_description(o, a);
	if (input_is_kept(a))
		oas_member_bool(o, "readOnly", true);
	oas_close(o, '}');
}

/* A template of one bare placeholder has that attribute's type. */
static void put_computed(struct oas *o, const struct entity *e, const struct key_rule *k)
{
	const struct template_part *part = k->template->part_count == 1 ? &k->template->parts[0] : NULL;
	const struct attribute *a = part && part->names && part->name_count == 1 && part->format == FORMAT_PLAIN
					    ? entity_attribute(e, part->names[0])
					    : NULL;

	oas_name(o, k->attribute);
	oas_open(o, '{');
	oas_member(o, "type", a ? oas_json_type(a->type) : "string");
	oas_name(o, SLICE("description"));
	oas_printf(o, "Computed: `%.*s`.", SLICE_ARG(k->template->text));
	oas_member_bool(o, "readOnly", true);
	oas_close(o, '}');
}

static void put_item(struct oas *o, const struct entity *e)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	put_identity(o, e);
	oas_object(o, "properties");
	for (size_t i = 0; i < e->attribute_count; i++)
		if (!e->attributes[i].hidden)
			put_shown(o, &e->attributes[i]);
	for (size_t i = 0; i < e->key_count; i++)
		if (slots_show_key(o->d, e, i))
			put_computed(o, e, &e->keys[i]);
	oas_close(o, '}');
	oas_close(o, '}');
}

void oas_begin_items(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("items"));
	oas_close(o, ']');
	oas_object(o, "properties");
	oas_object(o, "items");
	oas_member(o, "type", "array");
	oas_name(o, SLICE("items"));
}

void oas_end_items(struct oas *o, bool pages)
{
	oas_close(o, '}');
	if (pages) {
		oas_object(o, "next");
		oas_member(o, "type", "string");
		oas_member(o, "description", "For `after` of the next page; not there: that was all.");
		oas_close(o, '}');
	}
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_nested(struct oas *o, const struct entity *e)
{
	oas_open(o, '{');
	oas_list(o, "allOf");
	oas_ref_entity(o, e, OAS_ITEM);
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_object(o, "properties");
	oas_object(o, "children");
	oas_member(o, "type", "array");
	oas_name(o, SLICE("items"));
	oas_ref_entity(o, e, OAS_NESTED);
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, ']');
	oas_close(o, '}');
}

static void put_entity_schema(struct oas *o, const struct entity *e, enum oas_schema s)
{
	switch (s) {
	case OAS_ITEM: put_item(o, e); break;
	case OAS_PAGE:
		oas_begin_items(o);
		oas_ref_entity(o, e, OAS_ITEM);
		oas_end_items(o, true);
		break;
	case OAS_NESTED: put_nested(o, e); break;
	default: put_input(o, e, s); break;
	}
}

void oas_schemas(struct oas *o)
{
	oas_object(o, "schemas");
	for (size_t i = 0; i < o->d->entity_count; i++)
		for (unsigned s = 0; s < OAS_SCHEMAS; s++)
			if (o->used[i] & 1u << s) {
				oas_name(o, entity_schema_name(o, &o->d->entities[i], s));
				put_entity_schema(o, &o->d->entities[i], s);
			}
	for (unsigned c = 0; c < OAS_COMMONS; c++)
		if (o->commons & 1u << c) {
			oas_name(o, common_name(o, c));
			oas_common_schema(o, c);
		}
	oas_close(o, '}');
}
