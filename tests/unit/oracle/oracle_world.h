/* A design that has something of everything, and a table with items of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_ORACLE_WORLD_H
#define THORPE_TESTS_ORACLE_WORLD_H

#include "oracle_helper.h"

static const char oracle_world[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<id>\n"
	"    attributes:\n"
	"      id: string 1..20, required, fixed\n"
	"      email: string 3..50, required, lower, unique\n"
	"      name: string 1..30\n"
	"      age: integer 0..150\n"
	"      color: red | green | blue\n"
	"      born: timestamp\n"
	"      words: list of string 0..3\n"
	"      posts: counter\n"
	"      seen: counter\n"
	"      score: = posts * 10\n"
	"      young: boolean, when age < 18\n"
	"    keys: {PK: 'USER#<id>', SK: USER, kind: USER, GSI1PK: SCORES, GSI1SK: '<score:06>#<id>'}\n"
	"    keys when color = 'red' and born >= days_ago(7): {GSI2PK: REDS, GSI2SK: '<score:06>#<id>'}\n"
	"    companions:\n"
	"      - {unique: email, PK: 'EMAIL#<email>', SK: EMAIL, id: <id>}\n"
	"    login: {by: [email], secret: {PK: 'USER#<id>', SK: AUTH}, subject: id}\n"
	"    check:\n"
	"      name <> 'root': nobody is root\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    actions:\n"
	"      look: {allow: anyone, add: {seen: 1}}\n"
	"    delete: {then remove: [posts of user]}\n"
	"  Post:\n"
	"    path: /posts/<post>\n"
	"    attributes:\n"
	"      post: string, required, fixed\n"
	"      author: string, required\n"
	"      author_name: copy of User(author).name, kept by posts of user\n"
	"      section: string\n"
	"      tags: list of string\n"
	"      weight: integer, default 1\n"
	"      hidden: boolean, default false\n"
	"      expires_at: epoch\n"
	"    keys: {PK: 'POST#<post>', SK: POST, GSI1PK: 'BY#<author>', GSI1SK: '<post>'}\n"
	"    keys when section is present: {GSI2PK: 'SECTION#<section>', GSI2SK: '<post>'}\n"
	"    companions:\n"
	"      - {for: tag in tags, when: hidden = false, PK: 'TAG#<tag>', SK: '<post>', author: <author>}\n"
	"    counts:\n"
	"      - User(author).posts when hidden = false\n"
	"      - Section(section).weight by weight when section is present\n"
	"    requires: [User(author), Section(section) when section is present]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Section:\n"
	"    path: /sections/<name>\n"
	"    attributes: {name: 'string, required, fixed', weight: counter}\n"
	"    keys: {PK: 'SECTION#<name>', SK: SECTION}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {refuse while: [posts in section]}\n"
	"access:\n"
	"  posts of user:\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: 'BY#<id>'}\n"
	"  posts in section:\n"
	"    query: GSI2\n"
	"    where: {GSI2PK: 'SECTION#<name>'}\n";

/* With a head of its own (APP_FIXTURE_HEAD), or NULL. */
static inline void open_world_with(struct app_fixture *f, const char *head)
{
	char yaml[8192];

	snprintf(yaml, sizeof(yaml), "%s%s", head ? head : "", oracle_world);
	app_fixture_open(f, yaml);
	created(f, "!", "User", "ann",
		"{\"email\":\"ann@x\",\"name\":\"Ann\",\"age\":12,\"young\":true,\"password\":\"secret enough\"}");
	created(f, "!", "User", "bob",
		"{\"email\":\"bob@x\",\"name\":\"Bob\",\"age\":30,\"color\":\"red\",\"born\":\"2026-01-14T10:30:00Z\"}");
	created(f, "!", "Section", "news", "{}");
	created(f, "!", "Post", "p1", "{\"author\":\"ann\",\"tags\":[\"x\",\"y\"],\"section\":\"news\",\"weight\":3}");
	created(f, "!", "Post", "p2", "{\"author\":\"ann\",\"tags\":[\"x\"],\"section\":\"news\"}");
	created(f, "!", "Post", "p3", "{\"author\":\"bob\",\"tags\":[\"x\"],\"hidden\":true}");
}

static inline void open_world(struct app_fixture *f)
{
	open_world_with(f, NULL);
}

#endif
