/* Every concept of the language becomes what design.h says. SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#define TABLE                     \
	"design: shop\n"          \
	"title: A shop\n"         \
	"table: ${TABLE:-Shop}\n" \
	"key: [PK, SK]\n"

#define THING                                   \
	"entities:\n"                           \
	"  Thing:\n"                            \
	"    path: /things/<id>\n"              \
	"    attributes:\n"                     \
	"      id: string, id\n"                \
	"      owner: string, the caller\n"     \
	"      state: NEW | OLD, default NEW\n" \
	"      n: number\n"                     \
	"      tags: list of string 0..30\n"    \
	"      count: counter\n"                \
	"      at: timestamp, now\n"            \
	"    keys: {PK: THING#<id>, SK: META}\n"

static void a_table_has_keys_indexes_and_settings(void **state)
{
	const struct design *d =
		load_well(TABLE "indexes:\n"
				"  GSI1: {key: [GSI1PK, GSI1SK]}\n"
				"  byStars: {key: [stars: number, site], projection: [note, at]}\n"
				"  byTag: {key: [tag, site], projection: keys only, accept: {hot: few, far}}\n"
				"  many: {key: {hash: [a, b: binary], range: [c, d]}}\n"
				"stream: new and old images\n"
				"ttl: expires\n"
				"billing: {read: 5, write: 7}\n"
				"accept: {some-rule: because}\n" THING);

	(void)state;
	SLICE_IS(d->name, "shop");
	SLICE_IS(d->title, "A shop");
	SLICE_IS(d->table, "Shop");
	assert_int_equal(d->table_place.line, 3);
	assert_int_equal(d->key.hash_count, 1);
	SLICE_IS(d->key.range[0].name, "SK");
	assert_int_equal(d->index_count, 4);
	assert_int_equal(d->indexes[1].key.hash[0].type, VALUE_N);
	assert_int_equal(d->indexes[1].projection, PROJECT_INCLUDE);
	SLICE_IS(d->indexes[1].include[1], "at");
	assert_int_equal(d->indexes[2].projection, PROJECT_KEYS_ONLY);
	SLICE_IS(d->indexes[2].accepts.list[0].reason, "few, far");
	assert_int_equal(d->indexes[3].key.hash_count, 2);
	assert_int_equal(d->indexes[3].key.hash[1].type, VALUE_B);
	assert_int_equal(d->indexes[3].key.range_count, 2);
	assert_int_equal(d->stream, STREAM_NEW_AND_OLD);
	SLICE_IS(d->ttl, "expires");
	assert_true(d->provisioned);
	assert_int_equal(d->write_units, 7);
	SLICE_IS(d->accepts.list[0].rule, "some-rule");
}

static const struct attribute *attribute(const char *type)
{
	struct slice text = arena_printf(&arena,
					 TABLE "entities:\n"
					       "  User:\n"
					       "    path: /users/<uid>\n"
					       "    attributes: {uid: string, name: string, uids: list}\n"
					       "    keys: {PK: U#<uid>, SK: U}\n"
					       "  Thing:\n"
					       "    path: /things/<id>\n"
					       "    attributes:\n"
					       "      id: string\n"
					       "      at: timestamp\n"
					       "      x: %s\n"
					       "    keys: {PK: T#<id>, SK: T}\n"
					       "access:\n"
					       "  of user: {path: /u/<uid>, get: User(uid)}\n",
					 type);
	const struct design *d = load_well(arena_cstr(&arena, text));

	return entity_attribute(design_entity(d, SLICE("Thing")), SLICE("x"));
}

static void attributes_have_types(void **state)
{
	static const struct {
		const char *text;
		enum attr_type type, element;
	} cases[] = {
		{ "string", ATTR_STRING, ATTR_MAP },
		{ "text 1..5000", ATTR_TEXT, ATTR_MAP },
		{ "number", ATTR_NUMBER, ATTR_MAP },
		{ "integer -1..1", ATTR_INTEGER, ATTR_MAP },
		{ "boolean", ATTR_BOOLEAN, ATTR_MAP },
		{ "timestamp", ATTR_TIMESTAMP, ATTR_MAP },
		{ "epoch", ATTR_EPOCH, ATTR_MAP },
		{ "list", ATTR_LIST, ATTR_MAP },
		{ "list of number", ATTR_LIST, ATTR_NUMBER },
		{ "set of string 0..3", ATTR_SET, ATTR_STRING },
		{ "list of a | b 0..3", ATTR_LIST, ATTR_ENUM },
		{ "map", ATTR_MAP, ATTR_MAP },
		{ "binary", ATTR_BINARY, ATTR_MAP },
		{ "counter", ATTR_INTEGER, ATTR_MAP },
		{ "= size(id) + 1", ATTR_NUMBER, ATTR_MAP },
		{ "= at", ATTR_TIMESTAMP, ATTR_MAP },
		{ "= id = 'x'", ATTR_BOOLEAN, ATTR_MAP },
		{ "= words(id)", ATTR_LIST, ATTR_STRING },
		{ "copy of User(id).uids", ATTR_LIST, ATTR_MAP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct attribute *a = attribute(cases[i].text);

		if (a->type != cases[i].type || a->element != cases[i].element)
			fail_msg("%s: %d of %d", cases[i].text, a->type, a->element);
	}
}

static void attributes_have_clauses(void **state)
{
	const struct attribute *a = attribute("string 3..30, required, lower, fixed, hidden, managed, unique");

	(void)state;
	assert_true(a->required && a->lower && a->fixed && a->hidden && a->managed && a->unique);
	assert_true(a->has_min && a->has_max && a->min == 3 && a->max == 30);
	a = attribute("number, ..2.5");
	assert_true(!a->has_min && a->has_max && a->max == 2.5);
	a = attribute("string, id 'usr_', private, from the key");
	assert_true(a->id && a->private_ && a->from_key);
	SLICE_IS(a->id_prefix, "usr_");
	assert_true(attribute("timestamp, now")->now);
	assert_true(attribute("timestamp, touched")->touched);
	assert_true(attribute("string, the caller")->the_caller);
	assert_true(attribute("map, compressed")->compressed);
	assert_true(attribute("counter")->counter);
	a = attribute("epoch, 30 days after at, when id = 'a, b' and at is present");
	SLICE_IS(a->after, "at");
	assert_int_equal(a->after_seconds, 30 * 86400);
	assert_int_equal(a->when->kind, TERM_AND);
	assert_int_equal(attribute("string when size(id) > 3")->when->kind, TERM_GT);
	a = attribute("copy of User(id).name, kept by of user");
	SLICE_IS(a->copy_entity, "User");
	SLICE_IS(a->copy_attribute, "name");
	SLICE_IS(a->kept_by, "of user");
	assert_int_equal(a->copy_arg_count, 1);
	SLICE_IS(attribute("copy of User(id).name kept by of user")->kept_by, "of user");
}

static void defaults_are_words_values_or_terms(void **state)
{
	const struct attribute *a = attribute("IN_WORK | done-now | 'not yet', default done-now");

	(void)state;
	assert_int_equal(a->choice_count, 3);
	SLICE_IS(a->choices[2], "not yet");
	SLICE_IS(value_bytes(a->default_->value), "done-now");
	SLICE_IS(value_bytes(attribute("string, default ROOT")->default_->value), "ROOT");
	SLICE_IS(value_bytes(attribute("string, default 'a, b'")->default_->value), "a, b");
	assert_int_equal(value_type(attribute("number, default 1.0")->default_->value), VALUE_N);
	assert_int_equal(value_type(attribute("string, default null")->default_->value), VALUE_NULL);
	assert_true(value_bool(attribute("boolean, default true")->default_->value));
	assert_int_equal(value_type(attribute("list, default []")->default_->value), VALUE_L);
	assert_int_equal(attribute("string, default id")->default_->kind, TERM_PATH);
	assert_int_equal(attribute("string, default first 80 of id")->default_->kind, TERM_CALL);
	a = attribute("a | b, default choose(id = 'x', 'a', 'b')");
	assert_int_equal(a->default_->kind, TERM_CALL);
}

static void entities_have_keys_under_conditions(void **state)
{
	const struct design *d = load_well(TABLE THING "    keys when state = 'NEW' and n > 1:\n"
						       "      G1: NEW#<at:date>\n"
						       "      G2: '<n:06>'\n"
						       "    keys when not n > 1: {G1: <owner>}\n"
						       "    version: n\n"
						       "    internal: true\n"
						       "    patterns: {create: A-1, update, delete: [A-2, A-3]}\n"
						       "    accept: {x: y}\n");
	const struct entity *e = design_entity(d, SLICE("Thing"));

	(void)state;
	SLICE_IS(e->path, "/things/<id>");
	assert_int_equal(e->param_count, 1);
	SLICE_IS(e->params[0], "id");
	assert_int_equal(e->key_count, 5);
	assert_null(e->keys[1].when);
	assert_int_equal(e->keys[2].when->kind, TERM_AND);
	assert_ptr_equal(e->keys[2].when, e->keys[3].when);
	assert_int_equal(e->keys[3].template->parts[0].format, FORMAT_PAD);
	assert_int_equal(e->keys[4].when->kind, TERM_NOT);
	SLICE_IS(e->version, "n");
	assert_true(e->internal);
	assert_int_equal(e->pattern_count[ALLOW_CREATE], 1);
	assert_int_equal(e->accepts.count, 1);
	assert_null(design_entity(d, SLICE("thing")));
	assert_null(entity_attribute(e, SLICE("PK")));
}

static void companions_guard_mirror_and_repeat(void **state)
{
	const struct design *d =
		load_well(TABLE THING "    companions:\n"
				      "      - {unique: owner, PK: OWNER#<owner>, SK: OWNER#<owner>, id: <id>}\n"
				      "      - {SK: TAG#<tag>, PK: THING#<id>, for: tag in first 9 of tags}\n"
				      "      - when: state = 'NEW'\n"
				      "        PK: A\n"
				      "        SK: <id>\n");
	const struct entity *e = &d->entities[0];

	(void)state;
	assert_int_equal(e->companion_count, 3);
	SLICE_IS(e->companions[0].unique, "owner");
	assert_int_equal(e->companions[0].rule_count, 3);
	SLICE_IS(e->companions[1].each_variable, "tag");
	assert_int_equal(e->companions[1].each_list->kind, TERM_CALL);
	assert_int_equal(e->companions[2].when->kind, TERM_EQ);
}

static void counts_requirements_and_checks_have_conditions(void **state)
{
	const struct design *d =
		load_well(TABLE THING "    counts:\n"
				      "      - Thing(owner).count when state = 'NEW' if state <> 'OLD'\n"
				      "      - Thing(owner).count by n * 2\n"
				      "    requires:\n"
				      "      - Thing(owner)\n"
				      "      - {Thing(owner) when n > 1 if state = 'NEW': there is none, sorry}\n"
				      "    check:\n"
				      "      owner <> id: nobody owns himself\n"
				      "      old.n is absent or n >= old.n: never less\n");
	const struct entity *e = &d->entities[0];

	(void)state;
	assert_int_equal(e->count_count, 2);
	SLICE_IS(e->counts[0].attribute, "count");
	assert_int_equal(e->counts[0].when->kind, TERM_EQ);
	assert_int_equal(e->counts[0].if_->kind, TERM_NE);
	assert_null(e->counts[0].by);
	assert_int_equal(e->counts[1].by->kind, TERM_MUL);
	assert_int_equal(e->require_count, 2);
	SLICE_IS(e->requires[0].sentence, "");
	SLICE_IS(e->requires[1].sentence, "there is none, sorry");
	assert_int_equal(e->requires[1].if_->kind, TERM_EQ);
	assert_int_equal(e->check_count, 2);
	SLICE_IS(e->checks[1].sentence, "never less");
}

static void references_have_the_form_of_what_they_name(void **state)
{
	const struct design *d =
		load_well(TABLE "entities:\n"
				"  User:\n"
				"    path: /users/<uid>\n"
				"    attributes: {uid: 'name 3..20, lower', name: string}\n"
				"    keys: {PK: U#<uid>, SK: U}\n"
				"  Pen:\n"
				"    path: /pens/<owner>/<n>\n"
				"    attributes: {owner: reference to User, n: 'integer 1..9', kind: x | y}\n"
				"    keys: {PK: U#<owner>, SK: P#<n>}\n"
				"  Thing:\n"
				"    path: /things/<id>\n"
				"    attributes:\n"
				"      id: string, id 't_'\n"
				"      owner: string\n"
				"      pen: reference to Pen(owner, pen), required\n"
				"      users: list of reference to User 0..5\n"
				"      seen: set of reference to User, may be missing\n"
				"      parent: reference to Thing, tree\n"
				"    requires: [User(owner)]\n"
				"    keys: {PK: T#<id>, SK: T}\n");
	const struct entity *e = design_entity(d, SLICE("Thing")), *pen = design_entity(d, SLICE("Pen"));
	const struct attribute *owner = entity_attribute(pen, SLICE("owner"));
	const struct attribute *users = entity_attribute(e, SLICE("users"));

	(void)state;
	assert_int_equal(owner->form, FORM_NAME);
	assert_true(owner->lower && owner->has_max && owner->max == 20 && owner->min == 3);
	assert_int_equal(entity_attribute(e, SLICE("pen"))->type, ATTR_INTEGER);
	assert_true(entity_attribute(e, SLICE("pen"))->max == 9);
	assert_true(entity_attribute(e, SLICE("owner"))->lower); /* it addresses the pen, too, which is its owner's */
	assert_int_equal(users->type, ATTR_LIST);
	assert_int_equal(users->element, ATTR_STRING);
	assert_true(users->form == FORM_NAME && users->lower && users->max == 5);
	assert_false(entity_attribute(e, SLICE("parent"))->has_max);
	assert_int_equal(e->require_count, 4);
	assert_null(e->requires[0].of);
	SLICE_IS(e->requires[1].of->name, "pen");
	assert_int_equal(e->requires[1].when->kind, TERM_PRESENT);
	SLICE_IS(e->requires[2].each.variable, "users[]");
	assert_null(e->requires[2].when);
	assert_true(e->requires[3].of->tree);
}

static void several_verbs_share_a_rule(void **state)
{
	const struct design *d =
		load_well(TABLE THING "    allow: {read: anyone, update, delete: owner = caller or caller is user}\n");
	const struct entity *e = &d->entities[0];

	(void)state;
	assert_int_equal(e->allow[ALLOW_READ]->kind, TERM_ALWAYS);
	assert_ptr_equal(e->allow[ALLOW_UPDATE], e->allow[ALLOW_DELETE]);
	assert_int_equal(e->allow[ALLOW_UPDATE]->kind, TERM_OR);
	assert_null(e->allow[ALLOW_CREATE]);
}

static void actions_and_deletion_set_what_terms_say(void **state)
{
	const struct design *d =
		load_well(TABLE THING "    actions:\n"
				      "      age:\n"
				      "        when: state = 'NEW'\n"
				      "        otherwise: only what is new ages\n"
				      "        allow: caller is user\n"
				      "        set: {state: OLD, owner: '[gone]', n: 'min(n, 2)', at: now, tags: []}\n"
				      "        remove: [tags]\n"
				      "        input: [n]\n"
				      "        requires: [Thing(owner)]\n"
				      "        creates: true\n"
				      "        is: [A-1, A-2]\n"
				      "      mark-seen: {add: {count: 1}, gather: 60 s}\n"
				      "    delete: {set: {owner: ''}, refuse while: [things], then remove: things}\n"
				      "access:\n"
				      "  things: {path: /all/<id>, query: table, where: {PK: THING#<id>}}\n");
	const struct action *a = &d->entities[0].actions[0];
	const struct delete_rule *r = &d->entities[0].delete_;

	(void)state;
	assert_int_equal(a->when->kind, TERM_EQ);
	SLICE_IS(a->otherwise, "only what is new ages");
	assert_int_equal(a->set_count, 5);
	SLICE_IS(value_bytes(a->set[0].term->value), "OLD");
	SLICE_IS(value_bytes(a->set[1].term->value), "[gone]");
	assert_int_equal(a->set[2].term->kind, TERM_CALL);
	assert_int_equal(a->set[3].term->kind, TERM_NOW);
	assert_int_equal(value_type(a->set[4].term->value), VALUE_L);
	assert_int_equal(a->remove_count, 1);
	assert_int_equal(a->input_count, 1);
	assert_int_equal(a->require_count, 1);
	assert_true(a->creates);
	assert_int_equal(a->pattern_count, 2);
	assert_int_equal(a[1].gather_seconds, 60);
	assert_int_equal(a[1].add_count, 1);
	assert_true(r->soft);
	SLICE_IS(value_bytes(r->set[0].term->value), "");
	SLICE_IS(r->refuse_while[0], "things");
	SLICE_IS(r->then_remove[0], "things");
}

static void accounts_and_callers(void **state)
{
	const struct design *d = load_well(
		TABLE
		"callers:\n"
		"  roles: [user, admin]\n"
		"  issuer: ${ISSUER:-}\n"
		"  jwks: https://example.org/keys\n"
		"  audience: [web, '${ISSUER:-}', app]\n"
		"  subject: sub\n"
		"  groups: cognito:groups\n"
		"  permissions: Group.permissions through groups of(user = caller) by group\n"
		"entities:\n"
		"  User:\n"
		"    path: /users/<user>\n"
		"    attributes: {user: string, required, hash: string, hidden, role: user | admin, group: string}\n"
		"    keys: {PK: <user>, SK: U}\n"
		"    login: {by: [user], password: hash, subject: user, role: role, is: A-1}\n"
		"    allow: {create: caller is admin, read: caller may 'user:read'}\n"
		"  Admin:\n"
		"    path: /admins/<user>\n"
		"    attributes: {user: string}\n"
		"    keys: {PK: <user>, SK: A}\n"
		"    login: {by: user, secret: {PK: <user>, SK: AUTH}, subject: user, when: user <> 'root'}\n"
		"  Group:\n"
		"    path: /groups/<name>\n"
		"    attributes: {name: string, permissions: list of string}\n"
		"    keys: {PK: <name>, SK: G}\n"
		"access:\n"
		"  groups of: {path: /g/<user>, query: table, where: {PK: <user>}}\n");

	(void)state;
	assert_int_equal(d->callers.role_count, 2);
	SLICE_IS(d->callers.issuer, "");
	assert_int_equal(d->callers.audience_count, 2); /* empty ones are none */
	SLICE_IS(d->callers.audiences[0], "web");
	SLICE_IS(d->callers.audiences[1], "app");
	SLICE_IS(d->callers.groups_claim, "cognito:groups");
	SLICE_IS(d->callers.permissions_access->name, "groups of");
	SLICE_IS(d->callers.permissions_entity, "Group");
	SLICE_IS(d->callers.permissions_attribute, "permissions");
	SLICE_IS(d->callers.permissions_ref, "group");
	SLICE_IS(d->callers.permissions_with[0].attribute, "user");
	assert_true(d->entities[0].login.present);
	SLICE_IS(d->entities[0].login.password, "hash");
	SLICE_IS(d->entities[0].login.role, "role");
	assert_int_equal(d->entities[1].login.secret_count, 2);
	assert_null(d->entities[0].login.when);
	assert_int_equal(d->entities[1].login.when->kind, TERM_NE);
	assert_true(d->entities[0].attributes[1].hidden);
}

static const struct access *pattern(const struct design *d, const char *name)
{
	const struct access *a = design_access(d, slice_str(name));

	assert_non_null(a);
	return a;
}

static void access_patterns_get_query_and_batch(void **state)
{
	const struct design *d =
		load_well(TABLE "indexes: {GSI1: {key: [G1, G2]}}\n" THING "access:\n"
				"  a thing: {path: /t/<id>, get: Thing(id), consistent: true, one: true}\n"
				"  by keys: {path: /k/<id>, get: {PK: 'THING#<id:lower>', SK: META}, count: true}\n"
				"  listed, by time:\n"
				"    is: [A-1, A-2]\n"
				"    path: /list/<owner>\n"
				"    with: {from: timestamp, to: timestamp, default now}\n"
				"    query: GSI1\n"
				"    where: {G1: O#<owner>, G2: between T#<from> and T#<to> if given}\n"
				"    filter: state = 'NEW' and n > 1\n"
				"    order: newest first\n"
				"    limit: 7\n"
				"    cache: 5 min\n"
				"    returns: Thing\n"
				"    without: [tags]\n"
				"    allow: owner = caller\n"
				"    for operators: true\n"
				"    accept: {x: y}\n"
				"  hidden one: {query: table, where: {PK: THING#<id>, SK: '>= <from>'}}\n"
				"  prefix: {query: table, where: {PK: P#<id>, SK: begins with X#}}\n"
				"  less: {query: table, where: {PK: P#<id>, SK: < <id>}}\n"
				"  many: {path: /many, batch: Thing(id)}\n"
				"  united: {path: /u, query: table, where: {PK: A}, unite: tags}\n"
				"  tree: {path: /tr, query: table, where: {PK: A}, tree: {parent: owner, by: at}}\n");
	const struct access *a = pattern(d, "a thing");

	(void)state;
	assert_int_equal(a->kind, ACCESS_GET);
	SLICE_IS(a->get.entity, "Thing");
	assert_true(a->consistent && a->single && !a->count_only);
	a = pattern(d, "by keys");
	assert_int_equal(a->where_count, 2);
	assert_true(a->count_only);
	a = pattern(d, "listed, by time");
	assert_int_equal(a->kind, ACCESS_QUERY);
	assert_int_equal(a->id_count, 2);
	SLICE_IS(a->index, "GSI1");
	assert_int_equal(a->query_param_count, 2);
	assert_int_equal(a->query_params[1].default_->kind, TERM_NOW);
	assert_int_equal(a->where[1].op, WHERE_BETWEEN);
	assert_true(a->where[1].optional && a->where[1].upper);
	assert_true(a->descending && a->operators_only);
	SLICE_IS(a->order, "newest first");
	assert_int_equal(a->limit, 7);
	assert_int_equal(a->cache_seconds, 300);
	SLICE_IS(a->entity, "Thing");
	SLICE_IS(a->without[0], "tags");
	a = pattern(d, "hidden one");
	assert_int_equal(a->param_count, 2); /* without a path: the placeholders */
	SLICE_IS(a->params[1], "from");
	assert_int_equal(a->where[1].op, WHERE_GE);
	assert_int_equal(pattern(d, "prefix")->where[1].op, WHERE_BEGINS);
	assert_int_equal(pattern(d, "less")->where[1].op, WHERE_LT);
	assert_int_equal(pattern(d, "many")->kind, ACCESS_BATCH);
	SLICE_IS(pattern(d, "united")->unite, "tags");
	SLICE_IS(pattern(d, "tree")->tree_by, "at");
}

static void access_patterns_combine_others(void **state)
{
	const struct design *d = load_well(
		TABLE THING
		"access:\n"
		"  rows: {path: /r/<id>, query: table, where: {PK: T#<id>}}\n"
		"  kids: {path: /kids/<owner>, query: table, where: {PK: K#<owner>}}\n"
		"  hydrated:\n"
		"    path: /h\n"
		"    query: table\n"
		"    where: {PK: A}\n"
		"    then: {get: Thing, keys: {PK: T#<owner>, SK: META}, keep: state = 'NEW'}\n"
		"  each: {path: /e/<owner>, merge: {run: rows, for each: kids, with: {id: <owner>}, by: at, levels: 5}}\n"
		"  numbers: {path: /n, merge: {with: {id: <n>}, run: rows, for: n in 1..5}}\n"
		"  all words:\n"
		"    path: /w\n"
		"    with: {q: string, required}\n"
		"    merge: {run: rows, for: word in words(input.q), with: {id: <word>}, by: id, in all: true}\n"
		"  both: {path: /b/<id>, merge: {of: [rows, kids], by: at, else: n}}\n"
		"  days: {path: /d/<date>, query: table, where: {PK: D#<date>}, walk: {date: one day back, 7 times}}\n"
		"  months: {path: /m/<date>, query: table, where: {PK: D#<date>}, walk: {date: one month on, 12 times}}\n"
		"  weeks: {path: /x/<date>, query: table, where: {PK: D#<date>}, walk: 'date, 2 weeks back, 3 times'}\n"
		"  best:\n"
		"    path: /best\n"
		"    query: table\n"
		"    where: {PK: A}\n"
		"    rank: {by: (n + 1) / (age + 2), keep: 20}\n");
	const struct access *a = pattern(d, "hydrated");

	(void)state;
	assert_true(a->has_then);
	SLICE_IS(a->then.entity, "Thing");
	assert_int_equal(a->then.key_count, 2);
	assert_int_equal(a->then.keep->kind, TERM_EQ);
	a = pattern(d, "each");
	assert_int_equal(a->kind, ACCESS_MERGE);
	SLICE_IS(a->merge_pattern, "rows");
	SLICE_IS(a->merge_over, "kids");
	SLICE_IS(a->merge_by, "at");
	assert_int_equal(a->merge_levels, 5);
	assert_int_equal(a->merge_with[0].term->kind, TERM_PATH);
	a = pattern(d, "numbers");
	SLICE_IS(a->range_variable, "n");
	assert_int_equal(a->range_from, 1);
	assert_int_equal(a->range_to, 5);
	a = pattern(d, "all words");
	assert_int_equal(a->range_list->kind, TERM_CALL);
	assert_true(a->merge_in_all);
	assert_true(a->query_params[0].required);
	a = pattern(d, "both");
	assert_int_equal(a->merge_of_count, 2);
	SLICE_IS(a->merge_else, "n");
	a = pattern(d, "days");
	SLICE_IS(a->walk_param, "date");
	assert_int_equal(a->walk_unit, TIME_DAY);
	assert_int_equal(a->walk_step, -1);
	assert_int_equal(a->walk_times, 7);
	assert_int_equal(pattern(d, "weeks")->walk_unit, TIME_WEEK);
	assert_int_equal(pattern(d, "weeks")->walk_step, -2);
	assert_int_equal(pattern(d, "months")->walk_unit, TIME_MONTH);
	assert_int_equal(pattern(d, "months")->walk_step, 1);
	a = pattern(d, "best");
	assert_int_equal(a->rank->kind, TERM_DIV);
	assert_int_equal(a->rank_keep, 20);
}

static void processors_do_one_thing(void **state)
{
	const struct design *d = load_well(
		TABLE THING
		"access:\n"
		"  of owner: {path: /o/<who>, query: table, where: {PK: O#<who>}, returns: Thing}\n"
		"processors:\n"
		"  copy:\n"
		"    with: {id: other.id, owner: owner, n: limit, state: OLD}\n"
		"    put: Thing\n"
		"    each: other in of owner(who = owner)\n"
		"    let: {limit: n + 1}\n"
		"    when: n <> old.n\n"
		"    on: Thing created, updated\n"
		"    accept: {x: y}\n"
		"  change: {on: Thing deleted, update: Thing(owner), with: {n: 1}}\n"
		"  drop: {on: Thing deleted, delete: Thing(owner)}\n"
		"  tally: {on: Thing created, count: Thing(date(at)).count by n - 1}\n"
		"  clean: {on: Thing deleted, remove all: of owner(who = id)}\n"
		"  hook: {on: Thing created, send: {to: 'https://example.org/', secret: '${SECRET:-a secret of sixteen}'}}\n"
		"  find: {on: Thing created, send: {opensearch: '${SEARCH:-}'}}\n"
		"traffic:\n"
		"  of owner: 100 a second\n"
		"  create Thing: 60 a minute\n");
	const struct processor *p = d->processors;

	(void)state;
	assert_int_equal(d->processor_count, 7);
	SLICE_IS(p[0].entity, "Thing");
	assert_int_equal(p[0].events, ON_CREATED | ON_UPDATED);
	assert_int_equal(p[0].when->kind, TERM_NE);
	assert_int_equal(p[0].let_count, 1);
	SLICE_IS(p[0].each_variable, "other");
	SLICE_IS(p[0].each_pattern, "of owner");
	assert_int_equal(p[0].each_with_count, 1);
	assert_int_equal(p[0].effect, EFFECT_PUT);
	assert_int_equal(p[0].with_count, 4);
	SLICE_IS(value_bytes(p[0].with[3].term->value), "OLD");
	assert_int_equal(p[1].effect, EFFECT_UPDATE);
	assert_int_equal(p[2].effect, EFFECT_DELETE);
	SLICE_IS(p[2].target_ref.entity, "Thing");
	assert_int_equal(p[3].effect, EFFECT_COUNT);
	SLICE_IS(p[3].target_attribute, "count");
	assert_int_equal(p[3].by->kind, TERM_SUB);
	assert_int_equal(p[4].effect, EFFECT_REMOVE_ALL);
	SLICE_IS(p[4].with[0].attribute, "who");
	SLICE_IS(p[5].send_url, "https://example.org/");
	SLICE_IS(p[5].send_secret, "a secret of sixteen");
	assert_true(p[6].send_opensearch && !p[6].send_url.n);
	assert_true(d->traffic[0].per_second == 100 && d->traffic[1].per_second == 1);
}

static void a_counter_that_fractions_move_is_a_number(void **state)
{
	const struct design *d = load_well(
		TABLE
		"types:\n"
		"  Line: {n: integer 1..9, price: number 0.., required}\n"
		"entities:\n"
		"  Total:\n"
		"    path: /totals/<id>\n"
		"    attributes: {id: string, ones: counter, whole: counter, lines: counter, sums: counter, prices: "
		"counter, copied: counter, means: counter, from: counter, seen: counter, halves: counter}\n"
		"    keys: {PK: TOTAL#<id>, SK: TOTAL}\n"
		"    actions: {see: {add: {seen: 1, halves: 0.5}}}\n"
		"  Sale:\n"
		"    path: /sales/<id>\n"
		"    attributes:\n"
		"      id: string, id\n"
		"      lines: list of Line 1..9\n"
		"      pieces: = sum(lines, n)\n"
		"      cost: = sum(lines, n * price)\n"
		"      rounded: = round(cost)\n"
		"      of: copy of Sale(id).cost\n"
		"    keys: {PK: SALE#<id>, SK: SALE}\n"
		"    counts:\n"
		"      - Total(id).ones\n"
		"      - Total(id).whole by pieces - rounded\n"
		"      - {for: line in lines, Total(id).lines by -line.n}\n"
		"      - Total(id).sums by cost\n"
		"      - {for: line in lines, Total(id).prices by line.price}\n"
		"      - Total(id).copied by of\n"
		"      - Total(id).means by pieces / 2\n"
		"      - Total(id).from by Total(id).sums\n");
	const struct entity *e = &d->entities[0];

	(void)state;
	static const struct {
		const char *name;
		enum attr_type type;
	} all[] = {
		{ "ones", ATTR_INTEGER },  { "whole", ATTR_INTEGER }, { "lines", ATTR_INTEGER },
		{ "seen", ATTR_INTEGER },  { "sums", ATTR_NUMBER },   { "prices", ATTR_NUMBER },
		{ "copied", ATTR_NUMBER }, { "means", ATTR_NUMBER },  { "halves", ATTR_NUMBER },
		{ "from", ATTR_NUMBER },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(entity_attribute(e, slice_str(all[i].name))->type, all[i].type);
	}
}

/* What reads the row is asked for each row, the rest once. */
static void a_condition_on_the_row_of_a_loop_is_for_each_row(void **state)
{
	const struct design *d = load_well(
		TABLE THING "access:\n"
			    "  of owner: {path: /o/<who>, query: table, where: {PK: O#<who>}, returns: Thing}\n"
			    "processors:\n"
			    "  one:\n"
			    "    on: Thing updated\n"
			    "    each: other in of owner(who = owner)\n"
			    "    when: n > 1 and other.n > 2 and state = 'OLD'\n"
			    "    update: Thing(other.id)\n"
			    "    with: {n: 1}\n"
			    "  many:\n"
			    "    every: hour\n"
			    "    each: other in of owner(who = 'eva')\n"
			    "    when: other.at < now - 1 day\n"
			    "    effects:\n"
			    "      - {when: other.n = 1, update: Thing(other.id), with: {n: 2}}\n"
			    "      - {update: Thing(other.id), with: {n: 1}}\n"
			    "  none: {on: Thing updated, when: n > 1, update: Thing(owner), with: {n: 1}}\n");
	const struct processor *p = d->processors;

	(void)state;
	assert_int_equal(d->processor_count, 4);
	assert_int_equal(p[0].when->kind, TERM_AND);
	assert_int_equal(p[0].when->args[1]->kind, TERM_EQ);
	assert_int_equal(p[0].only_when->kind, TERM_GT);
	assert_null(p[1].when);
	assert_int_equal(p[1].only_when->kind, TERM_AND);
	assert_int_equal(p[1].only_when->args[0]->kind, TERM_LT);
	assert_int_equal(p[1].only_when->args[1]->kind, TERM_EQ);
	assert_null(p[2].when);
	assert_int_equal(p[2].only_when->kind, TERM_LT);
	assert_int_equal(p[3].when->kind, TERM_GT);
	assert_null(p[3].only_when);
}

static void flow_style_keeps_calls_and_clauses_together(void **state)
{
	const struct design *d =
		load_well(TABLE "entities:\n"
				"  Pair:\n"
				"    path: /pairs/<a>/<b>\n"
				"    attributes: {a: string, required, b: string, n: counter, hidden}\n"
				"    keys: {PK: P#<a>, SK: <b>}\n"
				"    counts: [Pair(b, a).n, 'Pair(a, a).n']\n"
				"    requires: {Pair(b, a) when a <> b: the other way, Pair(a, a): itself}\n");
	const struct entity *e = &d->entities[0];

	(void)state;
	assert_int_equal(e->attribute_count, 3);
	assert_true(e->attributes[0].required && e->attributes[2].hidden);
	assert_int_equal(e->count_count, 2);
	assert_int_equal(e->counts[0].target.arg_count, 2);
	assert_int_equal(e->require_count, 2);
	SLICE_IS(e->requires[0].sentence, "the other way");
	SLICE_IS(e->requires[1].sentence, "itself");
}

static const char *env(void *ctx, const char *name)
{
	return strcmp(name, ctx) == 0 ? "from env" : NULL;
}

static void the_environment_fills_in(void **state)
{
	const struct design *d;

	(void)state;
	source = (struct source){ SLICE("x"), SLICE("title: a ${TITLE} ${OTHER:-b}-$${TITLE:-c}\n"
						    "design: x\ntable: abc\nkey: PK\n" THING) };
	findings_init(&findings, &arena);
	source.text = arena_printf(&arena, "%.*s", SLICE_ARG(source.text));
	d = design_load(&arena, source, env, (void *)(uintptr_t) "TITLE", &findings);
	assert_non_null(d);
	SLICE_IS(d->title, "a from env b-$from env");
	assert_int_equal(d->key.range_count, 0);
}

static void a_file_that_is_not_there_is_a_finding(void **state)
{
	struct buf b;

	(void)state;
	findings_init(&findings, &arena);
	assert_null(design_load_file(&arena, "/no/such/file.yaml", &source, &findings));
	assert_int_equal(findings.count, 1);
	buf_init(&b, &arena);
	findings_print(&b, &findings, &source);
	assert_true(slice_is(buf_slice(&b), "/no/such/file.yaml: error: No such file or directory [cannot-read]\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_table_has_keys_indexes_and_settings),
		TEST(attributes_have_types),
		TEST(attributes_have_clauses),
		TEST(defaults_are_words_values_or_terms),
		TEST(entities_have_keys_under_conditions),
		TEST(companions_guard_mirror_and_repeat),
		TEST(counts_requirements_and_checks_have_conditions),
		TEST(references_have_the_form_of_what_they_name),
		TEST(several_verbs_share_a_rule),
		TEST(actions_and_deletion_set_what_terms_say),
		TEST(accounts_and_callers),
		TEST(access_patterns_get_query_and_batch),
		TEST(access_patterns_combine_others),
		TEST(processors_do_one_thing),
		TEST(a_counter_that_fractions_move_is_a_number),
		TEST(a_condition_on_the_row_of_a_loop_is_for_each_row),
		TEST(flow_style_keeps_calls_and_clauses_together),
		TEST(the_environment_fills_in),
		TEST(a_file_that_is_not_there_is_a_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
