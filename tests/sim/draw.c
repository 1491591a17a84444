/* Values for requests, from the design alone. Attributes that refer to the same thing draw from the same few values,
 * so that requests collide. SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdlib.h>
#include "base/timestamp.h"
#include "sim.h"

#define LEARNT      4 /* values of a class that replies have shown */
#define CHOSEN      3 /* values of a class that clients choose … */
#define CHOSEN_MOST 7 /* … and of a class that is only unique, which limits the number of items */
#define LONGEST     12

/* attributes that refer to the same thing: Post.author and User.user_id */
struct class
{
	size_t parent;
	const struct attribute *attribute;
	bool is_identity, is_made; /* by the server */
	struct slice chosen[CHOSEN_MOST], learnt[LEARNT];
	size_t chosen_count, learnt_count, next;
};

struct pool {
	size_t *first; /* by entity: its first attribute's class */
	struct class *classes;
	size_t count, callers; /* the class of callers */
	unsigned *weights;     /* by entity */
};

/* ---- attributes that refer to the same thing ---- */

static size_t find(struct pool *p, size_t i)
{
	while (p->classes[i].parent != i)
		i = p->classes[i].parent;
	return i;
}

static void unite(struct pool *p, size_t x, size_t y)
{
	if (x != SIZE_MAX && y != SIZE_MAX)
		p->classes[find(p, x)].parent = find(p, y);
}

static size_t class_of(const struct sim *s, const struct pool *p, const struct entity *e, struct slice name)
{
	for (size_t i = 0; e && i < e->attribute_count; i++)
		if (slice_equal(e->attributes[i].name, name))
			return p->first[e - s->design->entities] + i;
	return SIZE_MAX;
}

struct uniting {
	struct sim *sim;
	struct pool *pool;
	const struct entity *entity;
};

static struct slice plain_name(const struct term *t)
{
	return t->kind == TERM_PATH && t->name_count == 1 ? t->names[0] : SLICE("");
}

static void unite_args(struct uniting *u, struct slice entity, const struct term *const *args, size_t n)
{
	const struct entity *to = design_entity(u->sim->design, entity);

	for (size_t i = 0; to && i < n && i < to->param_count; i++)
		unite(u->pool, class_of(u->sim, u->pool, u->entity, plain_name(args[i])),
		      class_of(u->sim, u->pool, to, to->params[i]));
}

static void visit(void *ctx, const struct term *t)
{
	struct uniting *u = ctx;

	if (t->kind == TERM_EXISTS || t->kind == TERM_VISIBLE || t->kind == TERM_FETCH)
		unite_args(u, t->name, t->args, t->arg_count);
	if (t->kind != TERM_EQ)
		return;
	for (int i = 0; i < 2; i++)
		if (t->args[i]->kind == TERM_CALLER)
			unite(u->pool, class_of(u->sim, u->pool, u->entity, plain_name(t->args[!i])), u->pool->callers);
}

static void walk(struct uniting *u, const struct term *t)
{
	if (t)
		term_walk(t, visit, u);
}

static void unite_attribute(struct uniting *u, const struct attribute *a)
{
	if (a->copy_entity.n)
		unite_args(u, a->copy_entity, a->copy_args, a->copy_arg_count);
	if (a->the_caller)
		unite(u->pool, class_of(u->sim, u->pool, u->entity, a->name), u->pool->callers);
	walk(u, a->default_);
}

static void unite_entity(struct uniting *u)
{
	const struct entity *e = u->entity;

	for (size_t i = 0; i < e->attribute_count; i++)
		unite_attribute(u, &e->attributes[i]);
	for (size_t i = 0; i < e->count_count; i++)
		unite_args(u, e->counts[i].target.entity, e->counts[i].target.args, e->counts[i].target.arg_count);
	for (size_t i = 0; i < e->require_count; i++)
		unite_args(u, e->requires[i].target.entity, e->requires[i].target.args, e->requires[i].target.arg_count);
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		walk(u, e->allow[i]);
	if (e->login.present)
		unite(u->pool, class_of(u->sim, u->pool, e, e->login.subject), u->pool->callers);
}

/* Parameters of paths with the same name. */
static void unite_names(struct sim *s, struct pool *p)
{
	const struct design *d = s->design;

	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].param_count; k++)
			for (size_t j = 0; j < i; j++)
				unite(p, class_of(s, p, &d->entities[i], d->entities[i].params[k]),
				      class_of(s, p, &d->entities[j], d->entities[i].params[k]));
}

static bool is_param(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->param_count; i++)
		if (slice_equal(e->params[i], name))
			return true;
	return false;
}

/* ---- values that clients choose ---- */

static bool is_numeric(const struct attribute *a)
{
	return a && (a->type == ATTR_NUMBER || a->type == ATTR_INTEGER || a->type == ATTR_EPOCH);
}

static struct slice word(struct arena *a, const struct attribute *at, size_t i)
{
	static const char *const words[] = { "ann", "bob", "cyd", "dan", "eve", "fay", "gus" };
	size_t least = at && at->has_min ? (size_t)at->min : 0, most = at && at->has_max ? (size_t)at->max : LONGEST;
	struct buf b;

	buf_init(&b, a);
	buf_str(&b, words[i % 7]);
	if (at && memmem(at->name.p, at->name.n, "mail", 4))
		buf_lit(&b, "@example.com");
	while (b.n < least && b.n < 200)
		buf_printf(&b, "%zu", i % 10);
	if (b.n > most)
		b.n = most;
	return buf_slice(&b);
}

static struct slice chosen(struct arena *a, const struct attribute *at, size_t i)
{
	if (is_numeric(at))
		return arena_printf(a, "%lld", (long long)((at->has_min ? (int64_t)at->min : 1) + (int64_t)i));
	if (at && at->type == ATTR_ENUM)
		return at->choices[i % at->choice_count];
	if (at && at->type == ATTR_TIMESTAMP)
		return arena_printf(a, "2026-01-1%zuT10:30:00Z", i % 10);
	return word(a, at, i);
}

static void choose_values(struct sim *s, struct pool *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct class *c = &p->classes[i];

		if (find(p, i) != i)
			continue;
		for (size_t k = 0; k < (c->is_identity ? CHOSEN : CHOSEN_MOST) && !c->is_made; k++)
			c->chosen[c->chosen_count++] = chosen(&s->arena, c->attribute, k);
	}
}

/* A class takes its limits from its members, preferring those of the entity it identifies. */
static void gather(struct sim *s, struct pool *p)
{
	const struct design *d = s->design;

	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].attribute_count; k++) {
			const struct attribute *a = &d->entities[i].attributes[k];
			struct class *c = &p->classes[find(p, p->first[i] + k)];
			bool identity = is_param(&d->entities[i], a->name);

			if (!c->attribute || (identity && (!c->is_identity || a->has_min)))
				c->attribute = a;
			c->is_identity |= identity;
			c->is_made |= a->id && identity;
		}
}

struct pool *sim_pool_new(struct sim *s)
{
	static const unsigned weights[] = { 0, 1, 1, 4, 10 };
	const struct design *d = s->design;
	struct pool *p = arena_new(&s->arena, struct pool);

	p->first = arena_array(&s->arena, size_t, d->entity_count + 1);
	p->weights = arena_array(&s->arena, unsigned, d->entity_count);
	for (size_t i = 0; i < d->entity_count; i++) {
		p->first[i] = p->count;
		p->count += d->entities[i].attribute_count;
		p->weights[i] = weights[random_below(&s->random, sizeof(weights) / sizeof(*weights))];
	}
	p->callers = p->count++;
	p->classes = arena_array(&s->arena, struct class, p->count);
	for (size_t i = 0; i < p->count; i++)
		p->classes[i].parent = i;
	for (size_t i = 0; i < d->entity_count; i++) {
		struct uniting u = { .sim = s, .pool = p, .entity = &d->entities[i] };

		unite_entity(&u);
	}
	unite_names(s, p);
	gather(s, p);
	choose_values(s, p);
	return p;
}

static void learn(struct sim *s, struct class *c, struct slice text)
{
	for (size_t i = 0; i < c->chosen_count; i++)
		if (slice_equal(c->chosen[i], text))
			return;
	for (size_t i = 0; i < c->learnt_count; i++)
		if (slice_equal(c->learnt[i], text))
			return;
	/* Usually keeps the first values, so that many clients know them. */
	if (c->learnt_count == LEARNT && !random_percent(&s->random, 8))
		return;
	c->learnt[c->next] = arena_copy(&s->arena, text);
	c->next = (c->next + 1) % LEARNT;
	if (c->learnt_count < LEARNT)
		c->learnt_count++;
}

void pool_learn(struct sim *s, const struct entity *e, const struct json *item)
{
	for (size_t i = 0; e && json_is(item, JSON_OBJECT) && i < item->count; i++) {
		const struct json_member *m = &item->members[i];
		size_t at = class_of(s, s->pool, e, m->name);
		struct class *c = at == SIZE_MAX ? NULL : &s->pool->classes[find(s->pool, at)];

		if (!c || !c->is_identity)
			continue;
		if (json_is(&m->value, JSON_STRING) && m->value.string.n && m->value.string.n < 100)
			learn(s, c, m->value.string);
		else if (json_is(&m->value, JSON_INT))
			learn(s, c, arena_printf(&s->arena, "%lld", (long long)m->value.integer));
	}
}

unsigned pool_weight(const struct sim *s, const struct entity *e)
{
	return s->pool->weights[e - s->design->entities];
}

/* ---- drawing ---- */

static struct random *dice(struct draw *d)
{
	return &d->sim->random;
}

static struct slice draw_class(struct draw *d, const struct class *c)
{
	size_t i = random_below(dice(d), c->chosen_count + c->learnt_count);

	if (!c->chosen_count && !c->learnt_count)
		return SLICE("");
	return i < c->chosen_count ? c->chosen[i] : c->learnt[i - c->chosen_count];
}

void draw_caller(struct draw *d)
{
	struct sim *s = d->sim;
	const struct callers *callers = &s->design->callers;
	struct slice *roles = arena_array(d->arena, struct slice, callers->role_count + 1);
	size_t n = 0;

	d->caller = (struct caller){ .roles = roles };
	d->caller.operator_ = random_percent(dice(d), 15);
	if (!random_percent(dice(d), 95))
		return;
	d->caller.subject = draw_class(d, &s->pool->classes[find(s->pool, s->pool->callers)]);
	if (!d->caller.subject.n)
		d->caller.subject = word(d->arena, NULL, random_below(dice(d), CHOSEN));
	for (size_t i = 0; i < callers->role_count; i++)
		if (random_percent(dice(d), 60))
			roles[n++] = callers->roles[i];
	d->caller.role_count = n;
}

static struct slice draw_anew(struct draw *d, size_t at)
{
	struct pool *p = d->sim->pool;

	if (at == SIZE_MAX)
		return word(d->arena, NULL, random_below(dice(d), CHOSEN));
	at = find(p, at);
	if (at == find(p, p->callers) && d->caller.subject.n && !d->is_caller_said && random_percent(dice(d), 75)) {
		d->is_caller_said = true;
		return d->caller.subject;
	}
	for (int i = 0; i < 3; i++) {
		struct slice text = draw_class(d, &p->classes[at]);

		if (!d->is_caller_said || !slice_equal(text, d->caller.subject))
			return text;
	}
	return draw_class(d, &p->classes[at]);
}

/* A body usually repeats the attributes of the path. */
struct slice draw_identity(struct draw *d, const struct entity *e, struct slice attribute)
{
	size_t at = class_of(d->sim, d->sim->pool, e, attribute);
	struct slice text;

	for (size_t i = 0; i < d->said_count; i++)
		if (d->said[i].attribute == at && at != SIZE_MAX && !d->wrong)
			return d->said[i].text;
	text = draw_anew(d, at);
	if (d->said_count < DRAW_SAID)
		d->said[d->said_count++] = (struct draw_said){ at, text };
	return text;
}

static void put_encoded(struct buf *out, struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
			buf_byte(out, c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

/* The parameters of a pattern have no entity: takes the first entity with such an attribute. */
static const struct entity *owner_of(const struct design *d, struct slice name)
{
	for (int identity = 1; identity >= 0; identity--)
		for (size_t i = 0; i < d->entity_count; i++)
			if (identity ? is_param(&d->entities[i], name) : entity_attribute(&d->entities[i], name) != NULL)
				return &d->entities[i];
	return NULL;
}

static bool is_at_end(const struct template *t, size_t i)
{
	for (; i < t->part_count; i++)
		if (!t->parts[i].names && !slice_is(t->parts[i].literal, "/"))
			return false;
	return true;
}

bool draw_path(struct draw *d, const struct template *t, const struct entity *e, bool cut, struct buf *out)
{
	for (size_t i = 0; i < t->part_count; i++) {
		const struct template_part *part = &t->parts[i];
		struct slice text;

		if (cut && part->names && is_at_end(t, i))
			break;
		if (!part->names) {
			buf_put(out, part->literal);
			continue;
		}
		text = draw_identity(d, e ? e : owner_of(d->sim->design, part->names[0]), part->names[0]);
		if (!text.n)
			return false;
		put_encoded(out, text);
	}
	while (out->n && out->p[out->n - 1] == '/')
		out->n--;
	return true;
}

static void draw_text(struct draw *d, const struct attribute *a, struct buf *out)
{
	static const char *const texts[] = { "red apple", "green pear", "Blue Plum", "x" };
	size_t least = a->has_min ? (size_t)a->min : 0, most = a->has_max ? (size_t)a->max : 40;
	struct buf b;

	buf_init(&b, d->arena);
	buf_str(&b, texts[random_below(dice(d), 4)]);
	while (b.n < least && b.n < 1000)
		buf_lit(&b, "y");
	if (b.n > most)
		b.n = most;
	json_string(out, buf_slice(&b));
}

static void draw_number(struct draw *d, const struct attribute *a, struct buf *out)
{
	int64_t least = a->has_min ? (int64_t)a->min : 0, most = a->has_max ? (int64_t)a->max : 20;

	if (most - least > 6)
		most = least + 6;
	buf_i64(out, least + (int64_t)random_below(dice(d), (size_t)(most - least + 1)));
}

static void draw_time(struct draw *d, const struct attribute *a, struct buf *out)
{
	int64_t s = fiber_date_us() / 1000000 + (int64_t)random_below(dice(d), 7200) - 1800;
	char text[TIME_TEXT_MAX];

	if (a->type == ATTR_EPOCH)
		buf_i64(out, s);
	else
		json_string(out, time_format(s * 1000, text));
}

static void draw_elements(struct draw *d, const struct entity *e, const struct attribute *a, struct buf *out)
{
	size_t n = (a->has_min ? (size_t)a->min : 0) + random_below(dice(d), 3);
	struct attribute element = {
		.name = a->name,
		.type = a->element,
		.choices = a->choices,
		.choice_count = a->choice_count,
	};

	if (a->has_max && n > (size_t)a->max)
		n = (size_t)a->max;
	buf_lit(out, "[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_lit(out, ",");
		if (a->type == ATTR_SET)
			json_string(out, word(d->arena, NULL, i + random_below(dice(d), 3) * n));
		else
			draw_value(d, e, &element, out);
	}
	buf_lit(out, "]");
}

static void draw_wrong(struct draw *d, struct buf *out)
{
	/* The last one is a part that may be disabled. */
	static const char *const wrong[] = { "\"\"",        "-1",     "{}",        "[]",     "true",
					     "99999999999", "\"..\"", "\"A b/c\"", "\"a#b\"" };

	buf_str(out, wrong[random_below(dice(d), sizeof(wrong) / sizeof(*wrong) - !sim_may(d->sim, SIM_HASHES))]);
}

static bool is_shared(struct draw *d, const struct entity *e, const struct attribute *a)
{
	struct pool *p = d->sim->pool;
	size_t at = class_of(d->sim, p, e, a->name);

	return at != SIZE_MAX && (p->classes[find(p, at)].is_identity || a->unique);
}

void draw_value(struct draw *d, const struct entity *e, const struct attribute *a, struct buf *out)
{
	struct slice text;

	if (d->wrong && random_percent(dice(d), 15)) {
		draw_wrong(d, out);
		return;
	}
	if (e && is_shared(d, e, a)) {
		text = draw_identity(d, e, a->name);
		if (is_numeric(a) && text.n)
			buf_put(out, text);
		else
			json_string(out, text.n ? text : SLICE("none"));
		return;
	}
	switch (a->type) {
	case ATTR_STRING: json_string(out, word(d->arena, a, random_below(dice(d), 5))); break;
	case ATTR_TEXT: draw_text(d, a, out); break;
	case ATTR_NUMBER:
	case ATTR_INTEGER: draw_number(d, a, out); break;
	case ATTR_BOOLEAN: buf_str(out, random_percent(dice(d), 50) ? "true" : "false"); break;
	case ATTR_TIMESTAMP:
	case ATTR_EPOCH: draw_time(d, a, out); break;
	case ATTR_LIST:
	case ATTR_SET: draw_elements(d, e, a, out); break;
	case ATTR_MAP: buf_str(out, random_percent(dice(d), 50) ? "{}" : "{\"a\":1,\"b\":{\"c\":\"x\"}}"); break;
	case ATTR_BINARY: buf_lit(out, "\"aGVsbG8=\""); break;
	case ATTR_ENUM: json_string(out, a->choices[random_below(dice(d), a->choice_count)]); break;
	}
}

/* Whether a body may contain it. */
static bool is_given(const struct draw *d, const struct entity *e, const struct attribute *a, enum body_kind kind)
{
	if (a->derived || a->counter || a->now || a->touched || a->last_writer || a->copy_entity.n || a->after.n ||
	    a->hidden || a->from_key)
		return false;
	if (kind == BODY_UPDATE && (a->fixed || (is_param(e, a->name) && rename_leaves_orphans(d->sim->design, e) &&
						 !sim_may(d->sim, SIM_ORPHANS))))
		return false;
	return !a->managed || (d->caller.operator_ && sim_may(d->sim, SIM_MANAGED));
}

static unsigned chance(const struct entity *e, const struct attribute *a, enum body_kind kind)
{
	if (kind == BODY_UPDATE)
		return 25;
	if (is_param(e, a->name))
		return kind == BODY_CREATE ? 0 : a->id ? 5 : 95;
	if (a->the_caller)
		return 5;
	return a->required ? 97 : 35;
}

/* Whether it refers to a kind of item not seen yet. */
static bool is_unknown(struct draw *d, const struct entity *e, const struct attribute *a)
{
	struct pool *p = d->sim->pool;
	size_t at = class_of(d->sim, p, e, a->name);
	const struct class *c = at == SIZE_MAX ? NULL : &p->classes[find(p, at)];

	return c && c->is_identity && !c->chosen_count && !c->learnt_count;
}

static void put_member(struct draw *d, const struct entity *e, const struct attribute *a, bool may_be_null,
		       struct buf *out)
{
	if (out->p[out->n - 1] != '{')
		buf_lit(out, ",");
	json_string(out, a->name);
	buf_lit(out, ":");
	if (may_be_null && !a->required && (!a->default_ || sim_may(d->sim, SIM_NULLS)) && random_percent(dice(d), 12))
		buf_lit(out, "null");
	else
		draw_value(d, e, a, out);
}

void draw_body(struct draw *d, const struct entity *e, enum body_kind kind, const struct action *action, struct buf *out)
{
	buf_lit(out, "{");
	for (size_t i = 0; kind == BODY_ACTION && i < action->input_count; i++) {
		const struct attribute *a = entity_attribute(e, action->input[i]);

		if (a && random_percent(dice(d), 85))
			put_member(d, e, a, false, out);
	}
	for (size_t i = 0; kind != BODY_ACTION && i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (is_given(d, e, a, kind) && !(d->sure && is_unknown(d, e, a)) &&
		    random_percent(dice(d), chance(e, a, kind)))
			put_member(d, e, a, kind == BODY_UPDATE, out);
	}
	if (e->login.present && kind != BODY_ACTION && kind != BODY_UPDATE && random_percent(dice(d), 95))
		buf_printf(out, "%s\"password\":\"secret-1\"", out->p[out->n - 1] != '{' ? "," : "");
	buf_lit(out, "}");
}
