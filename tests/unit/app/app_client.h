/* A whole app on a database of its own, spoken to as the server does, with a clock that stands still.
 *
 *     struct client c;
 *     client_open(&c, "entities: …");           the head (app_fixture.h) is put before it
 *     client_as(&c, "alice");                    NULL: anonymous; "!": an operator
 *     client_ask(&c, APP_PUT, "/users/alice", "{…}");
 *     assert_int_equal(c.reply.status, 201);     or client_is(&c, 201)
 *     client_close(&c);
 * Headers of one request: set c.q.if_match and the like before; they are gone after it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_APP_CLIENT_H
#define THORPE_TESTS_APP_CLIENT_H

#include "app_fixture.h"

struct client {
	struct app_fixture f; /* the table; its struct app is not used */
	struct app *app;
	int64_t now_ms;
	struct clock clock;
	struct slice authorization;
	struct app_request q;
	struct app_reply reply;
};

static inline int64_t client_now(void *ctx)
{
	return ((struct client *)ctx)->now_ms;
}

static inline void client_open_with(struct client *c, const char *yaml, const struct db_options *options)
{
	struct app_options o = { 0 };

	memset(c, 0, sizeof(*c));
	app_fixture_open_with(&c->f, yaml, options);
	c->now_ms = APP_FIXTURE_NOW;
	c->clock = (struct clock){ .now_ms = client_now, .ctx = c };
	o.design = c->f.design;
	o.clock = &c->clock;
	o.database = &c->f.database.base;
	memset(o.secret, 9, sizeof(o.secret));
	c->app = app_new(&o);
	assert_non_null(c->app);
}

static inline void client_open(struct client *c, const char *yaml)
{
	client_open_with(c, yaml, &(struct db_options){ 0 });
}

static inline void client_close(struct client *c)
{
	app_tick(c->app, c->f.backend, true);
	arena_clear(&c->f.arena); /* what a request leaves to be done at its end needs the app */
	app_free(c->app);
	app_fixture_close(&c->f);
}

static inline struct slice client_token(struct client *c, const char *subject, const char *role)
{
	struct token_request t = { .subject = slice_str(subject), .now_ms = c->now_ms, .seconds = 3600 };
	struct slice roles = slice_str(role ? role : "");
	uint8_t secret[CALLER_SECRET_BYTES];

	memset(secret, 9, sizeof(secret));
	if (!strcmp(subject, "!")) {
		t.subject = SLICE("operator");
		t.operator_ = true;
	}
	t.roles = &roles;
	t.role_count = role ? 1 : 0;
	return caller_token(&c->f.arena, c->f.design->name, secret, &t);
}

static inline void client_as(struct client *c, const char *subject)
{
	struct slice token = subject ? client_token(c, subject, NULL) : SLICE("");

	c->authorization = subject ? arena_printf(&c->f.arena, "Bearer %.*s", SLICE_ARG(token)) : SLICE("");
}

/* `target`: path and query. */
static inline void client_ask(struct client *c, enum app_method m, const char *target, const char *body)
{
	const char *mark = strchr(target, '?');

	c->q.method = m;
	c->q.path = slice_make(target, mark ? (size_t)(mark - target) : strlen(target));
	c->q.query = mark ? slice_str(mark + 1) : SLICE("");
	c->q.body = slice_str(body ? body : "");
	c->q.authorization = c->authorization;
	c->q.base = SLICE("/api/test");
	c->q.client = SLICE("127.0.0.1");
	app_handle(c->app, c->f.backend, &c->f.arena, &c->q, &c->reply);
	c->q = (struct app_request){ 0 };
}

static inline bool client_has(struct slice where, const char *text)
{
	return where.p && where.n && memmem(where.p, where.n, text, strlen(text));
}

#define client_is(c, status_)                                                                                         \
	do {                                                                                                          \
		if ((c)->reply.status != (status_))                                                                   \
			fail_msg("%d instead of %d: %.*s", (c)->reply.status, (status_), SLICE_ARG((c)->reply.body)); \
	} while (0)
#define client_says(c, text)                                                               \
	do {                                                                               \
		if (!client_has((c)->reply.body, text))                                    \
			fail_msg("%s is not in %.*s", (text), SLICE_ARG((c)->reply.body)); \
	} while (0)
#define client_header(c, text)                                                                \
	do {                                                                                  \
		if (!client_has((c)->reply.headers, text))                                    \
			fail_msg("%s is not in %.*s", (text), SLICE_ARG((c)->reply.headers)); \
	} while (0)

/* The value of a header of the last reply; empty: none. */
static inline struct slice client_value(struct client *c, const char *name)
{
	struct slice h = c->reply.headers;
	size_t n = strlen(name);

	while (h.n) {
		const char *end = memchr(h.p, '\r', h.n);
		size_t line = (size_t)(end - h.p);

		if (line > n + 2 && !memcmp(h.p, name, n) && h.p[n] == ':')
			return slice_make(h.p + n + 2, line - n - 2);
		h = slice_make(end + 2, h.n - line - 2);
	}
	return SLICE("");
}

/* What most tests here run on. */
#define CLIENT_NOTES                                                                                \
	"entities:\n"                                                                               \
	"  User:\n"                                                                                 \
	"    path: /users/<user>\n"                                                                 \
	"    attributes:\n"                                                                         \
	"      user: string 2..20, required, fixed, lower\n"                                        \
	"      email: string 3..60, lower, private, unique\n"                                       \
	"      name: string 1..40\n"                                                                \
	"      password_hash: string, hidden\n"                                                     \
	"      notes_count: counter\n"                                                              \
	"      created_at: timestamp, now\n"                                                        \
	"    keys: {PK: 'USER#<user>', SK: PROFILE}\n"                                              \
	"    companions:\n"                                                                         \
	"      - {unique: email, PK: 'EMAIL#<email>', SK: 'EMAIL#<email>', user: <user>}\n"         \
	"    login: {by: [user, email], password: password_hash, subject: user}\n"                  \
	"    allow: {create: anyone, read: anyone, update: user = caller, delete: user = caller}\n" \
	"  Note:\n"                                                                                 \
	"    path: /users/<user>/notes/<note>\n"                                                    \
	"    attributes:\n"                                                                         \
	"      user: string, the caller\n"                                                          \
	"      note: string, id\n"                                                                  \
	"      title: string 1..40, required\n"                                                     \
	"      text: text 0..400000\n"                                                              \
	"      stars: integer 1..5, default 1\n"                                                    \
	"      state: draft | open, default draft, managed\n"                                       \
	"      views: counter\n"                                                                    \
	"      created_at: timestamp, now\n"                                                        \
	"      updated_at: timestamp, touched\n"                                                    \
	"    keys: {PK: 'USER#<user>', SK: 'NOTE#<note>'}\n"                                        \
	"    keys when state = 'open': {GSI1PK: OPEN, GSI1SK: <created_at>#<note>}\n"               \
	"    counts: [User(user).notes_count]\n"                                                    \
	"    allow:\n"                                                                              \
	"      create: user = caller\n"                                                             \
	"      read: state = 'open' or user = caller\n"                                             \
	"      update, delete: user = caller\n"                                                     \
	"    actions:\n"                                                                            \
	"      publish:\n"                                                                          \
	"        when: state = 'draft'\n"                                                           \
	"        otherwise: only a draft can be published\n"                                        \
	"        set: {state: open}\n"                                                              \
	"      view: {allow: anyone, add: {views: 1}, gather: 60 s}\n"                              \
	"  Slip:\n"                                                                                 \
	"    path: /slips/<slip>\n"                                                                 \
	"    attributes: {slip: string, text: string, GSI2: string}\n"                              \
	"    keys: {PK: 'SLIP#<slip>', SK: SLIP, GSI2PK: SLIPS, GSI2SK: <slip>}\n"                  \
	"    allow: {create: anyone, read: nobody}\n"                                               \
	"  Audit:\n"                                                                                \
	"    path: /audits/<audit>\n"                                                               \
	"    attributes: {audit: string, text: string}\n"                                           \
	"    keys: {PK: 'AUDIT#<audit>', SK: AUDIT}\n"                                              \
	"    internal: true\n"                                                                      \
	"access:\n"                                                                                 \
	"  notes of user:\n"                                                                        \
	"    is: N-1\n"                                                                             \
	"    path: /users/<user>/notes\n"                                                           \
	"    query: table\n"                                                                        \
	"    where: {PK: 'USER#<user>', SK: begins with NOTE#}\n"                                   \
	"    limit: 2\n"                                                                            \
	"  open notes:\n"                                                                           \
	"    path: /open\n"                                                                         \
	"    query: GSI1\n"                                                                         \
	"    where: {GSI1PK: OPEN, GSI1SK: '>= <since> if given'}\n"                                \
	"    with: {since: timestamp}\n"                                                            \
	"    cache: 30 s\n"                                                                         \
	"  some users:\n"                                                                           \
	"    path: /some-users\n"                                                                   \
	"    batch: User(id)\n"                                                                     \
	"  user by email:\n"                                                                        \
	"    path: /emails/<email>\n"                                                               \
	"    get: {PK: 'EMAIL#<email:lower>', SK: 'EMAIL#<email:lower>'}\n"                         \
	"    then: {get: User, keys: {PK: 'USER#<user>', SK: PROFILE}}\n"                           \
	"    one: true\n"                                                                           \
	"  slips:\n"                                                                                \
	"    path: /slips\n"                                                                        \
	"    query: GSI2\n"                                                                         \
	"    where: {GSI2PK: SLIPS}\n"                                                              \
	"    for operators: true\n"

#endif
