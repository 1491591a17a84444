/* design_check() by examples: one small design in which a rule finds nothing, and one change to it
 * in which it does. SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "design/design.h"

static const char base[] = "design: test\n"
			   "title: Test\n"
			   "table: Test\n"
			   "key: [PK, SK]\n"
			   "indexes:\n"
			   "  GSI1: {key: [GSI1PK, GSI1SK]}\n"
			   "  GSI2: {key: [GSI2PK, GSI2SK], projection: [title, rank, author_id, post_id, status]}\n"
			   "stream: new and old images\n"
			   "ttl: expires_at\n"
			   "billing: {read: 100, write: 1000}\n"
			   "\n"
			   "entities:\n"
			   "  User:\n"
			   "    path: /users/<user_id>\n"
			   "    attributes:\n"
			   "      user_id: string, id\n"
			   "      username: string 3..30, required, lower, unique, fixed\n"
			   "      password_hash: string, hidden\n"
			   "      is_popular: boolean, default false, managed\n"
			   "      created_at: timestamp, now\n"
			   "    keys:\n"
			   "      PK: USER#<user_id>\n"
			   "      SK: PROFILE\n"
			   "    companions:\n"
			   "      - {unique: username, PK: USERNAME#<username>, SK: USERNAME, user_id: <user_id>}\n"
			   "    allow: {create, read: anyone, update: user_id = caller}\n"
			   "\n"
			   "  Post:\n"
			   "    path: /posts/<post_id>\n"
			   "    attributes:\n"
			   "      post_id: string, id, fixed\n"
			   "      author_id: string, the caller, fixed\n"
			   "      author_name: copy of User(author_id).username\n"
			   "      title: string 1..100, required\n"
			   "      body: text 0..1000\n"
			   "      tags: list of string 0..20, lower\n"
			   "      status: DRAFT | PUBLISHED, default DRAFT, managed\n"
			   "      published_at: timestamp, managed\n"
			   "      likes: counter\n"
			   "      rank: integer 0..999999, default 0, managed\n"
			   "      created_at: timestamp, now\n"
			   "    keys:\n"
			   "      PK: POST#<post_id>\n"
			   "      SK: METADATA\n"
			   "    keys when status = 'PUBLISHED' and published_at is present:\n"
			   "      GSI1PK: AUTHOR#<author_id>\n"
			   "      GSI1SK: POST#<published_at>#<post_id>\n"
			   "      GSI2PK: RANKED#<author_id>\n"
			   "      GSI2SK: 'RANK#<rank:06>#<post_id>'\n"
			   "    companions:\n"
			   "      - {for: tag in tags, PK: POST#<post_id>, SK: TAG#<tag>, GSI1PK: TAG#<tag>, GSI1SK: "
			   "POST#<post_id>}\n"
			   "    allow:\n"
			   "      create: caller is user\n"
			   "      read: status = 'PUBLISHED' or author_id = caller\n"
			   "      update, delete: author_id = caller\n"
			   "    actions:\n"
			   "      publish: {set: {status: PUBLISHED, published_at: now}}\n"
			   "    delete: {then remove: [likes of post, comments of post]}\n"
			   "\n"
			   "  Like:\n"
			   "    path: /posts/<post_id>/likes/<user_id>\n"
			   "    attributes:\n"
			   "      post_id: string, required, fixed\n"
			   "      user_id: string, the caller, fixed\n"
			   "      created_at: timestamp, now\n"
			   "    keys:\n"
			   "      PK: POST#<post_id>\n"
			   "      SK: LIKE#<user_id>\n"
			   "      GSI1PK: LIKER#<user_id>\n"
			   "      GSI1SK: LIKE#<created_at>#<post_id>\n"
			   "    counts:\n"
			   "      - Post(post_id).likes\n"
			   "    allow: {create: caller is user, read: anyone, delete: user_id = caller}\n"
			   "\n"
			   "  Comment:\n"
			   "    path: /posts/<post_id>/comments/<comment_id>\n"
			   "    attributes:\n"
			   "      post_id: string, required, fixed\n"
			   "      comment_id: string, id\n"
			   "      user_id: string, the caller, fixed\n"
			   "      text: text 1..500, required\n"
			   "      is_deleted: boolean, default false, managed\n"
			   "      created_at: timestamp, now\n"
			   "    keys:\n"
			   "      PK: POST#<post_id>\n"
			   "      SK: COMMENT#<comment_id>\n"
			   "    requires:\n"
			   "      - Post(post_id)\n"
			   "    allow: {create: caller is user, read: anyone, delete: user_id = caller}\n"
			   "    delete: {set: {is_deleted: true, text: '[deleted]'}}\n"
			   "\n"
			   "  Follow:\n"
			   "    path: /users/<follower_id>/following/<followed_id>\n"
			   "    attributes:\n"
			   "      follower_id: string, the caller, fixed\n"
			   "      followed_id: string, required, fixed\n"
			   "      created_at: timestamp, now\n"
			   "    keys:\n"
			   "      PK: USER#<follower_id>\n"
			   "      SK: FOLLOWING#<followed_id>\n"
			   "      GSI1PK: USER#<followed_id>\n"
			   "      GSI1SK: FOLLOWER#<follower_id>\n"
			   "    companions:\n"
			   "      - {PK: USER#<followed_id>, SK: FOLLOWER#<follower_id>, since: <created_at>}\n"
			   "    requires:\n"
			   "      - User(followed_id)\n"
			   "    allow: {create: caller is user, read: anyone, delete: follower_id = caller}\n"
			   "\n"
			   "  FeedEntry:\n"
			   "    internal: true\n"
			   "    path: /users/<user_id>/feed/<created_at>/<post_id>\n"
			   "    attributes:\n"
			   "      user_id: string, required, fixed\n"
			   "      created_at: timestamp, required, fixed\n"
			   "      post_id: string, required, fixed\n"
			   "      preview: string 0..80\n"
			   "      expires_at: epoch, 30 days after created_at\n"
			   "    keys:\n"
			   "      PK: FEED#<user_id>\n"
			   "      SK: <created_at>#<post_id>\n"
			   "    allow: {read: user_id = caller}\n"
			   "\n"
			   "access:\n"
			   "  posts of author:\n"
			   "    path: /users/<user_id>/posts\n"
			   "    query: GSI1\n"
			   "    where: {GSI1PK: AUTHOR#<user_id>, GSI1SK: begins with POST#}\n"
			   "    order: newest first\n"
			   "  ranked posts:\n"
			   "    path: /users/<user_id>/ranked\n"
			   "    query: GSI2\n"
			   "    where: {GSI2PK: RANKED#<user_id>, GSI2SK: begins with RANK#}\n"
			   "    order: highest first\n"
			   "  posts by tag:\n"
			   "    path: /tags/<tag>\n"
			   "    query: GSI1\n"
			   "    where: {GSI1PK: TAG#<tag>, GSI1SK: begins with POST#}\n"
			   "    then: {get: Post, keys: {PK: <PK>, SK: METADATA}}\n"
			   "  likes of post:\n"
			   "    path: /posts/<post_id>/likes\n"
			   "    query: table\n"
			   "    where: {PK: POST#<post_id>, SK: begins with LIKE#}\n"
			   "  likes of user:\n"
			   "    path: /users/<user_id>/likes\n"
			   "    query: GSI1\n"
			   "    where: {GSI1PK: LIKER#<user_id>, GSI1SK: begins with LIKE#}\n"
			   "    order: newest first\n"
			   "  comments of post:\n"
			   "    path: /posts/<post_id>/comments\n"
			   "    query: table\n"
			   "    where: {PK: POST#<post_id>, SK: begins with COMMENT#}\n"
			   "    order: oldest first\n"
			   "  followers:\n"
			   "    path: /users/<user_id>/followers\n"
			   "    query: GSI1\n"
			   "    where: {GSI1PK: USER#<user_id>, GSI1SK: begins with FOLLOWER#}\n"
			   "  feed:\n"
			   "    path: /users/<user_id>/feed\n"
			   "    query: table\n"
			   "    where: {PK: FEED#<user_id>, SK: '>= <since>'}\n"
			   "    with:\n"
			   "      since: timestamp, default days_ago(30)\n"
			   "    order: newest first\n"
			   "\n"
			   "processors:\n"
			   "  deliver:\n"
			   "    on: Post updated\n"
			   "    when: status = 'PUBLISHED' and old.status <> 'PUBLISHED' and "
			   "User(author_id).is_popular = false\n"
			   "    each: follower in followers(user_id = author_id)\n"
			   "    put: FeedEntry\n"
			   "    with: {user_id: follower.follower_id, post_id: post_id, created_at: published_at, "
			   "preview: first 80 of body}\n"
			   "  withdraw:\n"
			   "    on: Post deleted\n"
			   "    each: follower in followers(user_id = author_id)\n"
			   "    delete: FeedEntry(follower.follower_id, published_at, post_id)\n"
			   "\n"
			   "traffic:\n"
			   "  create Post: 10 a second\n"
			   "  create Like: 20 a second\n";

/* A change to the design: `find` (which must be there) becomes `replace`. */
struct edit {
	const char *find, *replace;
};

struct example {
	const char *rule, *subject;
	struct edit edits[3];
};

#define SIBLING                                                                 \
	"  Reply:\n"                                                            \
	"    path: /posts/<post_id>/replies/<comment_id>/<reply_id>\n"          \
	"    attributes:\n"                                                     \
	"      post_id: string, required, fixed\n"                              \
	"      comment_id: string, required, fixed\n"                           \
	"      reply_id: string, id\n"                                          \
	"    keys: {PK: POST#<post_id>, SK: COMMENT#<comment_id>#<reply_id>}\n" \
	"    requires: [Post(post_id)]\n"                                       \
	"    allow: {create: caller is user, read: anyone}\n\n"
#define MARKER                                                   \
	"  Email:\n"                                             \
	"    path: /emails/<username>\n"                         \
	"    attributes: {username: 'string, required'}\n"       \
	"    keys: {PK: NAME#<username>, SK: NAME#<username>}\n" \
	"    allow: {create, read, delete: anyone}\n\n"

#define TALLY                                                                                     \
	"  Tally:\n"                                                                              \
	"    path: /posts/<post_id>/tally\n"                                                      \
	"    attributes: {post_id: 'string, required, fixed', last: timestamp, total: counter}\n" \
	"    keys: {PK: POST#<post_id>, SK: TALLY}\n"                                             \
	"    allow: {read: anyone}\n\n"

#define EVERYWHERE(rule, exempt)                                                                      \
	{                                                                                             \
		"billing: {read: 100, write: 1000}\n",                                                \
			"billing: {read: 100, write: 1000}\ncallers: {claims: {of: string}}\n"        \
			"everywhere: {allow: " rule ", except: {" exempt ": x, Like: x, Comment: x, " \
			"Follow: x, FeedEntry: x}}\n"                                                 \
	}

static const struct example examples[] = {
	/* access patterns */
	{ "needs-scan",
	  "access posts of author",
	  { { "{GSI1PK: AUTHOR#<user_id>, GSI1SK: begins with POST#}", "{GSI1SK: begins with POST#}" } } },
	{ "finds-nothing",
	  "access posts of author",
	  { { "GSI1SK: begins with POST#}\n    order", "GSI1SK: begins with CARD#}\n    order" } } },
	{ "finds-nothing",
	  "access likes of post",
	  { { "SK: begins with LIKE#}\n", "SK: begins with LIKE#}\n    filter: title = 'x'\n" } } },
	{ "mixed-collection",
	  "access likes of post",
	  { { "{PK: POST#<post_id>, SK: begins with LIKE#}", "{PK: POST#<post_id>}" } } },
	{ "mixed-collection", "access comments of post", { { "  Follow:\n", SIBLING "  Follow:\n" } } },
	{ "open-prefix",
	  "access likes of post",
	  { { "SK: begins with LIKE#}\n", "SK: begins with LIKE#<who>}\n    with: {who: string}\n" } } },
	{ "consistent-index",
	  "access followers",
	  { { "begins with FOLLOWER#}\n", "begins with FOLLOWER#}\n    consistent: true\n" } } },
	{ "bad-filter",
	  "access followers",
	  { { "begins with FOLLOWER#}\n", "begins with FOLLOWER#}\n    filter: exists User(follower_id)\n" } } },
	{ "bad-filter",
	  "access followers",
	  { { "begins with FOLLOWER#}\n", "begins with FOLLOWER#}\n    filter: GSI1SK <> 'x'\n" } } },
	{ "not-projected",
	  "access ranked posts",
	  { { "begins with RANK#}\n", "begins with RANK#}\n    filter: likes > 3\n" } } },
	{ "not-projected", "access ranked posts", { { "author_id, post_id, status]", "author_id, post_id]" } } },
	{ "ids-only",
	  "access ranked posts",
	  { { "projection: [title, rank, author_id, post_id, status]", "projection: keys only" } } },
	{ "expired-visible",
	  "access feed",
	  { { "{PK: FEED#<user_id>, SK: '>= <since>'}\n    with:\n      since: timestamp, default "
	      "days_ago(30)\n",
	      "{PK: FEED#<user_id>}\n" } } },
	{ "query-for-one",
	  "access likes of post",
	  { { "begins with LIKE#}\n", "LIKE#<who>}\n    with: {who: string}\n" } } },
	{ "counts-by-reading",
	  "access followers",
	  { { "begins with FOLLOWER#}\n", "begins with FOLLOWER#}\n    count: true\n" } } },
	{ "show-queries",
	  "access comments of post",
	  { { "    where: {PK: POST#<post_id>, SK: begins with COMMENT#}\n",
	      "    where: {PK: POST#<post_id>, SK: begins with COMMENT#}\n    show: {liked: exists Like(post_id, caller)}\n" },
	    { "    path: /posts/<post_id>/likes/<user_id>\n",
	      "    path: /posts/<post_id>/likes/<user_id>\n    found by: likes of post\n" } } },
	{ "one-by-one",
	  "access home",
	  { { "  feed:\n", "  home:\n    path: /home/<user_id>\n    merge: {run: posts of author, for each: "
			   "followers, with: {user_id: <follower_id>}, by: published_at}\n  feed:\n" } } },
	/* The numbers must be those of the attribute, whichever side falls short. */
	{ "merge-misses",
	  "access all shards",
	  { { "      rank: integer 0..999999, default 0, managed\n",
	      "      rank: integer 0..999999, default 0, managed\n      shard: integer 0..9, default 0, managed\n" },
	    { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED#<shard>" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in 0..8, with: {n: <i>}}\n  feed:\n" } } },
	{ "merge-misses",
	  "access all shards",
	  { { "      rank: integer 0..999999, default 0, managed\n",
	      "      rank: integer 0..999999, default 0, managed\n      shard: integer 0..9, default 0, managed\n" },
	    { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED#<shard>" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in 1..10, with: {n: <i>}}\n  feed:\n" } } },
	{ "shards-differ",
	  "access all shards",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<post_id:shard 10>'" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in 0..8, with: {n: <i>}}\n  feed:\n" } } },
	{ "shards-differ",
	  "access all shards",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<post_id:shard 10>'" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in 1..10, with: {n: <i>}}\n  feed:\n" } } },
	{ "shards-differ",
	  "access ranked posts",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<author_id:shard 10>'" },
	    { "{GSI2PK: RANKED#<user_id>, ", "{GSI2PK: 'RANKED#<user_id:shard 9>', " } } },
	{ "units-differ", "access feed", { { "      since: timestamp, default", "      since: timestamp ms, default" } } },
	{ "finds-nothing",
	  "access drafts",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED#<status>" },
	    { "  feed:\n",
	      "  drafts:\n    path: /drafts\n    query: GSI2\n    where: {GSI2PK: RANKED#draft}\n  feed:\n" } } },
	/* contradictions */
	{ "never-holds", "entity Post", { { "read: status = 'PUBLISHED' or", "read: rank > 2000000 and" } } },
	{ "never-holds",
	  "entity Post",
	  { { "create: caller is user\n      read: status",
	      "create: rank < 3 and not (title is present) and rank > 3\n      read: status" } } },
	{ "never-holds",
	  "access followers",
	  { { "begins with FOLLOWER#}\n",
	      "begins with FOLLOWER#}\n    filter: follower_id is present and follower_id is absent\n" } } },
	{ "never-holds", "processor deliver", { { "old.status <> 'PUBLISHED'", "status = 'DRAFT'" } } },
	{ "compares-itself", "entity Post", { { "update, delete: author_id = caller", "update, delete: rank = rank" } } },
	{ "role-as-subject",
	  "entity Post",
	  { { "\nentities:\n", "callers: {roles: [admin]}\nentities:\n" },
	    { "update, delete: author_id = caller", "update, delete: caller in ('admin', 'x')" } } },
	{ "default-unused",
	  "entity Post",
	  { { "rank: integer 0..999999, default 0", "rank: integer 0..999999, required, default 0" } } },
	{ "counter-overwritten",
	  "entity Post",
	  { { "publish: {set: {status: PUBLISHED, ", "publish: {set: {likes: 0, status: PUBLISHED, " } } },
	{ "sets-fixed",
	  "entity Post",
	  { { "publish: {set: {status: PUBLISHED, ", "publish: {set: {author_id: caller, status: PUBLISHED, " } } },
	{ "input-refused", "entity Post", { { "publish: {set: {", "publish: {input: [author_id], set: {" } } },
	{ "input-refused", "entity Post", { { "publish: {set: {", "publish: {input: [likes], set: {" } } },
	{ "anyone-may-change",
	  "entity Post",
	  { { "update, delete: author_id = caller", "update: author_id = caller\n      delete: anyone" } } },
	{ "finds-nothing", "access posts by tag", { { "{PK: <PK>, SK: METADATA}", "{PK: <PK>, SK: META}" } } },
	/* order */
	{ "wrong-order",
	  "access likes of post",
	  { { "SK: begins with LIKE#}\n", "SK: begins with LIKE#}\n    order: newest first\n" } } },
	{ "wrong-order",
	  "access posts of author",
	  { { "POST#}\n    order: newest first", "POST#}\n    order: highest first" } } },
	{ "no-order", "access posts of author", { { "POST#}\n    order: newest first\n", "POST#}\n" } } },
	{ "stops-at-midnight",
	  "access posts of author",
	  { { "GSI1PK: AUTHOR#<author_id>", "GSI1PK: 'AUTHOR#<published_at:date>'" } } },
	/* keys */
	{ "number-in-key", "entity Post", { { "'RANK#<rank:06>#<post_id>'", "RANK#<rank>#<post_id>" } } },
	{ "negative-in-key", "entity Post", { { "rank: integer 0..999999", "rank: integer -5..999999" } } },
	{ "negative-in-key",
	  "entity Post",
	  { { "RANK#<rank:06>", "RANK#<likes:06>" }, { "- Post(post_id).likes\n", "- Post(post_id).likes by -1\n" } } },
	{ "short-padding", "entity Post", { { "rank: integer 0..999999", "rank: integer 0..9999999" } } },
	{ "time-not-sortable",
	  "entity Post",
	  { { "published_at: timestamp, managed", "published_at: string, managed" } } },
	{ "time-lets-duplicate", "entity Like", { { "SK: LIKE#<user_id>\n", "SK: LIKE#<user_id>#<created_at>\n" } } },
	{ "not-addressable", "entity Like", { { "SK: LIKE#<user_id>\n", "SK: LIKE#<user_id>#<created_at>\n" } } },
	{ "absent-in-key",
	  "entity Post",
	  { { "    keys when status = 'PUBLISHED' and published_at is present:\n", "" } } },
	{ "text-in-key", "entity Comment", { { "SK: COMMENT#<comment_id>", "SK: COMMENT#<comment_id>#<text>" } } },
	{ "delimiter-in-value",
	  "entity Post",
	  { { "post_id: string, id, fixed\n      author", "post_id: string, id 'p#'\n      author" } } },
	{ "key-type", "entity Post", { { "'RANK#<rank:06>#<post_id>'", "<rank>" } } },
	{ "double-prefix",
	  "entity Like",
	  { { "SK: LIKE#<user_id>\n", "SK: LIKE#<user_id>\n      liked: POST#<post_id>\n      liker: POST#<liked>\n" } } },
	{ "same-key", "entity Comment", { { "SK: COMMENT#<comment_id>", "SK: LIKE#<comment_id>" } } },
	{ "identity-can-change", "entity User", { { "user_id: string, id\n", "user_id: string, required\n" } } },
	{ "identity-can-change",
	  "entity Comment",
	  { { "comment_id: string, id\n", "comment_id: string, required\n" },
	    { "read: anyone, delete: user_id = caller}\n    delete: {set: {is_deleted",
	      "read: anyone, update, delete: user_id = caller}\n    delete: {set: {is_deleted" },
	    { "  Follow:\n",
	      "  Star:\n    path: /posts/<post_id>/comments/<comment_id>/stars/<user_id>\n    attributes: {post_id: "
	      "'string, required', comment_id: 'string, required', user_id: 'string, the caller'}\n    keys: {PK: "
	      "C#<comment_id>, SK: STAR#<user_id>}\n    requires: ['Comment(post_id, comment_id)']\n    allow: "
	      "{create: caller is user, read: anyone}\n\n  Follow:\n" } } },
	/* indexes */
	{ "index-never-set", "index GSI3", { { "stream:", "  GSI3: {key: [GSI3PK, GSI3SK]}\nstream:" } } },
	{ "index-never-used", "index GSI3", { { "stream:", "  GSI3: {key: [created_at, PK]}\nstream:" } } },
	{ "half-an-index-key",
	  "entity Like",
	  { { "SK: LIKE#<user_id>\n", "SK: LIKE#<user_id>\n      GSI2PK: X#<user_id>\n" } } },
	{ "index-entry-unread",
	  "entity Comment",
	  { { "SK: COMMENT#<comment_id>\n", "SK: COMMENT#<comment_id>\n      GSI1PK: C#<user_id>\n "
					    "     GSI1SK: C#<created_at>\n" } } },
	{ "index-repeats-table",
	  "entity User",
	  { { "SK: PROFILE\n", "SK: PROFILE\n      GSI1PK: USER#<user_id>\n      GSI1SK: PROFILE\n" } } },
	{ "missing-from-index",
	  "entity Reply",
	  { { "  Follow:\n", SIBLING "  Follow:\n" },
	    { "SK: COMMENT#<comment_id>\n", "SK: COMMENT#<comment_id>\n      GSI1PK: C#<user_id>\n "
					    "     GSI1SK: C#<created_at>\n" } } },
	{ "hot-partition",
	  "index GSI2",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED" }, { "GSI2PK: RANKED#<user_id>", "GSI2PK: RANKED" } } },
	{ "hot-partition", "index GSI2", { { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED#<status>" } } },
	{ "hot-partition", "index GSI2", { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<published_at:date>'" } } },
	{ "partition-ceiling",
	  "index GSI2",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED" }, { "create Post: 10 a", "create Post: 2000 a" } } },
	{ "large-projection", "index GSI1", { { "body: text 0..1000", "body: text 0..100000" } } },
	{ "counter-churn", "entity Post", { { ", projection: [title, rank, author_id, post_id, status]", "" } } },
	/* who sees what */
	{ "shows-unpublished",
	  "access posts of author",
	  { { "read: status = 'PUBLISHED' or author_id = caller", "read: anyone" },
	    { "keys when status = 'PUBLISHED' and published_at is present:", "keys when published_at is present:" } } },
	{ "shows-unpublished", "access comments of post", { { "text: '[deleted]'", "created_at: now" } } },
	{ "secret-not-hidden", "entity User", { { "password_hash: string, hidden", "password_hash: string" } } },
	{ "secret-projected",
	  "entity User",
	  { { "SK: PROFILE\n", "SK: PROFILE\n      GSI1PK: NAMES#<username>\n      GSI1SK: PROFILE\n" } } },
	{ "private-projected", "entity Post", { { "body: text 0..1000", "body: text 0..1000, private" } } },
	{ "past-rules",
	  "access posts of author",
	  { { "    order: newest first\n  ranked",
	      "    order: newest first\n    allow: user_id = caller\n    shows: all rows\n  ranked" } } },
	{ "rights-unsaid",
	  "entity User",
	  { { "allow: {create, read: anyone, update: user_id = caller}", "allow: {read: anyone}" } } },
	{ "draft-buried",
	  "entity Post",
	  { { "GSI1SK: POST#<published_at>#<post_id>", "GSI1SK: POST#<created_at>#<post_id>" } } },
	{ "flag-without-effect",
	  "entity User",
	  { { "      created_at: timestamp, now\n    keys:\n      PK: USER",
	      "      is_private: boolean, default false\n      created_at: timestamp, now\n    "
	      "keys:\n      PK: USER" } } },
	{ "issuer-without-audience",
	  "callers",
	  { { "billing: {read: 100, write: 1000}\n",
	      "billing: {read: 100, write: 1000}\ncallers: {issuer: 'https://issuer.example', audience: ''}\n" } } },
	/* one rule for the whole design */
	{ "mixes-tenants", "access posts of author", { EVERYWHERE("title = caller.of", "User") } },
	{ "companion-unseen", "access posts by tag", { EVERYWHERE("title = caller.of", "User") } },
	{ "guard-tells", "entity User", { EVERYWHERE("user_id = caller.of", "Post") } },
	/* uniqueness */
	{ "unique-without-guard", "entity User", { { "unique: username, PK: USERNAME", "PK: USERNAME" } } },
	{ "login-ambiguous",
	  "entity User",
	  { { "      password_hash: string, hidden\n",
	      "      email: string, required, lower, unique\n      password_hash: string, hidden\n" },
	    { "    allow: {create, read: anyone, update: user_id = caller}\n",
	      "    login: {by: [username, email], password: password_hash, subject: user_id}\n"
	      "    allow: {create, read: anyone, update: user_id = caller}\n" } } },
	{ "letter-never-sent",
	  "entity User",
	  { { "      password_hash: string, hidden\n",
	      "      email: email, required, lower, unique\n      password_hash: string, hidden\n" },
	    { "    allow: {create, read: anyone, update: user_id = caller}\n",
	      "    login: {by: username, password: password_hash, subject: user_id, mail: {to: 'https://example.com/mail', address: email, letters: {reset: {subject: New}}}}\n"
	      "    allow: {create, read: anyone, update: user_id = caller}\n" } } },
	{ "letter-never-sent",
	  "entity User",
	  { { "      password_hash: string, hidden\n",
	      "      email: email, required, lower, unique\n      password_hash: string, hidden\n" },
	    { "    allow: {create, read: anyone, update: user_id = caller}\n",
	      "    login: {by: username, password: password_hash, subject: user_id, mail: {address: email, letters: {proof: {text: <token>}}}}\n"
	      "    allow: {create, read: anyone, update: user_id = caller}\n" } } },
	{ "unique-by-index",
	  "access user by name",
	  { { "SK: PROFILE\n", "SK: PROFILE\n      GSI1PK: NAMES#<username>\n      GSI1SK: PROFILE\n" },
	    { "unique: username, PK: USERNAME", "PK: USERNAME" },
	    { "  feed:\n", "  user by name:\n    path: /names/<username>\n    query: GSI1\n    where: {GSI1PK: "
			   "NAMES#<username>, GSI1SK: PROFILE}\n    one: true\n  feed:\n" } } },
	{ "guard-as-entity", "entity Email", { { "  Follow:\n", MARKER "  Follow:\n" } } },
	{ "guard-ambiguous",
	  "entity Email",
	  { { "  Follow:\n", MARKER "  Follow:\n" },
	    { "followed_id: string, required, fixed\n",
	      "followed_id: string, required, fixed\n      username: string\n" } } },
	{ "guard-repeats-key",
	  "entity User",
	  { { "PK: USER#<user_id>\n      SK: PROFILE", "PK: USER#<username>\n      SK: PROFILE" },
	    { "path: /users/<user_id>\n    attributes:\n      user_id: string, id",
	      "path: /users/<username>\n    attributes:\n      user_id: string, id" },
	    { "User(followed_id)", "User(followed_id)" } } },
	{ "case-in-unique", "entity User", { { "required, lower, unique, fixed", "required, unique, fixed" } } },
	/* counters and copies */
	{ "counter-never-moved",
	  "entity Post",
	  { { "    counts:\n      - Post(post_id).likes\n", "    requires: [Post(post_id)]\n" } } },
	{ "number-nobody-keeps",
	  "entity Post",
	  { { "rank: integer 0..999999, default 0, managed", "rank: integer 0..999999, default 0" } } },
	{ "count-ignores-delete",
	  "entity Comment",
	  { { "    requires:\n      - Post(post_id)\n", "    counts:\n      - Post(post_id).likes\n" } } },
	{ "count-on-deleted",
	  "entity Like",
	  { { "delete: {then remove: [likes of post, comments of post]}", "delete: {set: {status: DRAFT}}" } } },
	{ "count-in-processor",
	  "processor tally",
	  { { "  withdraw:\n", "  tally:\n    on: Comment created\n    count: "
			       "Post(post_id).likes\n  withdraw:\n" } } },
	{ "counter-never-moved",
	  "entity User",
	  { { "      is_popular: boolean, default false, managed\n",
	      "      is_popular: boolean, default false, managed\n      numbers: sequence\n" } } },
	{ "numbers-repeat",
	  "entity Like",
	  { { "      user_id: string, the caller, fixed\n      created_at: timestamp, now\n    keys:\n      PK: POST#<post_id>\n      SK: LIKE#",
	      "      user_id: string, the caller, fixed\n      number: integer, default Post(post_id).likes + 1, managed\n"
	      "      created_at: timestamp, now\n    keys:\n      PK: POST#<post_id>\n      SK: LIKE#" } } },
	{ "absence-not-held",
	  "entity Comment",
	  { { "    allow: {create: caller is user, read: anyone, delete: user_id = caller}\n    delete: {set: {is_deleted",
	      "    allow: {create: caller is user and not exists Like(post_id, caller), read: anyone, delete: user_id = caller}\n"
	      "    delete: {set: {is_deleted" },
	    { "    path: /posts/<post_id>/likes/<user_id>\n",
	      "    path: /posts/<post_id>/likes/<user_id>\n    found by: likes of post\n" } } },
	{ "absence-not-held",
	  "entity Comment",
	  { { "    allow: {create: caller is user, read: anyone, delete: user_id = caller}\n    delete: {set: {is_deleted",
	      "    allow: {create: caller is user and Like(post_id, caller).user_id <> caller, read: anyone, delete: user_id = caller}\n"
	      "    delete: {set: {is_deleted" },
	    { "    path: /posts/<post_id>/likes/<user_id>\n",
	      "    path: /posts/<post_id>/likes/<user_id>\n    found by: likes of post\n" } } },
	{ "copy-not-kept", "entity Post", { { "required, lower, unique, fixed", "required, lower, unique" } } },
	{ "mirror-in-index",
	  "entity Follow",
	  { { "since: <created_at>}", "since: <created_at>, GSI1PK: USER#<followed_id>, GSI1SK: "
				      "FOLLOWER#<follower_id>}" } } },
	{ "list-in-two-places",
	  "entity PostTag",
	  { { "      - {for: tag in tags, PK: POST#<post_id>, SK: TAG#<tag>, GSI1PK: TAG#<tag>, "
	      "GSI1SK: POST#<post_id>}\n",
	      "      - {PK: POST#<post_id>, SK: MARK}\n" },
	    { "  Follow:\n", "  PostTag:\n    path: /posts/<post_id>/tags/<tag>\n    attributes: {post_id: "
			     "'string, required', tag: 'string, required'}\n    keys: {PK: POST#<post_id>, SK: "
			     "TAG#<tag>, GSI1PK: TAG#<tag>, GSI1SK: POST#<post_id>}\n    allow: {create, read: "
			     "anyone}\n\n  Follow:\n" } } },
	{ "stored-twice",
	  "entity Follower",
	  { { "  FeedEntry:\n", "  Follower:\n    path: /users/<followed_id>/followers/<follower_id>\n    "
				"attributes: {follower_id: 'string, required', followed_id: 'string, required'}\n    "
				"keys: {PK: USER#<followed_id>, SK: FAN#<follower_id>}\n    allow: {create, read: "
				"anyone}\n\n  FeedEntry:\n" } } },
	{ "list-not-searchable",
	  "entity Post",
	  { { "      - {for: tag in tags, PK: POST#<post_id>, SK: TAG#<tag>, GSI1PK: TAG#<tag>, "
	      "GSI1SK: POST#<post_id>}\n",
	      "      - {PK: POST#<post_id>, SK: MARK, GSI1PK: TAG#<post_id>, GSI1SK: "
	      "POST#<post_id>}\n" } } },
	/* life and death */
	{ "ttl-missing", "entity FeedEntry", { { "ttl: expires_at\n", "" } } },
	{ "ttl-missing", "table", { { "ttl: expires_at\n", "ttl: gone_at\n" } } },
	{ "ttl-type",
	  "entity FeedEntry",
	  { { "expires_at: epoch, 30 days after created_at", "expires_at: timestamp, now" } } },
	{ "ttl-always",
	  "entity Post",
	  { { "      rank: integer", "      expires_at: epoch, 30 days after created_at\n      rank: integer" } } },
	{ "orphans", "entity Post", { { "    delete: {then remove: [likes of post, comments of post]}\n", "" } } },
	{ "orphans",
	  "entity Post",
	  { { "      comment_id: string, id\n", "      comment_id: string, id\n      about: reference to Post\n" },
	    { "    delete: {then remove: [likes of post, comments of post]}\n",
	      "    delete: {then remove: [likes of post]}\n" } } },
	{ "also-unseen",
	  "entity FeedEntry",
	  { { "    allow: {read: user_id = caller}\n",
	      "    also: [{on: deleted, put: Like, with: {post_id: post_id, user_id: user_id}}]\n    allow: {read: user_id = caller}\n" } } },
	{ "also-unseen",
	  "entity Post",
	  { { "      publish: {set:", "      cheer: {add: {likes: 1}, gather: 5 s}\n      publish: {set:" },
	    { "    delete: {then remove: [likes of post, comments of post]}\n",
	      "    also: [{on: updated, put: Like, with: {post_id: post_id, user_id: author_id}}]\n"
	      "    delete: {then remove: [likes of post, comments of post]}\n" } } },
	{ "dangling-reference", "entity Comment", { { "    requires:\n      - Post(post_id)\n", "" } } },
	/* streams */
	{ "stream-off", "processor deliver", { { "stream: new and old images\n", "" } } },
	{ "update-of-nothing",
	  "processor note",
	  { { "  withdraw:\n", "  note:\n    on: Comment created\n    update: Tally(post_id)\n    with: {last: "
			       "created_at}\n  withdraw:\n" },
	    { "  Follow:\n", TALLY "  Follow:\n" } } },
	{ "processor-loop",
	  "processor ping",
	  { { "  withdraw:\n", "  ping:\n    on: Post updated\n    update: Post(post_id)\n    "
			       "with: {rank: 1}\n  withdraw:\n" } } },
	{ "many-stream-readers",
	  "table",
	  { { "  withdraw:\n", "  tell:\n    on: Comment created\n    send: {to: "
			       "https://example.org}\n  withdraw:\n" } } },
	{ "unbounded-fan-out", "processor deliver", { { " and User(author_id).is_popular = false", "" } } },
	{ "no-undo",
	  "processor deliver",
	  { { "on: Post updated\n", "on: Post created, updated\n" },
	    { "  withdraw:\n    on: Post deleted\n", "  withdraw:\n    on: Like deleted\n" },
	    { "each: follower in followers(user_id = author_id)\n    delete: "
	      "FeedEntry(follower.follower_id, published_at, post_id)",
	      "delete: FeedEntry(user_id, created_at, post_id)" } } },
	{ "reserved-name", "processor keeper", { { "  withdraw:\n", "  keeper:\n" } } },
	{ "cascade-unsure", "entity Post", { { "post_id: string, id, fixed\n", "post_id: string, id\n" } } },
	/* limits */
	{ "transaction-size", "entity Post", { { "tags: list of string 0..20", "tags: list of string 0..200" } } },
	{ "transaction-size", "entity Post", { { "tags: list of string 0..20", "tags: list of string" } } },
	{ "transaction-size",
	  "entity Post",
	  { { "tags: list of string 0..20", "tags: list of string 0..40" },
	    { "    allow:\n      create: caller is user\n",
	      "    counts:\n      - {for: tag in tags, User(tag).likes_of}\n    requires:\n"
	      "      - {for: word in tags, User(word)}\n    allow:\n      create: caller is user\n" },
	    { "      is_popular: boolean", "      likes_of: counter\n      is_popular: boolean" } } },
	{ "unbounded-text", "entity Post", { { "body: text 0..1000", "body: text" } } },
	{ "unbounded-list", "entity Post", { { "tags: list of string 0..20", "tags: list of string" } } },
	{ "unbounded-list", "entity Post", { { "      likes: counter\n", "      likes: counter\n      place: map\n" } } },
	{ "unbounded-list",
	  "entity Post",
	  { { "      likes: counter\n", "      likes: counter\n      seen: set of string\n" } } },
	{ "capacity", "table", { { "write: 1000", "write: 10" } } },
	{ "accepts-nothing",
	  "index GSI1",
	  { { "[GSI1PK, GSI1SK]}", "[GSI1PK, GSI1SK], accept: {hot-partition: none}}" } } },
	{ "accepts-nothing",
	  "index GSI1",
	  { { "[GSI1PK, GSI1SK]}", "[GSI1PK, GSI1SK], accept: {warm-partition: none}}" } } },
};
#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

/* Where a rule used to speak and has nothing to say. */
static const struct example silent[] = {
	{ "mixes-tenants", "access posts of author", { EVERYWHERE("author_id = caller.of", "User") } },
	{ "mixes-tenants", "access likes of user", { EVERYWHERE("title = caller.of", "User") } },
	{ "companion-unseen",
	  "access posts by tag",
	  { EVERYWHERE("title = caller.of", "User"),
	    { "SK: TAG#<tag>, GSI1PK", "SK: TAG#<tag>, title: <title>, GSI1PK" } } },
	{ "companion-unseen",
	  "access posts by tag",
	  { EVERYWHERE("title = caller.of", "User"),
	    { "GSI1PK: TAG#<tag>, GSI1SK: POST", "GSI1PK: TAG#<title>#<tag>, GSI1SK: POST" },
	    { "{GSI1PK: TAG#<tag>", "{GSI1PK: TAG#<caller.of>#<tag>" } } },
	{ "guard-tells",
	  "entity User",
	  { EVERYWHERE("user_id = caller.of", "Post"),
	    { "PK: USERNAME#<username>, SK", "PK: USERNAME#<user_id>#<username>, SK" } } },
	/* two rules about one item are one action on it */
	{ "transaction-size",
	  "entity Post",
	  { { "tags: list of string 0..20", "tags: list of string 0..40" },
	    { "    allow:\n      create: caller is user\n",
	      "    counts:\n      - {for: tag in tags, User(tag).likes_of}\n    requires:\n"
	      "      - {for: tag in tags, User(tag)}\n    allow:\n      create: caller is user\n" },
	    { "      is_popular: boolean", "      likes_of: counter\n      is_popular: boolean" } } },
	/* a counter that a check keeps from going below zero */
	{ "negative-in-key",
	  "entity Post",
	  { { "RANK#<rank:06>", "RANK#<likes:06>" },
	    { "- Post(post_id).likes\n", "- Post(post_id).likes by -1\n" },
	    { "    allow:\n      create: caller is user\n",
	      "    check:\n      likes >= 0 and rank < 9: there are no more\n    allow:\n      create: caller is user\n" } } },
	/* items for the elements of a list, put in the same transaction */
	{ "list-in-two-places",
	  "entity PostTag",
	  { { "      - {for: tag in tags, PK: POST#<post_id>, SK: TAG#<tag>, GSI1PK: TAG#<tag>, GSI1SK: POST#<post_id>}\n",
	      "      - {PK: POST#<post_id>, SK: MARK}\n    also:\n"
	      "      - {on: created, for: tag in tags, put: PostTag, with: {post_id: post_id, tag: tag}}\n" },
	    { "  Follow:\n",
	      "  PostTag:\n    path: /posts/<post_id>/tags/<tag>\n    attributes: {post_id: 'string, required', tag: 'string, "
	      "required'}\n    keys: {PK: POST#<post_id>, SK: TAG#<tag>, GSI1PK: TAG#<tag>, GSI1SK: POST#<post_id>}\n    allow: "
	      "{read: anyone}\n\n  Follow:\n" } } },
	/* one relation and another, of the same two */
	{ "stored-twice",
	  "entity Block",
	  { { "  FeedEntry:\n",
	      "  Block:\n    path: /users/<followed_id>/blocks/<follower_id>\n    attributes: {follower_id: 'string, required', "
	      "followed_id: 'string, required'}\n    keys: {PK: USER#<followed_id>, SK: BLOCK#<follower_id>}\n    allow: {create, read: "
	      "anyone}\n\n  FeedEntry:\n" } } },
	/* called alike, but with something to say of its own */
	{ "stored-twice",
	  "entity FollowRequest",
	  { { "  FeedEntry:\n",
	      "  FollowRequest:\n    path: /users/<followed_id>/requests/<follower_id>\n    attributes: {follower_id: 'string, required', "
	      "followed_id: 'string, required', message: 'string 0..200'}\n    keys: {PK: USER#<followed_id>, SK: FOLLOW_REQUEST#<follower_id>}\n"
	      "    allow: {create, read: anyone}\n\n  FeedEntry:\n" } } },
	/* what a user has, where the user is in an index under the same key */
	{ "stored-twice",
	  "entity Visit",
	  { { "SK: PROFILE\n", "SK: PROFILE\n      GSI1PK: USER#<user_id>\n      GSI1SK: PROFILE\n" },
	    { "  FeedEntry:\n",
	      "  Visit:\n    path: /users/<user_id>/visits/<post_id>\n    attributes: {user_id: 'string, required', post_id: 'string, "
	      "required'}\n    keys: {PK: USER#<user_id>, SK: VISIT#<post_id>}\n    allow: {create, read: anyone}\n\n  FeedEntry:\n" } } },
	/* 1, 2, 3…, in the order of their making */
	{ "wrong-order",
	  "access comments of post",
	  { { "comment_id: string, id\n", "comment_id: 'integer 1..999999, default Post(post_id).likes + 1'\n" },
	    { "SK: COMMENT#<comment_id>\n", "SK: 'COMMENT#<comment_id:06>'\n" } } },
	/* a thing of its own that others name */
	{ "guard-as-entity",
	  "entity Topic",
	  { { "  Follow:\n",
	      "  Topic:\n    path: /topics/<topic>\n    attributes: {topic: 'string, required', label: string}\n    keys: {PK: TOPIC#<topic>, "
	      "SK: TOPIC#<topic>}\n    allow: {create, read: anyone}\n\n  Follow:\n" },
	    { "      likes: counter\n", "      likes: counter\n      topic: string\n" } } },
	{ "guard-as-entity",
	  "entity Topic",
	  { { "  Follow:\n",
	      "  Topic:\n    path: /topics/<topic>\n    attributes: {topic: 'string, required'}\n    keys: {PK: TOPIC#<topic>, "
	      "SK: TOPIC#<topic>}\n    allow: {create, read: anyone}\n\n  Follow:\n" },
	    { "      likes: counter\n", "      likes: counter\n      topic: string\n" },
	    { "      - Post(post_id)\n", "      - Post(post_id)\n      - Topic(text)\n" } } },
	{ "open-prefix",
	  "access near",
	  { { "      GSI2PK: RANKED#<author_id>\n      GSI2SK: 'RANK#<rank:06>#<post_id>'\n",
	      "      GSI2PK: PLACES#<author_id>\n      GSI2SK: <geohash>\n" },
	    { "      likes: counter\n", "      likes: counter\n      geohash: string 1..12, required\n" },
	    { "    where: {GSI2PK: RANKED#<user_id>, GSI2SK: begins with RANK#}\n    order: highest first\n",
	      "    where: {GSI2PK: PLACES#<user_id>, GSI2SK: begins with RANK#}\n  near:\n    path: /near/<user_id>/<at>\n    query: "
	      "GSI2\n    where: {GSI2PK: PLACES#<user_id>, GSI2SK: begins with <at>}\n" } } },
	/* whoever counts on it makes it */
	{ "update-of-nothing",
	  "processor note",
	  { { "  withdraw:\n",
	      "  note:\n    on: Comment created\n    update: Tally(post_id)\n    with: {last: created_at}\n"
	      "  tally:\n    on: Comment created\n    count: Tally(post_id).total by 1\n  withdraw:\n" },
	    { "  Follow:\n", TALLY "  Follow:\n" } } },
	{ "letter-never-sent",
	  "entity User",
	  { { "      password_hash: string, hidden\n",
	      "      email: email, required, lower, unique\n      password_hash: string, hidden\n" },
	    { "    allow: {create, read: anyone, update: user_id = caller}\n",
	      "    login: {by: username, password: password_hash, subject: user_id, mail: {address: email, letters: {reset: {subject: New}}}}\n"
	      "    allow: {create, read: anyone, update: user_id = caller}\n" } } },
	{ "login-ambiguous",
	  "entity User",
	  { { "username: string 3..30,", "username: name 3..30," },
	    { "      password_hash: string, hidden\n",
	      "      email: email, required, lower, unique\n      password_hash: string, hidden\n" },
	    { "    allow: {create, read: anyone, update: user_id = caller}\n",
	      "    login: {by: [username, email], password: password_hash, subject: user_id}\n"
	      "    allow: {create, read: anyone, update: user_id = caller}\n" } } },
	{ "finds-nothing",
	  "access drafts",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED#<status>" },
	    { "  feed:\n",
	      "  drafts:\n    path: /drafts\n    query: GSI2\n    where: {GSI2PK: RANKED#DRAFT}\n  feed:\n" } } },
	{ "shards-differ",
	  "access all shards",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<post_id:shard 10>'" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in 0..9, with: {n: <i>}}\n  feed:\n" } } },
	{ "shards-differ",
	  "access all shards",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<post_id:shard 10>'" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in shards, with: {n: <i>}}\n  feed:\n" } } },
	{ "hot-partition",
	  "index GSI2",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<post_id:shard 10>'" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in shards, with: {n: <i>}}\n  feed:\n" } } },
	{ "shards-differ",
	  "access ranked posts",
	  { { "GSI2PK: RANKED#<author_id>", "GSI2PK: 'RANKED#<author_id:shard 10>'" },
	    { "{GSI2PK: RANKED#<user_id>, ", "{GSI2PK: 'RANKED#<user_id:shard 10>', " } } },
	{ "merge-misses",
	  "access all shards",
	  { { "      rank: integer 0..999999, default 0, managed\n",
	      "      rank: integer 0..999999, default 0, managed\n      shard: integer 0..9, default 0, managed\n" },
	    { "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED#<shard>" },
	    { "  feed:\n",
	      "  one shard:\n    query: GSI2\n    where: {GSI2PK: RANKED#<n>, GSI2SK: begins with RANK#}\n"
	      "  all shards:\n    path: /shards\n    merge: {run: one shard, for: i in 0..9, with: {n: <i>}}\n  feed:\n" } } },
	/* numbers of one width, words that end like a time and times whose form a pattern says */
	{ "number-in-key",
	  "entity Post",
	  { { "'RANK#<rank:06>#<post_id>'", "RANK#<rank>#<post_id>" },
	    { "rank: integer 0..999999", "rank: integer 0..9" } } },
	{ "time-not-sortable",
	  "entity Post",
	  { { "'RANK#<rank:06>#<post_id>'", "RANK#<seat>#<post_id>" },
	    { "      likes: counter\n", "      likes: counter\n      seat: string 1..4, required\n" } } },
	{ "time-not-sortable",
	  "entity Post",
	  { { "published_at: timestamp, managed", "published_at: string matches '[0-9]+', managed" } } },
	/* the row of `each` has it */
	{ "flag-without-effect",
	  "entity Follow",
	  { { "      followed_id: string, required, fixed\n",
	      "      followed_id: string, required, fixed\n      muted: boolean\n" },
	    { "    on: Post deleted\n", "    on: Post deleted\n    when: not follower.muted\n" } } },
	/* computed, and hides nothing */
	{ "shows-unpublished",
	  "access comments of post",
	  { { "      text: text 1..500, required\n",
	      "      text: text 1..500, required\n      state: = choose(size(text) > 9, 'long', 'short')\n" } } },
	/* a number is not a Post */
	{ "dangling-reference",
	  "entity Follow",
	  { { "      followed_id: string, required, fixed\n",
	      "      followed_id: string, required, fixed\n      post: integer 0..9\n" } } },
	/* a Comment requires its Post, so what refers to a Comment has one */
	{ "dangling-reference",
	  "entity Flag",
	  { { "  FeedEntry:\n",
	      "  Flag:\n    path: /flags/<post_id>/<comment_id>\n    attributes: {post_id: string, comment_id: 'reference to "
	      "Comment(post_id, comment_id)'}\n    keys: {PK: FLAG#<post_id>, SK: FLAG#<comment_id>}\n    allow: {create, "
	      "read, delete: caller is user}\n\n  FeedEntry:\n" } } },
	/* likes are the User's, and a Badge is a view of one */
	{ "orphans",
	  "entity Badge",
	  { { "  FeedEntry:\n",
	      "  Badge:\n    path: /badges/<user_id>\n    attributes: {user_id: reference to User}\n    keys: {PK: "
	      "BADGE#<user_id>, SK: BADGE}\n    allow: {create, read, delete: user_id = caller}\n\n  FeedEntry:\n" } } },
};
#define SILENT (sizeof(silent) / sizeof(silent[0]))

/* ---- helpers ---- */

static struct slice replace_once(struct arena *a, struct slice text, const struct edit *e)
{
	char *at = memmem(text.p, text.n, e->find, strlen(e->find));
	if (!at)
		fail_msg("the design has no '%s'", e->find);
	struct slice before = slice_make(text.p, (size_t)(at - text.p));
	size_t skip = before.n + strlen(e->find);
	struct buf b;
	buf_init(&b, a);
	buf_put(&b, before);
	buf_str(&b, e->replace);
	buf_add(&b, text.p + skip, text.n - skip);
	return buf_slice(&b);
}

static void print_findings(const struct findings *f, struct slice text)
{
	struct source s = { SLICE("test.yaml"), text };
	struct buf b;
	buf_init(&b, f->arena);
	findings_print(&b, f, &s);
	print_message("%.*s\n", SLICE_ARG(buf_slice(&b)));
}

static void check_text(struct arena *a, struct slice text, struct findings *f)
{
	struct source s = { SLICE("test.yaml"), text };
	findings_init(f, a);
	const struct design *d = design_load(a, s, NULL, NULL, f);
	if (!d) {
		print_findings(f, text);
		fail_msg("the design does not load");
	}
	design_check(d, f);
}

static const struct finding *find(const struct findings *f, const char *rule, const char *subject)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->list[i].rule, rule) == 0 && slice_is(f->list[i].subject, subject))
			return &f->list[i];
	return NULL;
}

/* ---- tests ---- */

static void a_sound_design_has_no_findings_but_notes(void **state)
{
	struct arena a;
	struct findings f;
	(void)state;
	arena_init(&a);
	check_text(&a, slice_str(base), &f);
	for (size_t i = 0; i < f.count; i++)
		if (f.list[i].severity != SEVERITY_NOTE) {
			print_findings(&f, slice_str(base));
			fail_msg("%s of %.*s", f.list[i].rule, SLICE_ARG(f.list[i].subject));
		}
	arena_release(&a);
}

static void each_rule_finds_what_it_is_for(void **state)
{
	struct arena a;
	struct findings before, after;
	(void)state;
	arena_init(&a);
	check_text(&a, slice_str(base), &before);
	for (size_t i = 0; i < EXAMPLES; i++) {
		const struct example *x = &examples[i];
		struct slice text = slice_str(base);
		for (size_t k = 0; k < 3 && x->edits[k].find; k++)
			text = replace_once(&a, text, &x->edits[k]);
		assert_null(find(&before, x->rule, x->subject));
		check_text(&a, text, &after);
		const struct finding *found = find(&after, x->rule, x->subject);
		if (!found) {
			print_findings(&after, text);
			fail_msg("%zu: %s does not speak of %s", i, x->rule, x->subject);
		}
		assert_true(found->place.line > 0);
		assert_true(found->why.n > 0 && found->repair.n > 0 && found->message.n > 0);
	}
	arena_release(&a);
}

static void no_rule_cries_wolf(void **state)
{
	struct arena a;
	struct findings f;
	size_t spoken = 0;
	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < SILENT; i++) {
		const struct example *x = &silent[i];
		struct slice text = slice_str(base);
		for (size_t k = 0; k < 3 && x->edits[k].find; k++)
			text = replace_once(&a, text, &x->edits[k]);
		check_text(&a, text, &f);
		if (find(&f, x->rule, x->subject)) {
			print_message("%zu: %s speaks of %s\n", i, x->rule, x->subject);
			spoken++;
		}
	}
	assert_int_equal(spoken, 0);
	arena_release(&a);
}

/* projection-limit has a test of its own below: its design would not fit here. That of left-behind is in
 * tests/designs/renames.test.mjs. */
static void each_rule_has_an_example(void **state)
{
	(void)state;
	for (size_t i = 0; design_check_name(i); i++) {
		bool shown = strcmp(design_check_name(i), "projection-limit") == 0 ||
			     strcmp(design_check_name(i), "left-behind") == 0;
		for (size_t k = 0; k < EXAMPLES; k++)
			shown |= strcmp(design_check_name(i), examples[k].rule) == 0;
		if (!shown)
			fail_msg("%s has no example", design_check_name(i));
	}
}

static void names_of_rules_are_not_given_twice(void **state)
{
	(void)state;
	for (size_t i = 0; design_check_name(i); i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(design_check_name(i), design_check_name(k));
}

static void more_attributes_than_can_be_projected_are_an_error(void **state)
{
	struct arena a;
	struct findings f;
	struct buf list;
	(void)state;
	arena_init(&a);
	buf_init(&list, &a);
	for (int i = 0; i < 101; i++)
		buf_printf(&list, "x%d, ", i);
	buf_printf(&list, "status]%c", 0);
	struct edit e = { "status]", list.p };
	check_text(&a, replace_once(&a, slice_str(base), &e), &f);
	assert_non_null(find(&f, "projection-limit", "table"));
	arena_release(&a);
}

static void an_accepted_finding_is_not_reported(void **state)
{
	struct arena a;
	struct findings f;
	/* clang-format off */
	static const struct edit edits[] = {
		{ "GSI2PK: RANKED#<author_id>", "GSI2PK: RANKED" },
		{ "{key: [GSI2PK, GSI2SK], ",
		  "{key: [GSI2PK, GSI2SK], accept: {hot-partition: a few a day}, " },
	};
	/* clang-format on */
	(void)state;
	arena_init(&a);
	struct slice text = replace_once(&a, slice_str(base), &edits[0]);
	text = replace_once(&a, text, &edits[1]);
	check_text(&a, text, &f);
	assert_null(find(&f, "hot-partition", "index GSI2"));
	assert_null(find(&f, "accepts-nothing", "index GSI2"));
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_design_has_no_findings_but_notes),
		cmocka_unit_test(each_rule_finds_what_it_is_for),
		cmocka_unit_test(no_rule_cries_wolf),
		cmocka_unit_test(each_rule_has_an_example),
		cmocka_unit_test(names_of_rules_are_not_given_twice),
		cmocka_unit_test(more_attributes_than_can_be_projected_are_an_error),
		cmocka_unit_test(an_accepted_finding_is_not_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
