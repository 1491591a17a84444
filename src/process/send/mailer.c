/* The thread that sends single-use tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/mailer.h"
#include <pthread.h>
#include "app/auth/mail.h"
#include "app/run/state.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "base/waker.h"
#include "json/json.h"
#include "process/send/send_internal.h"

#define LOOK_MS    250
#define TRIES      8
#define WAIT_MOST  60000
#define WAITING    64 /* messages that are tried again at the same time; beyond these, requests stay in the queue */
#define REPLY_MOST 4096

struct waiting {
	struct mail_note *note; /* NULL: free */
	int tries;
	int64_t due_ms; /* by the steady clock */
};

struct mailer {
	struct app *app;
	struct backend *backend;
	struct send_http *http;
	atomic_bool stop;
	pthread_t thread;
	struct waker waker;
	struct waiting list[WAITING];
};

bool mailer_is_needed(const struct app *app)
{
	const struct login *login = mail_login(app_design(app));

	return login && login->mail.to.n;
}

static void put_body(const struct design *d, const struct mail *m, struct buf *b)
{
	char time[TIME_TEXT_MAX];

	json_open(b, '{');
	json_member_string(b, "id", m->id);
	json_member_string(b, "design", d->name);
	json_member_word(b, "event", m->kind == MAIL_RESET ? "reset" : "proof");
	json_member_string(b, "to", m->address);
	json_member_string(b, "subject", m->subject);
	json_member_string(b, "token", m->token);
	json_member_string(b, "expires", time_format(m->expires_s * 1000, time));
	json_close(b, '}');
}

/* The receiver does not want this message, and will not want it later: it makes room for others. */
static bool is_final(int status)
{
	return status == 400 || status == 410 || status == 413 || status == 415 || status == 422;
}

/* The end of one try; SEND_AGAIN with a reason. */
static enum send_end post(struct mailer *m, struct arena *a, const struct mail *mail, struct slice *why)
{
	int64_t timestamp = clock_now_ms(&clock_system) / 1000; /* the receiver compares it with its own */
	struct slice secret = mail->login->mail.secret, headers[4];
	struct send_request q = { .headers = headers, .header_count = 4, .most = REPLY_MOST };
	struct send_reply reply;
	struct buf b;

	if (!secret.n)
		secret = send_secret(a, app_design(m->app)->name, app_secret(m->app));
	buf_init(&b, a);
	put_body(app_design(m->app), mail, &b);
	q.body = buf_slice(&b);
	headers[0] = SLICE("Content-Type: application/json");
	headers[1] = arena_printf(a, "Thorpe-Id: %.*s", SLICE_ARG(mail->id));
	headers[2] = arena_printf(a, "Thorpe-Timestamp: %lld", (long long)timestamp);
	headers[3] =
		arena_printf(a, "Thorpe-Signature: %.*s", SLICE_ARG(webhook_signature(a, secret, timestamp, q.body)));
	send_http_post(m->http, a, &q, &reply);
	*why = reply.why;
	return reply.status >= 200 && reply.status <= 299 ? SEND_TAKEN
	       : is_final(reply.status)                   ? SEND_REFUSED
							  : SEND_AGAIN;
}

/* True: the note is done with. */
static bool try_note(struct mailer *m, struct arena *a, const struct waiting *w)
{
	struct run r = { .app = m->app,
			 .design = app_design(m->app),
			 .backend = m->backend,
			 .arena = a,
			 .now_ms = app_now_ms(m->app) };
	struct slice why = SLICE("");
	struct mail mail;
	bool again;

	if (mail_make(&r, w->note, &mail)) {
		enum send_end end = post(m, a, &mail, &why);

		if (end == SEND_REFUSED)
			log_warn("%.*s: a token was not sent: %.*s", SLICE_ARG(r.design->name), SLICE_ARG(why));
		again = end == SEND_AGAIN;
	} else {
		again = r.problem.type == PROBLEM_BUSY || r.problem.type == PROBLEM_INTERNAL;
		why = r.problem.detail;
	}
	if (again && w->tries + 1 >= TRIES)
		log_warn("%.*s: a token was not sent, and is given up: %.*s", SLICE_ARG(r.design->name), SLICE_ARG(why));
	return !again || w->tries + 1 >= TRIES;
}

static void work_on(struct mailer *m, struct waiting *w)
{
	int64_t wait = INT64_C(1000) << w->tries;
	volatile bool done = false;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, { done = try_note(m, &a, w); }, {});
	arena_release(&a);
	w->tries++;
	w->due_ms = clock_steady_ms(m->app->clock) + (wait < WAIT_MOST ? wait : WAIT_MOST);
	if (!done)
		return;
	mail_note_free(w->note);
	w->note = NULL;
}

static void work(struct mailer *m)
{
	for (size_t i = 0; i < WAITING && !atomic_load(&m->stop); i++) {
		struct waiting *w = &m->list[i];

		if (!w->note)
			*w = (struct waiting){ .note = mail_take(m->app->mail) };
		if (w->note && w->due_ms <= clock_steady_ms(m->app->clock))
			work_on(m, w);
	}
}

static void *run_mailer(void *arg)
{
	struct mailer *m = arg;

	while (waker_wait(&m->waker, LOOK_MS))
		work(m);
	return NULL;
}

static void release(struct mailer *m)
{
	for (size_t i = 0; i < WAITING; i++)
		mail_note_free(m->list[i].note);
	send_http_free(m->http);
	backend_free(m->backend);
	waker_release(&m->waker);
	mem_free(m);
}

struct mailer *mailer_start(struct app *app)
{
	struct mailer *m = mem_zalloc(sizeof(*m));
	const struct login *login = mail_login(app_design(app));
	struct arena a;

	if (!m)
		return NULL;
	m->app = app;
	waker_init(&m->waker);
	m->backend = database_open(app_database(app));
	arena_init(&a);
	ARENA_TRY(&a, { m->http = send_http_new(arena_cstr(&a, login->mail.to), &m->stop); }, {});
	arena_release(&a);
	if (m->backend && m->http && !pthread_create(&m->thread, NULL, run_mailer, m))
		return m;
	release(m);
	return NULL;
}

void mailer_stop(struct mailer *m)
{
	if (!m)
		return;
	atomic_store(&m->stop, true);
	waker_stop(&m->waker);
	pthread_join(m->thread, NULL);
	release(m);
}
