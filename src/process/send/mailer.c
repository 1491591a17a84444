/* The thread that sends single-use tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/mailer.h"
#include <openssl/rand.h>
#include <pthread.h>
#include <stdio.h>
#include "app/auth/mail.h"
#include "app/run/state.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "base/waker.h"
#include "fetch/smtp.h"
#include "json/json.h"
#include "process/send/letter.h"
#include "process/send/send_internal.h"
#include "process/send/send_run.h"

#define LOOK_MS        30000 /* without a wake: notes that others left */
#define LOOK_REMOTE_MS 5000
#define TROUBLE_MS     1000
#define CLAIM_S        60    /* longer than a try lasts: READY_MS, and then fetch/limits.h */
#define READY_MS       20000 /* a slow database: what is not made in this time is not sent under this claim */
#define REPLY_MOST     4096
#define CLAIM_TEXT     32
#define ID_ROOM        40
#define SETTLED        64
#define STRANGERS      64 /* claims of others that are watched; the rest has to wait */

enum count { SENT, RETRIES, GIVEN_UP, NOTES, COUNTS }; /* NOTES: that the last look left */

/* another server's claim, as it was first seen */
struct stranger {
	char id[ID_ROOM], claim[CLAIM_TEXT + 1]; /* id empty: free */
	int64_t tries, since_ms;                 /* by the steady clock */
	bool seen;                               /* in this look */
};

struct mailer {
	struct app *app;
	struct backend *backend;
	struct send_http *http; /* one of these two */
	struct smtp *smtp;
	const struct smtp_settings *settings;
	atomic_bool stop;
	pthread_t thread;
	struct waker waker;
	char claim[CLAIM_TEXT + 1]; /* of this process */
	int64_t second_ms;          /* SEND_RETRY_ENV */
	struct stranger strangers[STRANGERS];
	char settled[SETTLED][ID_ROOM];
	size_t settled_count;
	_Atomic uint64_t counts[COUNTS]; /* enum count */
};

bool mailer_is_needed(const struct app *app, const struct smtp_settings *smtp)
{
	const struct login *login = mail_login(app_design(app));

	return login && (login->mail.to.n || smtp);
}

/* ---- one try ---- */

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

struct outcome {
	enum send_end end;
	struct slice why;
	int64_t retry_after;
};

static struct outcome post(struct mailer *m, struct arena *a, const struct mail *mail)
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
	return (struct outcome){ .end = reply.status >= 200 && reply.status <= 299 ? SEND_TAKEN
					: is_final(reply.status)                   ? SEND_REFUSED
										   : SEND_AGAIN,
				 .why = reply.why,
				 .retry_after = reply.retry_after };
}

/* An address with a NUL is cut by arena_cstr(): it is refused here. */
static struct outcome mail_out(struct mailer *m, struct arena *a, const struct mail *mail)
{
	struct smtp_reply *reply = arena_new(a, struct smtp_reply);

	if (!smtp_is_address(mail->address))
		return (struct outcome){ .end = SEND_REFUSED,
					 .why = SLICE("the account's address is none that mail can be sent to") };
	smtp_send(m->smtp, arena_cstr(a, mail->address), letter_make(a, m->settings, mail), reply);
	return (struct outcome){ .end = reply->end == SMTP_TAKEN     ? SEND_TAKEN
					: reply->end == SMTP_REFUSED ? SEND_REFUSED
								     : SEND_AGAIN,
				 .why = slice_str(reply->why) };
}

/* SEND_TAKEN also when there is nothing to send: *is_mail is false then. */
static struct outcome try_note(struct mailer *m, struct run *r, const struct mail_note *n, bool *is_mail)
{
	int64_t began_ms = clock_steady_ms(m->app->clock);
	struct mail mail;
	bool made = *is_mail = mail_make(r, n, &mail);

	if (made && clock_steady_ms(m->app->clock) - began_ms > READY_MS)
		return (struct outcome){ .end = SEND_AGAIN, .why = SLICE("the database is too slow") };
	if (made)
		return m->smtp ? mail_out(m, r->arena, &mail) : post(m, r->arena, &mail);
	return (struct outcome){ .end = r->problem.type == PROBLEM_BUSY || r->problem.type == PROBLEM_INTERNAL
						? SEND_AGAIN
						: SEND_TAKEN,
				 .why = r->problem.detail };
}

/* ---- a note ---- */

static struct run run_of(struct mailer *m, struct arena *a)
{
	backend_label(m->backend, SLICE("mail"));
	return (struct run){ .app = m->app,
			     .design = app_design(m->app),
			     .backend = m->backend,
			     .arena = a,
			     .now_ms = app_now_ms(m->app) };
}

/* What is done with and could not be deleted is not sent again, as long as this process lives. */
static void settle(struct mailer *m, const struct mail_note *n)
{
	snprintf(m->settled[m->settled_count++ % SETTLED], ID_ROOM, "%.*s", SLICE_ARG(n->id));
}

static bool is_settled(const struct mailer *m, const struct mail_note *n)
{
	for (size_t i = 0; i < SETTLED; i++)
		if (slice_is(n->id, m->settled[i]))
			return true;
	return false;
}

static void count(struct mailer *m, enum count what)
{
	atomic_fetch_add(&m->counts[what], 1);
}

/* Later, or, because the server stops, at once, here or elsewhere. */
static int64_t put_off(struct mailer *m, struct run *r, const struct mail_note *n, int64_t retry_after)
{
	int64_t wait = send_backoff((int)n->tries, retry_after) * m->second_ms;

	count(m, RETRIES);
	return mail_note_again(r, n, app_now_ms(m->app) + (atomic_load(&m->stop) ? 0 : wait)) ? wait : TROUBLE_MS;
}

/* Returns when the note is due, in milliseconds from now; INT64_MAX: it is done with, or not this server's. */
static int64_t send_note(struct mailer *m, struct arena *a, struct mail_note *n)
{
	struct run r = run_of(m, a), own = r;
	struct outcome o;
	bool is_mail;

	if (is_settled(m, n))
		return mail_note_done(&r, n) ? INT64_MAX : TROUBLE_MS;
	switch (mail_note_claim(&r, n, slice_str(m->claim))) {
	case MAIL_CLAIMED: break;
	case MAIL_TAKEN: return INT64_MAX;
	case MAIL_FAILED: return TROUBLE_MS;
	}
	o = try_note(m, &own, n, &is_mail);
	r.problem = (struct problem){ 0 };
	if (o.end == SEND_AGAIN && n->tries < SEND_TRIES)
		return put_off(m, &r, n, o.retry_after);
	settle(m, n);
	if (o.end != SEND_TAKEN)
		log_warn("%.*s: a token was not sent, and is given up: %.*s", SLICE_ARG(r.design->name),
			 SLICE_ARG(o.why));
	if (is_mail)
		count(m, o.end == SEND_TAKEN ? SENT : GIVEN_UP);
	return mail_note_done(&r, n) ? INT64_MAX : TROUBLE_MS;
}

static int64_t send_guarded(struct mailer *m, struct mail_note *n)
{
	volatile int64_t wait = TROUBLE_MS;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, { wait = send_note(m, &a, n); }, { log_warn("a token was not sent yet: out of memory"); });
	arena_release(&a);
	return wait;
}

/* ---- claims of others (mail.h L3) ---- */

static struct stranger *watch(struct mailer *m, const struct mail_note *n)
{
	struct stranger *free = NULL;

	for (size_t i = 0; i < STRANGERS; i++) {
		struct stranger *s = &m->strangers[i];

		if (slice_is(n->id, s->id))
			return s;
		if (!s->id[0])
			free = s;
	}
	return free;
}

/* Whether the claim's server must have died. *wait: when to ask again. */
static bool is_dead(struct mailer *m, const struct mail_note *n, int64_t *wait)
{
	int64_t now_ms = clock_steady_ms(m->app->clock), patience = CLAIM_S * m->second_ms;
	struct stranger *s = watch(m, n);

	*wait = app_database(m->app)->is_remote ? patience : 0; /* here the process of that claim has ended */
	if (!*wait || !s)
		return !*wait;
	if (!s->id[0] || s->tries != n->tries || !slice_is(n->claim, s->claim)) {
		snprintf(s->id, sizeof(s->id), "%.*s", SLICE_ARG(n->id));
		snprintf(s->claim, sizeof(s->claim), "%.*s", SLICE_ARG(n->claim));
		s->tries = n->tries;
		s->since_ms = now_ms;
	}
	s->seen = true;
	*wait = s->since_ms + patience - now_ms;
	return *wait <= 0;
}

static void forget_strangers(struct mailer *m)
{
	for (size_t i = 0; i < STRANGERS; i++) {
		if (!m->strangers[i].seen)
			m->strangers[i].id[0] = '\0';
		m->strangers[i].seen = false;
	}
}

/* ---- a look ---- */

/* How long until it may be tried; a clock that was set back does not make it wait for ever. */
static int64_t wait_of(struct mailer *m, const struct mail_note *n, int64_t now_ms)
{
	int64_t wait = n->due_ms - now_ms;

	if (n->claim.n && !slice_is(n->claim, m->claim) && !is_dead(m, n, &wait))
		return wait > 1 ? wait : 1;
	return wait > (int64_t)SEND_WAIT_MOST * 1000 ? 0 : wait;
}

/* Tries what is due. Returns when the next one is. */
static int64_t look(struct mailer *m, struct arena *a)
{
	int64_t next = app_database(m->app)->is_remote ? LOOK_REMOTE_MS : LOOK_MS;
	struct run r = run_of(m, a);
	struct mail_note *list;
	size_t n, left;

	if (atomic_load(&m->app->moved)) /* the servers of the table's new place send */
		return next;
	if (!mail_notes_read(&r, &list, &n)) {
		log_warn("%.*s: mail that waits cannot be read: %.*s", SLICE_ARG(r.design->name),
			 SLICE_ARG(r.problem.detail));
		return TROUBLE_MS;
	}
	mail_post_counted(m->app->mail, n);
	left = n;
	for (size_t i = 0; i < n && !atomic_load(&m->stop); i++) {
		int64_t wait = wait_of(m, &list[i], app_now_ms(m->app));

		if (wait <= 0)
			wait = send_guarded(m, &list[i]);
		left -= wait == INT64_MAX;
		if (wait < next)
			next = wait;
	}
	atomic_store(&m->counts[NOTES], left);
	forget_strangers(m);
	return next > 0 ? next : 1;
}

static void *run_mailer(void *arg)
{
	struct mailer *m = arg;
	volatile int64_t next = 1;
	struct arena a;

	arena_init(&a);
	while (waker_wait(&m->waker, next)) {
		next = TROUBLE_MS;
		ARENA_TRY(&a, { next = look(m, &a); }, {});
		arena_clear(&a);
	}
	arena_release(&a);
	return NULL;
}

/* ---- life ---- */

static void release(struct mailer *m)
{
	mail_post_open(m->app->mail, NULL);
	send_http_free(m->http);
	smtp_free(m->smtp);
	backend_free(m->backend);
	waker_release(&m->waker);
	mem_free(m);
}

static bool make_claim(struct mailer *m)
{
	uint8_t bytes[CLAIM_TEXT / 2];

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(m->claim + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

static bool open_way(struct mailer *m, const struct smtp_settings *smtp)
{
	struct slice to = mail_login(app_design(m->app))->mail.to;
	struct arena a;

	if (!to.n) {
		m->settings = smtp;
		m->smtp = smtp_new(smtp, &m->stop);
		return m->smtp != NULL;
	}
	arena_init(&a);
	ARENA_TRY(&a, { m->http = send_http_new(arena_cstr(&a, to), &m->stop); }, {});
	arena_release(&a);
	return m->http != NULL;
}

struct mailer *mailer_start(struct app *app, const struct smtp_settings *smtp)
{
	struct mailer *m = mem_zalloc(sizeof(*m));

	if (!m)
		return NULL;
	m->app = app;
	m->second_ms = send_second_ms();
	waker_init(&m->waker);
	m->backend = database_open(app_database(app));
	if (m->backend && make_claim(m) && open_way(m, smtp)) {
		mail_post_open(app->mail, &m->waker);
		if (!pthread_create(&m->thread, NULL, run_mailer, m))
			return m;
	}
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

/* ---- metrics ---- */

void mailer_metrics(struct mailer *const *list, size_t n, struct buf *out)
{
	static const struct {
		const char *name, *type, *help;
	} rows[COUNTS] = {
		[SENT] = { "sent_total", "counter", "Tokens that went out by mail" },
		[RETRIES] = { "retries_total", "counter", "Tries that are repeated later" },
		[GIVEN_UP] = { "given_up_total", "counter", "Tokens that were refused, or tried too often" },
		[NOTES] = { "waiting", "gauge", "Requests for mail that wait, as this server knows" },
	};

	for (size_t i = 0; n && i < COUNTS; i++) {
		buf_printf(out, "# HELP thorpe_mail_%s %s\n# TYPE thorpe_mail_%s %s\n", rows[i].name, rows[i].help,
			   rows[i].name, rows[i].type);
		for (size_t k = 0; k < n; k++)
			buf_printf(out, "thorpe_mail_%s{design=\"%.*s\"} %llu\n", rows[i].name,
				   SLICE_ARG(app_design(list[k]->app)->name),
				   (unsigned long long)atomic_load(&list[k]->counts[i]));
	}
}
