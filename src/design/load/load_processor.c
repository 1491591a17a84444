/* Processors: what happens after a change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* The item, before and after; `let`; the loop's variable. */
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
	load_later_entity(l, p->entity, span_place(l, name));
	while (more) {
		size_t i = 0;

		more = span_split(&s, ',', &one);
		while (i < 3 && !slice_equal(span_text(one), names[i]))
			i++;
		if (i < 3)
			p->events |= 1 << i;
		else
			load_unknown(l, span_place(l, one), "unknown-word", "event", span_text(one), names, 3);
	}
}

static void read_each(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "a loop over a pattern, as in follower in followers(user_id = author_id)";
	struct processor *p = into;
	struct load_scope *scope = scope_of(l, p);
	struct load_span s, variable;

	if (!load_is_scalar(l, y, expected))
		return;
	s = load_whole(y);
	if (!span_split_word(&s, "in", &variable) || !span_is_name(variable) || !s.n) {
		load_expected(l, y, expected);
		return;
	}
	scope->variable = SLICE("");
	p->each_variable = span_text(variable);
	(void)!load_pattern_call(l, s, scope, &p->each_pattern, &p->each_with, &p->each_with_count);
}

/* ---- effects ---- */
static void read_put(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->effect = EFFECT_PUT;
	p->target = load_text(l, y, "the name of an entity");
	if (p->target.n)
		load_later_entity(l, p->target, y->place);
}

static bool read_target(struct load *l, struct processor *p, const struct yaml *y, struct load_span *rest)
{
	if (!load_is_scalar(l, y, "an item, as in FeedEntry(user_id, post_id)"))
		return false;
	*rest = load_whole(y);
	if (!load_reference(l, rest, scope_of(l, p), &p->target_ref))
		return false;
	p->target = p->target_ref.entity;
	return true;
}

static void nothing_after(struct load *l, struct load_span s)
{
	if (s.n)
		load_error(l, span_place(l, s), "unknown-word", "expected nothing after the item, not '%.*s'",
			   SLICE_ARG(span_text(s)));
}

static void read_update(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	struct load_span rest;

	p->effect = EFFECT_UPDATE;
	if (read_target(l, p, y, &rest))
		nothing_after(l, rest);
}

static void read_delete(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	struct load_span rest;

	p->effect = EFFECT_DELETE;
	if (read_target(l, p, y, &rest))
		nothing_after(l, rest);
}

static void read_count(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	struct load_span rest, attribute;
	struct load_tail tail;

	p->effect = EFFECT_COUNT;
	if (!read_target(l, p, y, &rest))
		return;
	if (!span_take(&rest, ".")) {
		load_error(l, y->place, "wrong-value", "expected the counter, as in Metric(date).value by 1");
		return;
	}
	span_split(&rest, ' ', &attribute);
	p->target_attribute = span_text(attribute);
	load_later_attribute(l, p->target_attribute, span_place(l, attribute), p->target);
	tail = load_reference_tail(l, rest, scope_of(l, p), p->target, true);
	p->by = tail.by;
	if (tail.when || tail.if_)
		load_error(l, span_place(l, rest), "wrong-clause", "conditions stand in 'when' of the processor");
}

static void read_send_to(struct load *l, void *into, const struct yaml *y)
{
	((struct processor *)into)->send_url = load_text(l, y, "an address, as in https://…");
}

static void read_send_opensearch(struct load *l, void *into, const struct yaml *y)
{
	((struct processor *)into)->send_opensearch = true;
	read_send_to(l, into, y);
}

#define SECRET_LEAST 16

static void read_send_secret(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->send_secret = load_text(l, y, "a secret, as in ${NAME:-}");
	if (p->send_secret.n && p->send_secret.n < SECRET_LEAST)
		load_error(l, y->place, "wrong-value", "a secret has at least %d characters", SECRET_LEAST);
}

static const struct load_word send_words[] = {
	{ "to", read_send_to },
	{ "opensearch", read_send_opensearch },
	{ "secret", read_send_secret },
	{ 0 },
};

/* One of the two, and a secret only where something is signed. */
static void check_send(struct load *l, const struct yaml *y)
{
	bool to = false, opensearch = false, secret = false;

	for (size_t i = 0; i < y->count; i++) {
		to |= slice_is(y->entries[i].key.text, "to");
		opensearch |= slice_is(y->entries[i].key.text, "opensearch");
		secret |= slice_is(y->entries[i].key.text, "secret");
	}
	if (to == opensearch)
		load_error(l, y->place, to ? "wrong-clause" : "missing-word", "'send' has either 'to' or 'opensearch'");
	else if (opensearch && secret)
		load_error(l, y->place, "wrong-clause",
			   "'secret' is for webhooks: what goes to OpenSearch is not signed");
}

static void read_send(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;
	size_t before = findings_errors(l->f);

	p->effect = EFFECT_SEND;
	load_words(l, y, "'send'", send_words, p, NULL);
	if (y->kind == YAML_MAP && findings_errors(l->f) == before)
		check_send(l, y);
	if (p->send_url.n && !slice_starts(p->send_url, SLICE("https://")) &&
	    !slice_starts(p->send_url, SLICE("http://")))
		load_error(l, y->place, "wrong-value", "an address begins with http:// or https://");
}

static void read_remove_all(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->effect = EFFECT_REMOVE_ALL;
	if (load_is_scalar(l, y, "a pattern and its parameters: comments of post(post_id = post_id)"))
		(void)!load_pattern_call(l, load_whole(y), scope_of(l, p), &p->target, &p->with, &p->with_count);
}

/* ---- the rest ---- */
static void read_when(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->when = load_term(l, y, scope_of(l, p));
}

static void read_let(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	p->let_count = load_assignments(l, y, scope_of(l, p), SLICE(""), &p->let);
}

static void read_with(struct load *l, void *into, const struct yaml *y)
{
	struct processor *p = into;

	if (p->effect == EFFECT_REMOVE_ALL)
		load_error(l, y->place, "wrong-clause", "the parameters stand with the pattern: comments(id = post_id)");
	else
		p->with_count = load_assignments(l, y, scope_of(l, p), p->target, &p->with);
}

static void read_accept(struct load *l, void *into, const struct yaml *y)
{
	load_accept(l, &((struct processor *)into)->accepts, y);
}

/* Later ones use what earlier ones name. */
static const struct load_word words[] = {
	{ "on", read_on },
	{ "let", read_let },
	{ "each", read_each },
	{ "when", read_when },
	{ "put", read_put },
	{ "update", read_update },
	{ "delete", read_delete },
	{ "count", read_count },
	{ "send", read_send },
	{ "remove all", read_remove_all },
	{ "with", read_with },
	{ "accept", read_accept },
	{ 0 },
};

static bool is_effect(struct slice name)
{
	static const char *const effects[] = { "put", "update", "delete", "count", "send", "remove all" };

	for (size_t i = 0; i < 6; i++)
		if (slice_is(name, effects[i]))
			return true;
	return false;
}

static void check_effects(struct load *l, const struct processor *p, const struct yaml *y)
{
	size_t effects = 0;

	for (size_t i = 0; i < y->count; i++)
		if (is_effect(y->entries[i].key.text) && ++effects == 2)
			load_error(l, y->entries[i].key.place, "wrong-clause",
				   "a processor has one of 'put', 'update', 'delete', 'count', "
				   "'send' and 'remove all'");
	if (p->effect == EFFECT_SEND && effects && (p->each_variable.n || p->with_count))
		load_error(l, p->place, "wrong-clause",
			   "what is sent is the change: 'each' and 'with' do not go with 'send'");
	if (!effects)
		load_error(l, p->place, "missing-word",
			   "a processor does something: 'put', 'update', 'delete', 'count', 'send' "
			   "or 'remove all'");
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
		size_t before = findings_errors(l->f);

		list[i].name = entries[i].key.text;
		list[i].place = entries[i].key.place;
		l->subject = arena_printf(l->a, "processor %.*s", SLICE_ARG(list[i].name));
		load_words(l, &entries[i].value, "a processor", words, &list[i], NULL);
		if (entries[i].value.kind == YAML_MAP && findings_errors(l->f) == before)
			check_effects(l, &list[i], &entries[i].value);
	}
	d->processors = list;
	d->processor_count = count;
	l->subject = SLICE("");
}
