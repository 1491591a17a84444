/* /processors: what operators see of processors, and their controls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/output.h"
#include "app/rest/target.h"
#include "base/timestamp.h"
#include "process/process_internal.h"

#define REPLAY_TRIES 100
#define WAIT_MOST_S  60
#define WAITERS_MOST 8 /* each occupies one of the server's workers, which reads and writes need */

/* ---- replays ---- */

struct slice seen_shard(struct run *r, struct slice shard)
{
	return arena_printf(r->arena, "seen#%.*s", SLICE_ARG(shard));
}

/* Moves the keeper's position back, and keeps the old one, so that it does not count twice. One transaction, because
 * the keeper works until the position moves. */
static bool take_keeper_back(struct run *r, const struct position *now)
{
	for (int i = 0; i < REPLAY_TRIES; i++) {
		struct position was, mark, reached;
		struct dyn_write writes[2];
		struct dyn_refusal refusals[2];
		enum dyn_outcome end;
		bool marks;

		if (!checkpoint_load(r, now->processor, now->shard, &was) ||
		    !checkpoint_load(r, now->processor, seen_shard(r, now->shard), &mark))
			return false;
		reached = mark;
		reached.sequence = was.sequence;
		marks = sequence_compare(was.sequence, mark.sequence) > 0;
		writes[0] = *checkpoint_move(r, &was, now);
		if (marks)
			writes[1] = *checkpoint_move(r, &mark, &reached);
		end = dyn_write(r, writes, marks ? 2 : 1, SLICE(""), refusals);
		if (end == DYN_DONE || end == DYN_FAILED)
			return end == DYN_DONE;
	}
	return run_fail(r, PROBLEM_BUSY, "the keeper is too busy to go back; try again");
}

/* The switch is cleared after all shards: if the server stops in between, the next start repeats it. Parents go back
 * before their children, so that no track finds itself in a child and its parent done (R4). */
bool process_replay(struct process *p, struct run *r, struct station *s, int64_t from_ms)
{
	struct position now = { .processor = s->name };
	struct processor_switch w;
	struct shard_list list;

	/* First: a replay that is refused (there is no stream) must not be repeated by the next start. */
	if (!dyn_list_shards(r, &list) || !checkpoint_switch(r, s->name, &w))
		return false;
	w.replay_from_ms = from_ms;
	if (!checkpoint_set_switch(r, s->name, &w))
		return false;
	if (s->sender) {
		send_runner_wake(s->sender); /* it does the rest */
		return true;
	}
	now.progress = checkpoint_since(r->arena, from_ms);
	shards_order(&list, r->arena);
	for (size_t i = 0; i < list.count; i++) {
		now.shard = list.list[i].id;
		if (!(s->processor ? checkpoint_force(r, &now) : take_keeper_back(r, &now)))
			return false;
	}
	w.replay_from_ms = 0;
	w.replayed = checkpoint_replayed(r);
	if (!checkpoint_set_switch(r, s->name, &w))
		return false;
	station_replayed(p, s, w.replayed);
	return true;
}

/* ---- as JSON ---- */

static const char *effect_name(const struct station *s)
{
	static const char *const names[] = {
		[EFFECT_PUT] = "put",       [EFFECT_UPDATE] = "update", [EFFECT_DELETE] = "delete",
		[EFFECT_COUNT] = "count",   [EFFECT_SEND] = "send",     [EFFECT_REMOVE_ALL] = "remove all",
		[EFFECT_UPSERT] = "upsert",
	};

	if (!s->processor)
		return "keep";
	return s->processor->parts > 1 ? "several" : names[s->processor->effect];
}

static void put_on(struct buf *b, const struct processor *p)
{
	const char *between = " ";
	struct buf text;

	buf_init(&text, b->arena);
	if (p->every_seconds) {
		buf_printf(&text, "every %.*s", SLICE_ARG(p->every));
		json_member_string(b, "on", buf_slice(&text));
		return;
	}
	buf_put(&text, p->entity);
	for (int event = ON_CREATED; event <= ON_DELETED; event <<= 1)
		if (p->events & event) {
			buf_printf(&text, "%s%s", between, event_word(event));
			between = ", ";
		}
	json_member_string(b, "on", buf_slice(&text));
}

void control_put_time(struct buf *b, const char *name, int64_t ms)
{
	char text[TIME_TEXT_MAX];

	json_member_string(b, name, time_format(ms, text));
}

int control_number(struct slice text, int most)
{
	int n = 0;

	for (size_t i = 0; i < text.n && n <= most; i++)
		n = text.p[i] >= '0' && text.p[i] <= '9' ? n * 10 + (text.p[i] - '0') : most + 1;
	return text.n && n <= most ? n : -1;
}

static void put_texts(struct buf *b, struct station *s)
{
	struct ledger_texts t;

	ledger_read(&s->ledger, &t);
	if (t.problem_ms) {
		json_member_string(b, "last_problem", slice_str(t.problem));
		control_put_time(b, "last_problem_at", t.problem_ms);
	}
	json_member_open(b, "passed_over", '{');
	for (int i = 0; i < PASSED_OVER_REASONS; i++)
		json_member_int(b, passed_over_word(i), (int64_t)t.passed_over.count[i]);
	json_close(b, '}');
	if (t.passed_over.last[0]) {
		json_member_string(b, "last_passed_over", slice_str(t.passed_over.last));
		control_put_time(b, "last_passed_over_at", t.passed_ms);
	}
}

static void put_numbers(struct buf *b, struct process *p, struct station *s, const struct fleet *f)
{
	uint64_t waiting;
	int64_t lag;

	station_backlog(p, s, &lag, &waiting);
	fleet_add_backlog(f, s->name, process_stream_ms(p), &lag, &waiting);
	json_name(b, "lag_seconds");
	buf_printf(b, "%lld.%03d", (long long)(lag / 1000), (int)(lag % 1000));
	if (!s->sender)
		json_member_int(b, "backlog", (int64_t)waiting);
	json_member_int(b, "done", (int64_t)atomic_load(&s->ledger.done));
	json_member_int(b, "retries", (int64_t)atomic_load(&s->ledger.retries));
	json_member_int(b, "lost", (int64_t)atomic_load(&s->ledger.lost));
}

/* While nothing runs because positions cannot be read, the count is 0 instead of an error. */
static bool count_parked(struct process *p, struct run *r, struct station *s, int64_t *parked)
{
	if (checkpoint_parked_count(r, s->name, parked)) {
		atomic_store(&s->ledger.parked, *parked);
		return true;
	}
	if (atomic_load(&p->begun))
		return false;
	r->problem = (struct problem){ 0 };
	*parked = 0;
	return true;
}

static void put_standstill(struct buf *b, struct process *p)
{
	char why[sizeof(p->standstill)];

	pthread_mutex_lock(&p->lock);
	memcpy(why, p->standstill, sizeof(why));
	pthread_mutex_unlock(&p->lock);
	if (why[0])
		json_member_string(b, "stands_still", slice_str(why));
}

/* The last run may have been another server's, so the table says which it was. */
static bool put_runs(struct process *p, struct run *r, struct station *s, struct buf *b)
{
	struct position at = { 0 };

	if (!station_is_scheduled(s))
		return true;
	if (atomic_load(&p->begun) && !checkpoint_load(r, s->name, SLICE(SCHEDULE_SHARD), &at))
		return false;
	if (at.stored)
		control_put_time(b, "last_run_at", schedule_ms(at.sequence));
	json_member_bool(b, "running", at.progress.n || atomic_load(&s->due_ms) || atomic_load(&s->run_now));
	control_put_time(b, "next_run_at",
			 schedule_due_ms(s->processor, r->now_ms) + s->processor->every_seconds * 1000);
	return true;
}

static bool put_station(struct process *p, struct run *r, struct station *s, const struct fleet *f, struct buf *b)
{
	int64_t parked;

	if (!count_parked(p, r, s, &parked))
		return false;
	json_open(b, '{');
	json_member_string(b, "name", s->name);
	if (s->processor)
		put_on(b, s->processor);
	json_member_word(b, "effect", effect_name(s));
	json_member_bool(b, "paused", atomic_load(&s->paused));
	if (!put_runs(p, r, s, b))
		return false;
	put_standstill(b, p);
	put_numbers(b, p, s, f);
	json_member_int(b, "parked", parked);
	put_texts(b, s);
	json_close(b, '}');
	return true;
}

/* ---- requests ---- */

struct control {
	struct process *process;
	struct run *run;
	const struct app_request *q;
	struct slice segments[TARGET_MOST_SEGMENTS]; /* after "processors" */
	size_t count;
	struct station *station;
	struct fleet fleet;
	struct buf out;
	enum app_method method; /* of the address */
};

/* ?wait=SECONDS */
static bool read_wait(struct control *c, int64_t *ms)
{
	struct target_pair *pairs;
	size_t n;

	*ms = 0;
	if (!target_query(c->run, c->q->query, &pairs, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		int seconds = control_number(pairs[i].value, WAIT_MOST_S);

		if (!slice_is(pairs[i].name, "wait"))
			return run_invalid(c->run, pairs[i].name, "is not a parameter of this address");
		if (seconds < 0)
			return run_invalid(c->run, pairs[i].name, "is a number of seconds, at most %d", WAIT_MOST_S);
		*ms = seconds * INT64_C(1000);
	}
	return true;
}

static void leave(void *process)
{
	atomic_fetch_sub(&((struct process *)process)->waiters, 1);
}

static bool may_wait(struct control *c)
{
	arena_defer(c->run->arena, leave, c->process);
	if (atomic_fetch_add(&c->process->waiters, 1) < WAITERS_MOST)
		return true;
	(void)run_fail(c->run, PROBLEM_BUSY, "%d requests are already waiting for the processors", WAITERS_MOST);
	c->run->problem.retry_after = 1;
	return false;
}

static bool list(struct control *c)
{
	int64_t wait_ms;
	bool idle;

	if (!read_wait(c, &wait_ms) || (wait_ms && !may_wait(c)))
		return false;
	/* First, so that the numbers are not older than the answer. */
	idle = wait_ms ? process_wait_idle(c->process, c->run, wait_ms)
		       : process_is_idle(c->process) && c->fleet.others_idle;
	json_open(&c->out, '{');
	json_member_bool(&c->out, "idle", idle);
	fleet_put(&c->fleet, process_stream_ms(c->process), &c->out);
	json_member_open(&c->out, "processors", '[');
	for (size_t i = 0; i < c->process->station_count; i++)
		if (!put_station(c->process, c->run, &c->process->stations[i], &c->fleet, &c->out))
			return false;
	json_close(&c->out, ']');
	json_close(&c->out, '}');
	return true;
}

static bool show(struct control *c)
{
	return put_station(c->process, c->run, c->station, &c->fleet, &c->out);
}

static bool set_paused(struct control *c, bool paused)
{
	struct station *s = c->station;
	struct processor_switch w;

	if (!checkpoint_switch(c->run, s->name, &w))
		return false;
	w.paused = paused;
	if (!checkpoint_set_switch(c->run, s->name, &w))
		return false;
	/* Both at once: a round of the watcher that read the table before must not undo it in between. */
	pthread_mutex_lock(&c->process->lock);
	atomic_store(&s->paused, paused);
	atomic_fetch_add(&s->told, 1);
	pthread_mutex_unlock(&c->process->lock);
	if (s->sender)
		send_runner_pause(s->sender, paused);
	process_wake(c->process);
	schedule_wake(c->process);
	return show(c);
}

static bool pause_it(struct control *c)
{
	return set_paused(c, true);
}

static bool resume(struct control *c)
{
	return set_paused(c, false);
}

static bool replay(struct control *c)
{
	const struct json *body = c->q->body.n ? json_parse(c->run->arena, c->q->body) : NULL,
			  *from = json_get(body, "from");
	int64_t ms;

	if (station_is_scheduled(c->station))
		return run_fail(c->run, PROBLEM_CONFLICT, "it runs on a schedule, so there are no changes to replay");
	if (!json_is(from, JSON_STRING) || (!time_parse(from->string, &ms) && !time_parse_date(from->string, &ms)) ||
	    ms < 1)
		return run_fail(c->run, PROBLEM_MALFORMED, "a replay is {\"from\": \"2026-01-15T10:30:00Z\"}");
	return process_replay(c->process, c->run, c->station, ms) && show(c);
}

/* At once, at this server, whichever has the schedules. */
static bool run_now(struct control *c)
{
	struct station *s = c->station;

	if (!station_is_scheduled(s))
		return run_fail(c->run, PROBLEM_CONFLICT, "it runs after changes, not on a schedule");
	if (atomic_load(&s->paused))
		return run_fail(c->run, PROBLEM_CONFLICT, "it is paused");
	atomic_store(&s->run_now, true);
	schedule_wake(c->process);
	return show(c);
}

static bool list_parked(struct control *c)
{
	return parked_list(c->process, c->run, c->station, c->q->query, &c->out);
}

static bool retry(struct control *c)
{
	buf_lit(&c->out, "{\"done\":true}");
	return parked_retry(c->process, c->run, c->station, c->segments[2]);
}

static bool drop_parked(struct control *c)
{
	buf_lit(&c->out, "{\"dropped\":true}");
	return parked_drop(c->process, c->run, c->station, c->segments[2]);
}

/* clang-format off */
static const struct {
	size_t count;
	const char *second, *fourth; /* NULL: anything */
	enum app_method method;
	bool (*handle)(struct control *c);
} rows[] = {
	{ 0, NULL, NULL, APP_GET, list },
	{ 1, NULL, NULL, APP_GET, show },
	{ 2, "pause", NULL, APP_POST, pause_it },
	{ 2, "resume", NULL, APP_POST, resume },
	{ 2, "replay", NULL, APP_POST, replay },
	{ 2, "run", NULL, APP_POST, run_now },
	{ 2, "parked", NULL, APP_GET, list_parked },
	{ 4, "parked", "retry", APP_POST, retry },
	{ 4, "parked", "drop", APP_POST, drop_parked },
};
/* clang-format on */

static bool matches(const struct control *c, size_t i)
{
	return c->count == rows[i].count && (!rows[i].second || slice_is(c->segments[1], rows[i].second)) &&
	       (!rows[i].fourth || slice_is(c->segments[3], rows[i].fourth));
}

static bool dispatch(struct control *c)
{
	enum app_method method = c->q->method == APP_HEAD ? APP_GET : c->q->method;
	struct slice all[TARGET_MOST_SEGMENTS];
	size_t n, i = 0;

	if (!target_segments(c->run, c->q->path, all, &n))
		return false;
	c->count = n - 1;
	memcpy(c->segments, all + 1, c->count * sizeof(*all));
	while (i < sizeof(rows) / sizeof(*rows) && !matches(c, i))
		i++;
	if (i == sizeof(rows) / sizeof(*rows))
		return run_fail(c->run, PROBLEM_NOT_FOUND, "there is no such address");
	c->station = c->count ? process_station(c->process, c->segments[0]) : NULL;
	if (c->count && !c->station)
		return run_fail(c->run, PROBLEM_NOT_FOUND, "there is no processor '%.*s'", SLICE_ARG(c->segments[0]));
	fleet_look(c->process, c->run, &c->fleet);
	c->method = rows[i].method;
	if (method != rows[i].method)
		return run_fail(c->run, PROBLEM_METHOD, "this address does not allow the method");
	return rows[i].handle(c);
}

void process_handle(struct process *p, struct backend *b, struct arena *a, const struct app_request *q,
		    struct app_reply *reply)
{
	struct run r = process_run(p, b, a);
	struct control c = { .process = p, .run = &r, .q = q };

	buf_init(&c.out, a);
	if (dispatch(&c)) {
		*reply =
			(struct app_reply){ .status = 200, .type = SLICE("application/json"), .body = buf_slice(&c.out) };
	} else {
		c.out.n = 0;
		output_problem(&r.problem, &c.out);
		*reply = (struct app_reply){ .status = problem_status(r.problem.type),
					     .type = SLICE("application/problem+json"),
					     .body = buf_slice(&c.out) };
	}
	reply->headers = SLICE("Cache-Control: no-store\r\n");
	if (r.problem.retry_after)
		reply->headers =
			arena_printf(a, "Cache-Control: no-store\r\nRetry-After: %d\r\n", r.problem.retry_after);
	if (r.problem.type == PROBLEM_METHOD)
		reply->headers = c.method == APP_GET ? SLICE("Cache-Control: no-store\r\nAllow: GET, HEAD\r\n")
						     : SLICE("Cache-Control: no-store\r\nAllow: POST\r\n");
}
