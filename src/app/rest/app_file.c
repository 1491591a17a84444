/* Asking for an upload: who may, and the answer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity.h"
#include "app/entity/input.h"
#include "app/file/file.h"
#include "app/rest/app_exchange.h"
#include "base/timestamp.h"
#include "json/json.h"

/* ---- the body ---- */
static bool is_type_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("!#$&^_.+-", c));
}

/* image/png */
static bool is_media_type(struct slice s)
{
	size_t slashes = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '/' && i && i + 1 < s.n)
			slashes++;
		else if (!is_type_char(s.p[i]))
			return false;
	}
	return slashes == 1 && s.n <= FILE_TYPE_MOST;
}

static struct slice lower(struct arena *a, struct slice s)
{
	struct slice copy = arena_copy(a, s);

	for (size_t i = 0; i < copy.n; i++)
		if (copy.p[i] >= 'A' && copy.p[i] <= 'Z')
			((char *)copy.p)[i] |= 0x20;
	return copy;
}

static bool is_file_name(struct slice s)
{
	size_t characters = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < ' ' || c == 0x7f || c == '/' || c == '\\')
			return false;
		characters += (c & 0xc0) != 0x80;
	}
	return characters <= FILE_NAME_MOST;
}

static bool read_ask(struct app_exchange *x, struct file_ask *q)
{
	static const struct slice known[] = { { "type", 4 }, { "size", 4 }, { "name", 4 } };
	struct run *r = &x->run;
	const struct json *type = json_get(x->body, "type"), *size = json_get(x->body, "size"),
			  *name = json_get(x->body, "name");
	bool good = true;

	for (size_t i = 0; i < x->body->count; i++)
		if (!slice_among(known, 3, x->body->members[i].name))
			good = run_invalid(r, x->body->members[i].name, "type, size or name");
	if (!type || type->type != JSON_STRING)
		return run_invalid(r, SLICE("type"), "a media type, as image/png");
	q->type = lower(r->arena, type->string);
	if (!is_media_type(q->type))
		good = run_invalid(r, SLICE("type"), "a media type, as image/png");
	if (!size || size->type != JSON_INT || size->integer < 1)
		good = run_invalid(r, SLICE("size"), "the number of its bytes");
	else
		q->size = size->integer;
	if (name && name->type != JSON_NULL && (name->type != JSON_STRING || !is_file_name(name->string)))
		good = run_invalid(r, SLICE("name"), "the name of a file, without a path");
	else if (name && name->type == JSON_STRING)
		q->name = name->string;
	return good;
}

/* ---- who may ---- */
static bool log_in(struct app_exchange *x)
{
	return run_fail(&x->run, PROBLEM_UNAUTHENTICATED, "log in to do this");
}

/* Whether the item may come to be is known when it is created: here, whether the caller may create any. */
static bool may_create(struct app_exchange *x)
{
	struct run *r = &x->run;
	const struct entity *e = x->match.route->entity;
	struct row empty;
	bool may = false;

	if (r->caller.operator_)
		return true;
	if (e->allow[ALLOW_CREATE] && !r->caller.subject.n) {
		row_init(&empty, r->arena, e);
		if (!entity_allows_row(r, e, ALLOW_CREATE, &empty, NULL, &may))
			return false;
		return may || log_in(x);
	}
	if (e->allow[ALLOW_CREATE])
		return true;
	return run_fail(r, PROBLEM_FORBIDDEN, "you may not create this %.*s", SLICE_ARG(e->name));
}

/* By an update, or by an action that takes the attribute. */
static bool may_change(struct app_exchange *x, const struct row *item, bool *may)
{
	struct run *r = &x->run;
	const struct entity *e = x->match.route->entity;
	const struct attribute *a = x->match.route->file;

	*may = r->caller.operator_;
	if (!*may && !input_is_kept(a) && !entity_allows_row(r, e, ALLOW_UPDATE, item, item, may))
		return false;
	for (size_t i = 0; !*may && i < e->action_count; i++) {
		const struct action *t = &e->actions[i];
		struct scope s = { .run = r, .item = item };

		if (!names_among(t->input_at, t->input_count, a->at))
			continue;
		if (t->allow ? !scope_holds(&s, t->allow, may) : !entity_allows_row(r, e, ALLOW_UPDATE, item, item, may))
			return false;
	}
	return true;
}

static bool refuse_change(struct app_exchange *x, const struct row *item)
{
	bool readable;

	if (!entity_allows_row(&x->run, item->entity, ALLOW_READ, item, NULL, &readable))
		return false;
	if (readable && !x->run.caller.subject.n)
		return log_in(x);
	return readable ? run_fail(&x->run, PROBLEM_FORBIDDEN, "you may not change this %.*s",
				   SLICE_ARG(item->entity->name))
			: run_fail(&x->run, PROBLEM_NOT_FOUND, "there is no such %.*s", SLICE_ARG(item->entity->name));
}

static bool may_ask(struct app_exchange *x)
{
	struct run *r = &x->run;
	const struct route *route = x->match.route;
	struct value *args = arena_array(r->arena, struct value, x->match.count + 1);
	struct row item;
	bool may;

	if (route->kind == ROUTE_FILE_NEW)
		return may_create(x);
	for (size_t i = 0; i < x->match.count; i++)
		if (!path_value_of_item(x, i, &args[i]))
			return false;
	if (!entity_fetch(r, route->entity, args, x->match.count, true, &item))
		return false;
	if (!item.entity) /* PUT may create it there */
		return may_create(x);
	if (route->file->fixed && value_present(row_get(&item, route->file->at)))
		return run_invalid(r, route->file->name, "cannot change");
	return may_change(x, &item, &may) && (may || run_explores(r) || refuse_change(x, &item));
}

/* ---- the answer ---- */
bool handle_file(struct app_exchange *x)
{
	struct file_ask q = { .entity = x->match.route->entity, .attribute = x->match.route->file };
	struct file_slot slot;
	char text[TIME_TEXT_MAX];
	struct buf b;

	if (!may_ask(x) || !read_ask(x, &q) || !file_open_slot(&x->run, &q, &slot))
		return false;
	buf_init(&b, x->run.arena);
	json_open(&b, '{');
	json_member_string(&b, "file", slot.id);
	json_member_open(&b, "upload", '{');
	json_member_word(&b, "method", "PUT");
	json_member_string(&b, "url", slot.url);
	json_member_open(&b, "headers", '{');
	json_member_string(&b, "Content-Type", q.type);
	json_member_word(&b, "If-None-Match", "*");
	json_close(&b, '}');
	json_close(&b, '}');
	json_member_string(&b, "expires", time_format(slot.until_ms, text));
	json_close(&b, '}');
	answer_buf(x, 201, &b);
	x->answer.cache = SLICE("no-store");
	return true;
}
