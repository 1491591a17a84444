/* A design to deploy, and a service that can be told to misbehave.
 *
 * Tables, indexes, TTL and tags are those of Thorpe's own database; point-in-time recovery is played.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_DEPLOY_HELPER_H
#define THORPE_TESTS_DEPLOY_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "api/local.h"
#include "deploy/deploy.h"

#define SAID_MAX 64

struct service {
	struct backend backend; /* first */
	struct db *db;
	struct api *api;
	struct backend *real;
	bool recovery;        /* point-in-time recovery is on */
	unsigned writes;      /* calls that change something */
	char log[64][32];     /* their operations */
	const char *lacks[4]; /* operations it does not have */
	/* Before (or after) the `fails_at`-th writing call is carried out it is refused with this error. */
	unsigned fails_at;
	bool fails_after;
	const char *error, *message;
	/* Refuses an operation so many times. */
	const char *refused;
	int refusals;
	const char *ignored; /* answers 200 and does nothing */
	int shown_late;      /* tags are not listed for so many looks */
};

struct fixture {
	struct service s;
	struct arena arena;
	struct deploy_options options;
	char said[SAID_MAX][256];
	size_t said_count;
};

static inline void answer(struct arena *a, struct backend_reply *r, int status, const char *error, const char *message,
			  const char *body)
{
	*r = (struct backend_reply){ .status = status, .error = slice_str(error), .message = slice_str(message) };
	r->body = json_parse(a, slice_str(body));
}

static inline bool changes(const char *operation)
{
	return strncmp(operation, "Describe", 8) && strncmp(operation, "List", 4);
}

static inline void play_recovery(struct service *s, struct arena *a, const char *operation, struct slice body,
				 struct backend_reply *r)
{
	if (!strcmp(operation, "UpdateContinuousBackups")) {
		if (!memmem(body.p, body.n, "TableName", 9)) {
			answer(a, r, 400, "ValidationException", "no TableName", "{}");
			return;
		}
		s->recovery = true;
	}
	answer(a, r, 200, "", "",
	       s->recovery
		       ? "{\"ContinuousBackupsDescription\":{\"PointInTimeRecoveryDescription\":{\"PointInTimeRecoveryStatus\":\"ENABLED\"}}}"
		       : "{\"ContinuousBackupsDescription\":{\"PointInTimeRecoveryDescription\":{\"PointInTimeRecoveryStatus\":\"DISABLED\"}}}");
}

static inline void carry_out(struct service *s, struct arena *a, const char *operation, struct slice body,
			     struct backend_reply *r)
{
	if (strstr(operation, "ContinuousBackups"))
		play_recovery(s, a, operation, body, r);
	else if (!strcmp(operation, "ListTagsOfResource") && s->shown_late > 0 && s->shown_late--)
		answer(a, r, 200, "", "", "{\"Tags\":[]}");
	else
		backend_call(s->real, a, operation, body, r);
}

static inline void service_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
				struct backend_reply *r)
{
	struct service *s = (struct service *)b;
	bool probe = slice_is(body, "{}"), now;

	for (size_t i = 0; i < sizeof(s->lacks) / sizeof(*s->lacks); i++)
		if (s->lacks[i] && !strcmp(operation, s->lacks[i])) {
			answer(a, r, 400, "UnknownOperationException", "UnknownError", "{}");
			return;
		}
	if (changes(operation) && !probe) {
		if (s->writes < sizeof(s->log) / sizeof(*s->log))
			snprintf(s->log[s->writes], sizeof(s->log[0]), "%s", operation);
		s->writes++;
	}
	if (s->refused && !strcmp(operation, s->refused) && !probe && s->refusals > 0 && s->refusals--) {
		answer(a, r, 400, s->error, s->message, "{}");
		return;
	}
	if (s->ignored && !strcmp(operation, s->ignored) && !probe) {
		answer(a, r, 200, "", "", "{}");
		return;
	}
	now = changes(operation) && !probe && s->fails_at && s->writes == s->fails_at;
	if (!now || s->fails_after)
		carry_out(s, a, operation, body, r);
	if (now)
		answer(a, r, 400, s->error, s->message, "{}");
}

static inline int setup(void **state)
{
	static struct fixture f;
	char why[256];

	memset(&f, 0, sizeof(f));
	if (db_open(&(struct db_options){ 0 }, &f.s.db, why, sizeof(why)) != STORE_OPENED)
		return -1;
	f.s.api = api_new(&(struct api_options){ .db = f.s.db });
	f.s.real = backend_local_new(f.s.api);
	f.s.backend.call = service_call;
	arena_init(&f.arena);
	*state = &f;
	return f.s.real ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	backend_free(f->s.real);
	db_close(f->s.db);
	api_free(f->s.api);
	return 0;
}

#define ENTITY                                                                             \
	"entities:\n"                                                                      \
	"  Note:\n"                                                                        \
	"    path: /notes/<id>\n"                                                          \
	"    attributes: {id: 'string, id', kind: string, score: integer, until: epoch}\n" \
	"    keys: {PK: NOTE#<id>, SK: NOTE}\n"                                            \
	"    keys when kind is present: {G1: KIND#<kind>, G2: <score>}\n"
#define BY_KIND  "byKind: {key: [G1, G2: number], projection: [score]}"
#define BY_SCORE "byScore: {key: [G2: number, G1], projection: keys only}"
#define INDEXES  "indexes: {" BY_KIND ", " BY_SCORE "}\n"
#define STREAM   "stream: new image\n"
#define TTL      "ttl: until\n"

static inline const struct design *design(struct fixture *f, const char *head)
{
	struct source s = { .file = SLICE("test.yaml") };
	struct findings findings;
	const struct design *d;

	s.text = arena_printf(&f->arena, "design: notes\ntitle: Notes\ntable: Notes\nkey: [PK, SK]\n%s%s", head, ENTITY);
	findings_init(&findings, &f->arena);
	d = design_load(&f->arena, s, NULL, NULL, &findings);
	if (!d) {
		struct buf out;

		buf_init(&out, &f->arena);
		findings_print(&out, &findings, &s);
		fail_msg("%.*s", SLICE_ARG(buf_slice(&out)));
	}
	return d;
}

static inline struct deploy_want want(struct fixture *f, const char *head)
{
	struct deploy_want w;

	deploy_want(design(f, head), &f->options, &f->arena, &w);
	return w;
}

static inline struct deploy_plan look(struct fixture *f, const char *head)
{
	struct deploy_want *w = arena_new(&f->arena, struct deploy_want);
	struct deploy_failure failure = { 0 };
	struct deploy_plan plan;

	*w = want(f, head);
	if (!deploy_look(&f->s.backend, w, &f->arena, &plan, &failure))
		fail_msg("%s: %.*s: %.*s", failure.operation, SLICE_ARG(failure.reply.error),
			 SLICE_ARG(failure.reply.message));
	return plan;
}

static inline void hear(void *ctx, struct slice line)
{
	struct fixture *f = ctx;

	if (f->said_count < SAID_MAX)
		snprintf(f->said[f->said_count++], sizeof(f->said[0]), "%.*s", SLICE_ARG(line));
}

static inline enum deploy_end run_for(struct fixture *f, const char *head, int64_t most_ms,
				      struct deploy_failure *failure)
{
	struct deploy_progress p = { .say = hear, .ctx = f, .most_ms = most_ms };
	struct deploy_want w = want(f, head);

	*failure = (struct deploy_failure){ 0 };
	return deploy_run(&f->s.backend, &w, &p, &f->arena, failure);
}

static inline void run(struct fixture *f, const char *head)
{
	struct deploy_failure failure;

	if (run_for(f, head, 0, &failure) != DEPLOY_DONE)
		fail_msg("%s: %.*s: %.*s %.*s", failure.operation ? failure.operation : "",
			 SLICE_ARG(failure.reply.error), SLICE_ARG(failure.reply.message), SLICE_ARG(failure.words));
}

static inline bool has(struct slice text, const char *part)
{
	return text.p && text.n && memmem(text.p, text.n, part, strlen(part));
}

static inline void assert_has(struct slice text, const char *part)
{
	if (!has(text, part))
		fail_msg("no %s in %.*s", part, SLICE_ARG(text.p ? text : SLICE("nothing")));
}

static inline struct slice describe(struct fixture *f, const char *operation, const char *table)
{
	struct backend_reply r;
	struct buf b;

	service_call(&f->s.backend, &f->arena, operation, arena_printf(&f->arena, "{\"TableName\":\"%s\"}", table), &r);
	if (r.status != 200)
		fail_msg("%s: %.*s", operation, SLICE_ARG(r.message));
	buf_init(&b, &f->arena);
	json_write(&b, r.body);
	return buf_slice(&b);
}

#endif
