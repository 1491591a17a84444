/* Processors: what happens after a change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* The item before and after, `let`, and the variable of the loop. */
static struct load_scope *scope_of(struct load *l, const struct processor *p)
{
	struct load_scope *s = load_scope_of(l, design_entity(l->d, p->entity));

	s->processor = p;
	s->variable = p->each_variable;
	s->input = false;
	return s;
}

/* ---- on: Post created, updated ---- */
static void read_on(struct load *l, void *into, const struct yaml *y)
{
	static const struct slice names[] = { { "created", 7 }, { "updated", 7 }, { "deleted", 7 } };
	const char *expected = "an entity and what happens to it, as in Post created, updated";
	struct processor *p = into;
	struct load_span s, name, one;
	bool more = true;

	if (!load_is_scalar(l, y, expected))
		return;
	s = load_whole(y);
	if (!span_split(&s, ' ', &name) || !span_is_name(name)) {
		load_expected(l, y, expected);
		return;
	}
	p->entity = span_text(name);
	load_later_found(l, NAME_ENTITY, p->entity, span_place(l, name), SLICE(""), &p->of);
	while (more) {
		more = span_split(&s, ',', &one);
		p->events |= 1 << load_choice(l, span_text(one), span_place(l, one), "event", &NAMES(names));
	}
	l->scope = scope_of(l, p);
}

/* ---- every: 15 minutes · hour · day at 03:00 · monday at 06:30 ---- */
#define DAY_S         INT64_C(86400)
#define EVERY_LEAST_S 5

static bool read_clock(struct load_span s, int64_t *out)
{
	struct load_span hour;
	int64_t h, m;

	if (!span_split(&s, ':', &hour) || hour.n != 2 || s.n != 2 || !span_integer(hour, &h) || !span_integer(s, &m) ||
	    h < 0 || h > 23 || m < 0 || m > 59)
		return false;
	*out = h * 3600 + m * 60;
	return true;
}

/* The number of a weekday; Thursday is 0, as January 1st, 1970 was one. */
static int64_t weekday(struct slice s)
{
	static const char *const names[] = { "thursday", "friday",  "saturday", "sunday",
					     "monday",   "tuesday", "wednesday" };

	for (size_t i = 0; i < LENGTH(names); i++)
		if (slice_is(s, names[i]))
			return (int64_t)i;
	return -1;
}

static bool read_period(struct processor *p, struct load_span s, bool has_clock)
{
	int64_t day = weekday(span_text(s)), n = 1, unit;
	struct load_span number, rest = s;

	if (day >= 0) {
		p->every_seconds = 7 * DAY_S;
		p->every_offset += day * DAY_S;
		return true;
	}
	if (span_split(&rest, ' ', &number)) {
		if (!span_integer(number, &n) || n < 1 || n > 10000)
			return false;
		s = rest;
	}
	unit = load_seconds(span_text(s));
	p->every_seconds = n * unit;
	/* The same times each day. */
	return unit && p->every_seconds >= EVERY_LEAST_S &&
	       (unit < DAY_S ? !has_clock && DAY_S % p->every_seconds == 0 : p->every_seconds % DAY_S == 0);
}

static void read_every(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "how often, as in 15 minutes, day at 03:00, or monday at 06:30";
	struct processor *p = into;
	struct load_span s, period;
	bool has_clock;

	if (!load_is_scalar(l, y, expected))
		return;
	s = load_whole(y);
	p->every = span_text(s);
	has_clock = span_split_word(&s, "at", &period);
	if ((has_clock && !read_clock(s, &p->every_offset)) ||
	    !read_period(p, has_clock ? period : load_whole(y), has_clock)) {
		load_expected(l, y, expected);
		p->every_seconds = DAY_S;
	}
	l->scope = scope_of(l, p);
}

/* tag in tags: a loop over a list of the item, unless it is written as a pattern with its parameters. */
static bool is_list(const struct load *l, struct load_span s)
{
	struct load_span name, args;
	bool call = span_call(&s, &name, &args);

	return !call || (!design_access(l->d, span_text(name)) && term_is_function(span_text(name)));
}

static void read_each(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	const struct load_scope *scope = l->scope; /* without the variable */
	struct load_call call;
	struct load_span s;

	if (!load_loop(l, y,
		       "a loop over a pattern or a list, as in follower in followers(user_id = author_id), or tag in tags",
		       &p->each_variable, &s))
		return;
	if (is_list(l, s)) {
		p->each_list = load_span_term(l, s, scope);
	} else if (load_pattern_call(l, s, scope, &call, &p->rows_access)) {
		p->each_pattern = call.pattern;
		p->each_with = call.with;
		p->each_with_count = call.with_count;
	}
	l->scope = scope_of(l, p);
}

/* ---- effects ---- */
static void read_put(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->effect = EFFECT_PUT;
	p->target = load_text(l, y, "the name of an entity");
	if (p->target.n)
		load_later_found(l, NAME_ENTITY, p->target, y->place, SLICE(""), &p->target_entity);
}

static void read_target(struct load *l, struct processor *p, const struct yaml *y, enum effect_kind effect)
{
	p->effect = effect;
	if (load_item(l, y, "an item, as in FeedEntry(user_id, post_id)", l->scope, &p->target_ref))
		p->target = p->target_ref.entity;
}

static void read_update(struct load *l, void *into, const struct yaml *y)
{
	read_target(l, into, y, EFFECT_UPDATE);
}

static void read_upsert(struct load *l, void *into, const struct yaml *y)
{
	read_target(l, into, y, EFFECT_UPSERT);
}

static void read_delete(struct load *l, void *into, const struct yaml *y)
{
	read_target(l, into, y, EFFECT_DELETE);
}

static void read_count(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	struct count_rule c = { 0 };

	p->effect = EFFECT_COUNT;
	if (!load_count(l, y, l->scope, &p->target_ref, &c))
		return;
	p->target = p->target_ref.entity;
	p->target_attribute = c.attribute;
	p->by = c.by;
	if (c.key)
		load_error(l, c.key->place, "wrong-clause",
			   "a processor counts one counter: name it, as in .reactions.like");
	if (c.each.list)
		load_error(l, y->place, "wrong-clause", "'for' belongs in 'each' of the processor");
	if (c.when || c.if_)
		load_error(l, c.when ? c.when->place : c.if_->place, "wrong-clause",
			   "conditions belong in the processor's 'when'");
}

static void read_opensearch(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->send_opensearch = true;
	p->send_url = load_text(l, y, "an address, as in https://…");
}

#define SECRET_LEAST 16

static void read_send_secret(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->send_secret = load_text(l, y, "a secret, as in ${NAME:-}");
	if (p->send_secret.n && p->send_secret.n < SECRET_LEAST)
		load_error(l, y->place, "wrong-value", "a secret has at least %d characters", SECRET_LEAST)->repair =
			SLICE("keep it out of the file: secret: '${HOOK_SECRET}', made with openssl rand -hex 32");
}

static const struct load_shape address_shape = { SHAPE_TEXT, "an address, as in https://…", "https?://.+",
						 .is_words = true };
static const struct load_shape secret_shape = { SHAPE_TEXT, "a secret, as in ${NAME:-}" };

static const struct load_word send_words[] = {
	{ "to", WORD_TEXT, AT(processor, send_url), "an address, as in https://…" },
	{ "opensearch", .read = read_opensearch, .shape = &address_shape },
	{ "secret", .read = read_send_secret, .shape = &secret_shape },
	{ 0 },
};

static const char *const send_kinds[] = { "to", "opensearch", NULL };
static const struct load_shape send_shape = { SHAPE_WORDS, "'send'", .words = send_words, .one_of = { send_kinds } };

/* Either `to` or `opensearch`, and a secret only where something is signed. */
static void check_send(struct load *l, const struct yaml *y)
{
	bool to = load_has_word(y, "to"), opensearch = load_has_word(y, "opensearch");

	if (to == opensearch)
		load_error(l, y->place, to ? "wrong-clause" : "missing-word", "'send' has either 'to' or 'opensearch'");
	else if (opensearch && load_has_word(y, "secret"))
		load_error(l, y->place, "wrong-clause",
			   "'secret' is for webhooks: what goes to OpenSearch is not signed");
}

static void read_send(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->effect = EFFECT_SEND;
	if (load_words(l, y, "'send'", send_words, p, NULL))
		check_send(l, y);
	if (p->send_url.n && !slice_starts(p->send_url, SLICE("https://")) &&
	    !slice_starts(p->send_url, SLICE("http://")))
		load_error(l, y->place, "wrong-value", "an address begins with http:// or https://")->repair =
			SLICE("as in to: 'https://example.com/hook'");
}

static void read_remove_all(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	struct load_call call;

	p->effect = EFFECT_REMOVE_ALL;
	if (!load_is_scalar(l, y, "a pattern and its parameters: comments of post(post_id = post_id)") ||
	    !load_pattern_call(l, load_whole(y), l->scope, &call, &p->target_access))
		return;
	p->target = call.pattern;
	p->with = call.with;
	p->with_count = call.with_count;
}

/* ---- conditions and values ---- */
static void read_with(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	if (p->effect == EFFECT_REMOVE_ALL)
		load_error(l, y->place, "wrong-clause", "parameters belong to the pattern: comments(id = post_id)");
	else
		p->with_count = load_assignments(l, y, l->scope, p->target, &p->with);
}

static void read_add(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->add_count = load_assignments(l, y, l->scope, p->target, &p->add);
}

/* One map, or a list of them. */
static void read_extremes(struct load *l, struct processor *p, const struct yaml *y, bool lowest)
{
	size_t count = y->kind == YAML_LIST ? y->count : 1;
	struct extreme *list = arena_array(l->a, struct extreme, p->extreme_count + count);

	for (size_t i = 0; i < p->extreme_count; i++)
		list[i] = p->extremes[i];
	for (size_t i = 0; i < count; i++) {
		const struct yaml *one = y->kind == YAML_LIST ? &y->items[i] : y;
		struct extreme *x = &list[p->extreme_count];

		*x = (struct extreme){ .lowest = lowest, .place = one->place };
		x->count = load_assignments(l, one, l->scope, p->target, &x->list);
		p->extreme_count += x->count > 0;
	}
	p->extremes = list;
}

static void read_highest(struct load *l, void *into, const struct yaml *y)
{
	read_extremes(l, into, y, false);
}

static void read_lowest(struct load *l, void *into, const struct yaml *y)
{
	read_extremes(l, into, y, true);
}

/* ---- an effect ---- */

static const struct load_shape put_shape = { SHAPE_TEXT, "the name of an entity" };
static const struct load_shape count_shape = { SHAPE_TEXT, "a count, as in User(author_id).posts_count",
					       .is_words = true };
static const struct load_shape remove_shape = { SHAPE_TEXT,
						"a pattern and its parameters: comments of post(post_id = post_id)",
						.is_words = true };
static const struct load_shape with_shape = { SHAPE_TYPE, .type = WORD_ASSIGNMENTS };
static const struct load_shape extremes_shape = { SHAPE_LIST, .of = &with_shape };

#define EFFECT_NAMES "put", "update", "upsert", "delete", "count", "remove all"
/* clang-format off */
#define EFFECT_WORDS                       \
	{ "put", .read = read_put, .shape = &put_shape },       \
	{ "update", .read = read_update, .shape = &load_item_shape }, \
	{ "upsert", .read = read_upsert, .shape = &load_item_shape }, \
	{ "delete", .read = read_delete, .shape = &load_item_shape }, \
	{ "count", .read = read_count, .shape = &count_shape },   \
	{ "remove all", .read = read_remove_all, .shape = &remove_shape }
#define VALUE_WORDS                          \
	{ "with", .read = read_with, .shape = &with_shape },       \
	{ "add", .read = read_add, .shape = &with_shape },         \
	{ "highest", .read = read_highest, .shape = &extremes_shape }, \
	{ "lowest", .read = read_lowest, .shape = &extremes_shape }
/* clang-format on */

static const struct load_word effect_words[] = {
	{ "when", WORD_TERM, AT(processor, only_when) },
	EFFECT_WORDS,
	VALUE_WORDS,
	{ 0 },
};

static const char *const effect_names[] = { EFFECT_NAMES, NULL };
static const struct load_shape effect_shape = { SHAPE_WORDS, "an effect", .words = effect_words,
						.one_of = { effect_names } };
static const struct load_shape effects_shape = { SHAPE_LIST, "several effects", .of = &effect_shape };

static void check_values(struct load *l, const struct processor *p)
{
	if (p->effect != EFFECT_UPSERT && (p->add_count || p->extreme_count))
		load_error(l, p->add_count ? p->add->place : p->extremes->place, "wrong-clause",
			   "'add', 'highest' and 'lowest' go with 'upsert'")
			->repair = SLICE("write upsert: Entity(…), or count: Entity(…).counter for a counter");
	if (p->effect == EFFECT_UPSERT && !p->add_count && !p->extreme_count && !p->with_count)
		load_error(l, p->place, "missing-word",
			   "'upsert' needs what it changes: 'with', 'add', 'highest' or 'lowest'");
}

/* ---- `when` that reads the row of the loop: it is asked for each row ---- */
static bool reads_row(const void *variable, const struct term *t)
{
	return t->kind == TERM_PATH && t->of == TERM_OF_ITEM &&
	       slice_equal(t->names[0], *(const struct slice *)variable);
}

static const struct term *both(struct load *l, const struct term *x, const struct term *y)
{
	const struct term **args;
	struct term *t;

	if (!x || !y)
		return x ? x : y;
	args = arena_array(l->a, const struct term *, 2);
	args[0] = x;
	args[1] = y;
	t = arena_new(l->a, struct term);
	*t = (struct term){ .kind = TERM_AND, .place = x->place, .args = args, .arg_count = 2 };
	return t;
}

/* What does not need the row stays, and is asked before the loop. */
static void split_when(struct load *l, struct processor *p, const struct term *t)
{
	if (t && t->kind == TERM_AND) {
		split_when(l, p, t->args[0]);
		split_when(l, p, t->args[1]);
	} else if (term_any(t, reads_row, &p->each_variable)) {
		p->only_when = both(l, p->only_when, t);
	} else {
		p->when = both(l, p->when, t);
	}
}

static void place_when(struct load *l, struct processor *p)
{
	const struct term *whole = p->when;

	if (!p->each_variable.n || !term_any(whole, reads_row, &p->each_variable))
		return;
	p->when = NULL;
	split_when(l, p, whole);
}

/* The effects follow the processor in the design's list, each with what all of them have. */
static void read_effects(struct load *l, struct processor *p, const struct yaml *y)
{
	const struct processor base = *p;
	size_t n;
	const struct yaml *items = load_list(l, y, "a list of effects", &n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			p[i] = base;
		p[i].parts = i ? 0 : n;
		p[i].only_when = NULL;
		if (!load_words(l, &items[i], "an effect", effect_words, &p[i], NULL))
			continue;
		if (!load_one_of(l, &items[i], effect_names,
				 "an effect is one of 'put', 'update', 'upsert', 'delete', 'count' and 'remove all'"))
			load_error(l, items[i].place, "missing-word",
				   "an effect is one of 'put', 'update', 'upsert', 'delete', 'count' and 'remove all'");
		p[i].only_when = both(l, base.only_when, p[i].only_when);
		check_values(l, &p[i]);
	}
}

/* ---- whole processors ---- */

static void read_effects_later(struct load *l, void *into, const struct yaml *y)
{
	(void)l, (void)into, (void)y; /* read_effects(), when the processor is read */
}

static const struct load_shape on_shape = { SHAPE_TEXT, "an entity and what happens to it, as in Post created, updated",
					    "[A-Za-z_][A-Za-z0-9_]* +.+", .is_words = true };
static const struct load_shape every_shape = { SHAPE_TEXT,
					       "how often, as in 15 minutes, day at 03:00, or monday at 06:30",
					       "[a-z0-9]+( .+)?", .is_words = true };
static const struct load_shape each_shape = {
	SHAPE_TEXT, "a loop over a pattern or a list, as in follower in followers(user_id = author_id), or tag in tags",
	"[A-Za-z_][A-Za-z0-9_]* in .+", .is_words = true
};

/* The order matters: later words use names that earlier ones define. */
static const struct load_word words[] = {
	{ "on", .read = read_on, .shape = &on_shape },
	{ "every", .read = read_every, .shape = &every_shape },
	{ "let", WORD_ASSIGNMENTS, LIST_AT(processor, let, let_count) },
	{ "each", .read = read_each, .shape = &each_shape },
	{ "when", WORD_TERM, AT(processor, when) },
	EFFECT_WORDS,
	{ "send", .read = read_send, .shape = &send_shape },
	VALUE_WORDS,
	{ "effects", .read = read_effects_later, .shape = &effects_shape },
	{ "accept", WORD_ACCEPT, AT(processor, accepts) },
	{ 0 },
};

static const char *const single_effects[] = { EFFECT_NAMES, "send", NULL };
static const char *const kinds[] = { EFFECT_NAMES, "send", "effects", NULL };
static const char *const times[] = { "on", "every", NULL };
static const struct load_shape processor_shape = { SHAPE_WORDS, "a processor", .words = words,
						   .one_of = { kinds, times } };
const struct load_shape load_processors_shape = { SHAPE_MAP, "processors by name", .of = &processor_shape };

static void check_effects(struct load *l, const struct processor *p, const struct yaml *y)
{
	size_t n = load_one_of(
		l, y, single_effects,
		"a processor has one of 'put', 'update', 'upsert', 'delete', 'count', 'send' and 'remove all', or "
		"'effects': a list of several");
	bool several = load_has_word(y, "effects");

	if (p->effect == EFFECT_SEND && n && (p->each_variable.n || p->with_count))
		load_error(l, p->place, "wrong-clause",
			   "what is sent is the change: 'each' and 'with' do not go with 'send'");
	if (n && several)
		load_error(l, p->place, "wrong-clause", "a processor has either one effect or 'effects'");
	if (!n && !several)
		load_error(l, p->place, "missing-word",
			   "a processor does something: 'put', 'update', 'upsert', 'delete', 'count', 'send' or 'remove all'")
			->repair = SLICE("as in put: Notice, with: {user: author}");
	if (!p->events && !p->every_seconds)
		load_error(l, p->place, "missing-word", "a processor needs 'on' or 'every'")->repair =
			SLICE("as in on: Post created, or every: day at 03:00");
	if (p->events && p->every_seconds)
		load_error(l, p->place, "wrong-clause", "a processor has either 'on' or 'every'")->repair =
			SLICE("make two processors of it");
	if (p->every_seconds && p->effect == EFFECT_SEND && n)
		load_error(l, p->place, "wrong-clause", "what is sent is a change, and 'every' is not about one");
	if (n)
		check_values(l, p);
}

static const struct yaml *word_of(const struct yaml *map, const char *word)
{
	for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++)
		if (slice_is(map->entries[i].key.text, word))
			return &map->entries[i].value;
	return NULL;
}

/* How many effects the processor has. */
static size_t parts_of(const struct yaml *y)
{
	const struct yaml *effects = word_of(y, "effects");

	return effects && effects->kind == YAML_LIST && effects->count ? effects->count : 1;
}

void load_processors(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;
	size_t count, all = 0, n = 0;
	const struct yaml_entry *entries = load_map(l, y, "a map of processors by name", &count);
	struct processor *list;

	for (size_t i = 0; i < count; i++)
		all += parts_of(&entries[i].value);
	list = arena_array(l->a, struct processor, all);
	for (size_t i = 0; i < count; i++) {
		struct processor *p = &list[n];
		const struct yaml *effects = word_of(&entries[i].value, "effects");

		n += parts_of(&entries[i].value);
		p->name = entries[i].key.text;
		p->place = entries[i].key.place;
		p->parts = 1;
		l->scope = scope_of(l, p);
		load_subject(l, "processor", p->name);
		if (!load_words(l, &entries[i].value, "a processor", words, p, NULL))
			continue;
		place_when(l, p);
		check_effects(l, p, &entries[i].value);
		if (effects)
			read_effects(l, p, effects);
	}
	d->processors = list;
	d->processor_count = n;
	l->subject = SLICE("");
}

static bool is_param(const struct entity *e, const struct attribute *a)
{
	return slice_among(e->params, e->param_count, a->name);
}

/* Numbers that are added to, and attributes that are compared. */
static void check_upsert(struct load *l, const struct processor *p)
{
	const struct entity *e = p->target_ref.to;

	EACH (struct assignment, x, p->add, e ? p->add_count : 0) {
		const struct attribute *a = entity_attribute(e, x->attribute);

		if (a && ((a->type != ATTR_NUMBER && a->type != ATTR_INTEGER) || a->derived || a->sequence ||
			  is_param(e, a)))
			load_error(l, x->place, "wrong-type", "'%.*s' is not a number that can be added to",
				   SLICE_ARG(x->attribute));
	}
	EACH (struct extreme, m, p->extremes, e ? p->extreme_count : 0)
		EACH (struct assignment, x, m->list, m->count) {
			const struct attribute *a = entity_attribute(e, x->attribute);

			if (a &&
			    (a->counter || a->derived || a->copy_entity.n || a->from_key || a->fixed || is_param(e, a)))
				load_error(l, x->place, "wrong-clause", "'%.*s' of %.*s cannot be set here",
					   SLICE_ARG(x->attribute), SLICE_ARG(e->name));
			if (is_assigned(p->add, p->add_count, x->attribute) ||
			    is_assigned(p->with, p->with_count, x->attribute))
				load_error(l, x->place, "set-twice", "'%.*s' is set by two clauses of this effect",
					   SLICE_ARG(x->attribute));
		}
}

/* Follow(row.follower, row.followed) of a Follow called row. */
static bool names_row(const struct processor *p)
{
	const struct reference *f = &p->target_ref;

	for (size_t i = 0; f->to && i < f->arg_count && i < f->to->param_count; i++) {
		const struct term *t = f->args[i];

		if (t->kind != TERM_PATH || t->name_count != 2 || !slice_equal(t->names[0], p->each_variable) ||
		    !slice_equal(t->names[1], f->to->params[i]))
			return false;
	}
	return f->to && f->arg_count;
}

/* After an interruption the loop goes on with the rows that are left: effects after the row's removal would be lost. */
static void check_removal_is_last(struct load *l, const struct processor *p, bool last)
{
	const struct access *rows = p->rows_access;
	bool is_row = !rows || !rows->entity.n || slice_equal(rows->entity, p->target_ref.entity);

	if (last || !p->each_variable.n || p->each_list)
		return;
	if ((p->effect == EFFECT_DELETE && is_row && names_row(p)) ||
	    (p->effect == EFFECT_REMOVE_ALL && rows && p->target_access == rows))
		load_error(
			l, p->effect == EFFECT_DELETE ? p->target_ref.place : p->place, "wrong-order",
			"this removes the row of the loop, so it comes last: an interruption would lose the effects after it");
}

/* What the second pass has found for the first effect is so for all. */
void load_share_processors(struct load *l)
{
	const struct processor *first = NULL, *end = l->d->processors + l->d->processor_count;

	EACH (struct processor, p, l->d->processors, l->d->processor_count) {
		struct processor *own = OURS(struct processor, p);

		load_subject(l, "processor", p->name);
		check_upsert(l, p);
		if (p->parts) {
			first = p;
			continue;
		}
		own->of = first->of;
		own->rows_access = first->rows_access;
		own->accepts = first->accepts;
	}
	EACH (struct processor, p, l->d->processors, l->d->processor_count) {
		load_subject(l, "processor", p->name);
		check_removal_is_last(l, p, p + 1 == end || p[1].parts);
	}
	l->subject = SLICE("");
}
