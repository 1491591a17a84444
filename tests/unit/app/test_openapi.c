/* The OpenAPI document: of the shipped designs, and of one with awkward names.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app_fixture.h"
#include "base/map.h"

static const char *const systems[] = { "blog",     "fus",           "perfectit",         "social",
				       "wavyblog", "examples/saas", "examples/code-host" };

static const struct json *document(struct app_fixture *f)
{
	const struct json *j;
	struct buf b;

	buf_init(&b, &f->arena);
	design_openapi(f->app.design, &f->arena, SLICE("/api/test"), &b);
	j = json_parse(&f->arena, buf_slice(&b));
	if (!j)
		fail_msg("no JSON: %.*s", SLICE_ARG(buf_slice(&b)));
	return j;
}

static const struct json *document_of_file(struct app_fixture *f, const char *name)
{
	struct source s;
	struct findings findings;
	char path[512];

	memset(f, 0, sizeof(*f));
	arena_init(&f->arena);
	snprintf(path, sizeof(path), "%s/designs/%s.yaml", THORPE_ROOT, name);
	findings_init(&findings, &f->arena);
	f->design = design_load_file(&f->arena, path, &s, &findings);
	assert_non_null(f->design);
	f->app.design = f->design;
	return document(f);
}

static const struct json *document_of_text(struct app_fixture *f, const char *yaml)
{
	memset(f, 0, sizeof(*f));
	arena_init(&f->arena);
	f->design = app_fixture_design(&f->arena, arena_printf(&f->arena, "%s%s", APP_FIXTURE_HEAD, yaml),
				       SLICE("test.yaml"));
	f->app.design = f->design;
	return document(f);
}

/* a.b.c, or NULL; names with dots and slashes are given one by one. */
static const struct json *at(const struct json *j, const char *path)
{
	while (j && *path) {
		const char *dot = strchrnul(path, '.');

		j = json_get_slice(j, slice_make(path, (size_t)(dot - path)));
		path = *dot ? dot + 1 : dot;
	}
	return j;
}

static const struct json *operation(const struct json *doc, const char *path, const char *method)
{
	return json_get(json_get(json_get(doc, "paths"), path), method);
}

static bool lists(const struct json *array, const char *text)
{
	for (size_t i = 0; json_is(array, JSON_ARRAY) && i < array->count; i++)
		if (json_is(&array->items[i], JSON_STRING) && slice_is(array->items[i].string, text))
			return true;
	return false;
}

/* ---- what must hold of any document ---- */
static void check_refs(const struct json *doc, const struct json *j)
{
	for (size_t i = 0; j->type == JSON_ARRAY && i < j->count; i++)
		check_refs(doc, &j->items[i]);
	for (size_t i = 0; j->type == JSON_OBJECT && i < j->count; i++) {
		const struct json_member *m = &j->members[i];
		const struct json *to = doc;
		struct slice rest = m->value.string;

		check_refs(doc, &m->value);
		if (!slice_is(m->name, "$ref"))
			continue;
		assert_true(slice_starts(rest, SLICE("#/")));
		for (size_t from = 2, k = 2; k <= rest.n; k++)
			if (k == rest.n || rest.p[k] == '/') {
				to = json_get_slice(to, slice_make(rest.p + from, k - from));
				from = k + 1;
			}
		if (!to)
			fail_msg("%.*s leads nowhere", SLICE_ARG(rest));
	}
}

static void check_no_name_twice(const struct json *j)
{
	for (size_t i = 0; j->type == JSON_ARRAY && i < j->count; i++)
		check_no_name_twice(&j->items[i]);
	for (size_t i = 0; j->type == JSON_OBJECT && i < j->count; i++) {
		check_no_name_twice(&j->members[i].value);
		if (json_get_slice(j, j->members[i].name) != &j->members[i].value)
			fail_msg("%.*s stands there twice", SLICE_ARG(j->members[i].name));
	}
}

/* Each {name} of the path is declared, and nothing else. */
static void check_parameters(struct slice path, const struct json *item)
{
	const struct json *declared = json_get(item, "parameters");
	size_t n = 0;

	for (size_t i = 0; i < path.n; i++) {
		const struct json *p;
		size_t end = i;

		if (path.p[i] != '{')
			continue;
		while (path.p[end] != '}')
			end++;
		assert_true(json_is(declared, JSON_ARRAY) && n < declared->count);
		p = &declared->items[n++];
		assert_true(slice_equal(json_get(p, "name")->string, slice_make(path.p + i + 1, end - i - 1)));
		assert_true(slice_is(json_get(p, "in")->string, "path"));
		assert_true(json_get(p, "required")->boolean);
		assert_non_null(json_get(p, "schema"));
	}
	assert_int_equal(n, declared ? declared->count : 0);
}

static void check_operation(struct map *ids, const struct json *op)
{
	const struct json *id = json_get(op, "operationId"), *responses = json_get(op, "responses");

	assert_true(json_is(id, JSON_STRING) && id->string.n);
	for (size_t i = 0; i < id->string.n; i++) {
		char c = id->string.p[i];

		assert_true((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (i && c >= '0' && c <= '9'));
	}
	if (map_set(ids, id->string, ids))
		fail_msg("two operations are called %.*s", SLICE_ARG(id->string));
	assert_true(json_is(json_get(op, "summary"), JSON_STRING));
	assert_true(json_is(json_get(op, "tags"), JSON_ARRAY));
	assert_true(json_is(responses, JSON_OBJECT) && responses->count > 1);
}

/* Paths that differ in names alone would be one. */
static void check_shape(struct arena *a, struct map *shapes, struct slice path)
{
	bool inside = false;
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < path.n; i++) {
		inside = path.p[i] == '{' || (inside && path.p[i] != '}');
		if (!inside)
			buf_byte(&b, (uint8_t)path.p[i]);
	}
	if (map_set(shapes, buf_slice(&b), shapes))
		fail_msg("%.*s is there under another name", SLICE_ARG(path));
}

static void check_document(struct app_fixture *f, const struct json *doc)
{
	const struct json *paths = json_get(doc, "paths");
	struct map ids, shapes;

	map_init(&ids, &f->arena);
	map_init(&shapes, &f->arena);
	assert_true(slice_is(json_get(doc, "openapi")->string, "3.1.0"));
	check_refs(doc, doc);
	check_no_name_twice(doc);
	assert_true(json_is(paths, JSON_OBJECT) && paths->count > 3);
	for (size_t i = 0; i < paths->count; i++) {
		const struct json_member *m = &paths->members[i];

		assert_true(m->name.p[0] == '/');
		check_shape(&f->arena, &shapes, m->name);
		check_parameters(m->name, &m->value);
		for (size_t k = 0; k < m->value.count; k++)
			if (!slice_is(m->value.members[k].name, "parameters"))
				check_operation(&ids, &m->value.members[k].value);
	}
}

static void test_documents_of_the_designs_are_whole(void **state)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		struct app_fixture f;

		check_document(&f, document_of_file(&f, systems[i]));
		arena_release(&f.arena);
	}
}

/* Every pattern with a path that nothing internal has, and what anybody may do. */
static void test_every_access_pattern_has_its_operation(void **state)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		struct app_fixture f;
		const struct json *paths = json_get(document_of_file(&f, systems[i]), "paths");
		size_t told = 0, asked = 0;

		for (size_t k = 0; k < f.design->access_count; k++)
			asked += f.design->accesses[k].path.n > 0;
		for (size_t k = 0; k < paths->count; k++) {
			const struct json *get = json_get(&paths->members[k].value, "get");
			const struct json *id = get ? json_get(get, "operationId") : NULL;

			/* entities' own: get<Entity>, with an ETag always; service: tagged so */
			if (id && !lists(json_get(get, "tags"), "service") &&
			    !(slice_starts(id->string, SLICE("get")) &&
			      design_entity(f.design, slice_make(id->string.p + 3, id->string.n - 3))))
				told++;
		}
		assert_int_equal(told, asked);
		arena_release(&f.arena);
	}
}

static const char awkward[] =
	"callers: {roles: [user, admin]}\n"
	"entities:\n"
	"  Problem:\n"
	"    path: /problems/<a>\n"
	"    attributes:\n"
	"      a: string 1..40, id\n"
	"      size: small | large, required\n"
	"      weight: number 0.5..10\n"
	"      note: string ..80, default null\n"
	"      tags: set of string 0..5\n"
	"      hash: string, hidden\n"
	"      votes: counter\n"
	"      made: timestamp, now\n"
	"    keys: {PK: P#<a>, SK: P, kind: PROBLEM, GSI1PK: A, GSI1SK: <a>}\n"
	"    allow: {create: caller is user, read: anyone, update: caller is admin or a = caller}\n"
	"    login: {by: [a], password: hash, subject: a}\n"
	"    actions:\n"
	"      mark-done: {set: {weight: 1}, input: [note]}\n"
	"  Part:\n"
	"    path: /problems/<problem>/parts/<b>\n"
	"    attributes: {problem: 'string, required', b: 'string, required', until: epoch}\n"
	"    keys: {PK: P#<problem>, SK: Q#<b>, GSI2PK: <b>, GSI2SK: <problem>, expires_at: <until>}\n"
	"    allow: {create: anyone, read: anyone}\n"
	"  Secret:\n"
	"    internal: true\n"
	"    path: /problems/<a>/secret\n"
	"    attributes: {a: string}\n"
	"    keys: {PK: P#<a>, SK: S}\n"
	"    allow: {read: anyone, create: anyone}\n"
	"access:\n"
	"  all things:\n"
	"    is: [X-1, X-2]\n"
	"    path: /problems\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: A}\n"
	"  all, things:\n"
	"    path: /all\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: A, GSI1SK: begins with <start>}\n"
	"    with: {start: string}\n"
	"    allow: caller is user\n"
	"  parts:\n"
	"    path: /problems/<id>/parts\n"
	"    query: table\n"
	"    where: {PK: P#<id>, SK: begins with Q#}\n"
	"    count: true\n"
	"  some:\n"
	"    path: /some\n"
	"    batch: Problem(id)\n";

static void test_similar_names_stay_distinct(void **state)
{
	struct app_fixture f;
	const struct json *doc = document_of_text(&f, awkward);
	const struct json *post = operation(doc, "/problems/{problem}/parts", "post");

	check_document(&f, doc);
	assert_non_null(at(doc, "components.schemas.Problem.properties.weight"));
	assert_non_null(at(doc, "components.schemas.Problem_.properties.title"));
	assert_true(slice_is(at(operation(doc, "/problems", "get"), "operationId")->string, "listAllThings"));
	assert_true(slice_is(at(operation(doc, "/all", "get"), "operationId")->string, "listAllThings2"));
	assert_true(slice_is(at(operation(doc, "/problems/{a}/mark-done", "post"), "operationId")->string,
			     "markDoneProblem"));
	assert_non_null(post);
	assert_non_null(operation(doc, "/problems/{problem}/parts", "get")); /* <id> under the other's name */
	arena_release(&f.arena);
}

static void test_schemas_say_what_the_design_says(void **state)
{
	struct app_fixture f;
	const struct json *schemas = at(document_of_text(&f, awkward), "components.schemas");
	const struct json *item = json_get(schemas, "Problem"), *create = json_get(schemas, "ProblemCreate");

	assert_true(lists(at(create, "required"), "size"));
	assert_true(lists(at(create, "required"), "password"));
	assert_int_equal(at(create, "required")->count, 2);
	assert_true(lists(at(create, "properties.size.enum"), "large"));
	assert_true(at(create, "properties.weight.minimum")->number == 0.5);
	assert_int_equal(at(create, "properties.note.maxLength")->integer, 80);
	assert_true(lists(at(create, "properties.note.type"), "null"));
	assert_true(at(create, "properties.tags.uniqueItems")->boolean);
	assert_true(at(create, "properties.password.writeOnly")->boolean);
	assert_null(at(create, "properties.votes"));
	assert_null(at(create, "properties.hash"));
	assert_null(at(item, "properties.hash"));
	assert_null(at(item, "properties.password"));
	assert_null(at(item, "properties.PK"));
	assert_true(at(item, "properties.votes.readOnly")->boolean);
	assert_true(at(item, "properties.kind.readOnly")->boolean);
	assert_true(slice_is(at(item, "properties.made.format")->string, "date-time"));
	assert_true(lists(at(item, "required"), "a"));
	assert_true(lists(at(schemas, "ProblemUpdate.properties.weight.type"), "null"));
	assert_null(at(schemas, "ProblemUpdate.properties.a"));
	/* in the address of POST /problems/{problem}/parts, b is not */
	assert_true(lists(at(schemas, "PartCreate.required"), "b"));
	assert_false(lists(at(schemas, "PartCreate.required"), "problem"));
	assert_null(at(schemas, "PartPut.required"));
	arena_release(&f.arena);
}

static void test_only_permitted_operations_are_listed(void **state)
{
	struct app_fixture f;
	const struct json *doc = document_of_text(&f, awkward);

	assert_non_null(operation(doc, "/problems/{a}", "get"));
	assert_non_null(operation(doc, "/problems/{a}", "patch"));
	assert_null(operation(doc, "/problems/{a}", "delete"));
	assert_null(operation(doc, "/problems/{problem}/parts/{b}", "patch"));
	assert_null(json_get(json_get(doc, "paths"), "/problems/{a}/secret"));
	assert_true(at(operation(doc, "/call", "post"), "x-operators-only")->boolean);
	arena_release(&f.arena);
}

static void test_operations_state_their_permissions_and_pattern(void **state)
{
	struct app_fixture f;
	const struct json *doc = document_of_text(&f, awkward);
	const struct json *list = operation(doc, "/problems", "get"), *all = operation(doc, "/all", "get");

	assert_int_equal(at(operation(doc, "/problems", "post"), "security")->count, 1);
	assert_int_equal(at(operation(doc, "/problems/{a}", "get"), "security")->count, 2); /* or none */
	assert_int_equal(at(operation(doc, "/problems/{a}", "patch"), "security")->count, 1);
	assert_true(lists(at(list, "x-patterns"), "X-2"));
	assert_non_null(memmem(at(list, "description")->string.p, at(list, "description")->string.n, "X-1, X-2", 8));
	assert_int_equal(at(list, "parameters")->count, 3); /* limit, after, If-None-Match */
	assert_int_equal(at(all, "parameters")->count, 4);
	assert_true(json_get(&at(all, "parameters")->items[0], "required")->boolean);
	assert_int_equal(at(operation(doc, "/problems/{problem}/parts", "get"), "parameters")->count,
			 1); /* a count has no pages */
	assert_true(
		slice_is(json_get(&at(operation(doc, "/some", "get"), "parameters")->items[0], "name")->string, "id"));
	arena_release(&f.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents_of_the_designs_are_whole),
		cmocka_unit_test(test_every_access_pattern_has_its_operation),
		cmocka_unit_test(test_similar_names_stay_distinct),
		cmocka_unit_test(test_schemas_say_what_the_design_says),
		cmocka_unit_test(test_only_permitted_operations_are_listed),
		cmocka_unit_test(test_operations_state_their_permissions_and_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
