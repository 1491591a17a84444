/* Every kind of error of a design, «exactly» where it is. SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#define BASE                               \
	"design: shop\n"                   \
	"table: Shop\n"                    \
	"key: [PK, SK]\n"                  \
	"indexes:\n"                       \
	"  GSI1: {key: [G1, G2]}\n"        \
	"callers:\n"                       \
	"  roles: [user, admin]\n"         \
	"entities:\n"                      \
	"  User:\n"                        \
	"    path: /users/<uid>\n"         \
	"    attributes:\n"                \
	"      uid: string\n"              \
	"      name: string\n"             \
	"      things: counter\n"          \
	"    keys: {PK: U#<uid>, SK: U}\n" \
	"  Thing:\n"                       \
	"    path: /things/<id>\n"         \
	"    keys: {PK: T#<id>, SK: T}\n"

#define ATTRIBUTES                 \
	"    attributes:\n"        \
	"      id: string\n"       \
	"      owner: string\n"    \
	"      state: NEW | OLD\n" \
	"      at: timestamp\n"    \
	"      n: number\n"

#define ACCESS      \
	"access:\n" \
	"  of owner: {path: /o/<who>, query: table, where: {PK: O#<who>}}\n"

struct wrong {
	const char *text, *rule, *says;
};

static void expect_all(const char *before, const struct wrong *cases, size_t count, const char *after)
{
	for (size_t i = 0; i < count; i++)
		expect_error(arena_cstr(&arena, arena_printf(&arena, "%s%s%s", before, cases[i].text, after)),
			     cases[i].rule, cases[i].says);
}

#define EXPECT_ALL(before, cases, after) expect_all(before, cases, sizeof(cases) / sizeof((cases)[0]), after)

static void what_is_also_written_is_complete_and_ends(void **state)
{
	/* clang-format off */
	static const struct wrong of_entity[] = {
		{ "      - «»{put: User, with: {uid: id}}\n", "missing-word", "expected 'on'" },
		{ "      - {on: «made», put: User, with: {uid: id}}\n", "unknown-word", "made" },
		{ "      - {on: created, put: «Usr», with: {uid: id}}\n", "unknown-entity", "Usr" },
		{ "      - {on: created, put: User, with: {uid: id, «nme»: owner}}\n", "unknown-attribute", "nme" },
		{ "      - {on: created, put: User, with: {uid: «ownr»}}\n", "unknown-attribute", "ownr" },
		{ "      - «»{on: created, put: User, with: {name: owner}}\n", "missing-word", "gives no 'uid'" },
		{ "      - {on: created, put: User, with: {uid: id, «things»: 3}}\n", "wrong-clause", "use 'add'" },
		{ "      - {on: created, put: User, with: {uid: id, name: «n»}}\n", "wrong-type", "a text is expected" },
		{ "      - {on: created, update: User(owner), add: {«name»: 1}}\n", "wrong-type", "is no counter" },
		{ "      - {on: created, update: User(owner), add: {things: «owner»}}\n", "wrong-type", "a number is expected" },
		{ "      - «»{on: created, update: User(owner)}\n", "missing-word", "'with' or 'add'" },
		{ "      - «»{on: created, delete: User(owner), with: {name: owner}}\n", "wrong-clause", "has no 'with'" },
		{ "      - «»{on: created, put: User, with: {uid: id}, add: {things: 1}}\n", "wrong-clause", "goes with 'update'" },
		{ "      - «»{on: created, when: n > 1}\n", "missing-word", "'put', 'update' and 'delete'" },
		{ "      - {on: created, for: x in «n», put: User, with: {uid: x}}\n", "wrong-type", "a list is expected" },
		{ "      - {on: created, when: «n», delete: User(owner)}\n", "wrong-type", "a condition is expected" },
		{ "      - «»{on: created, put: Thing, with: {id: owner}}\n", "circle", "leads to itself" },
		{ "      - {on: created, «putt»: User}\n", "unknown-word", "put" },
	};
	static const struct wrong of_counts[] = {
		{ "      - {for: t in «tgs», User(t).things}\n", "unknown-attribute", "tgs" },
		{ "      - {for: t in «n», User(t).things}\n", "wrong-type", "a list is expected" },
		{ "      - {for: t in tags, User(«x»).things}\n", "unknown-attribute", "x" },
		{ "      - {for: «id» in tags, User(id).things}\n", "bad-name", "an attribute already" },
		{ "      - {for: «tags», User(id).things}\n", "wrong-value", "expected a loop" },
		{ "      - «»{for: t in tags}\n", "missing-value", "a count after the loop" },
		{ "      - «»{fr: t in tags, User(t).things}\n", "wrong-value", "expected a count" },
	};
	static const struct wrong of_groups[] = {
		{ "      r: counter for each a | «b c»\n", "wrong-value", "a word of letters" },
		{ "      r: counter for each a | «a»\n", "duplicate-key", "twice" },
		{ "      r: counter for each a | b\n      z: = «r.c» + 1\n", "unknown-attribute", "r" },
		{ "      r: counter for each a | b\n    counts:\n      - Thing(owner).r[«x»]\n", "unknown-attribute", "x" },
		{ "      r: counter for each a | b\n    counts:\n      - Thing(owner).n[«owner»]\n", "wrong-type", "counter for each" },
		{ "      r: counter for each NEW | b\n    counts:\n      - Thing(owner).r[«state»]\n", "unknown-choice", "'OLD' of state" },
		{ "      r: counter for each a | b\n    check: {«r.a»: no}\n", "wrong-type", "a condition is expected" },
	};
	static const struct wrong of_requires[] = {
		{ "      - {for: t in tags, User(«x»): no}\n", "unknown-attribute", "x" },
		{ "      - {for: t in tags, «Usr»(t) if name = 'x'}\n", "unknown-entity", "Usr" },
	};
	static const struct wrong of_action[] = {
		{ "«»{on: created, put: User, with: {uid: id}}", "wrong-clause", "part of its action" },
		{ "{put: User, with: {uid: «input.nothing»}}", "unknown-attribute", "nothing" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES "    also:\n", of_entity, "");
	EXPECT_ALL(BASE ATTRIBUTES, of_groups, "");
	EXPECT_ALL(BASE ATTRIBUTES "      tags: list of string\n    counts:\n", of_counts, "");
	EXPECT_ALL(BASE ATTRIBUTES "      tags: list of string\n    requires:\n", of_requires, "");
	expect_error(BASE ATTRIBUTES "      tags: list of string\n    lives while: [{for: t in tags, «User»(t)}]\n",
		     "wrong-clause", "has no 'for'");
	EXPECT_ALL(BASE ATTRIBUTES "    actions:\n      go: {also: [", of_action, "]}\n");
	expect_error(BASE ATTRIBUTES
		     "    actions:\n      go: {add: {n: 1}, gather: 5 s, also: [{delete: User(owner)}]}\n",
		     "wrong-clause", "only 'add'");
	expect_error(BASE ATTRIBUTES "      «m»: string, last writer, fixed\n", "wrong-clause",
		     "the last writer is set");
	expect_error(BASE ATTRIBUTES "      m: number, «last writer»\n", "wrong-clause", "for strings only");
}

static void sequences_are_taken_from_and_nothing_else(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "      m: integer, next of «User»(owner).things\n", "wrong-type", "'things' of User is not a sequence" },
		{ "      m: integer, next of User(owner).«nothing»\n", "unknown-attribute", "nothing" },
		{ "      m: integer, next of «Usr»(owner).things\n", "unknown-entity", "Usr" },
		{ "      m: integer, «next of User(owner)»\n", "wrong-value", "expected the sequence" },
		{ "      s: sequence\n      m: string, «next of Thing(owner).s»\n", "wrong-clause", "for integers only" },
		{ "      «m»: sequence, required\n", "wrong-clause", "a sequence gets its value by itself" },
		{ "      s: sequence\n      «m»: integer, next of Thing(owner).s, default 3\n", "wrong-clause",
		  "a number taken from a sequence gets its value by itself" },
		{ "      s: sequence\n    actions: {go: {add: {«s»: 1}}}\n", "wrong-type", "not a number that can be added to" },
		{ "      s: sequence\n    actions: {go: {set: {«s»: 1}}}\n", "wrong-type", "moves only when a number is taken" },
		{ "      s: sequence\n      m: integer, next of Thing(owner).s\n    actions: {go: {set: {«m»: 1}}}\n", "wrong-type",
		  "never changes" },
		{ "      s: sequence\n    counts: [«Thing»(owner).s]\n", "wrong-type", "not a number that can be counted" },
		{ "      s: «sequenc»\n", "unknown-type", "did you mean 'sequence'" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES, cases, "");
}

static void references_are_checked(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "      x: reference to «Usr»\n", "unknown-entity", "did you mean 'User'" },
		{ "      x: «reference to»\n", "missing-value", "expected an entity" },
		{ "      x: reference to «User»(owner)\n", "wrong-value", "must be 'x' itself" },
		{ "      x: reference to «User»(x, owner)\n", "wrong-count", "by 1 value, not by 2" },
		{ "      x: reference to User «required»\n", "wrong-value", "expected ',' after 'User'" },
		{ "      x: reference to User(x) «fixed»\n", "wrong-value", "expected ',' after the reference" },
		{ "      «x»: reference to User, lower\n", "wrong-clause", "no 'lower'" },
		{ "      «x»: reference to User 1..5\n", "wrong-clause", "no a range" },
		{ "      «x»: list of reference to User\n", "out-of-range", "at most 90" },
		{ "      «x»: list of reference to User 0..91\n", "out-of-range", "at most 90" },
		{ "      «x»: list of reference to User 0..5, tree\n", "wrong-clause", "one parent" },
		{ "      x: reference to «User», tree\n", "wrong-value", "the parent is a Thing, too, not a User" },
		{ "      «x»: reference to Thing, tree, may be missing\n", "wrong-clause", "no 'may be missing'" },
		{ "      «x»: string, may be missing\n", "wrong-clause", "for references only" },
		{ "      «x»: string, tree\n", "wrong-clause", "for references only" },
		{ "      x: {a: «reference to User»}\n", "wrong-type", "an attribute of an entity" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES, cases, "");
}

static void unknown_words_have_suggestions(void **state)
{
	static const struct wrong cases[] = {
		{ "«tabel»: x\n", "unknown-word", "did you mean 'table'" },
		{ "«zzz»: x\n", "unknown-word", "there is no word 'zzz' in a design" },
		{ "stream: «new images»\n", "unknown-word", "did you mean 'new image'" },
		{ "billing: {read: 1, write: 1, «rite»: 2}\n", "unknown-word", "did you mean 'write'" },
		{ "    «companion»: {}\n", "unknown-word", "did you mean 'companions'" },
		{ "    «keys whenever»: {}\n", "unknown-word", "in an entity" },
		{ "    allow: {«raed»: anyone}\n", "unknown-word", "did you mean 'read'" },
		{ "    actions: {go: {set: {n: 1}, «wen»: n = 1}}\n", "unknown-word", "did you mean 'when'" },
		{ "    delete: {«then remov»: x}\n", "unknown-word", "did you mean 'then remove'" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, «rol»: owner}\n", "unknown-word",
		  "did you mean 'role'" },
		{ ACCESS "  x: {path: /x, query: table, where: {PK: A}, «filtr»: n = 1}\n", "unknown-word",
		  "did you mean 'filter'" },
		{ ACCESS "  x: {path: /x, query: table, where: {PK: A}, order: «newest»}\n", "unknown-word",
		  "newest first" },
		{ ACCESS "  x: {path: /x, merge: {run: of owner, «fr»: x, for: n in 1..2, with: {who: n}}}\n",
		  "unknown-word", "did you mean 'for'" },
		{ ACCESS "processors: {p: {on: Thing «mad», delete: Thing(id)}}\n", "unknown-word", "created" },
		{ ACCESS "processors: {p: {on: Thing created, delete: Thing(id), «wiht»: {}}}\n", "unknown-word",
		  "did you mean 'with'" },
	};

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES, cases, "");
}

static void attributes_are_checked(void **state)
{
	static const struct wrong cases[] = {
		{ "«strng»", "unknown-type", "did you mean 'string'" },
		{ "«sett of string»", "unknown-type", "did you mean 'set of string'" },
		{ "list of «strin»", "unknown-type", "did you mean 'string'" },
		{ "set of «map»", "wrong-value", "a set holds" },
		{ "string, «requird»", "unknown-clause", "did you mean 'required'" },
		{ "string, «the calle»", "unknown-clause", "did you mean 'the caller'" },
		{ "string, required, «required»", "duplicate-key", "twice" },
		{ "integer «5..1»", "out-of-range", "nothing is in the range" },
		{ "integer «a..1»", "wrong-value", "a range of numbers" },
		{ "«boolean 1..2»", "wrong-clause", "a range is for" },
		{ "timestamp, «lower»", "wrong-clause", "for strings" },
		{ "number, «now»", "wrong-clause", "for timestamps" },
		{ "number, «id»", "wrong-clause", "for strings" },
		{ "string, id «usr_»", "wrong-value", "in quotes" },
		{ "a | b, default «c»", "unknown-choice", "known: a, b" },
		{ "a | b, default «'aa'»", "unknown-choice", "a" },
		{ "a | «a»", "duplicate-key", "twice" },
		{ "boolean, default «3»", "wrong-value", "not a value of this type" },
		{ "number, default «'x'»", "wrong-value", "not a value of this type" },
		{ "string, default «ownr» + 1", "unknown-attribute", "did you mean 'owner'" },
		{ "epoch, «30 dayz after at»", "wrong-value", "seconds, minutes" },
		{ "epoch, 30 days after «att»", "unknown-attribute", "did you mean 'at'" },
		{ "string, «30 days after at»", "wrong-clause", "for epochs" },
		{ "= «ownr»", "unknown-attribute", "did you mean 'owner'" },
		{ "= owner +«»", "bad-term", "value is expected" },
		{ "copy of «Usr»(owner).name", "unknown-entity", "did you mean 'User'" },
		{ "copy of User(«ownr»).name", "unknown-attribute", "did you mean 'owner'" },
		{ "copy of User(owner).«nam»", "unknown-attribute", "did you mean 'name'" },
		{ "copy of «User»(owner, id).name", "wrong-count", "by 1 value, not by 2" },
		{ "«copy of User(owner)»", "wrong-value", "the attribute to copy" },
		{ "copy of User(owner).name, kept by «nothing»", "unknown-pattern", "nothing" },
		{ "copy of User(owner).name if «nam» = 'x'", "unknown-attribute", "did you mean 'name'" },
		{ "copy of User(owner).name if «exists User(name)»", "wrong-value", "attributes of its source" },
		{ "copy of User(owner).name if «name = caller»", "wrong-value", "attributes of its source" },
		{ "string, when «stat» = 'NEW'", "unknown-attribute", "did you mean 'state'" },
		{ "string, when state = «'NWE'»", "unknown-choice", "did you mean 'NEW'" },
	};

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES "      x: ", cases, "\n");
	expect_error(BASE ATTRIBUTES "      «x»: counter, required\n", "wrong-clause", "a counter gets its value");
	expect_error(BASE ATTRIBUTES "      «x»: string, hidden, private\n", "wrong-clause", "exclude");
	expect_error(BASE ATTRIBUTES "      «x»:\n", "missing-value", "expected a type");
	expect_error(BASE ATTRIBUTES "      x: «[»string]\n", "wrong-value", "not a list");
	expect_error(BASE ATTRIBUTES "      «two words»: string\n", "bad-name", "letters, digits");
	expect_error(BASE ATTRIBUTES "      «caller»: string\n", "bad-name", "has a meaning");
	expect_error(BASE ATTRIBUTES "      «owner»: string\n", "duplicate-key", "twice, first in line 21");
}

static void the_parts_of_an_entity_are_checked(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "    keys when n > 1: {G1: X#<«idd»>}\n", "unknown-attribute", "did you mean 'id'" },
		{ "    keys when n > 1: {G1: X#<id:«dat»>}\n", "bad-template", "did you mean date" },
		{ "    keys when n > 1: {G1: «{»a: b}}\n", "wrong-value", "expected a template" },
		{ "    «keys when»: {G1: a}\n", "missing-value", "a term after" },
		{ "    companions: [«{»PK: A}]\n", "missing-word", "needs 'SK'" },
		{ "    companions: [{PK: A, SK: <«tag»>}]\n", "unknown-attribute", "tag" },
		{ "    companions: [{PK: A, SK: B, unique: «ownr»}]\n", "unknown-attribute", "owner" },
		{ "    companions: [{PK: A, SK: B, for: «tag of tags»}]\n", "wrong-value", "a loop" },
		{ "    companions: [{PK: A, SK: B, for: t in «ownrs»}]\n", "unknown-attribute", "owner" },
		{ "    companions: [«x»]\n", "wrong-value", "a companion" },
		{ "    counts: [«Usr»(owner).things]\n", "unknown-entity", "User" },
		{ "    counts: [User(owner).«thing»]\n", "unknown-attribute", "things" },
		{ "    counts: [«User»(owner).name]\n", "wrong-type", "not a number" },
		{ "    counts: [«things»]\n", "wrong-value", "expected an item" },
		{ "    counts: [«User(owner)»]\n", "wrong-value", "expected the counter" },
		{ "    counts: [User(owner).things «whn n > 1»]\n", "unknown-word", "'by', 'when' or 'if'" },
		{ "    counts: [User(owner).things by «m»]\n", "unknown-attribute", "m" },
		{ "    counts: [User(owner).things if «n» = 1]\n", "unknown-attribute", "n" },
		{ "    requires: [«Usr»(owner)]\n", "unknown-entity", "User" },
		{ "    requires: [User(owner) by «n»]\n", "unknown-word", "'when' or 'if'" },
		{ "    requires: [{«User»(owner, n): gone}]\n", "wrong-count", "its path is /users/<uid>" },
		{ "    check: {«m» > 1: too few}\n", "unknown-attribute", "m" },
		{ "    check: {owner = «somebody»: never}\n", "unknown-attribute", "put it in quotes: 'somebody'" },
		{ "    check: {«n > 1»:}\n", "missing-value", "a sentence" },
		{ "    check: «n > 1»\n", "wrong-value", "a map of terms" },
		{ "    allow: «anyone»\n", "wrong-value", "a map of who" },
		{ "    allow: {read: «caller is admn»}\n", "unknown-role", "did you mean 'admin'" },
		{ "    allow: {read: «caller may 'x'»}\n", "missing-word", "permissions" },
		{ "    allow: {read: «exists Thng(id)»}\n", "unknown-entity", "Thing" },
		{ "    allow: {read: «User(owner).nam» = 'x'}\n", "unknown-attribute", "name" },
		{ "    allow:\n      read: anyone\n      «update, read»: nobody\n", "duplicate-key", "'read' is given twice" },
		{ "    actions: {«a b»: {set: {n: 1}}}\n", "bad-name", "an action" },
		{ "    actions: {«go»: {when: n = 1}}\n", "missing-word", "changes something" },
		{ "    actions: {go: {set: {«m»: 1}}}\n", "unknown-attribute", "attribute of Thing" },
		{ "    actions: {go: {set: {state: «NWE»}}}\n", "unknown-choice", "NEW" },
		{ "    actions: {go: {set: {n: «m»}}}\n", "unknown-attribute", "m" },
		{ "    actions: {go: {remove: [«m»]}}\n", "unknown-attribute", "m" },
		{ "    actions: {go: {input: «m»}}\n", "unknown-attribute", "m" },
		{ "    actions: {go: {add: {«state»: 1}}}\n", "wrong-type", "not a number" },
		{ "    actions: {«go»: {set: {n: 1}, gather: 5 s}}\n", "wrong-clause", "only 'add'" },
		{ "    actions: {go: {set: {n: 1}, creates: «yes»}}\n", "wrong-value", "true or false" },
		{ "    delete: {refuse while: [«nothing»]}\n", "unknown-pattern", "nothing" },
		{ "    delete: {set: {«m»: 1}}\n", "unknown-attribute", "m" },
		{ "    delete: {set: {n: 1}, remove: [«m»]}\n", "unknown-attribute", "m" },
		{ "    delete: «{»remove: [n]}\n", "missing-word", "which marks the item as deleted" },
		{ "    delete: «{»set: {n: 1}, remove: [n]}\n", "wrong-clause", "'n' is set and removed" },
		{ "    delete: «{»set: {n: 1}, remove: [id]}\n", "wrong-clause", "'id' is part of the identity" },
		{ "    login: {by: owner, password: «owner», subject: owner}\n", "not-hidden", "must be 'hidden'" },
		{ "    login: «{»by: owner, subject: owner}\n", "missing-word", "either 'password' or 'secret'" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, claims: {«tenant»: owner}}\n", "unknown-claim",
		  "there is no claim 'tenant'" },
		{ "    allow: {read: owner = «caller.tenant»}\n", "unknown-claim", "there is no claim 'tenant'" },
		{ "    allow: {read: owner = caller.a«.»b}\n", "bad-term", "" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: «{»to: x}}\n", "missing-word",
		  "needs 'address'" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: {address: owner, letters: {reset: {text: «no»}}}}\n", "missing-word",
		  "a letter needs <token>" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: {address: owner, letters: {reset: {subject: «<token>»}}}}\n", "wrong-value",
		  "a token in a subject" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: {address: owner, letters: {proof: {text: <token> for <«ownr»>}}}}\n", "unknown-name",
		  "did you mean 'owner'" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: {address: owner, letters: {proof: {text: a «<»token}}}}\n", "bad-template",
		  "'>' is missing" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: {address: owner, letters: {«rest»: {text: <token>}}}}\n", "unknown-word",
		  "did you mean 'reset'" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, mail: {to: x, address: «ownr»}}\n",
		  "unknown-attribute", "did you mean 'owner'" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, session: «soon»}\n", "wrong-value", "a time, as in" },
		{ "    login: «{»by: owner, secret: {PK: A, SK: B}, subject: owner, session: 4000 days}\n", "bad-session",
		  "at most 3660 days" },
		{ "    login: «{»by: owner, secret: {PK: A, SK: B}, subject: owner, token: 2 days}\n", "bad-session",
		  "at most 1 day" },
		{ "    login: «{»by: owner, secret: {PK: A, SK: B}, subject: owner, session: 1 h, token: 2 h}\n", "bad-session",
		  "longer than its session" },
		{ "    login: {by: owner, secret: {PK: A, SK: B}, subject: owner, when: «m» = 1}\n", "unknown-attribute", "m" },
		{ "    version: «m»\n", "unknown-attribute", "m" },
		{ "    found by: «nothing»\n", "unknown-pattern", "nothing" },
		{ "    internal: «[»]\n", "wrong-value", "true or false, not a list" },
		{ "    patterns: {«made»: X}\n", "unknown-word", "verb" },
		{ "    accept: «x»\n", "wrong-value", "rules and reasons" },
		{ "    delete: {set: {n: 1}, «set»}\n", "duplicate-key", "'set' is given twice" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES, cases, "");
	expect_error(BASE ATTRIBUTES "      x: = n + 1\n    keys when n > 1: {«x»: X#<id>}\n", "set-twice",
		     "an attribute of its own in line 25");
	expect_error(
		"design: shop\ntable: Shop\nkey: [PK]\nindexes: {GSI1: {key: [G1], projection: [«ownr»]}}\nentities:\n"
		"  Thing:\n    path: /things/<id>\n    attributes: {id: string, owner: string}\n    keys: {PK: <id>, G1: A}\n",
		"unknown-attribute", "did you mean 'owner'");
	expect_error(BASE ATTRIBUTES ACCESS "  Thing list: {path: /l/<uid>, query: table, where: {PK: <uid>}}\n"
					    "processors: {p: {on: Thing created, count: User(owner).«thing»}}\n",
		     "unknown-attribute", "things");
}

static void the_pattern_of_a_deletion_needs_the_entitys_attributes(void **state)
{
	(void)state;
	expect_error(BASE ATTRIBUTES "    delete: {then remove: [«of owner»]}\n" ACCESS, "unknown-attribute",
		     "has the parameter 'who', which is not an attribute of Thing");
}

static void entities_need_their_parts(void **state)
{
	(void)state;
	expect_error(BASE ATTRIBUTES "  «Bare»:\n    attributes: {a: string}\n    keys: {PK: A, SK: B}\n",
		     "missing-word", "needs a 'path'");
	expect_error(BASE ATTRIBUTES "  «Bare»:\n    path: /b/<a>\n    attributes: {a: string}\n", "missing-word",
		     "needs 'keys'");
	expect_error(BASE ATTRIBUTES "  «Bare»:\n    path: /b/<a>\n    attributes: {a: string}\n    keys: {PK: A}\n",
		     "missing-word", "needs 'SK', the table's sort key");
	expect_error(BASE ATTRIBUTES
		     "  «Bare»:\n    path: /b/<a>\n    attributes: {a: string}\n    keys: {PX: A, SK: B}\n",
		     "missing-word", "needs 'PK', the table's partition key");
	expect_error(BASE ATTRIBUTES "  «Bare»:\n    path: /b\n    attributes: {a: string}\n    keys: {PK: A, SK: B}\n",
		     "bad-path", "at least one");
	expect_error(BASE ATTRIBUTES
		     "  Bare:\n    path: /b/<«b»>\n    attributes: {a: string}\n    keys: {PK: A, SK: B}\n",
		     "unknown-attribute", "'b'");
	expect_error(BASE ATTRIBUTES
		     "  «bare»:\n    path: /b/<a>\n    attributes: {a: string}\n    keys: {PK: A, SK: B}\n",
		     "bad-name", "capital");
	expect_error(BASE ATTRIBUTES "  Bare: «what»\n", "wrong-value", "words of an entity");
}

static void access_patterns_are_checked(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "path: /x, query: «GSI2», where: {PK: A}", "unknown-index", "did you mean 'GSI1'" },
		{ "path: /x, query: table, where: {PK: A#<«b»>}", "unknown-parameter", "'b'" },
		{ "path: /x/<aa>, query: table, where: {PK: A#<«ab»>}", "unknown-parameter", "did you mean 'aa'" },
		{ "path: /x, query: table, where: {«GSI1PK»: A}", "unknown-attribute", "known: PK, SK" },
		{ "path: /x, query: table, where: {PK: A, SK: «begins with»}", "wrong-value", "a condition" },
		{ "path: /x, query: table, where: {PK: A, SK: between «A or B»}", "wrong-value", "between" },
		{ "path: /x, get: {PK: A, «SK»: begins with B}", "wrong-value", "whole keys" },
		{ "path: /x, get: «Thng»(1)", "unknown-entity", "Thing" },
		{ "path: /x, get: Thing(«id»)", "unknown-parameter", "'id'" },
		{ "path: /x, get: «Thing»(1, 2)", "wrong-count", "by 1 value" },
		{ "path: /x, get: Thing('a') «please»", "unknown-word", "nothing after" },
		{ "path: /x, get: Thing('a'), «query»: table", "wrong-clause", "one of" },
		{ "path: /x, get: {PK: A, SK: B}, «where»: {PK: A, SK: B}", "wrong-clause", "goes with 'query'" },
		{ "path: /x, query: table, where: {PK: A}, actions: [«fly»]", "unknown-action", "fly" },
		{ "path: «x», query: table, where: {PK: A}", "bad-path", "begins with '/'" },
		{ "path: «/x/<a>/<a>», query: table, where: {PK: A}", "bad-path", "twice" },
		{ "path: /x/<a>, with: {«a»: string}, query: table, where: {PK: <a>}", "duplicate-key", "path" },
		{ "path: /x, query: table, where: {PK: A}, filter: «m» = 1", "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, filter: n = «input.q»", "unknown-parameter", "q" },
		{ "path: /x, query: table, where: {PK: A}, returns: «Thng»", "unknown-entity", "Thing" },
		{ "path: /x, query: table, where: {PK: A}, limit: «many»", "wrong-value", "a number" },
		{ "path: /x, query: table, where: {PK: A}, limit: «0»", "out-of-range", "from 1" },
		{ "path: /x, query: table, where: {PK: A}, cache: «30 parsecs»", "wrong-value", "a time" },
		{ "path: /x, query: table, where: {PK: A}, one: «1»", "wrong-value", "true or false" },
		{ "path: /x, query: table, where: {PK: A}, without: [«m»]", "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, unite: «m»", "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, then: {get: «Thng», keys: {PK: A, SK: B}}",
		  "unknown-entity", "Thing" },
		{ "path: /x, query: table, where: {PK: A}, then: {get: Thing, keys: {PK: <«m»>, SK: B}}",
		  "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, then: «{»get: Thing}", "missing-word", "needs 'keys'" },
		{ "path: /x, query: table, where: {PK: A}, then: {get: User, keys: {PK: A, SK: B}, keep: «n» = 1}",
		  "unknown-attribute", "n" },
		{ "path: /x, query: table, where: {PK: A}, rank: {by: «m» + 1}", "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, show: {a: «m»}", "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, show: {a: «Usr(owner).name»}", "unknown-entity", "Usr" },
		{ "path: /x, query: table, where: {PK: A}, show: {«a-b»: owner}", "bad-name", "of what is shown" },
		{ "path: /x, query: table, where: {PK: A}, show: «owner»", "wrong-value", "what is shown, as in" },
		{ "path: /x, query: table, where: {PK: A}, returns: Thing, show: {«owner»: User(owner).name}",
		  "duplicate-key", "Thing has 'owner' already" },
		{ "path: /x, query: table, where: {PK: A}, count: true, show: {«a»: owner}", "wrong-clause", "with rows" },
		{ "path: /x, query: table, where: {PK: A}, show: {a: «n + owner»}", "wrong-type", "number" },
		{ "path: /x, query: table, where: {PK: A}, rank: «{»keep: 3}", "missing-word", "needs 'by'" },
		{ "path: /x, query: table, where: {PK: A}, tree: {parent: «m»}", "unknown-attribute", "m" },
		{ "path: /x, query: table, where: {PK: A}, walk: {«d»: one day back, 7 times}",
		  "unknown-parameter", "d" },
		{ "path: /x/<d>, query: table, where: {PK: <d>}, walk: {d: «one mile back, 7 times»}",
		  "wrong-value", "one day back" },
		{ "path: /x/<d>, query: table, where: {PK: <d>}, walk: {d: «one minute back, 7 times»}",
		  "wrong-value", "steps are hours, days, weeks, months or years" },
		{ "path: /x/<d>, query: table, where: {PK: <d>}, walk: {d: «one day up, 7 times»}",
		  "wrong-value", "'back' or 'on'" },
		{ "path: /x/<d>, query: table, where: {PK: «U#<d:ulid>»}", "bad-template", "the bound of a range" },
		{ "path: /x, merge: {run: of owner, for: n in shards, with: {who: n}}", "wrong-value",
		  "reads no key with shards" },
		{ "path: /x, merge: {run: «nothing», for: n in 1..5}", "unknown-pattern", "nothing" },
		{ "path: /x, merge: {run: of owner, for: n in 1..5, with: {«whom»: n}}", "unknown-parameter", "who" },
		{ "path: /x, merge: {run: of owner, for: n in «5..1», with: {who: n}}", "wrong-value", "1..5" },
		{ "path: /x, merge: {run: of owner, for: «n 1..5», with: {who: 1}}", "wrong-value", "a loop" },
		{ "path: /x, merge: «{»run: of owner}", "missing-word", "'for each' or 'for'" },
		{ "path: /x, merge: {of: [of owner, «nothing»], by: at}", "unknown-pattern", "nothing" },
		{ "path: /x, merge: {of: [of owner], by: «m»}", "unknown-attribute", "m" },
		{ "path: /x, batch: «id»", "wrong-value", "expected an item" },
		{ "path: /x, query: table, where: {PK: A}, with: {a: «strng»}", "unknown-type", "string" },
		{ "path: /x, query: table, where: {PK: A}, allow: «caller is boss»", "unknown-role", "known" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES ACCESS "  x: {", cases, "}\n");
	expect_error(BASE ATTRIBUTES ACCESS "  «x»: {path: /x}\n", "missing-word", "'get', 'query'");
	expect_error(BASE ATTRIBUTES ACCESS "  «x»: {path: /x, query: table}\n", "missing-word", "needs 'where'");
	expect_error(BASE ATTRIBUTES ACCESS "  «x»: {path: /o/<a>, query: table, where: {PK: <a>}}\n", "same-path",
		     "'of owner' has this path");
}

static void processors_are_checked(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "on: «Thng» created, delete: User(1)", "unknown-entity", "Thing" },
		{ "on: «Thing», delete: Thing(id)", "wrong-value", "what happens" },
		{ "on: Thing created, when: «m» = 1, delete: Thing(id)", "unknown-attribute", "m" },
		{ "on: Thing created, when: «old.m» = 1, delete: Thing(id)", "unknown-attribute", "m" },
		{ "on: Thing created, each: «x of owner», delete: Thing(id)", "wrong-value", "a loop" },
		{ "on: Thing created, each: x in «owner»(who = id), delete: Thing(id)", "unknown-pattern", "of owner" },
		{ "on: Thing created, each: x in of owner(«whom» = id), delete: Thing(id)", "unknown-parameter", "who" },
		{ "on: Thing created, each: x in of owner(who = «m»), delete: Thing(id)", "unknown-attribute", "m" },
		{ "on: Thing created, each: x in of owner(who = id), delete: Thing(«x.m»)", "unknown-attribute", "m" },
		{ "on: Thing created, put: «Thng», with: {}", "unknown-entity", "Thing" },
		{ "on: Thing created, put: User, with: {«id»: id}", "unknown-attribute", "attribute of User" },
		{ "on: Thing created, delete: «Thing»", "wrong-value", "expected an item" },
		{ "on: Thing created, delete: Thing(id), «put»: Thing", "wrong-clause", "one of" },
		{ "on: Thing created, count: User(owner).things by «m»", "unknown-attribute", "m" },
		{ "on: Thing created, send: «{»to: 'ftp://x'}", "wrong-value", "http" },
		{ "on: Thing created, send: «{»secret: a secret of sixteen}", "missing-word", "'to' or 'opensearch'" },
		{ "on: Thing created, send: «{»to: 'http://x', opensearch: 'http://x'}", "wrong-clause", "'to' or 'opensearch'" },
		{ "on: Thing created, send: «{»opensearch: 'http://x', secret: a secret of sixteen}", "wrong-clause", "not signed" },
		{ "on: Thing created, send: {to: 'http://x', secret: «short»}", "wrong-value", "at least 16" },
		{ "on: Thing created, remove all: of owner(«whom» = id)", "unknown-parameter", "who" },
		{ "on: Thing created, update: User(owner), with: {«uid»: null}", "wrong-clause", "part of the identity" },
		{ "on: Thing created, each: x in «n», delete: Thing(id)", "wrong-type", "a list is expected" },
		{ "on: Thing created, each: «old» in of owner(who = id), delete: Thing(id)", "bad-name", "has a meaning" },
		{ "on: Thing created, upsert: User(owner), add: {«name»: 1}", "wrong-type", "added to" },
		{ "on: Thing created, upsert: User(owner), highest: {«things»: n}", "wrong-clause", "cannot be set here" },
		{ "on: Thing created, upsert: User(owner), highest: {name: «n»}", "wrong-type", "a text" },
		{ "on: Thing created, update: User(owner), add: {«things»: 1}", "wrong-clause", "go with 'upsert'" },
		{ "every: «7 minutes», delete: Thing('a')", "wrong-value", "how often" },
		{ "every: «hour at 03:00», delete: Thing('a')", "wrong-value", "how often" },
		{ "every: day at 03:00, when: «m» = 1, delete: Thing('a')", "unknown-attribute", "m" },
		{ "on: Thing created, effects: [{«delet»: Thing(id)}]", "unknown-word", "delete" },
		{ "on: Thing created, effects: [«{»when: n > 1}]", "missing-word", "an effect is one of" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES ACCESS "processors:\n  p: {", cases, "}\n");
	expect_error(BASE ATTRIBUTES "processors:\n  «p»: {on: Thing created}\n", "missing-word", "does something");
	expect_error(BASE ATTRIBUTES "processors:\n  «p»: {delete: Thing(id)}\n", "missing-word", "needs 'on'");
	expect_error(BASE ATTRIBUTES ACCESS
		     "processors:\n  «p»: {on: Thing created, each: x in of owner(who = id), send: {to: 'http://x'}}\n",
		     "wrong-clause", "do not go with 'send'");
	expect_error(BASE ATTRIBUTES "traffic:\n  «make Thing»: 1 a second\n", "unknown-pattern", "make Thing");
	expect_error(BASE ATTRIBUTES "traffic:\n  create Thing: «often»\n", "wrong-value", "100 a second");
}

#define REST "entities:\n  A:\n    path: /a/<a>\n    attributes: {a: string}\n    keys: {PK: <a>, SK: A}\n"

static void the_table_is_checked(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "design: «Shop»\ntable: Shop\nkey: [PK, SK]\n", "bad-name", "lower case" },
		{ "design: shop\ntable: «a»\nkey: [PK, SK]\n", "bad-name", "3 to 255" },
		{ "design: shop\ntable: Shop\nkey: «[»PK, SK, X]\n", "wrong-value", "not 3" },
		{ "design: shop\ntable: Shop\nkey: [PK: «nmber», SK]\n", "unknown-word", "number" },
		{ "design: shop\ntable: «Shop»\nkey: [PK, PK]\n", "duplicate-key", "twice" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\nindexes: «x»\n", "wrong-value", "a map of indexes" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\nindexes: {«GSI1»: {projection: all}}\n", "missing-word",
		  "needs 'key'" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\nindexes: {GSI1: {key: [a], projection: «som»}}\n",
		  "wrong-value", "'keys only'" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\nindexes: {«GSI1»: {key: [PK: number]}}\n", "key-type",
		  "'PK' is N here and S as a key of the table" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\nbilling: «free»\n", "wrong-value", "on demand" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\nbilling: {read: «-1», write: 2}\n", "out-of-range", "from 1" },
		{ "design: shop\ntable: Shop\nkey: [PK, SK]\ncallers: {permissions: «Group»}\n", "wrong-value", "through" },
		{ "design: shop\ntable: Shop«${NOPE»\nkey: [PK, SK]\n", "bad-variable", "NAME" },
		{ "design: shop\ntable: Shop«${NOPE}»\nkey: [PK, SK]\n", "unset-variable", "NOPE" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL("", cases, REST);
	expect_error("«title»: x\ntable: Shop\nkey: [PK, SK]\n" REST, "missing-word", "a design needs 'design'");
}

static void all_errors_are_reported_in_order(void **state)
{
	(void)state;
	assert_null(load("design: X\ntabl: y\ntable: Shop\nkey: [PK]\nentities: {A: {path: a, atributes: {}}}\n"
			 "access: {x: {query: nowhere}}\n"));
	assert_true(findings.count >= 5);
	for (size_t i = 1; i < findings.count; i++)
		assert_true(findings.list[i].place.line >= findings.list[i - 1].place.line);
	assert_true(slice_is(findings.list[findings.count - 1].subject, "access x"));
}

static void places_are_right_in_texts_over_several_lines(void **state)
{
	(void)state;
	expect_error(BASE ATTRIBUTES "    allow:\n"
				     "      read: n = 1\n"
				     "        and id = 'é'   or\n"
				     "        «ownr» = caller\n",
		     "unknown-attribute", "owner");
	expect_error(BASE ATTRIBUTES "    allow:\n"
				     "      read: >-\n"
				     "        n = 1\n"
				     "        or «ownr» = caller\n",
		     "unknown-attribute", "owner");
	expect_error(BASE ATTRIBUTES "    allow:\n"
				     "      read: |\n"
				     "        n = 1\n"
				     "        or n = «=» 2\n",
		     "bad-term", "");
	expect_error(BASE ATTRIBUTES "    allow:\n"
				     "      read: 'id = ''x'' or «ownr» = caller'\n",
		     "unknown-attribute", "owner");
	expect_error(BASE ATTRIBUTES "    allow:\n"
				     "      read: \"id = '\\x41' or «ownr» = caller\"\n",
		     "unknown-attribute", "owner");
	expect_error(BASE ATTRIBUTES "    allow:\n"
				     "      read: id = '${X:-long default}' or «ownr» = caller\n",
		     "unknown-attribute", "owner");
}

static void words_of_other_languages_are_translated(void **state)
{
	static const struct wrong cases[] = {
		{ "«int»", "unknown-type", "write integer" },
		{ "«datetime»", "unknown-type", "write timestamp" },
		{ "«enum(a, b)»", "unknown-type", "NEW | PAID" },
		{ "«uuid»", "unknown-type", "'string, id'" },
		{ "string «required»", "wrong-value", "expected a range or ','" },
		{ "string«(30)»", "wrong-value", "'string 3..30, required'" },
		{ "string «max 30»", "wrong-value", "'string 3..30, required'" },
		{ "«string[1..200]»", "wrong-value", "a range of numbers" },
		{ "«blurb»", "unknown-type", "known: string, text, number" },
		{ "string, «optional»", "unknown-clause", "optional unless" },
		{ "string, «min» 3", "unknown-clause", "string 3..30" },
		{ "string, «readonly»", "unknown-clause", "'fixed'" },
		{ "timestamp, default «now»()", "unknown-function", "without parentheses" },
		{ "string, when «everyone»", "unknown-attribute", "write anyone" },
		{ "string, when owner = «me»", "unknown-attribute", "'caller'" },
	};

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES "      x: ", cases, "\n");
	expect_error(BASE ATTRIBUTES "      «x»: 3..30\n", "missing-value", "expected a type");
	/* What counts on it is not reported as well. */
	expect_error(BASE ATTRIBUTES "      x: «int»\n    actions: {go: {add: {x: 1}}}\n", "unknown-type",
		     "write integer");
	expect_error(BASE ATTRIBUTES "    «version»: #x\n", "missing-value", "begins a comment");
	expect_error("design: shop\ntable: Shop\nkey: «PK, SK»\nentities:\n  A:\n    path: /a/<a>\n"
		     "    attributes: {a: string}\n    keys: {x: A}\n",
		     "bad-name", "a list: [PK, SK]");
	expect_error("# nothing\n", "missing-value", "the file is empty");
	/* An attribute hides the template of its name. */
	expect_error(BASE ATTRIBUTES "      x: = «n + owner»\n    keys when at is present: {n: X#<id>}\n", "wrong-type",
		     "a text and a number");
}

static void circles_are_found(void **state)
{
	static const struct wrong cases[] = {
		{ "      «x»: = y + 1\n      y: = x + 1\n", "circle", "'x' is derived from 'y'" },
		{ "      «x»: = y\n      y: = z + 1\n      z: = size(x)\n", "circle", "'x' is derived from 'z'" },
		{ "      w: = x\n      «x»: = y\n      y: = x\n", "circle", "'x'" },
		{ "      «x»: copy of Thing(id).x\n", "circle", "a copy of itself" },
		{ "  Own:\n    path: /own/<o>\n    attributes: {«o»: reference to Own}\n    keys: {PK: O#<o>, SK: O}\n",
		  "circle", "'o' of Own names itself" },
		{ ACCESS "  «a»: {path: /a, allow: anyone, merge: {of: [a, of owner], by: n}}\n", "circle",
		  "merges itself" },
		{ ACCESS "  «a»: {path: /a, allow: anyone, merge: {of: [b], by: n}}\n"
			 "  b: {path: /b, allow: anyone, merge: {of: [c], by: n}}\n"
			 "  c: {path: /c, allow: anyone, merge: {of: [a, of owner], by: n}}\n",
		  "circle", "merges itself" },
		{ ACCESS "processors: {p: {on: Thing created, let: {«a»: b, b: n}, delete: Thing(id)}}\n", "circle",
		  "'b', which has no value yet" },
	};

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES, cases, "");
	/* A value that is kept once it is there. */
	load_well(BASE ATTRIBUTES "      x: = choose(x is present, x, owner)\n");
	load_well(BASE ATTRIBUTES "      x: = n + 1\n      y: = x + 1\n      z: = x + y\n" ACCESS
				  "  a: {path: /a, allow: anyone, merge: {of: [b, of owner], by: n}}\n"
				  "  b: {path: /b, allow: anyone, merge: {of: [of owner], by: n}}\n"
				  "processors: {p: {on: Thing created, let: {n: n, a: n, b: a}, delete: Thing(id)}}\n");
}

/* A file of a megabyte with one chain through all of it: neither the stack nor the patience of anyone ends. */
static void long_chains_end(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, &arena);
	buf_str(&b, BASE ATTRIBUTES);
	for (int i = 0; i < 3000; i++)
		buf_printf(&b, "      x%d: = x%d\n", i, i + 1);
	buf_lit(&b, "      x3000: = owner\n");
	for (int i = 0; i < 30; i++)
		buf_printf(&b, "      n%d: = n%d + 1\n", i, i + 1);
	buf_lit(&b, "      n30: = n\n");
	buf_str(&b, ACCESS);
	for (int i = 0; i < 3000; i++)
		buf_printf(&b, "  m%d: {path: /m%d, allow: anyone, merge: {of: [m%d, of owner], by: n}}\n", i, i, i + 1);
	buf_lit(&b, "  m3000: {path: /m, allow: anyone, merge: {of: [of owner], by: n}}\n");
	buf_byte(&b, 0);
	load_well(b.p);
}

static void keys_may_be_attributes(void **state)
{
	(void)state;
	load_well("design: shop\ntable: Shop\nkey: [shop, item]\nentities:\n  Item:\n    path: /<shop>/<item>\n"
		  "    attributes: {shop: string, item: string}\n    keys: {entityType: ITEM}\n");
}

static void parameters_must_be_given(void **state)
{
	static const struct wrong cases[] = {
		{ "  «x»: {path: /x, merge: {run: of owner, for: i in 1..3}}\n", "missing-parameter",
		  "needs a value for 'who'" },
		{ "processors: {«p»: {on: Thing created, remove all: of owner()}}\n", "missing-parameter",
		  "of owner(who = …)" },
		{ "processors: {p: {on: Thing created, each: x in of owner(who = id), effects: "
		  "[{delete: «Thing»(x.id)}, {put: User, with: {uid: x.id}}]}}\n",
		  "wrong-order", "it comes last" },
		{ "processors: {«p»: {on: Thing created, each: x in of owner(), delete: Thing(x.id)}}\n",
		  "missing-parameter", "'who'" },
	};
	const struct design *d;

	(void)state;
	EXPECT_ALL(BASE ATTRIBUTES ACCESS, cases, "");
	d = load_well(BASE ATTRIBUTES ACCESS "  x: {path: /x/<who>, merge: {run: of owner, for: i in 1..3}}\n"
					     "  by id: {path: /y/<id>, query: table, where: {PK: O#<id>}}\n"
					     "processors: {p: {on: Thing created, remove all: by id()}}\n");
	assert_ptr_equal(d->processors[0].rows_access, design_access(d, SLICE("by id")));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_also_written_is_complete_and_ends),
		TEST(sequences_are_taken_from_and_nothing_else),
		TEST(references_are_checked),
		TEST(unknown_words_have_suggestions),
		TEST(attributes_are_checked),
		TEST(the_parts_of_an_entity_are_checked),
		TEST(the_pattern_of_a_deletion_needs_the_entitys_attributes),
		TEST(entities_need_their_parts),
		TEST(access_patterns_are_checked),
		TEST(processors_are_checked),
		TEST(the_table_is_checked),
		TEST(all_errors_are_reported_in_order),
		TEST(places_are_right_in_texts_over_several_lines),
		TEST(words_of_other_languages_are_translated),
		TEST(circles_are_found),
		TEST(long_chains_end),
		TEST(keys_may_be_attributes),
		TEST(parameters_must_be_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
