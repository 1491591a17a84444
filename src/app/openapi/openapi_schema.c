/* The schemas of entities: items as they are shown, pages of them, and the bodies that create and change them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity.h"
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "app/openapi/openapi.h"
#include "design/slots.h"

/* ---- names ---- */

/* A design may call an entity Problem, or PostPage beside Post: entities keep their names. */
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

void oas_ref_entity(struct oas *o, const struct entity *e, enum oas_schema s)
{
	o->used[e - o->d->entities] |= OAS_BIT(s);
	if (s == OAS_PAGE || s == OAS_NESTED)
		o->used[e - o->d->entities] |= OAS_BIT(OAS_ITEM);
	oas_ref(o, "schemas", entity_schema_name(o, e, s));
}

void oas_ref_common(struct oas *o, enum oas_common c)
{
	o->commons |= OAS_BIT(c);
	oas_ref(o, "schemas", free_name(o, oas_common_name(c)));
}

/* ---- bodies ---- */

/* How many parameters the address has that items are created at. */
static size_t collection_params(const struct entity *e)
{
	struct slice path = entity_collection(e);
	size_t n = 0;

	for (size_t i = 0; i < path.n; i++)
		n += path.p[i] == '<';
	return n;
}

static bool must_be_given(const struct entity *e, const struct attribute *a, size_t params)
{
	return a->required && !a->when && !a->default_ && !input_is_kept(a) && !names_among(e->param_at, params, a->at);
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

static bool in_input(const struct attribute *a, enum oas_schema s)
{
	if (input_is_kept(a))
		return false;
	return s != OAS_UPDATE || (!a->fixed && !a->id && !a->from_key);
}

static void put_input_attribute(struct oas *o, const struct attribute *a, bool nullable)
{
	json_name_string(o->b, a->name);
	json_open(o->b, '{');
	o->input = true;
	oas_value_schema(o, a, nullable);
	o->input = false;
	oas_attribute_description(o, a);
	if (!nullable && a->default_ && a->default_->kind == TERM_LITERAL) {
		json_name(o->b, "default");
		output_value(o->b, a->default_->value);
	}
	json_close(o->b, '}');
}

static void put_required(struct oas *o, const struct slice *names, size_t n)
{
	if (n)
		json_member_strings(o->b, "required", names, n);
}

/* `password`: required to create an account, not to replace one. */
static void put_required_input(struct oas *o, const struct entity *e, size_t params, bool password)
{
	struct slice *names = arena_array(o->a, struct slice, e->attribute_count + 1);
	size_t n = 0;

	if (password)
		names[n++] = SLICE("password");
	for (size_t i = 0; i < e->attribute_count; i++)
		if (must_be_given(e, &e->attributes[i], params))
			names[n++] = e->attributes[i].name;
	put_required(o, names, n);
}

#define PASSWORD "'type':'string','format':'password','writeOnly':true,'minLength':8,'maxLength':72,'description':"

static void put_input(struct oas *o, const struct entity *e, enum oas_schema s)
{
	oas_put(o, "{'type':'object'");
	if (s != OAS_UPDATE)
		put_required_input(o, e, s == OAS_PUT ? e->param_count : collection_params(e),
				   s == OAS_CREATE && has_login(o, e));
	o->patch = s == OAS_UPDATE;
	json_member_open(o->b, "properties", '{');
	for (size_t i = 0; i < e->attribute_count; i++)
		if (in_input(&e->attributes[i], s))
			put_input_attribute(o, &e->attributes[i], s == OAS_UPDATE && !e->attributes[i].required);
	o->patch = false;
	if (has_login(o, e))
		oas_put(o, "'password':{" PASSWORD "'8 to 72 bytes.'}");
	if (has_login(o, e) && s != OAS_CREATE)
		oas_put(o, "'current_password':{" PASSWORD "'Required to change the password.'}");
	json_close(o->b, '}');
	if (s != OAS_PUT) /* a PUT may send back attributes that the server sets */
		json_member_bool(o->b, "additionalProperties", false);
	json_close(o->b, '}');
}

/* Elements to append: any number. */
static void put_more(struct oas *o, const struct attribute *a)
{
	struct attribute more = *a;

	more.has_min = more.has_max = false;
	json_name_string(o->b, a->name);
	json_open(o->b, '{');
	o->input = true;
	oas_value_schema(o, &more, false);
	o->input = false;
	json_member_word(o->b, "description", "Elements to append.");
	json_close(o->b, '}');
}

static void put_index(struct oas *o, const struct attribute *a)
{
	json_name_string(o->b, a->name);
	oas_put(o, "{'type':'integer','minimum':0,'description':'The element to remove; the first is 0.'}");
}

void oas_action_input(struct oas *o, const struct entity *e, const struct action *action)
{
	oas_put(o, "{'type':'object','properties':{");
	for (size_t i = 0; i < action->input_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, action->input_at[i]);

		if (a && names_among(action->cut_at, action->cut_count, a->at))
			put_index(o, a);
		else if (a && names_among(action->append_at, action->append_count, a->at))
			put_more(o, a);
		else if (a)
			put_input_attribute(o, a, !a->required);
	}
	json_close(o->b, '}');
	if (action->append_count + action->cut_count) {
		json_member_open(o->b, "required", '[');
		for (size_t i = 0; i < action->append_count + action->cut_count; i++)
			json_string(o->b, i < action->append_count ? action->append[i]
								   : action->cut[i - action->append_count]);
		json_close(o->b, ']');
	}
	oas_put(o, "'additionalProperties':false}");
}

/* ---- items as they are shown ---- */

static void put_identity(struct oas *o, const struct entity *e)
{
	struct slice *names = arena_array(o->a, struct slice, e->param_count);
	size_t n = 0;

	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);

		if (a && !a->hidden && !a->private_)
			names[n++] = a->name;
	}
	put_required(o, names, n);
}

static void put_shown(struct oas *o, const struct attribute *a)
{
	json_name_string(o->b, a->name);
	json_open(o->b, '{');
	oas_value_schema(o, a, a->compressed);
	oas_attribute_description(o, a);
	if (input_is_kept(a))
		json_member_bool(o->b, "readOnly", true);
	json_close(o->b, '}');
}

/* A template that is one bare placeholder has that attribute's type. */
static void put_computed(struct oas *o, const struct entity *e, const struct key_rule *k)
{
	const struct template_part *part = &k->template->parts[0];
	const struct attribute *a =
		template_is_bare(k->template) && part->name_count == 1 ? slots_attribute(e->slots, part->at) : NULL;

	json_name_string(o->b, k->attribute);
	json_open(o->b, '{');
	json_member_word(o->b, "type", a ? oas_json_type(a->type) : "string");
	oas_member_printf(o, "description", "Computed: `%.*s`.", SLICE_ARG(k->template->text));
	json_member_bool(o->b, "readOnly", true);
	json_close(o->b, '}');
}

/* Counters in a map, of which `first` is the first. */
static void put_group(struct oas *o, const struct attribute *first, const struct attribute *end)
{
	struct slice *words = arena_array(o->a, struct slice, (size_t)(end - first));
	size_t n = 0;

	json_name_string(o->b, first->group);
	oas_put(o, "{'type':'object','description':'A counter for each word.','readOnly':true");
	for (const struct attribute *a = first; a < end && slice_equal(a->group, first->group); a++)
		words[n++] = a->word;
	put_required(o, words, n);
	json_member_open(o->b, "properties", '{');
	for (size_t i = 0; i < n; i++) {
		json_name_string(o->b, words[i]);
		oas_put(o, "{'type':'integer'}");
	}
	oas_put(o, "},'additionalProperties':false}");
}

static void put_attributes(struct oas *o, const struct entity *e)
{
	const struct attribute *end = e->attributes + e->attribute_count;

	for (const struct attribute *a = e->attributes; a < end; a++) {
		if (a->hidden)
			continue;
		if (!a->group.n)
			put_shown(o, a);
		else if (a == e->attributes || !slice_equal(a[-1].group, a->group))
			put_group(o, a, end);
	}
}

static void put_item(struct oas *o, const struct entity *e)
{
	oas_put(o, "{'type':'object'");
	put_identity(o, e);
	json_member_open(o->b, "properties", '{');
	put_attributes(o, e);
	for (size_t i = 0; i < e->key_count; i++)
		if (slots_show_key(o->d, e, i))
			put_computed(o, e, &e->keys[i]);
	oas_put(o, "}}");
}

void oas_shown(struct oas *o, const struct attribute *show, size_t n)
{
	oas_put(o, "{'type':'object','properties':{");
	for (size_t i = 0; i < n; i++) {
		struct buf b;

		buf_init(&b, o->a);
		buf_lit(&b, "Shown: `");
		term_print(&b, show[i].derived);
		buf_lit(&b, "`. Absent where another item does not exist, or the caller may not read it.");
		json_name_string(o->b, show[i].name);
		json_open(o->b, '{');
		oas_value_schema(o, &show[i], false);
		json_member_string(o->b, "description", buf_slice(&b));
		json_member_bool(o->b, "readOnly", true);
		json_close(o->b, '}');
	}
	oas_put(o, "}}");
}

void oas_begin_items(struct oas *o)
{
	oas_put(o, "{'type':'object','required':['items'],'properties':{'items':{'type':'array','items':");
}

void oas_end_items(struct oas *o, bool pages)
{
	json_close(o->b, '}');
	if (pages)
		oas_put(o,
			"'next':{'type':'string','description':'For `after` of the next page; absent on the last one.'}");
	oas_put(o, "}}");
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
	case OAS_NESTED:
		oas_put(o, "{'allOf':[");
		oas_ref_entity(o, e, OAS_ITEM);
		oas_put(o, "{'type':'object','properties':{'children':{'type':'array','items':");
		oas_ref_entity(o, e, OAS_NESTED);
		oas_put(o, "}}}]}");
		break;
	default: put_input(o, e, s); break;
	}
}

void oas_schemas(struct oas *o)
{
	json_member_open(o->b, "schemas", '{');
	for (size_t i = 0; i < o->d->entity_count; i++)
		for (unsigned s = 0; s < OAS_SCHEMAS; s++)
			if (o->used[i] & OAS_BIT(s)) {
				json_name_string(o->b, entity_schema_name(o, &o->d->entities[i], s));
				put_entity_schema(o, &o->d->entities[i], s);
			}
	for (unsigned c = 0; c < OAS_COMMONS; c++)
		if (o->commons & OAS_BIT(c)) {
			json_name_string(o->b, free_name(o, oas_common_name(c)));
			oas_common_schema(o, c);
		}
	json_close(o->b, '}');
}
