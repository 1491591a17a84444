/* The console's document of a design: a small one in full detail, and the five that ship with Thorpe as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console_json.h"
#include "app_fixture.h"
#include "console/design_doc.h"

static const char yaml[] = "design: small\n"
			   "title: A small one\n"
			   "table: Small\n"
			   "key: [PK, SK]\n"
			   "indexes:\n"
			   "  GSI1:\n"
			   "    key: [GSI1PK, GSI1SK]\n"
			   "    projection: [title]\n"
			   "    accept: {index-without-pattern: kept for later}\n"
			   "stream: new and old images\n"
			   "ttl: expires_at\n"
			   "callers: {roles: [user, admin]}\n"
			   "entities:\n"
			   "  User:\n"
			   "    path: /users/<user_id>\n"
			   "    attributes:\n"
			   "      user_id: string 1..40, id, fixed\n"
			   "      email: string, required, lower, unique\n"
			   "      posts: counter\n"
			   "      changed: timestamp, touched\n"
			   "    keys: {PK: 'USER#<user_id>', SK: PROFILE}\n"
			   "    companions:\n"
			   "      - {unique: email, PK: 'EMAIL#<email>', SK: EMAIL, user_id: <user_id>}\n"
			   "    allow: {create, read: anyone, update: user_id = caller}\n"
			   "    actions:\n"
			   "      promote: {when: posts > 10, input: [email]}\n"
			   "    login: {by: [email], secret: {PK: 'USER#<user_id>', SK: AUTH}, subject: user_id}\n"
			   "  Post:\n"
			   "    path: /posts/<post_id>\n"
			   "    attributes:\n"
			   "      post_id: string, id, fixed\n"
			   "      author: string, the caller, fixed\n"
			   "      author_email: copy of User(author).email\n"
			   "      title: string, required\n"
			   "      status: draft | published, default draft\n"
			   "      rank: integer, default 0\n"
			   "      score: = rank * 2 + 1\n"
			   "      tags: list of string 0..5\n"
			   "      created: timestamp, now\n"
			   "      expires_at: epoch, 7 days after created\n"
			   "      is_gone: boolean, default false, managed\n"
			   "    keys: {PK: 'POST#<post_id>', SK: POST}\n"
			   "    keys when status = 'published':\n"
			   "      GSI1PK: USER#<author>\n"
			   "      GSI1SK: '<rank:06>#<created:date>'\n"
			   "    companions:\n"
			   "      - {for: tag in tags, PK: 'POST#<post_id>', SK: 'TAG#<tag:slug>'}\n"
			   "    counts: [User(author).posts when status = 'published']\n"
			   "    allow: {read: anyone, create: caller is user}\n"
			   "    delete: {set: {is_gone: true}}\n"
			   "access:\n"
			   "  posts of user:\n"
			   "    is: T-01\n"
			   "    path: /users/<user_id>/posts\n"
			   "    query: GSI1\n"
			   "    where: {GSI1PK: 'USER#<user_id>'}\n"
			   "    order: newest first\n"
			   "  some posts: {path: /some, batch: Post(id)}\n"
			   "processors:\n"
			   "  tell: {on: Post created, when: status = 'published', count: User(author).posts by 1}\n";

static struct arena arena;
static const struct json *doc;

static int setup(void **state)
{
	const struct design *d;

	(void)state;
	arena_init(&arena);
	d = app_fixture_design(&arena, slice_str(yaml), SLICE("some/where/small.yaml"));
	doc = json_parse(&arena, design_document(&arena, d));
	assert_non_null(doc);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

#define SAYS(path, expected) json_says(&arena, doc, path, expected)

static void the_document_has_the_table_and_its_file(void **state)
{
	(void)state;
	SAYS("name", "\"small\"");
	SAYS("table", "\"Small\"");
	SAYS("file", "\"small.yaml\""); /* the folder is nobody's business */
	assert_true(slice_is(json_at(doc, "source")->string, yaml));
	SAYS("key", "{\"hash\":\"PK\",\"range\":\"SK\"}");
	SAYS("indexes", "[{\"name\":\"GSI1\",\"line\":6,"
			"\"hash\":\"GSI1PK\",\"range\":\"GSI1SK\",\"projection\":\"INCLUDE\",\"include\":[\"title\"]}]");
	SAYS("ttl", "\"expires_at\"");
	SAYS("stream", "\"NEW_AND_OLD_IMAGES\"");
	SAYS("roles", "[\"user\",\"admin\"]");
}

static void keys_are_given_in_pieces_with_their_conditions(void **state)
{
	(void)state;
	SAYS("entities[User].keys[PK]", "{\"attribute\":\"PK\",\"template\":\"USER#<user_id>\","
					"\"parts\":[{\"text\":\"USER#\"},{\"name\":\"user_id\"}],\"line\":21}");
	SAYS("entities[Post].keys[GSI1SK].parts",
	     "[{\"name\":\"rank\",\"format\":\"06\"},{\"text\":\"#\"},{\"name\":\"created\",\"format\":\"date\"}]");
	SAYS("entities[Post].keys[GSI1SK].when", "\"status = 'published'\"");
	assert_null(json_at(doc, "entities[Post].keys[PK].when"));
	SAYS("entities[Post].path_parts", "[{\"text\":\"/posts/\"},{\"name\":\"post_id\"}]");
	SAYS("entities[Post].params", "[\"post_id\"]");
}

static void attributes_have_their_flags(void **state)
{
	(void)state;
	SAYS("entities[User].attributes[user_id]",
	     "{\"name\":\"user_id\",\"type\":\"string\",\"flags\":[\"id\",\"fixed\",\"1..40\"],\"line\":17}");
	SAYS("entities[User].attributes[email].flags", "[\"required\",\"unique\",\"lower\"]");
	SAYS("entities[Post].attributes[status].choices", "[\"draft\",\"published\"]");
	SAYS("entities[Post].attributes[status].flags", "[\"default 'draft'\"]");
	SAYS("entities[Post].attributes[tags].type", "\"list of string\"");
	SAYS("entities[Post].attributes[score].from", "\"= rank * 2 + 1\"");
	SAYS("entities[Post].attributes[author_email].from", "\"copy of User(author).email\"");
	SAYS("entities[Post].attributes[expires_at].from", "\"7 days after created\"");
	SAYS("entities[User].version", "\"changed\"");
	SAYS("entities[Post].version", "null");
}

static void companions_say_whose_and_how_many(void **state)
{
	(void)state;
	SAYS("entities[User].companions[unique email].unique", "\"email\"");
	SAYS("entities[User].companions[unique email].keys[user_id].template", "\"<user_id>\"");
	SAYS("entities[User].companions[credentials].keys[SK].template", "\"AUTH\"");
	SAYS("entities[Post].companions[each tag].each", "\"tag in tags\"");
	SAYS("entities[Post].companions[each tag].keys[SK].parts",
	     "[{\"text\":\"TAG#\"},{\"name\":\"tag\",\"format\":\"slug\"}]");
}

/* Post says so three times: by a copy, by a count and by its key. */
static void a_reference_to_another_item_is_listed_once(void **state)
{
	(void)state;
	SAYS("entities[Post].references", "[{\"entity\":\"User\",\"args\":[\"author\"]}]");
	SAYS("entities[User].references", "[]");
}

static void rules_are_in_the_words_of_the_design(void **state)
{
	(void)state;
	SAYS("entities[Post].counts", "[\"User(author).posts when status = 'published'\"]");
	SAYS("entities[Post].deletes", "\"sets is_gone to true\"");
	SAYS("entities[User].deletes", "\"deletes the item\"");
	SAYS("entities[User].allow", "{\"create\":\"anyone\",\"read\":\"anyone\",\"update\":\"user_id = caller\"}");
	SAYS("entities[User].actions[promote]",
	     "{\"name\":\"promote\",\"input\":[\"email\"],\"removes_at\":[],\"when\":\"posts > 10\",\"line\":26}");
	SAYS("entities[User].routes[0].method", "\"POST\"");
	SAYS("entities[User].routes[0].path", "\"/users\"");
	SAYS("entities[User].routes[4].path", "\"/users/<user_id>/promote\"");
}

static void access_patterns_say_what_they_ask_for(void **state)
{
	(void)state;
	SAYS("access[posts of user].ids", "[\"T-01\"]");
	SAYS("access[posts of user].kind", "\"query\"");
	SAYS("access[posts of user].index", "\"GSI1\"");
	SAYS("access[posts of user].entity", "\"Post\""); /* worked out from the keys */
	SAYS("access[posts of user].params",
	     "[{\"name\":\"user_id\",\"in\":\"path\",\"type\":\"string\",\"required\":true}]");
	SAYS("access[posts of user].list", "true");
	SAYS("access[some posts].params",
	     "[{\"name\":\"id\",\"in\":\"query\",\"type\":\"list of string\",\"required\":true}]");
	SAYS("access[some posts].list", "false");
}

static void processors_say_what_they_do(void **state)
{
	(void)state;
	SAYS("processors[tell].events", "[\"created\"]");
	SAYS("processors[tell].does", "\"counts on User(author).posts\"");
}

/* ---- findings ---- */

static void findings_name_their_subject(void **state)
{
	const struct json *all = json_at(doc, "findings");

	(void)state;
	assert_true(all->count > 0);
	for (uint32_t i = 0; i < all->count; i++) {
		const struct json *subject = json_at(&all->items[i], "subject");

		assert_true(json_at(&all->items[i], "line")->integer > 0);
		if (subject->type == JSON_STRING) /* a name, not "entity Post" */
			assert_false(slice_starts(subject->string, SLICE("entity ")) ||
				     slice_starts(subject->string, SLICE("access ")));
	}
}

/* The document has every accepted finding of `thorpe check` with its reason, and no other. */
static void accepted_findings_have_their_reason(void **state)
{
	const char *path = THORPE_ROOT "/designs/social.yaml";
	struct findings load, shown, all;
	const struct design *d;
	struct source source;
	size_t accepted = 0;

	(void)state;
	findings_init(&load, &arena);
	findings_init(&shown, &arena);
	findings_init(&all, &arena);
	d = design_load_file(&arena, path, &source, &load);
	assert_non_null(d);
	design_check(d, &shown);
	design_check_all(d, &all);
	for (size_t i = 0; i < shown.count; i++)
		assert_int_equal(shown.list[i].accepted.n, 0);
	for (size_t i = 0; i < all.count; i++)
		accepted += all.list[i].accepted.n > 0;
	assert_true(accepted > 0);
	assert_int_equal(shown.count + accepted, all.count);
}

/* ---- the designs that ship ---- */

static void no_reference_leads_nowhere(const struct json *design)
{
	const struct json *entities = json_at(design, "entities");

	for (uint32_t i = 0; i < entities->count; i++) {
		const struct json *references = json_at(&entities->items[i], "references");

		for (uint32_t k = 0; k < references->count; k++) {
			const struct json *to = json_in(entities, json_at(&references->items[k], "entity")->string);

			assert_non_null(to);
			assert_int_equal(json_at(to, "params")->count, json_at(&references->items[k], "args")->count);
		}
	}
}

static void every_shipped_design_has_its_document(void **state)
{
	static const char *const names[] = { "blog",     "fus",           "perfectit",         "social",
					     "wavyblog", "examples/saas", "examples/code-host" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = arena_cstr(&arena, arena_printf(&arena, THORPE_ROOT "/designs/%s.yaml", names[i]));
		struct findings findings;
		const struct design *d;
		struct source source;
		size_t bound;

		findings_init(&findings, &arena);
		d = design_load_file(&arena, path, &source, &findings);
		assert_non_null(d);
		doc = json_parse(&arena, design_document(&arena, d));
		assert_non_null(doc);
		assert_int_equal(json_at(doc, "entities")->count, d->entity_count);
		/* A pattern with bound parameters is the same one for people. */
		bound = 0;
		for (size_t k = 0; k < d->access_count; k++)
			bound += d->accesses[k].bound;
		assert_int_equal(json_at(doc, "access")->count, d->access_count - bound);
		assert_int_equal(json_at(doc, "processors")->count, d->processor_count);
		no_reference_leads_nowhere(doc);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_document_has_the_table_and_its_file),
		TEST(keys_are_given_in_pieces_with_their_conditions),
		TEST(attributes_have_their_flags),
		TEST(companions_say_whose_and_how_many),
		TEST(a_reference_to_another_item_is_listed_once),
		TEST(rules_are_in_the_words_of_the_design),
		TEST(access_patterns_say_what_they_ask_for),
		TEST(processors_say_what_they_do),
		TEST(findings_name_their_subject),
		TEST(accepted_findings_have_their_reason),
		TEST(every_shipped_design_has_its_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
