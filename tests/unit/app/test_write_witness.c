/* Rules are part of the write: what decided it is still so when it commits, or it is decided again.
 *
 * Each case lets a write read and decide, and changes another item right before the write reaches the database.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "write_helper.h"

static const char design[] =
	"callers:\n  roles: [user]\n  permissions: Group.permissions through groups of(member = caller) by group\n"
	"entities:\n"
	"  Order:\n"
	"    path: /orders/<id>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      status: draft | placed, default draft\n"
	"      rate: integer, default 7\n"
	"      note: string\n"
	"      lines: counter\n"
	"    keys: {PK: ORDER#<id>, SK: ORDER}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions:\n      place: {when: status = 'draft' and lines > 0, set: {status: placed}}\n"
	"  Ban:\n"
	"    path: /orders/<id>/ban\n"
	"    attributes:\n      id: string, required\n      until: epoch\n      expires_at: epoch\n"
	"    keys: {PK: ORDER#<id>, SK: BAN, type: BAN}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Pass:\n" /* where a ban would be */
	"    path: /orders/<id>/pass\n"
	"    attributes:\n      id: string, required\n      until: epoch\n"
	"    keys: {PK: ORDER#<id>, SK: BAN, type: PASS}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Secret:\n" /* to be seen only while its order is a draft, and it is open */
	"    path: /secrets/<id>\n"
	"    attributes:\n      id: string, required\n      order: string, required\n      open: boolean, default true\n      text: string\n"
	"    keys: {PK: SECRET#<id>, SK: SECRET}\n"
	"    allow: {create, update, delete: anyone, read: open and Order(order).status = 'draft'}\n"
	"  Group:\n"
	"    path: /groups/<name>\n"
	"    attributes:\n      name: string, required\n      permissions: list of string\n      title: string\n"
	"    keys: {PK: GROUP#<name>, SK: GROUP}\n"
	"  Member:\n"
	"    path: /groups/<group>/members/<member>\n"
	"    attributes:\n      group: string, required\n      member: string, required\n      since: string\n"
	"      active: boolean, default true\n"
	"    keys: {PK: GROUP#<group>, SK: MEMBER#<member>, GSI1PK: MEMBER#<member>, GSI1SK: GROUP#<group>}\n"
	"  Line:\n"
	"    path: /orders/<id>/lines/<number>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      number: string, required\n"
	"      amount: integer, default 1\n"
	"      label: string\n"
	"      locked: boolean\n"
	"      hits: counter\n"
	"    keys: {PK: ORDER#<id>, SK: LINE#<number>}\n"
	"    check: {old.locked is absent or amount = 1: a locked line keeps its amount}\n"
	"    allow: {create, update, delete: Order(id).status = 'draft', read: anyone}\n"
	"    actions:\n"
	"      hide: {set: {label: '''hidden'''}}\n"
	"      close: {allow: anyone, when: Order(id).status = 'draft', otherwise: too late, set: {label: '''closed'''}}\n"
	"      hit: {add: {hits: 1}}\n"
	"      make: {set: {label: '''made'''}, creates: true}\n"
	"  Soft:\n"
	"    path: /orders/<id>/soft/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      gone: boolean, default false\n"
	"    keys: {PK: ORDER#<id>, SK: SOFT#<number>}\n"
	"    allow: {create, read, update: anyone, delete: Order(id).status = 'draft'}\n"
	"    delete: {set: {gone: true}}\n"
	"  Counted:\n" /* its order is in the transaction anyway */
	"    path: /orders/<id>/counted/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n"
	"    keys: {PK: ORDER#<id>, SK: COUNTED#<number>}\n"
	"    counts: [Order(id).lines]\n"
	"    allow: {create, update, delete: Order(id).status = 'draft', read: anyone}\n"
	"  Rest:\n" /* goes when its order is gone, which it still counts on */
	"    path: /orders/<id>/rests/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n"
	"    keys: {PK: ORDER#<id>, SK: REST#<number>}\n"
	"    counts: [Order(id).lines]\n"
	"    allow: {create, read: anyone, delete: not exists Order(id)}\n"
	"  Flag:\n"
	"    path: /flags/<id>\n"
	"    attributes:\n      id: string, required\n      by: string\n"
	"    keys: {PK: FLAG#<id>, SK: FLAG}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Setter:\n" /* its companion is the flag that it looks for */
	"    path: /setters/<id>\n"
	"    attributes:\n      id: string, required\n      label: string\n"
	"    keys: {PK: SETTER#<id>, SK: SETTER}\n"
	"    companions: [{PK: FLAG#<id>, SK: FLAG, id: <id>, by: <id>}]\n"
	"    allow: {create: not exists Flag(id), read, update: anyone, delete: Flag(id).by = id}\n"
	"  Bill:\n" /* terms that read its order */
	"    path: /orders/<id>/bills/<number>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      number: string, required\n"
	"      rate: integer, default Order(id).rate\n"
	"      copied: copy of Order(id).rate\n"
	"      again: integer\n"
	"    keys: {PK: ORDER#<id>, SK: BILL#<number>}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions:\n      renew: {set: {again: Order(id).rate}}\n"
	"  Copied:\n"
	"    path: /orders/<id>/copied/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      copied: copy of Order(id).rate\n"
	"    keys: {PK: ORDER#<id>, SK: COPIED#<number>}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Fine:\n"
	"    path: /orders/<id>/fines/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n"
	"    keys: {PK: ORDER#<id>, SK: FINE#<number>}\n"
	"    requires: [Ban(id)]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Tally:\n" /* of what it counts on, and kept */
	"    path: /orders/<id>/tallies/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n"
	"      copied: copy of Order(id).rate, kept by tallies of order\n"
	"    keys: {PK: ORDER#<id>, SK: TALLY#<number>}\n"
	"    counts: [Order(id).lines]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Note:\n" /* the same, and nothing is counted */
	"    path: /orders/<id>/notes/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n"
	"      copied: copy of Order(id).rate, kept by notes of order\n"
	"    keys: {PK: ORDER#<id>, SK: NOTE#<number>}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Checked:\n"
	"    path: /orders/<id>/checked/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      amount: integer, default 1\n"
	"    keys: {PK: ORDER#<id>, SK: CHECKED#<number>}\n"
	"    check: {amount <= Order(id).rate: more than the rate}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Asked:\n" /* requirements whose conditions read a third item */
	"    path: /orders/<id>/asked/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      ban: string, default o1\n"
	"    keys: {PK: ORDER#<id>, SK: ASKED#<number>}\n"
	"    requires: [{Order(id) when Secret('s1').text = 'yes' if status = 'draft': not a draft}]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Free:\n"
	"    path: /orders/<id>/free/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      label: string\n"
	"    keys: {PK: ORDER#<id>, SK: FREE#<number>}\n"
	"    allow: {create, update, delete: not exists Ban(id), read: anyone}\n"
	"  Seat:\n" /* who is in may let others in; also itself, which is no use */
	"    path: /orders/<id>/seats/<who>\n"
	"    attributes:\n      id: string, required\n      who: string, required\n"
	"    keys: {PK: ORDER#<id>, SK: SEAT#<who>}\n"
	"    allow: {create: 'exists Seat(id, caller)', read: anyone}\n"
	"  Seer:\n"
	"    path: /orders/<id>/seers/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      label: string\n"
	"    keys: {PK: ORDER#<id>, SK: SEER#<number>}\n"
	"    allow: {create, update, delete: visible Secret('s1'), read: anyone}\n"
	"  Work:\n"
	"    path: /orders/<id>/works/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      label: string\n"
	"    keys: {PK: ORDER#<id>, SK: WORK#<number>}\n"
	"    allow: {create, update, delete: caller may 'work', read: anyone}\n"
	"  Badge:\n" /* its key has only a part of its identity */
	"    path: /orders/<id>/badges/<name>\n"
	"    attributes:\n      id: string, required\n      name: string, required\n"
	"    keys: {PK: BADGE#<name>, SK: BADGE}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Door:\n"
	"    path: /orders/<id>/doors/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n"
	"    keys: {PK: ORDER#<id>, SK: DOOR#<number>}\n"
	"    allow: {create: 'exists Badge(''o9'', ''gold'') or exists Badge(id, ''gold'')', delete: 'not exists Badge(id, ''gold'')', read: anyone}\n"
	"  Riddle:\n" /* no membership is active, as the permission asks, and not */
	"    path: /riddles/<id>\n"
	"    attributes:\n      id: string, required\n"
	"    keys: {PK: RIDDLE#<id>, SK: RIDDLE}\n"
	"    allow: {create: 'caller may ''work'' and Member(''g1'', caller).active = false', read: anyone}\n"
	"  Mine:\n" /* the rule names the item itself as if it were another one */
	"    path: /mines/<id>\n"
	"    attributes:\n      id: string, required\n      status: draft | placed, default draft\n      label: string\n"
	"    keys: {PK: MINE#<id>, SK: MINE}\n"
	"    allow: {create, read: anyone, update, delete: Mine(id).status = 'draft'}\n"
	"  Kept:\n"
	"    path: /kepts/<id>\n"
	"    attributes:\n      id: string, required\n      frozen: boolean\n      label: string\n      hits: counter\n"
	"    keys: {PK: KEPT#<id>, SK: KEPT}\n"
	"    check: {old.frozen is absent: it is frozen}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions:\n      hit: {allow: frozen is absent, add: {hits: 1}}\n"
	"  Short:\n" /* what `or` does not need is not looked at */
	"    path: /shorts/<id>\n"
	"    attributes:\n      id: string, required\n      label: string\n"
	"    keys: {PK: SHORT#<id>, SK: SHORT}\n"
	"    allow: {create, read, update, delete: id = 's1' or exists Order('o1')}\n"
	"access:\n"
	"  tallies of order: {query: table, where: {PK: ORDER#<id>, SK: begins with TALLY#}}\n"
	"  notes of order: {query: table, where: {PK: ORDER#<id>, SK: begins with NOTE#}}\n"
	"  groups of: {query: GSI1, where: {GSI1PK: MEMBER#<member>, GSI1SK: begins with GROUP#}, filter: active = true}\n";

/* ---- concurrent writes ---- */

struct change {
	const char *pk, *sk;
	const char *name;  /* NULL: the item goes */
	const char *value; /* as DynamoDB's JSON with single quotes; NULL: the attribute goes */
};

struct meddler {
	struct backend backend; /* first */
	struct backend *inner;
	const struct change *change; /* before the first write; NULL: done, or none */
	const struct change *early;  /* before its item is read by its key; likewise */
	int writes;
	bool checks; /* some write has had a ConditionCheck */
	size_t most; /* actions of a write */
};

static struct slice quoted(struct arena *a, const char *text)
{
	char *p = arena_cstr(a, slice_str(text));

	for (char *q = p; *q; q++)
		*q = *q == '\'' ? '"' : *q;
	return slice_str(p);
}

static void meddle(struct meddler *m, struct arena *a, const struct change *c)
{
	struct backend_reply reply;
	struct slice head = arena_printf(a, "{'TableName':'Test','Key':{'PK':{'S':'%s'},'SK':{'S':'%s'}}", c->pk, c->sk);
	struct slice body;

	if (!c->name)
		body = arena_printf(a, "%.*s}", SLICE_ARG(head));
	else if (!c->value)
		body = arena_printf(a, "%.*s,'UpdateExpression':'REMOVE #n','ExpressionAttributeNames':{'#n':'%s'}}",
				    SLICE_ARG(head), c->name);
	else
		body = arena_printf(a,
				    "%.*s,'UpdateExpression':'SET #n = :v','ExpressionAttributeNames':{'#n':'%s'},"
				    "'ExpressionAttributeValues':{':v':%s}}",
				    SLICE_ARG(head), c->name, c->value);
	m->inner->call(m->inner, a, c->name ? "UpdateItem" : "DeleteItem", quoted(a, arena_cstr(a, body)), &reply);
	assert_int_equal(reply.status, 200);
}

static size_t count_of(struct slice body, const char *word)
{
	size_t n = 0;

	for (const char *p = body.p; (p = memmem(p, (size_t)(body.p + body.n - p), word, strlen(word))); p++)
		n++;
	return n;
}

static void meddler_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			 struct backend_reply *reply)
{
	struct meddler *m = (struct meddler *)b;
	bool transaction = !strcmp(operation, "TransactWriteItems");
	const struct change *change = m->change;

	if (transaction || !strcmp(operation, "PutItem") || !strcmp(operation, "UpdateItem") ||
	    !strcmp(operation, "DeleteItem")) {
		size_t actions = transaction ? count_of(body, "\"TableName\"") : 1;

		m->change = NULL;
		if (change)
			meddle(m, a, change);
		m->writes++;
		m->checks = m->checks || count_of(body, "ConditionCheck\":");
		m->most = actions > m->most ? actions : m->most;
	} else if (m->early && !strcmp(operation, "GetItem") && count_of(body, m->early->pk) &&
		   count_of(body, m->early->sk)) {
		change = m->early;
		m->early = NULL;
		meddle(m, a, change);
	}
	m->inner->call(m->inner, a, operation, body, reply);
}

/* ---- the cases ---- */

enum verb { CREATE, UPDATE, DELETE, ACT };

struct step {
	enum verb verb;
	const char *who, *entity, *path, *body, *action;
};

struct outcome {
	bool done;
	enum problem_type problem;
	struct value full;
	int writes;
	size_t most;
	bool checks;
};

static const char placed[] = "{'S':'placed'}";

static void world(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "!", "Order", "o1", NULL);
	created(f, "!", "Order", "o2", NULL);
	created(f, "!", "Secret", "s1", "{\"order\":\"o2\",\"text\":\"yes\"}");
	created(f, "!", "Group", "g1", "{\"permissions\":[\"work\",\"rest\"]}");
	created(f, "!", "Member", "g1/ann", NULL);
	created(f, "!", "Mine", "m1", NULL);
	created(f, "!", "Kept", "k1", NULL);
	created(f, "ann", "Setter", "t", NULL);
	created(f, "!", "Line", "o1/1", NULL);
	created(f, "!", "Soft", "o1/1", NULL);
	created(f, "!", "Counted", "o1/1", NULL);
	created(f, "!", "Bill", "o1/1", NULL);
	created(f, "!", "Checked", "o1/1", NULL);
	created(f, "!", "Free", "o1/1", NULL);
	created(f, "!", "Seer", "o1/1", NULL);
	created(f, "!", "Work", "o1/1", NULL);
}

static struct outcome take_between(struct app_fixture *f, const struct step *s, const struct change *early,
				   const struct change *c)
{
	struct meddler m = { .backend = { .call = meddler_call }, .inner = f->backend, .change = c, .early = early };
	struct run *r = app_fixture_run(f, s->who);
	struct write_result out = { 0 };
	struct outcome o = { 0 };

	r->backend = &m.backend;
	switch (s->verb) {
	case CREATE: o.done = try_create(r, s->entity, s->path, s->body, &out); break;
	case UPDATE: o.done = try_update(r, s->entity, s->path, s->body, NULL, &out); break;
	case DELETE: o.done = try_delete(r, s->entity, s->path, NULL); break;
	case ACT: o.done = try_action(r, s->entity, s->path, s->action, s->body, &out); break;
	}
	o.problem = r->problem.type;
	o.full = out.full;
	o.writes = m.writes;
	o.most = m.most;
	o.checks = m.checks;
	assert_null(m.early);
	return o;
}

static struct outcome take(struct app_fixture *f, const struct step *s, const struct change *c)
{
	return take_between(f, s, NULL, c);
}

#define ORDER_PLACED                                  \
	{                                             \
		"ORDER#o1", "ORDER", "status", placed \
	}
#define ORDER_GONE                              \
	{                                       \
		"ORDER#o1", "ORDER", NULL, NULL \
	}
#define ORDER_NOTE                                       \
	{                                                \
		"ORDER#o1", "ORDER", "note", "{'S':'x'}" \
	}
#define RATE_LOW                                         \
	{                                                \
		"ORDER#o1", "ORDER", "rate", "{'N':'3'}" \
	}

/* What a rule saw is different now, and the rule says no. */
static void a_permission_is_checked_again(void **state)
{
	/* clang-format off */
	static const struct {
		struct step step;
		struct change change;
		enum problem_type problem;
	} cases[] = {
		{ { CREATE, "ann", "Line", "o1/2", NULL, NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { CREATE, "ann", "Line", "o1/2", NULL, NULL }, ORDER_GONE, PROBLEM_FORBIDDEN },
		{ { UPDATE, "ann", "Line", "o1/1", "{\"label\":\"b\"}", NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Line", "o1/1", NULL, NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { ACT, "ann", "Line", "o1/1", NULL, "hide" }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { ACT, "ann", "Line", "o1/1", NULL, "hit" }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { ACT, "ann", "Line", "o1/3", NULL, "make" }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { ACT, "ann", "Line", "o1/1", NULL, "close" }, ORDER_PLACED, PROBLEM_CONFLICT },
		{ { DELETE, "ann", "Soft", "o1/1", NULL, NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { CREATE, "ann", "Counted", "o1/2", NULL, NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Counted", "o1/1", NULL, NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Counted", "o1/1", NULL, NULL }, ORDER_GONE, PROBLEM_FORBIDDEN },
		{ { CREATE, "ann", "Checked", "o1/2", "{\"amount\":5}", NULL }, RATE_LOW, PROBLEM_INVALID },
		{ { UPDATE, "ann", "Checked", "o1/1", "{\"amount\":5}", NULL }, RATE_LOW, PROBLEM_INVALID },
		{ { CREATE, "ann", "Checked", "o1/2", "{\"amount\":5}", NULL }, ORDER_GONE, PROBLEM_INVALID },
		/* nor is it told that the line is there already */
		{ { CREATE, "ann", "Line", "o1/1", NULL, NULL }, ORDER_PLACED, PROBLEM_FORBIDDEN },
		/* there was none */
		{ { CREATE, "ann", "Free", "o1/2", NULL, NULL }, { "ORDER#o1", "BAN", "until", "{'N':'1'}" }, PROBLEM_FORBIDDEN },
		{ { UPDATE, "ann", "Free", "o1/1", "{\"label\":\"b\"}", NULL }, { "ORDER#o1", "BAN", "until", "{'N':'1'}" },
		  PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Free", "o1/1", NULL, NULL }, { "ORDER#o1", "BAN", "until", "{'N':'1'}" }, PROBLEM_FORBIDDEN },
		/* visible: its own attribute, and what its rule reads of a third item */
		{ { CREATE, "ann", "Seer", "o1/2", NULL, NULL }, { "SECRET#s1", "SECRET", "open", "{'BOOL':false}" }, PROBLEM_FORBIDDEN },
		{ { UPDATE, "ann", "Seer", "o1/1", "{\"label\":\"b\"}", NULL }, { "ORDER#o2", "ORDER", "status", placed },
		  PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Seer", "o1/1", NULL, NULL }, { "SECRET#s1", "SECRET", NULL, NULL }, PROBLEM_FORBIDDEN },
		/* permissions: the membership, and the group's list */
		{ { CREATE, "ann", "Work", "o1/2", NULL, NULL }, { "GROUP#g1", "MEMBER#ann", NULL, NULL }, PROBLEM_FORBIDDEN },
		{ { CREATE, "ann", "Work", "o1/2", NULL, NULL }, { "GROUP#g1", "MEMBER#ann", "GSI1PK", NULL }, PROBLEM_FORBIDDEN },
		{ { CREATE, "ann", "Work", "o1/2", NULL, NULL }, { "GROUP#g1", "MEMBER#ann", "active", "{'BOOL':false}" }, PROBLEM_FORBIDDEN },
		{ { UPDATE, "ann", "Work", "o1/1", "{\"label\":\"b\"}", NULL },
		  { "GROUP#g1", "GROUP", "permissions", "{'L':[{'S':'rest'}]}" }, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Work", "o1/1", NULL, NULL }, { "GROUP#g1", "GROUP", NULL, NULL }, PROBLEM_FORBIDDEN },
		/* the item itself, by name and by `old` */
		{ { UPDATE, "ann", "Mine", "m1", "{\"label\":\"b\"}", NULL }, { "MINE#m1", "MINE", "status", placed }, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Mine", "m1", NULL, NULL }, { "MINE#m1", "MINE", "status", placed }, PROBLEM_FORBIDDEN },
		{ { UPDATE, "ann", "Line", "o1/1", "{\"amount\":2}", NULL }, { "ORDER#o1", "LINE#1", "locked", "{'BOOL':true}" },
		  PROBLEM_INVALID },
		{ { UPDATE, "ann", "Kept", "k1", "{\"label\":\"b\"}", NULL }, { "KEPT#k1", "KEPT", "frozen", "{'BOOL':true}" },
		  PROBLEM_INVALID },
		{ { ACT, "ann", "Kept", "k1", NULL, "hit" }, { "KEPT#k1", "KEPT", "frozen", "{'BOOL':true}" }, PROBLEM_FORBIDDEN },
		/* a companion that was looked at */
		{ { CREATE, "ann", "Setter", "x", NULL, NULL }, { "FLAG#x", "FLAG", "by", "{'S':'y'}" }, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Setter", "t", NULL, NULL }, { "FLAG#t", "FLAG", "by", "{'S':'y'}" }, PROBLEM_FORBIDDEN },
		{ { DELETE, "ann", "Setter", "t", NULL, NULL }, { "FLAG#t", "FLAG", NULL, NULL }, PROBLEM_FORBIDDEN },
		/* a requirement whose `when` rests on another item */
		{ { CREATE, "ann", "Asked", "o1/1", NULL, NULL }, ORDER_PLACED, PROBLEM_CONFLICT },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct app_fixture f;
		struct outcome o;

		world(&f);
		o = take(&f, &cases[i].step, &cases[i].change);
		if (o.done || o.problem != cases[i].problem)
			fail_msg("case %zu: %s %s: %s", i, cases[i].step.entity, cases[i].step.path,
				 o.done ? "done" : problem_name(o.problem));
		app_fixture_close(&f);
	}
}

static void a_requirement_that_starts_to_hold_is_asked(void **state)
{
	static const struct change now_yes = { "SECRET#s1", "SECRET", "text", "{'S':'yes'}" };
	static const struct step create = { CREATE, "ann", "Asked", "o1/1", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	updated(&f, "!", "Secret", "s1", "{\"text\":\"no\"}");
	updated(&f, "!", "Order", "o1", "{\"status\":\"placed\"}");
	o = take(&f, &create, &now_yes);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_CONFLICT);
	app_fixture_close(&f);
}

/* What does not matter changes: one request. */
static void only_what_was_read_is_in_the_condition(void **state)
{
	static const struct {
		struct step step;
		struct change change;
	} cases[] = {
		{ { CREATE, "ann", "Line", "o1/2", NULL, NULL }, ORDER_NOTE },
		{ { DELETE, "ann", "Line", "o1/1", NULL, NULL }, ORDER_NOTE },
		{ { CREATE, "ann", "Counted", "o1/2", NULL, NULL }, ORDER_NOTE },
		{ { CREATE, "ann", "Seer", "o1/2", NULL, NULL }, { "SECRET#s1", "SECRET", "text", "{'S':'no'}" } },
		{ { CREATE, "ann", "Work", "o1/2", NULL, NULL }, { "GROUP#g1", "GROUP", "title", "{'S':'x'}" } },
		{ { CREATE, "ann", "Work", "o1/2", NULL, NULL }, { "GROUP#g1", "MEMBER#ann", "since", "{'S':'x'}" } },
		{ { CREATE, "ann", "Short", "s1", NULL, NULL }, ORDER_GONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct app_fixture f;
		struct outcome o;

		world(&f);
		o = take(&f, &cases[i].step, &cases[i].change);
		if (!o.done || o.writes != 1)
			fail_msg("case %zu: %s: %s, %d writes", i, cases[i].step.entity,
				 o.done ? "done" : problem_name(o.problem), o.writes);
		app_fixture_close(&f);
	}
}

/* What a value was made of changes: it is made again, and the write goes through. */
static void values_are_made_of_what_is_there_at_the_end(void **state)
{
	static const struct change low = RATE_LOW;
	static const struct step create = { CREATE, "ann", "Bill", "o1/2", NULL, NULL };
	static const struct step copy = { CREATE, "ann", "Copied", "o1/2", NULL, NULL };
	static const struct step renew = { ACT, "ann", "Bill", "o1/1", NULL, "renew" };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	o = take(&f, &create, &low);
	assert_true(o.done);
	assert_int_equal(o.writes, 2);
	assert_int_equal(number(o.full, "rate"), 3);
	assert_int_equal(number(o.full, "copied"), 3);
	app_fixture_close(&f);

	world(&f);
	o = take(&f, &copy, &low);
	assert_true(o.done);
	assert_int_equal(o.writes, 2);
	assert_int_equal(number(o.full, "copied"), 3);
	app_fixture_close(&f);

	world(&f);
	o = take(&f, &renew, &low);
	assert_true(o.done);
	assert_int_equal(o.writes, 2);
	assert_int_equal(number(o.full, "again"), 3);
	app_fixture_close(&f);
}

/* The item that allows it is where the new one would be. */
static void an_item_may_both_allow_and_block_a_creation(void **state)
{
	static const struct change gone = { "ORDER#o1", "SEAT#ann", NULL, NULL };
	static const struct step create = { CREATE, "ann", "Seat", "o1/ann", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	created(&f, "!", "Seat", "o1/ann", NULL);
	o = take(&f, &create, NULL);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_EXISTS);
	o = take(&f, &create, &gone);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_FORBIDDEN);
	app_fixture_close(&f);
}

static void what_is_required_has_not_expired(void **state)
{
	static const struct step create = { CREATE, "ann", "Fine", "o1/1", NULL, NULL };
	struct app_fixture f;

	(void)state;
	world(&f);
	created(&f, "!", "Ban", "o1", "{\"expires_at\":1000}"); /* it lingers */
	assert_false(take(&f, &create, NULL).done);
	app_fixture_close(&f);
	world(&f);
	created(&f, "!", "Ban", "o1", "{\"expires_at\":1999999999}");
	assert_true(take(&f, &create, NULL).done);
	app_fixture_close(&f);
}

/* Nothing of it was read but that it is there. */
static void what_must_be_there_is_still_there(void **state)
{
	static const struct change gone = { "ORDER#o1", "ORDER", NULL, NULL };
	static const struct step create = { CREATE, "ann", "Short", "s2", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	o = take(&f, &create, &gone);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_FORBIDDEN);
	app_fixture_close(&f);
}

/* A count's target is in the transaction, so a copy of it is current, without a later repair. */
static void a_copy_of_what_is_counted_on_is_not_born_stale(void **state)
{
	static const struct change dearer = { "ORDER#o1", "ORDER", "rate", "{'N':'9'}" };
	static const struct step create = { CREATE, "ann", "Tally", "o1/1", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	o = take(&f, &create, &dearer);
	assert_true(o.done);
	assert_int_equal(o.writes, 2);
	assert_int_equal(number(item(&f, "Tally", "o1/1"), "copied"), 9);
	app_fixture_close(&f);
}

/* Nothing holds the source of a kept copy until the commit: the two are compared after it, also where no keeper
 * does. */
static void a_kept_copy_that_was_born_stale_is_brought_up_to_date_at_once(void **state)
{
	static const struct change dearer = { "ORDER#o1", "ORDER", "rate", "{'N':'9'}" };
	static const struct step create = { CREATE, "ann", "Note", "o1/1", NULL, NULL };
	struct app_fixture f;

	(void)state;
	world(&f);
	assert_true(take(&f, &create, &dearer).done);
	assert_int_equal(number(item(&f, "Note", "o1/1"), "copied"), 9);
	app_fixture_close(&f);
}

/* Active when the permissions were read, not when it was read by its key, and again at the commit: at no time was it
 * both. */
static void items_that_changed_between_two_reads_decide_nothing(void **state)
{
	static const struct change resting = { "GROUP#g1", "MEMBER#ann", "active", "{'BOOL':false}" };
	static const struct change active = { "GROUP#g1", "MEMBER#ann", "active", "{'BOOL':true}" };
	static const struct step create = { CREATE, "ann", "Riddle", "r1", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	o = take_between(&f, &create, &resting, &active);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_FORBIDDEN);
	assert_false(is_stored(&f, "RIDDLE#r1", "RIDDLE"));
	app_fixture_close(&f);
}

/* The badge is another order's, or becomes it. */
static void a_rule_is_not_decided_by_an_item_of_another_identity(void **state)
{
	static const struct change to_o1 = { "BADGE#gold", "BADGE", "id", "{'S':'o1'}" };
	static const struct change to_o2 = { "BADGE#gold", "BADGE", "id", "{'S':'o2'}" };
	/* clang-format off */
	static const struct {
		enum verb verb;
		const char *badge;
		const struct change *change;
		bool done;
	} cases[] = {
		{ CREATE, "o2/gold", NULL, false }, { CREATE, "o1/gold", NULL, true }, { CREATE, "o1/gold", &to_o2, false },
		{ DELETE, "o2/gold", NULL, true },  { DELETE, "o1/gold", NULL, false }, { DELETE, "o2/gold", &to_o1, false },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct step s = { cases[i].verb, "ann", "Door", "o1/1", NULL, NULL };
		struct app_fixture f;
		struct outcome o;

		world(&f);
		created(&f, "!", "Badge", cases[i].badge, NULL);
		if (cases[i].verb == DELETE)
			created(&f, "!", "Door", "o1/1", NULL);
		o = take(&f, &s, cases[i].change);
		if (o.done != cases[i].done || (!o.done && o.problem != PROBLEM_FORBIDDEN))
			fail_msg("case %zu: %s", i, o.done ? "done" : problem_name(o.problem));
		app_fixture_close(&f);
	}
}

static void an_expired_item_counts_as_gone(void **state)
{
	static const struct change alive = { "ORDER#o1", "BAN", "expires_at", "{'N':'1999999999'}" };
	static const struct change dead = { "ORDER#o1", "BAN", "until", "{'N':'5'}" };
	static const struct step create = { CREATE, "ann", "Free", "o1/2", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	created(&f, "!", "Ban", "o1", "{\"expires_at\":1000}");
	o = take(&f, &create, &dead);
	assert_true(o.done);
	assert_int_equal(o.writes, 1);
	app_fixture_close(&f);

	world(&f);
	created(&f, "!", "Ban", "o1", "{\"expires_at\":1000}");
	o = take(&f, &create, &alive);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_FORBIDDEN);
	app_fixture_close(&f);
}

static void another_item_where_it_would_be_is_not_it(void **state)
{
	static const struct change later = { "ORDER#o1", "BAN", "until", "{'N':'5'}" };
	static const struct change banned = { "ORDER#o1", "BAN", "type", "{'S':'BAN'}" };
	static const struct step create = { CREATE, "ann", "Free", "o1/2", NULL, NULL };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	world(&f);
	created(&f, "!", "Pass", "o1", NULL);
	o = take(&f, &create, &later);
	assert_true(o.done);
	assert_int_equal(o.writes, 1);
	app_fixture_close(&f);

	world(&f);
	created(&f, "!", "Pass", "o1", NULL);
	o = take(&f, &create, &banned);
	assert_false(o.done);
	assert_int_equal(o.problem, PROBLEM_FORBIDDEN);
	app_fixture_close(&f);
}

static void a_missing_count_target_is_known(void **state)
{
	static const struct step delete = { DELETE, "ann", "Rest", "o2/1", NULL, NULL };
	static const struct change back = { "ORDER#o2", "ORDER", "id", "{'S':'o2'}" };
	struct app_fixture f;
	struct outcome o;

	(void)state;
	for (int i = 0; i < 2; i++) {
		world(&f);
		created(&f, "ann", "Rest", "o2/1", NULL);
		deleted(&f, "!", "Order", "o2");
		o = take(&f, &delete, i ? &back : NULL);
		assert_int_equal(o.done, i == 0);
		assert_int_equal(is_stored(&f, "ORDER#o2", "REST#1"), i == 1);
		assert_int_equal(is_stored(&f, "ORDER#o2", "ORDER"),
				 i == 1); /* nothing was counted off what is not there */
		app_fixture_close(&f);
	}
}

static void nothing_is_added_where_nothing_was_looked_at(void **state)
{
	/* clang-format off */
	static const struct {
		struct step step;
		int writes;
		size_t actions;
		bool checks;
	} cases[] = {
		{ { CREATE, "ann", "Mine", "m2", NULL, NULL }, 1, 1, false },
		{ { CREATE, "ann", "Short", "s1", NULL, NULL }, 1, 1, false },
		{ { CREATE, "ann", "Short", "s2", NULL, NULL }, 1, 2, true },
		{ { UPDATE, "ann", "Mine", "m1", "{\"label\":\"b\"}", NULL }, 1, 1, false }, /* merged with the item's own condition */
		{ { CREATE, "ann", "Counted", "o1/2", NULL, NULL }, 1, 2, false },            /* and with the count's */
		{ { CREATE, "ann", "Line", "o1/2", NULL, NULL }, 1, 2, true },
		{ { CREATE, "!", "Line", "o1/2", NULL, NULL }, 1, 1, false },                 /* no rule is asked of operators */
		{ { UPDATE, "!", "Work", "o1/1", "{\"label\":\"b\"}", NULL }, 1, 1, false },
		{ { CREATE, "ann", "Work", "o1/2", NULL, NULL }, 1, 3, true },
		{ { UPDATE, "ann", "Line", "o1/1", "{\"amount\":1}", NULL }, 0, 0, false },   /* as it was: nothing is written */
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct app_fixture f;
		struct outcome o;

		world(&f);
		o = take(&f, &cases[i].step, NULL);
		if (!o.done || o.writes != cases[i].writes || o.most != cases[i].actions || o.checks != cases[i].checks)
			fail_msg("case %zu: %s: %s, %d writes of %zu actions, %s checks", i, cases[i].step.entity,
				 o.done ? "done" : problem_name(o.problem), o.writes, o.most,
				 o.checks ? "with" : "without");
		app_fixture_close(&f);
	}
}

/* ---- at once ---- */

#define RACES 40

struct racer {
	struct backend between; /* first */
	struct app_fixture *fixture;
	struct backend *backend;
	struct arena arena;
	pthread_barrier_t *barrier;
	bool places;
	bool first; /* nothing of this round is written yet */
	int done, wrong;
};

/* Both have read and decided before either writes. */
static void race_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		      struct backend_reply *reply)
{
	struct racer *w = (struct racer *)b;

	if (w->first && strcmp(operation, "GetItem")) {
		w->first = false;
		pthread_barrier_wait(w->barrier);
	}
	w->backend->call(w->backend, a, operation, body, reply);
}

static void *race(void *ctx)
{
	struct racer *w = ctx;

	for (int i = 0; i < RACES; i++) {
		struct run r = { .app = &w->fixture->app,
				 .design = w->fixture->design,
				 .backend = &w->between,
				 .arena = &w->arena,
				 .now_ms = APP_FIXTURE_NOW,
				 .caller = { .subject = SLICE("ann") } };
		char path[32];
		struct write_result out;
		bool done;

		snprintf(path, sizeof(path), "r%d/1", i);
		if (w->places)
			*strchr(path, '/') = 0;
		w->first = true;
		done = w->places ? try_action(&r, "Order", path, "place", NULL, &out)
				 : try_delete(&r, "Counted", path, NULL);
		w->done += done;
		w->wrong += !done && r.problem.type != PROBLEM_CONFLICT && r.problem.type != PROBLEM_FORBIDDEN;
		arena_clear(&w->arena);
	}
	return NULL;
}

static void no_order_is_placed_and_empty(void **state)
{
	struct racer w[2];
	pthread_barrier_t barrier;
	pthread_t threads[2];
	struct app_fixture f;
	char path[32];

	(void)state;
	world(&f);
	for (int i = 0; i < RACES; i++) {
		snprintf(path, sizeof(path), "r%d", i);
		created(&f, "ann", "Order", path, NULL);
		snprintf(path, sizeof(path), "r%d/1", i);
		created(&f, "ann", "Counted", path, NULL);
	}
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++) {
		w[i] = (struct racer){ .fixture = &f,
				       .backend = backend_local_new(f.api),
				       .barrier = &barrier,
				       .places = i == 0,
				       .between = { .call = race_call } };
		arena_init(&w[i].arena);
		assert_int_equal(pthread_create(&threads[i], NULL, race, &w[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(w[i].wrong, 0);
		arena_release(&w[i].arena);
		backend_free(w[i].backend);
	}
	pthread_barrier_destroy(&barrier);
	assert_int_equal(w[0].done + w[1].done, RACES);
	for (int i = 0; i < RACES; i++) {
		struct value order;

		snprintf(path, sizeof(path), "r%d", i);
		order = item(&f, "Order", path);
		assert_true(slice_is(value_bytes(value_get(order, SLICE("status"))), "placed") ==
			    (number(order, "lines") == 1));
	}
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_permission_is_checked_again),
		cmocka_unit_test(a_requirement_that_starts_to_hold_is_asked),
		cmocka_unit_test(only_what_was_read_is_in_the_condition),
		cmocka_unit_test(values_are_made_of_what_is_there_at_the_end),
		cmocka_unit_test(an_item_may_both_allow_and_block_a_creation),
		cmocka_unit_test(what_is_required_has_not_expired),
		cmocka_unit_test(what_must_be_there_is_still_there),
		cmocka_unit_test(a_copy_of_what_is_counted_on_is_not_born_stale),
		cmocka_unit_test(a_kept_copy_that_was_born_stale_is_brought_up_to_date_at_once),
		cmocka_unit_test(items_that_changed_between_two_reads_decide_nothing),
		cmocka_unit_test(a_rule_is_not_decided_by_an_item_of_another_identity),
		cmocka_unit_test(an_expired_item_counts_as_gone),
		cmocka_unit_test(another_item_where_it_would_be_is_not_it),
		cmocka_unit_test(a_missing_count_target_is_known),
		cmocka_unit_test(nothing_is_added_where_nothing_was_looked_at),
		cmocka_unit_test(no_order_is_placed_and_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
