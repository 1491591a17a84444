/* A design with deletions that leave the item, with rows that rows lead to, and with items that live while others do;
 * and a table of it. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_ORACLE_LIVES_H
#define THORPE_TESTS_ORACLE_LIVES_H

#include "oracle_helper.h"

static const char oracle_lives[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<id>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n"
	"      state: active | gone, default active\n"
	"      mail: string\n"
	"      likes: counter\n"
	"    keys: {PK: 'USER#<id>', SK: USER}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {set: {state: gone, mail: null}, then remove: [likes of user, visits of user]}\n"
	"  Like:\n"
	"    path: /likes/<user>/<post>\n"
	"    attributes: {user: 'string, required, fixed', post: 'string, required, fixed'}\n"
	"    keys: {PK: 'USER#<user>', SK: 'LIKE#<post>'}\n"
	"    counts: [User(user).likes if state = 'active']\n"
	"    requires: [User(user) if state = 'active']\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Visit:\n"
	"    path: /visits/<user>/<day>\n"
	"    attributes: {user: 'string, required, fixed', day: 'string, required, fixed'}\n"
	"    keys: {PK: 'USER#<user>', SK: 'VISIT#<day>'}\n"
	"    requires: [User(user)]\n" /* also of one who is gone */
	"    allow: {read, create, update, delete: anyone}\n"
	"  Blog:\n"
	"    path: /blogs/<id>\n"
	"    attributes: {id: 'string, required, fixed'}\n"
	"    keys: {PK: 'BLOG#<id>', SK: BLOG}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [remarks of blog, posts of blog]}\n"
	"  Post:\n"
	"    path: /posts/<id>\n"
	"    attributes: {id: 'string, required, fixed', blog: 'string, required, fixed', hidden: 'boolean, default false'}\n"
	"    keys: {PK: 'POST#<id>', SK: POST, GSI1PK: 'BLOG#<blog>', GSI1SK: '<id>'}\n"
	"    requires: [Blog(blog)]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Remark:\n"
	"    path: /remarks/<post>/<id>\n"
	"    attributes: {post: 'string, required, fixed', id: 'string, required, fixed', blog: string}\n"
	"    keys: {PK: 'POST#<post>', SK: 'REMARK#<id>'}\n"
	"    requires: [Blog(blog) when blog is present]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Row:\n"
	"    internal: true\n"
	"    path: /rows/<reader>/<post>\n"
	"    attributes: {reader: 'string, required, fixed', post: 'string, required, fixed', pinned: 'boolean, default false'}\n"
	"    keys: {PK: 'ROWS#<reader>', SK: '<post>'}\n"
	"    lives while:\n"
	"      - Post(post) if hidden = false\n"
	"      - User(reader) when pinned = false if state = 'active'\n"
	"    allow: {read: anyone}\n"
	"access:\n"
	"  likes of user:\n"
	"    query: table\n"
	"    where: {PK: 'USER#<id>', SK: begins with LIKE#}\n"
	"  visits of user:\n"
	"    query: table\n"
	"    where: {PK: 'USER#<id>', SK: begins with VISIT#}\n"
	"  posts of blog:\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: 'BLOG#<id>'}\n"
	"  remarks of post:\n"
	"    query: table\n"
	"    where: {PK: 'POST#<post>', SK: begins with REMARK#}\n"
	"  remarks of blog:\n"
	"    merge: {run: remarks of post, for each: posts of blog, with: {post: <id>}, by: id}\n"
	"    with: {id: string}\n"
	"  rows of post:\n"
	"    query: table\n"
	"    where: {PK: 'ROWS#<reader>', SK: '<post>'}\n"
	"processors:\n"
	"  take a post back:\n"
	"    on: Post updated, deleted\n"
	"    delete: Row('ann', id)\n";

static inline void open_lives(struct app_fixture *f)
{
	app_fixture_open(f, oracle_lives);
	created(f, "!", "User", "ann", "{\"mail\":\"ann@x\"}");
	created(f, "!", "User", "bob", "{}");
	created(f, "!", "Blog", "b", "{}");
	created(f, "!", "Post", "p1", "{\"blog\":\"b\"}");
	created(f, "!", "Like", "ann/p1", "{}");
	created(f, "!", "Visit", "ann/mo", "{}");
	created(f, "!", "Remark", "p1/r1", "{\"blog\":\"b\"}");
	created(f, "!", "Remark", "p1/r2", "{}");
	raw_put(f,
		"{\"PK\":{\"S\":\"ROWS#ann\"},\"SK\":{\"S\":\"p1\"},\"reader\":{\"S\":\"ann\"},\"post\":{\"S\":\"p1\"},"
		"\"pinned\":{\"BOOL\":false}}");
}

#endif
