/* Making slots.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/slots.h"
#include <stdlib.h>
#include "json/json.h"

#define DERIVED_MOST   8 /* attributes derived from derived ones and copied from copies; a circle ends here */
#define TABLE_KEY_MOST 2

/* ---- attributes that change without a write to their item ---- */

/* the attribute whose term is searched for one of these */
struct reading {
	const struct entity *entity;
	int depth;
};

static bool moves_by_itself(const struct entity *e, struct slice name, int depth);

static bool is_moving(const void *ctx, const struct term *t)
{
	const struct reading *x = ctx;

	return t->kind == TERM_PATH && !t->member && moves_by_itself(x->entity, t->names[0], x->depth + 1);
}

/* Whether the attribute can change without a write to the item: a counter, or derived from one, here or at its
 * source. */
static bool moves_by_itself(const struct entity *e, struct slice name, int depth)
{
	const struct attribute *a = entity_attribute(e, name);

	if (!a || depth > DERIVED_MOST)
		return false;
	if (a->copy_of)
		return moves_by_itself(a->copy_of, a->copy_attribute, depth + 1);
	return a->counter || term_any(a->derived, is_moving, &(struct reading){ e, depth });
}

/* ---- names ---- */

static struct slice label_of(struct arena *a, struct slice name)
{
	struct buf b;

	buf_init(&b, a);
	buf_byte(&b, ',');
	json_string(&b, name);
	buf_byte(&b, ':');
	memset(buf_room(&b, SLOT_BEYOND), 0, SLOT_BEYOND);
	return buf_slice(&b);
}

/* The entity's attributes of one map stand together, and share the text of its name. */
static void put_in_group(struct arena *a, struct slot *n, const struct attribute *x)
{
	struct buf b;

	n->group = x->group.p;
	n->label = label_of(a, x->word);
	buf_init(&b, a);
	buf_byte(&b, ',');
	json_string(&b, x->group);
	buf_lit(&b, ":{");
	json_string(&b, x->word);
	buf_byte(&b, ':');
	memset(buf_room(&b, SLOT_BEYOND), 0, SLOT_BEYOND);
	n->opening = buf_slice(&b);
}

static void encode(struct arena *a, struct slot *n)
{
	uint8_t mask[sizeof(n->head_mask)] = { 0 };
	struct buf b;
	size_t head;

	buf_init(&b, a);
	buf_part(&b, n->name->text);
	n->encoded = buf_slice(&b);
	head = b.n < sizeof(n->head) ? b.n : sizeof(n->head);
	memset(mask, 0xff, head);
	memcpy(n->head, b.p, head);
	memcpy(n->head_mask, mask, sizeof(mask));
}

static int by_name(const void *x, const void *y)
{
	return slice_cmp(((const struct slot *)x)->name->text, ((const struct slot *)y)->name->text);
}

struct making {
	struct arena *arena;
	const struct design *design;
	const struct entity *entity;
	struct slots *slots;
	struct slot *list; /* room for all names of the design; used again for the next entity */
	uint16_t *of_name;
};

static struct slot *add_slot(struct making *m, const struct name *n)
{
	struct slot *s = &m->list[m->slots->count];

	if (!n || m->of_name[n->id] != SLOT_NONE)
		return NULL;
	*s = (struct slot){ .name = n, .at = (uint32_t)m->slots->count, .stored = true };
	m->of_name[n->id] = (uint16_t)m->slots->count++;
	return s;
}

static void add_attribute(struct making *m, const struct attribute *a)
{
	struct slot *s = add_slot(m, a->at);

	if (!s)
		return;
	s->attribute = a;
	s->hidden = a->hidden;
	s->private_ = a->private_;
	s->compressed = a->compressed;
	s->apart = a->compressed || attribute_file(a);
	s->plain = !a->hidden && !a->private_ && !a->compressed;
	s->tagged = !a->hidden && !moves_by_itself(m->entity, a->name, 0);
	/* An attribute that is itself a key is always stored: the database needs it. */
	s->stored = !a->from_key || design_is_key(m->design, a->name);
}

bool slots_show_key(const struct design *d, const struct entity *e, size_t i)
{
	struct slice name = e->keys[i].attribute;

	for (size_t k = 0; k < i; k++)
		if (slice_equal(e->keys[k].attribute, name))
			return false;
	return !entity_attribute(e, name) && !design_is_key(d, name);
}

static void add_path(void *ctx, const struct term *t)
{
	if (t->kind == TERM_PATH && t->of == TERM_OF_ITEM)
		add_slot(ctx, t->at);
}

/* Names that have a slot and are not written. */
static void add_others(struct making *m)
{
	const struct design *d = m->design;
	const struct entity *e = m->entity;

	for (size_t i = 0; i < key_attr_count(&d->key); i++)
		add_slot(m, design_named(d, key_attr_at(&d->key, i)->name));
	for (size_t i = 0; i < e->key_count; i++)
		add_slot(m, e->keys[i].at);
	for (size_t i = 0; i < e->param_count; i++)
		add_slot(m, e->param_at[i]);
	add_slot(m, d->ttl_at);
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (e->allow[i])
			term_walk(e->allow[i], add_path, m);
}

static void make_names(struct making *m)
{
	struct slots *s = m->slots;
	const struct slot **list;
	struct slot *sorted;

	for (size_t i = 0; i < m->entity->attribute_count; i++)
		add_attribute(m, &m->entity->attributes[i]);
	for (size_t i = 0; i < m->entity->key_count; i++)
		if (slots_show_key(m->design, m->entity, i)) {
			struct slot *k = add_slot(m, m->entity->keys[i].at);

			if (k)
				k->plain = true;
		}
	s->written = s->count;
	add_others(m);
	for (size_t i = 0; i < s->count; i++) {
		m->list[i].label = label_of(m->arena, m->list[i].name->text);
		if (m->list[i].attribute && m->list[i].attribute->group.n) {
			put_in_group(m->arena, &m->list[i], m->list[i].attribute);
			s->has_groups = true;
		}
		s->label_size += m->list[i].label.n + m->list[i].opening.n + 1;
		encode(m->arena, &m->list[i]);
		s->has_private = s->has_private || m->list[i].private_;
	}
	qsort(m->list, s->count, sizeof(*m->list), by_name);
	sorted = arena_array(m->arena, struct slot, s->count);
	list = arena_array(m->arena, const struct slot *, s->count);
	for (size_t i = 0; i < s->count; i++) {
		sorted[i] = m->list[i];
		list[sorted[i].at] = &sorted[i];
	}
	s->sorted = sorted;
	s->list = list;
	s->of_name = m->of_name;
}

uint32_t slots_find(const struct slots *s, struct slice name)
{
	size_t from = 0, to = s->count;

	while (from < to) {
		size_t middle = (from + to) / 2;
		int order = slice_cmp(s->sorted[middle].name->text, name);

		if (order == 0)
			return s->sorted[middle].at;
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return SLOT_NONE;
}

/* ---- keys ---- */

/* Whether no text can come from both. */
static bool differ(const struct template *x, const struct template *y)
{
	struct slice p = template_prefix(x), q = template_prefix(y);
	size_t n = p.n < q.n ? p.n : q.n;

	if (!slice_equal(slice_make(p.p, n), slice_make(q.p, n)))
		return true;
	return (template_is_constant(x) && p.n < q.n) || (template_is_constant(y) && q.n < p.n);
}

/* Whether the attribute's templates of the one and of the other always differ. */
static bool rules_differ(struct slice attribute, const struct entity *e, const struct key_rule *rules, size_t n)
{
	bool any = false, other = false;

	EACH (struct key_rule, x, e->keys, e->key_count) {
		if (!slice_equal(x->attribute, attribute))
			continue;
		any = true;
		EACH (struct key_rule, y, rules, n) {
			if (!slice_equal(y->attribute, attribute))
				continue;
			other = true;
			if (!differ(x->template, y->template))
				return false;
		}
	}
	return any && other; /* a key without a rule is an attribute as it is: anything */
}

static bool keys_differ(const struct design *d, const struct entity *e, const struct key_rule *rules, size_t n)
{
	for (size_t i = 0; i < key_attr_count(&d->key); i++)
		if (rules_differ(key_attr_at(&d->key, i)->name, e, rules, n))
			return true;
	return false;
}

static bool is_alone(const struct design *d, const struct entity *e)
{
	EACH (struct entity, x, d->entities, d->entity_count) {
		if (x != e && !keys_differ(d, e, x->keys, x->key_count))
			return false;
		EACH (struct companion, c, x->companions, x->companion_count)
			if (!keys_differ(d, e, c->rules, c->rule_count))
				return false;
		if (x->login.secret_count && !keys_differ(d, e, x->login.secret, x->login.secret_count))
			return false;
	}
	return true;
}

static uint32_t slot_of(const struct slots *s, const struct name *n)
{
	return s->of_name[n->id];
}

static void make_keys(struct arena *a, const struct design *d, const struct entity *e, struct slots *s)
{
	struct slot_key *keys = arena_array(a, struct slot_key, e->key_count);

	for (size_t i = 0; i < e->key_count; i++) {
		struct slot_key *k = &keys[s->key_count];

		if (e->keys[i].when || !is_key_attribute(&d->key, e->keys[i].attribute))
			continue;
		*k = (struct slot_key){ .at = slot_of(s, e->keys[i].at), .template = e->keys[i].template };
		k->simple = template_is_simple(k->template, &k->text, &k->rest, &k->sign);
		s->key_count++;
	}
	s->keys = keys;
	s->keyed = s->key_count == key_attr_count(&d->key);
}

static size_t forms_of(const struct entity *e, const struct name *attribute)
{
	size_t n = 0;

	for (size_t i = 0; i < e->key_count; i++)
		n += e->keys[i].at == attribute;
	return n;
}

static bool is_located(const struct design *d, const struct entity *e, const struct slots *s)
{
	EACH (struct key_rule, r, e->keys, e->key_count) {
		if (!is_key_attribute(&d->key, r->attribute))
			continue;
		if (forms_of(e, r->at) != 1)
			return false;
		EACH (struct template_part, p, r->template->parts, r->template->part_count)
			if (p->names && (p->name_count != 1 || !names_among(e->param_at, e->param_count, p->at)))
				return false;
	}
	return s->keyed;
}

/* Whether some template of the table's key has it whole: its day or shard would not do. */
static bool is_in_key(const struct slots *s, const struct name *n)
{
	EACH (struct slot_key, k, s->keys, s->key_count)
		EACH (struct template_part, p, k->template->parts, k->template->part_count)
			if (p->names && p->name_count == 1 && p->at == n && !format_loses_value(p->format))
				return true;
	return false;
}

static bool is_told(const struct entity *e, const struct slots *s)
{
	for (size_t i = 0; i < e->param_count; i++)
		if (!is_in_key(s, e->param_at[i]))
			return false;
	return s->located;
}

static void make_constants(struct arena *a, const struct entity *e, struct slots *s)
{
	struct slot_key *constants = arena_array(a, struct slot_key, e->key_count);

	EACH (struct key_rule, k, e->keys, e->key_count)
		if (!k->when && template_is_constant(k->template) && forms_of(e, k->at) == 1)
			constants[s->constant_count++] =
				(struct slot_key){ .at = slot_of(s, k->at), .template = k->template };
	s->constants = constants;
}

static void make_identity(struct arena *a, const struct entity *e, struct slots *s)
{
	uint32_t *identity = arena_array(a, uint32_t, e->param_count + e->attribute_count);

	for (size_t i = 0; i < e->param_count; i++)
		identity[s->identity_count++] = slot_of(s, e->param_at[i]);
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].from_key)
			identity[s->identity_count++] = slot_of(s, e->attributes[i].at);
	s->identity = identity;
}

/* ---- all of it ---- */

static void make_slots(struct making *m)
{
	const struct design *d = m->design;
	const struct entity *e = m->entity;
	struct slots *s = m->slots;
	struct arena *a = m->arena;

	m->of_name = arena_array(a, uint16_t, d->name_count);
	memset(m->of_name, 0xff, d->name_count * sizeof(*m->of_name));
	make_names(m);
	make_keys(a, d, e, s);
	make_constants(a, e, s);
	make_identity(a, e, s);
	s->located = is_located(d, e, s);
	s->told = is_told(e, s);
	s->ttl = d->ttl_at ? slot_of(s, d->ttl_at) : SLOT_NONE;
	s->alone = is_alone(d, e);
}

const struct slots *slots_new(struct arena *a, const struct design *d)
{
	struct slots *all = arena_array(a, struct slots, d->entity_count);
	struct making m = { .arena = a, .design = d, .list = arena_array(a, struct slot, d->name_count) };

	for (size_t i = 0; i < d->entity_count; i++) {
		m.entity = &d->entities[i];
		m.slots = &all[i];
		make_slots(&m);
	}
	return all;
}
