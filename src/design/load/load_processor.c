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

static void read_each(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	const struct load_scope *scope = l->scope; /* without the variable */
	struct load_call call;
	struct load_span s;

	if (!load_loop(l, y, "a loop over a pattern, as in follower in followers(user_id = author_id)",
		       &p->each_variable, &s) ||
	    !load_pattern_call(l, s, scope, &call, &p->rows_access))
		return;
	p->each_pattern = call.pattern;
	p->each_with = call.with;
	p->each_with_count = call.with_count;
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
		load_error(l, y->place, "wrong-value", "a secret has at least %d characters", SECRET_LEAST);
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
static const struct load_shape send_shape = { SHAPE_WORDS, "'send'", .words = send_words, .one_of = send_kinds };

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
		load_error(l, y->place, "wrong-value", "an address begins with http:// or https://");
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

static const struct load_shape on_shape = { SHAPE_TEXT, "an entity and what happens to it, as in Post created, updated",
					    "[A-Za-z_][A-Za-z0-9_]* +.+", .is_words = true };
static const struct load_shape each_shape = { SHAPE_TEXT,
					      "a loop over a pattern, as in follower in followers(user_id = author_id)",
					      "[A-Za-z_][A-Za-z0-9_]* in .+", .is_words = true };
static const struct load_shape put_shape = { SHAPE_TEXT, "the name of an entity" };
static const struct load_shape count_shape = { SHAPE_TEXT, "a count, as in User(author_id).posts_count",
					       .is_words = true };
static const struct load_shape remove_shape = { SHAPE_TEXT,
						"a pattern and its parameters: comments of post(post_id = post_id)",
						.is_words = true };
static const struct load_shape with_shape = { SHAPE_TYPE, .type = WORD_ASSIGNMENTS };

/* The order matters: later words use names that earlier ones define. */
static const struct load_word words[] = {
	{ "on", .read = read_on, .shape = &on_shape },
	{ "let", WORD_ASSIGNMENTS, LIST_AT(processor, let, let_count) },
	{ "each", .read = read_each, .shape = &each_shape },
	{ "when", WORD_TERM, AT(processor, when) },
	{ "put", .read = read_put, .shape = &put_shape },
	{ "update", .read = read_update, .shape = &load_item_shape },
	{ "delete", .read = read_delete, .shape = &load_item_shape },
	{ "count", .read = read_count, .shape = &count_shape },
	{ "send", .read = read_send, .shape = &send_shape },
	{ "remove all", .read = read_remove_all, .shape = &remove_shape },
	{ "with", .read = read_with, .shape = &with_shape },
	{ "accept", WORD_ACCEPT, AT(processor, accepts) },
	{ 0 },
};

static const char *const effects[] = { "put", "update", "delete", "count", "send", "remove all", NULL };
static const char *const processor_needs[] = { "on", NULL };
static const struct load_shape processor_shape = { SHAPE_WORDS, "a processor", .words = words,
						   .needed = processor_needs, .one_of = effects };
const struct load_shape load_processors_shape = { SHAPE_MAP, "processors by name", .of = &processor_shape };

static void check_effects(struct load *l, const struct processor *p, const struct yaml *y)
{
	size_t n = load_one_of(l, y, effects,
			       "a processor has one of 'put', 'update', 'delete', 'count', 'send' and 'remove all'");

	if (p->effect == EFFECT_SEND && n && (p->each_variable.n || p->with_count))
		load_error(l, p->place, "wrong-clause",
			   "what is sent is the change: 'each' and 'with' do not go with 'send'");
	if (!n)
		load_error(l, p->place, "missing-word",
			   "a processor does something: 'put', 'update', 'delete', 'count', 'send' or 'remove all'");
	if (!p->events)
		load_error(l, p->place, "missing-word", "a processor needs 'on'");
}

void load_processors(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of processors by name", &count);
	struct processor *list = arena_array(l->a, struct processor, count);

	for (size_t i = 0; i < count; i++) {
		list[i].name = entries[i].key.text;
		list[i].place = entries[i].key.place;
		l->scope = scope_of(l, &list[i]);
		load_subject(l, "processor", list[i].name);
		if (load_words(l, &entries[i].value, "a processor", words, &list[i], NULL))
			check_effects(l, &list[i], &entries[i].value);
	}
	d->processors = list;
	d->processor_count = count;
	l->subject = SLICE("");
}
