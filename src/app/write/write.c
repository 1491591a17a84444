/* Shared by all writes: retries, reading, refusals, If-Match, checks. SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>

#include "app/auth/caller.h"
#include "app/entity/output.h"
#include "app/entity/input.h"
#include "app/write/turn.h"
#include "app/write/write_plan.h"
#include "base/clock.h"
#include "base/timestamp.h"

#define TRIES_AT_ONCE    3
#define PAUSE_MOST_SHIFT 5   /* 2^5 ms */
#define TEXT_MOST        100 /* bytes of a value in a sentence */

/* ---- retries ---- */

/* Spreads concurrent retries in time, so that one of them succeeds. */
static void pause_before(int attempt)
{
	int shift = attempt - TRIES_AT_ONCE;
	uint32_t random = 0;

	if (shift < 0)
		return;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		random = UINT32_MAX / 2;
	if (shift > PAUSE_MOST_SHIFT)
		shift = PAUSE_MOST_SHIFT;
	clock_pause_us(random % (1000u << shift));
}

static enum plan_end try_once(struct write *w, write_once *once, struct write_result *out)
{
	struct witnesses *outer = w->run->witnesses; /* of the outer write, which must remove something first */
	enum plan_end end;

	w->match = MATCH_NONE;
	w->copy_count = w->take_count = 0;
	for (size_t i = 0; i < w->part_count; i++) /* their numbers were not taken after all */
		w->parts[i]->take_count = 0;
	w->looked_at.count = 0;
	for (size_t i = 0; i < w->claims.count; i++)
		w->claims.list[i].used = false;
	w->witnesses = (struct witnesses){ 0 };
	w->run->witnesses = &w->witnesses;
	end = once(w, out);
	w->run->witnesses = outer;
	return end;
}

static bool try_often(struct write *w, write_once *once, struct write_result *out)
{
	for (int i = 0; i < WRITE_TRIES; i++) {
		enum plan_end end;

		pause_before(i);
		if (i && !caller_stands(w->run)) /* the conflicting write may have ended the session */
			return false;
		*out = (struct write_result){ 0 };
		end = try_once(w, once, out);
		if (end != PLAN_AGAIN)
			return end == PLAN_DONE;
		/* Items read earlier are outdated. */
		w->run->memo = NULL;
		w->run->caller.permissions_known = false;
		w->run->problem = (struct problem){ 0 };
	}
	(void)run_fail(w->run, PROBLEM_BUSY, "others are changing the same thing; try again in a moment");
	w->run->problem.retry_after = 1;
	return false;
}

bool write_try(struct write *w, write_once *once, struct write_result *out)
{
	static const struct write_options none = { 0 };
	bool done;

	if (!w->options)
		w->options = &none;
	done = try_often(w, once, out);
	turn_give(w->turn);
	return done;
}

bool write_read(struct write *w, struct value *full)
{
	struct row item;

	/* Checked after reading: a write to the caller's own account uses the roles that the account has as read. */
	if (value_present(w->key))
		return entity_fetch_key(w->run, w->entity, w->key, true, full) && caller_stands(w->run);
	if (!entity_fetch(w->run, w->entity, w->args, w->arg_count, true, &item) || !caller_stands(w->run))
		return false;
	*full = item.full;
	if (run_explores(w->run) && value_present(*full))
		write_explore(w, *full);
	return true;
}

void write_explore(struct write *w, struct value full)
{
	bool readable;

	if (w->options->shown)
		(void)!entity_allows(w->run, w->entity, ALLOW_READ, full, VALUE_ABSENT, &readable);
}

/* ---- refusing ---- */

bool write_not_found(struct write *w)
{
	return run_fail(w->run, PROBLEM_NOT_FOUND, "there is no %.*s %.*s", SLICE_ARG(w->entity->name),
			SLICE_ARG(write_identity_text(w->run, w->args, w->arg_count)));
}

bool write_refuse(struct write *w, struct value full)
{
	struct run *r = w->run;
	bool readable;

	if (!entity_allows(r, w->entity, ALLOW_READ, full, VALUE_ABSENT, &readable))
		return false;
	if (readable && !r->caller.subject.n)
		return run_fail(r, PROBLEM_UNAUTHENTICATED, "log in to do this");
	return readable ? run_fail(r, PROBLEM_FORBIDDEN, "you may not change this %.*s", SLICE_ARG(w->entity->name))
			: write_not_found(w);
}

/* ---- If-Match ---- */

/* The next element of the list: a quoted tag, or a bare word. False: the list has ended. */
static bool next_tag(struct slice *list, struct slice *tag, bool *weak)
{
	const char *p = list->p, *end = list->p + list->n, *start;

	while (p < end && (*p == ' ' || *p == '\t' || *p == ','))
		p++;
	if (p == end)
		return false;
	*weak = end - p > 2 && p[0] == 'W' && p[1] == '/' && p[2] == '"';
	p += *weak ? 2 : 0;
	if (*p == '"') {
		start = ++p;
		while (p < end && *p != '"')
			p++;
		*tag = slice_make(start, (size_t)(p - start));
		p += p < end;
	} else {
		start = p;
		while (p < end && *p != ',' && *p != ' ' && *p != '\t')
			p++;
		*tag = slice_make(start, (size_t)(p - start));
	}
	*list = slice_make(p, (size_t)(end - p));
	return true;
}

bool write_if_match(struct write *w, struct value full)
{
	struct slice list = w->options->if_match, tag;
	struct value version;
	struct row item;
	bool weak;

	if (!list.n)
		return true;
	item = row_lay(w->run->arena, w->entity, full);
	version = w->entity->version_at ? row_get(&item, w->entity->version_at) : VALUE_ABSENT;
	while (next_tag(&list, &tag, &weak)) {
		if (slice_is(tag, "*"))
			w->match = MATCH_ANY;
		else if (!weak && is_there(version) && slice_equal(tag, run_text(w->run, version)))
			w->match = MATCH_VERSION;
		else if (!weak && slice_equal(tag, slice_unquoted(output_etag(w->run, &item))))
			w->match = MATCH_ETAG;
		if (w->match != MATCH_NONE)
			return true;
	}
	return run_fail(w->run, PROBLEM_CHANGED, "this %.*s has changed since you read it", SLICE_ARG(w->entity->name));
}

/* ---- terms ---- */

struct scope write_scope(struct write *w, const struct row *item, const struct row *before)
{
	return (struct scope){ .run = w->run, .item = item, .before = before, .input = w->input, .body = true };
}

void write_looks_at(struct write *w, const struct term *t)
{
	names_of_term(w->run->arena, &w->looked_at, w->entity, t);
}

/* What is written together with a new item may move its counters: their checks wait for that (plan_also()). */
static bool waits_for_counters(struct write *w, const struct check_rule *c, const struct row *before)
{
	bool comes_with = w->whole || (w->action && w->action->also_count);

	for (size_t i = 0; i < w->entity->also_count; i++)
		comes_with |= w->entity->also[i].events & ON_CREATED;
	return !before && c->of_counter && comes_with && !w->quiet;
}

bool write_checks(struct write *w, const struct row *item, const struct row *before)
{
	struct scope s = { .run = w->run, .item = item, .before = before };

	for (size_t i = 0; i < w->entity->check_count; i++) {
		const struct check_rule *c = &w->entity->checks[i];
		struct slice text = c->sentence;
		struct buf b;
		bool holds;

		if (waits_for_counters(w, c, before))
			continue;
		if (!scope_holds(&s, c->term, &holds))
			return false;
		if (holds)
			continue;
		if (!text.n) {
			buf_init(&b, w->run->arena);
			buf_lit(&b, "this must hold: ");
			term_print(&b, c->term);
			text = buf_slice(&b);
		}
		return run_fail(w->run, PROBLEM_INVALID, "%.*s", SLICE_ARG(text));
	}
	return write_tree(w, item, before);
}

/* ---- values ---- */

struct value write_now(struct run *r, const struct attribute *a)
{
	char text[TIME_TEXT_MAX];

	if (attribute_is_number(a))
		return value_make_i64(r->arena, r->now_ms / 1000);
	return value_make_s(r->arena, time_format_unit(r->now_ms, a->fine ? TIME_MILLISECOND : TIME_SECOND, text));
}

struct value write_last_writer(struct run *r, const struct attribute *a)
{
	struct slice subject = r->caller.subject;

	return subject.n ? write_fit(r, a, value_make_s(r->arena, subject)) : VALUE_ABSENT;
}

struct value write_fit(struct run *r, const struct attribute *a, struct value v)
{
	int64_t ms;

	if (!a || !value_present(v))
		return v;
	if (a->type == ATTR_EPOCH && value_type(v) == VALUE_S && time_parse(value_bytes(v), &ms))
		return value_make_i64(r->arena, ms / 1000);
	return input_normal(r, a, v);
}

struct slice write_identity_text(struct run *r, const struct value *args, size_t n)
{
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; args && i < n; i++) {
		if (b.n)
			buf_byte(&b, '/');
		buf_put(&b, slice_cut(run_text(r, args[i]), TEXT_MOST));
	}
	return buf_slice(&b);
}
