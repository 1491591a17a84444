/* From files to running applications.
 * SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "app/auth/mail.h"
#include "app/db/beside.h"
#include "app/db/provision.h"
#include "app/db/provision_request.h"
#include "app/db/shared_secret.h"
#include "cli/design_file.h"
#include "cli/secret.h"
#include "cli/serve/serve_changes.h"
#include "cli/serve/serve_designs.h"
#include "process/send/mailer.h"

#define STOP_PATIENCE_S 5

/* ---- processors ---- */

static bool start_processes(struct serve_designs *s, char *why, size_t n)
{
	for (; s->process_count < s->count; s->process_count++) {
		struct process *p = process_new(
			&(struct process_options){ .app = s->apps[s->process_count], .peer_address = s->peer_address });

		s->processes[s->process_count] = p;
		if (!p) {
			snprintf(why, n, "not enough memory");
			return false;
		}
		if (!process_start(p, why, n)) {
			s->process_count++; /* so that it is freed */
			return false;
		}
		s->relays[s->process_count] = process_relay(p);
	}
	return true;
}

static void write_metrics(void *ctx, struct buf *out)
{
	const struct serve_designs *s = ctx;

	struct remote_reading *list = arena_array(out->arena, struct remote_reading, s->remote_count);
	size_t n = 0;

	process_metrics(s->processes, s->process_count, out);
	mailer_metrics(s->mailers, s->mailer_count, out);
	for (size_t i = 0; i < s->remote_count; i++) {
		struct remote *r = s->remotes[i].remote;

		if (!r)
			continue;
		list[n].backend = slice_str(remote_url(r));
		remote_metrics(r, out->arena, &list[n++].m);
	}
	remote_metrics_write(list, n, out);
}

int64_t serve_designs_delay_ms(void *ctx, const struct app *app)
{
	const struct serve_designs *s = ctx;
	int64_t most = 0;

	for (size_t i = 0; i < s->process_count; i++) {
		int64_t delay = app && app != s->apps[i] ? 0 : process_delay_ms(s->processes[i]);

		most = delay > most ? delay : most;
	}
	return most;
}

#define SILENT_MS 5000

const char *serve_designs_not_ready(void *ctx)
{
	const struct serve_designs *s = ctx;

	for (size_t i = 0; i < s->remote_count; i++)
		if (s->remotes[i].remote && remote_silent_ms(s->remotes[i].remote) >= SILENT_MS)
			return "the remote database has not answered for some seconds";
	return NULL;
}

/* ---- loading ---- */

/* NULL: the findings have been printed. */
static const struct design *load(struct arena *a, const char *path, bool allow_errors, char *why, size_t n)
{
	size_t errors = 0;
	const struct design *d = design_file_check(a, path, &errors);

	if (!d) {
		snprintf(why, n, "%s is not a design that can be served", path);
		return NULL;
	}
	if (errors && !allow_errors) {
		snprintf(why, n, "%s has %zu error%s (above): repair %s, or serve it as it is with --allow-check-errors",
			 path, errors, errors == 1 ? "" : "s", errors == 1 ? "it" : "them");
		return NULL;
	}
	if (errors)
		log_warn("%s is served with %zu error%s that 'thorpe check' finds in it (--allow-check-errors)", path,
			 errors, errors == 1 ? "" : "s");
	if (d->callers.issuer.n && !d->callers.audience_count)
		log_warn("%s accepts every token of its issuer, whatever it is for: 'audience' is not set", path);
	return d;
}

/* Two designs cannot have one address, nor one table. */
static bool is_alone(const struct serve_designs *s, size_t i, char *why, size_t n)
{
	const struct design *d = s->list[i];

	for (size_t j = 0; j < i; j++) {
		const struct design *other = s->list[j];
		const char *first = s->options->designs[j], *second = s->options->designs[i];

		if (slice_equal(d->name, other->name)) {
			snprintf(why, n, "%s and %s are both called %.*s", first, second, SLICE_ARG(d->name));
			return false;
		}
		if (slice_equal(d->table, other->table)) {
			snprintf(why, n, "%s and %s both want the table %.*s", first, second, SLICE_ARG(d->table));
			return false;
		}
	}
	return true;
}

static bool load_one(struct serve_designs *s, size_t i, char *why, size_t n)
{
	s->list[i] = load(&s->arena, s->options->designs[i], s->options->allow_check_errors, why, n);
	return s->list[i] && is_alone(s, i, why, n);
}

bool serve_designs_load(struct serve_designs *s, const struct serve_options *o, char *why, size_t n)
{
	volatile bool ok = true;
	char smtp_why[256];

	*s = (struct serve_designs){ .options = o };
	arena_init(&s->arena);
	rest_init(&s->rest);
	s->metrics = (struct metrics_writer){ write_metrics, s };
	if (o->smtp.url && !smtp_settings_read(&o->smtp, &s->smtp, smtp_why, sizeof(smtp_why))) {
		snprintf(why, n, "--smtp: %s", smtp_why);
		return false;
	}
	ARENA_TRY(&s->arena, {
		for (; ok && s->count < o->design_count; s->count++)
			ok = load_one(s, s->count, why, n);
	}, {
		snprintf(why, n, "not enough memory");
		ok = false;
	});
	return ok;
}

/* ---- starting ---- */

static void say_table(const struct design *d, const char *state)
{
	if (d->title.n)
		log_say("  design %.*s (%.*s): table %.*s %s", SLICE_ARG(d->name), SLICE_ARG(d->title),
			SLICE_ARG(d->table), state);
	else
		log_say("  design %.*s: table %.*s %s", SLICE_ARG(d->name), SLICE_ARG(d->table), state);
}

/* A table elsewhere costs money and has settings that a server cannot know: only `thorpe deploy` makes it. */
static bool check_far_table(const struct serve_designs *s, size_t i, struct backend *b, struct arena *a, char *why,
			    size_t n)
{
	const char *path = s->options->designs[i], *where = ((const struct database_remote *)s->databases[i])->where;
	const struct design *d = s->list[i];
	struct error e = { 0 };

	if (!provision_check(b, d, a, &e)) {
		if (slice_starts(e.message, SLICE("there is no table")))
			snprintf(why, n, "%s: %.*s; make it with `thorpe deploy %s --backend %s`", path,
				 SLICE_ARG(e.message), path, where);
		else if (e.code == ERR_VALIDATION)
			snprintf(why, n, "%s: %.*s; `thorpe deploy %s --backend %s` sees to that, or says what to do",
				 path, SLICE_ARG(e.message), path, where);
		else
			snprintf(why, n, "%s: %.*s", path, SLICE_ARG(e.message));
		return false;
	}
	say_table(d, "is there");
	return true;
}

static bool provision(struct backend *b, const char *path, const struct design *d, struct arena *a, char *why, size_t n)
{
	struct error e = { 0 };
	const char *did = "is there";

	switch (provision_table(b, d, a, &e)) {
	case PROVISION_FAILED: snprintf(why, n, "%s: %.*s", path, SLICE_ARG(e.message)); return false;
	case PROVISION_MADE: did = "made"; break;
	case PROVISION_CHANGED: did = "brought up to date"; break;
	case PROVISION_THERE: break;
	}
	say_table(d, did);
	return true;
}

/* All designs at one place share its database. NULL: `why`. */
static struct database *remote_at(struct serve_designs *s, const char *where, char *why, size_t n)
{
	struct database_remote *d = &s->remotes[s->remote_count];

	for (size_t i = 0; i < s->remote_count; i++)
		if (!strcmp(s->remotes[i].where, where))
			return &s->remotes[i].base;
	s->remote_count++; /* so that it is closed */
	return database_remote_open(d, where, why, n) ? &d->base : NULL;
}

static bool choose_databases(struct serve_designs *s, struct api *api, char *why, size_t n)
{
	const struct serve_options *o = s->options;

	database_local_init(&s->local, api);
	for (size_t i = 0; i < s->count; i++) {
		const struct serve_backend *b = serve_backend_of(o->backends, o->backend_count, s->list[i]->name);

		s->databases[i] = b ? remote_at(s, b->where, why, n) : &s->local.base;
		if (!s->databases[i])
			return false;
	}
	for (size_t i = 0; i < o->backend_count; i++) {
		bool found = !o->backends[i].design.n;

		for (size_t j = 0; j < s->count; j++)
			found |= slice_equal(s->list[j]->name, o->backends[i].design);
		if (!found) {
			snprintf(why, n,
				 "--backend names a design %.*s that is not served: which is meant is the name in the file of --design",
				 SLICE_ARG(o->backends[i].design));
			return false;
		}
	}
	return true;
}

/* Whether the endpoint lets itself be asked; otherwise `why` says what to do: other credentials, another region. */
static bool answers(struct remote *r, struct backend *b, const struct design *d, struct arena *a, char *why, size_t n)
{
	struct backend_reply reply;

	backend_call(b, a, "DescribeTable", provision_describe(d, a), &reply);
	if (reply.status == 200 || slice_is(reply.error, "ResourceNotFoundException"))
		return true;
	snprintf(why, n, "%s: %.*s", remote_url(r), SLICE_ARG(remote_explain(r, a, &reply)));
	return false;
}

static bool bring(const struct serve_designs *s, size_t i, struct backend *b, struct arena *a, char *why, size_t n)
{
	const struct database_remote *remote = (const struct database_remote *)s->databases[i]; /* if it is one */

	if (s->databases[i]->is_remote && !answers(remote->remote, b, s->list[i], a, why, n))
		return false;
	if (s->databases[i]->is_remote && remote->is_far ? !check_far_table(s, i, b, a, why, n)
							 : !provision(b, s->options->designs[i], s->list[i], a, why, n))
		return false;
	if (s->databases[i]->is_remote || !s->options->in_memory)
		serve_changes_say(s->list[i], s->options->designs[i], b, a);
	return true;
}

static bool provision_all(struct serve_designs *s, char *why, size_t n)
{
	volatile bool ok = true;
	struct arena a;

	arena_init(&a);
	for (volatile size_t i = 0; ok && i < s->count; i++) {
		struct backend *b = database_open(s->databases[i]);

		snprintf(why, n, "not enough memory");
		ARENA_TRY(&a, { ok = b && bring(s, i, b, &a, why, n); }, { ok = false; });
		backend_free(b);
	}
	arena_release(&a);
	return ok;
}

/* Makes what servers of a table elsewhere share. Tables that exist are changed on this machine only: elsewhere that is
 * for `deploy`. */
static bool provision_shared(struct serve_designs *s, size_t i, struct backend *b, struct arena *a, struct error *e)
{
	const struct database_remote *d = (const struct database_remote *)s->databases[i];
	struct endpoint at;
	char why[256];

	if (!provision_beside(b, s->list[i], a, e))
		return false;
	if (endpoint_parse(d->where, &at, why, sizeof(why)) && at.loopback)
		provision_beside_ttl(b, s->list[i], a);
	return true;
}

/* Of a table elsewhere every server has the same secret, unless a file says which. */
static bool take_shared_secret(struct serve_designs *s, size_t i, uint8_t out[CALLER_SECRET_BYTES], char *why, size_t n)
{
	struct backend *b = database_open(s->databases[i]);
	volatile bool ok = false;
	struct error e = { 0 };
	struct arena a;

	snprintf(why, n, "not enough memory");
	arena_init(&a);
	ARENA_TRY(&a, {
		ok = b && provision_shared(s, i, b, &a, &e) &&
		     (s->options->secret_file || shared_secret_load(b, s->list[i], &a, out, &e));
		if (e.message.n)
			snprintf(why, n, "%.*s", SLICE_ARG(e.message));
	}, { ok = false; });
	arena_release(&a);
	backend_free(b);
	return ok;
}

static bool take_secret(struct serve_designs *s, size_t i, uint8_t out[CALLER_SECRET_BYTES], char *why, size_t n)
{
	const struct serve_options *o = s->options;

	if (s->databases[i]->is_remote && !take_shared_secret(s, i, out, why, n))
		return false;
	if (s->databases[i]->is_remote && !o->secret_file)
		return true;
	return secret_load(o->db.dir, o->secret_file, true, out, why, n);
}

static void look_for_moves(struct serve_designs *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct backend *b = database_open(s->databases[i]);

		if (b)
			app_look(s->apps[i], b);
		backend_free(b);
	}
}

static bool are_files_here(const struct serve_designs *s, size_t i)
{
	return design_has_files(s->list[i]) && !s->databases[i]->is_remote;
}

/* Where the files of the designs are. Servers that share a table share its files as well: which, they have to be told. */
static bool open_media(struct serve_designs *s, char *why, size_t n)
{
	const struct serve_options *o = s->options;
	struct media_options m = o->media;
	char beside[PATH_MAX];
	bool any = false;

	for (size_t i = 0; i < s->count; i++) {
		any = any || (design_has_files(s->list[i]) && (o->media.where || are_files_here(s, i)));
		if (!o->media.where && design_has_files(s->list[i]) && !are_files_here(s, i))
			log_warn("%s has files, and its table is elsewhere: none can be uploaded until --media s3://BUCKET says "
				 "where its servers keep them (or a directory, if there is only this one)",
				 o->designs[i]);
	}
	if (!any)
		return true;
	if (!m.where && o->db.dir) {
		snprintf(beside, sizeof(beside), "%s/media", o->db.dir);
		m.where = beside;
	}
	m.region = o->http.region;
	m.most = (int64_t)o->media_most_mb << 20;
	m.clock = o->http.clock;
	s->media = media_open(&m, why, n);
	return s->media;
}

static bool make_apps(struct serve_designs *s, char *why, size_t n)
{
	const struct serve_options *o = s->options;
	struct app_options app = { .clock = o->http.clock,
				   .media_hold_s = (int64_t)o->media_hold_s,
				   .media_caller_most = (int64_t)o->media_caller_mb << 20 };

	for (size_t i = 0; i < s->count; i++) {
		if (!take_secret(s, i, app.secret, why, n))
			return false;
		app.design = s->list[i];
		app.database = s->databases[i];
		app.media = design_has_files(s->list[i]) && (o->media.where || are_files_here(s, i)) ? s->media : NULL;
		s->apps[i] = app_new(&app);
		if (!s->apps[i]) {
			snprintf(why, n, "not enough memory");
			return false;
		}
	}
	s->rest.apps = s->apps;
	s->rest.app_count = s->count;
	s->rest.relays = s->relays;
	return true;
}

/* SDKs find the tables of designs here wherever they are (http/serve/forward.h), so ListTables names them. */
static bool list_remote_tables(struct serve_designs *s, struct api *api, char *why, size_t n)
{
	volatile bool ok = true;

	ARENA_TRY(&s->arena, {
		struct slice *names = arena_alloc(&s->arena, 2 * s->count * sizeof(*names));
		size_t count = 0;

		for (size_t i = 0; i < s->count; i++) {
			if (!s->databases[i]->is_remote)
				continue;
			names[count++] = s->list[i]->table;
			names[count++] = beside_name(&s->arena, s->list[i]->table);
		}
		api_list_also(api, names, count);
	}, {
		snprintf(why, n, "not enough memory");
		ok = false;
	});
	return ok;
}

/* Accounts with `mail`, and no way for it: the requests are accepted all the same. */
static void tell_of_mail(const struct design *d)
{
	if (mail_login(d))
		log_info("%.*s: no mail is sent: neither 'to' of 'mail' nor --smtp says where to", SLICE_ARG(d->name));
}

static bool start_mailers(struct serve_designs *s)
{
	const struct smtp_settings *smtp = s->smtp.url ? &s->smtp : NULL;

	for (size_t i = 0; i < s->count; i++) {
		if (!mailer_is_needed(s->apps[i], smtp)) {
			tell_of_mail(s->list[i]);
			continue;
		}
		s->mailers[s->mailer_count] = mailer_start(s->apps[i], smtp);
		if (!s->mailers[s->mailer_count])
			return false;
		s->mailer_count++;
	}
	return true;
}

bool serve_designs_start(struct serve_designs *s, struct api *api, char *why, size_t n)
{
	if (!s->count)
		return true;
	if (!choose_databases(s, api, why, n) || !provision_all(s, why, n) || !open_media(s, why, n) ||
	    !make_apps(s, why, n) || !list_remote_tables(s, api, why, n))
		return false;
	look_for_moves(s);
	if (s->options->demo)
		serve_demo(s, s->options->demo);
	if (!start_processes(s, why, n))
		return false;
	s->ticker = serve_ticker_start(s->apps, s->count);
	if (s->ticker && start_mailers(s))
		return true;
	snprintf(why, n, "not enough memory or threads");
	return false;
}

/* ---- the rest ---- */

/* Something to look at that needs no parameter. */
static struct slice first_path(const struct design *d)
{
	for (size_t i = 0; i < d->access_count; i++) {
		const struct access *p = &d->accesses[i];

		if (p->path.n && !p->param_count && !p->query_param_count && !p->operators_only && !p->allow &&
		    p->kind != ACCESS_BATCH)
			return p->path;
	}
	return SLICE("");
}

void serve_designs_greet(const struct serve_designs *s, const char *scheme, const char *address)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct design *d = s->list[i];

		log_say("  %s://%s" REST_BASE "/%.*s  %.*s%s%zu %s, %zu access pattern%s", scheme, address,
			SLICE_ARG(d->name), SLICE_ARG(d->title), d->title.n ? ", " : "", d->entity_count,
			d->entity_count == 1 ? "entity" : "entities", d->access_count, d->access_count == 1 ? "" : "s");
		log_say("    curl %s://%s" REST_BASE "/%.*s%.*s", scheme, address, SLICE_ARG(d->name),
			SLICE_ARG(first_path(d)));
		if (s->accounts[i].n)
			log_say("    %.*s", SLICE_ARG(s->accounts[i]));
	}
}

/* A database that does not answer does not keep the server from ending: what waits for it is given up after a while. */
struct stopping {
	struct serve_designs *designs;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done; /* under the lock */
};

static void *give_up_later(void *arg)
{
	struct stopping *x = arg;
	struct timespec until;
	int late = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_PATIENCE_S;
	pthread_mutex_lock(&x->lock);
	while (!x->done && !late)
		late = pthread_cond_timedwait(&x->changed, &x->lock, &until);
	pthread_mutex_unlock(&x->lock);
	if (!late)
		return NULL;
	log_warn("a backend does not answer: pending writes there were given up");
	for (size_t i = 0; i < x->designs->remote_count; i++)
		if (x->designs->remotes[i].remote)
			remote_stop(x->designs->remotes[i].remote);
	return NULL;
}

static bool stopping_begin(struct stopping *x, struct serve_designs *s)
{
	*x = (struct stopping){ .designs = s };
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->changed, NULL);
	return s->remote_count && pthread_create(&x->thread, NULL, give_up_later, x) == 0;
}

static void stopping_end(struct stopping *x, bool began)
{
	pthread_mutex_lock(&x->lock);
	x->done = true;
	pthread_cond_signal(&x->changed);
	pthread_mutex_unlock(&x->lock);
	if (began)
		pthread_join(x->thread, NULL);
	pthread_cond_destroy(&x->changed);
	pthread_mutex_destroy(&x->lock);
}

void serve_designs_stop(struct serve_designs *s)
{
	struct stopping stopping;
	bool began = stopping_begin(&stopping, s);

	rest_release(&s->rest);
	for (size_t i = 0; i < s->mailer_count; i++)
		mailer_stop(s->mailers[i]);
	s->mailer_count = 0;
	serve_ticker_stop(s->ticker);
	s->ticker = NULL;
	for (size_t i = 0; i < s->process_count; i++) {
		process_free(s->processes[i]);
		s->processes[i] = NULL;
	}
	s->process_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (s->apps[i])
			app_free(s->apps[i]);
		s->apps[i] = NULL;
	}
	stopping_end(&stopping, began);
}

void serve_designs_release(struct serve_designs *s)
{
	for (size_t i = 0; i < s->remote_count; i++)
		database_remote_close(&s->remotes[i]);
	smtp_settings_release(&s->smtp);
	media_close(s->media);
	arena_release(&s->arena);
}
