/* /processors: what operators see of them, and may do with them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/output.h"
#include "app/rest/target.h"
#include "base/timestamp.h"
#include "process/process_internal.h"

#define REPLAY_WORD  "since "
#define REPLAY_TRIES 100
#define WAIT_MOST_S  60

/* ---- replays ---- */

int64_t replay_since(struct slice progress)
{
	int64_t ms = 0;

	if (!slice_starts(progress, SLICE(REPLAY_WORD)))
		return 0;
	for (size_t i = sizeof(REPLAY_WORD) - 1; i < progress.n && ms < TIME_MAX_MS; i++) {
		if (progress.p[i] < '0' || progress.p[i] > '9')
			return 0;
		ms = ms * 10 + (progress.p[i] - '0');
	}
	return ms;
}

struct slice seen_shard(struct run *r, struct slice shard)
{
	return arena_printf(r->arena, "seen#%.*s", SLICE_ARG(shard));
}

/* Of the keeper it stays known how far it was: it does not count off again what it has counted off already. One transaction, for
 * the keeper goes on until the position moves. */
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

/* All shards, and only then is it done with: should the server end in between, the next start does it again. */
bool process_replay(struct process *p, struct run *r, struct station *s, int64_t from_ms)
{
	struct processor_switch w = { .paused = atomic_load(&s->paused), .replay_from_ms = from_ms };
	struct position now = { .processor = s->name };
	struct shard_list list;

	/* First: what is refused (there is no stream) must not be done by the next start. */
	if (!dyn_list_shards(r, &list) || !checkpoint_set_switch(r, s->name, &w))
		return false;
	if (s->sender) {
		send_runner_wake(s->sender); /* it does the rest */
		return true;
	}
	now.progress = arena_printf(r->arena, REPLAY_WORD "%lld", (long long)from_ms);
	for (size_t i = 0; i < list.count; i++) {
		now.shard = list.list[i].id;
		if (!(s->processor ? checkpoint_force(r, &now) : take_keeper_back(r, &now)))
			return false;
	}
	w.replay_from_ms = 0;
	if (!checkpoint_set_switch(r, s->name, &w))
		return false;
	atomic_fetch_add(&s->epoch, 1);
	process_wake(p);
	return true;
}

/* ---- what they are like ---- */

static const char *effect_name(const struct station *s)
{
	static const char *const names[] = {
		[EFFECT_PUT] = "put",     [EFFECT_UPDATE] = "update", [EFFECT_DELETE] = "delete",
		[EFFECT_COUNT] = "count", [EFFECT_SEND] = "send",     [EFFECT_REMOVE_ALL] = "remove all"
	};

	return s->processor ? names[s->processor->effect] : "keep";
}

static void put_on(struct buf *b, const struct processor *p)
{
	const char *between = "";

	buf_lit(b, ",\"on\":\"");
	buf_put(b, p->entity); /* a name: nothing to escape */
	buf_lit(b, " ");
	for (int i = 0; i < 3; i++) {
		static const char *const words[] = { "created", "updated", "deleted" };

		if (!(p->events >> i & 1))
			continue;
		buf_printf(b, "%s%s", between, words[i]);
		between = ", ";
	}
	buf_lit(b, "\"");
}

static void put_time(struct buf *b, const char *name, int64_t ms)
{
	char text[TIME_TEXT_MAX];

	buf_printf(b, ",\"%s\":\"%s\"", name, time_format(ms, text).p);
}

/* The last part of a problem may be half a character. */
static struct slice whole_characters(const char *text)
{
	size_t n = strlen(text), k = n;

	while (k && (text[k - 1] & 0xc0) == 0x80)
		k--;
	if (!k || !(text[k - 1] & 0x80))
		return slice_make(text, n);
	return slice_make(text, n < sizeof(((struct station *)0)->problem) - 1 ? n : k - 1);
}

static void put_problem(struct buf *b, struct process *p, const struct station *s)
{
	char text[sizeof(s->problem)];
	int64_t at;

	pthread_mutex_lock(&p->lock);
	memcpy(text, s->problem, sizeof(text));
	at = s->problem_ms;
	pthread_mutex_unlock(&p->lock);
	if (s->sender) {
		struct send_status status;

		send_runner_status(s->sender, &status);
		_Static_assert(sizeof(status.problem) == sizeof(text), "as long");
		if (status.problem_ms) {
			memcpy(text, status.problem, sizeof(text));
			at = status.problem_ms;
		}
	}
	if (!at)
		return;
	buf_lit(b, ",\"last_problem\":");
	json_string(b, whole_characters(text));
	put_time(b, "last_problem_at", at);
}

static void put_passed_over(struct buf *b, struct process *p, struct station *s)
{
	struct passed_over what;
	int64_t at = station_read_passed_over(p, s, &what);
	const char *between = "";

	buf_lit(b, ",\"passed_over\":{");
	for (int i = 0; i < PASSED_OVER_REASONS; i++, between = ",")
		buf_printf(b, "%s\"%s\":%llu", between, passed_over_word(i), (unsigned long long)what.count[i]);
	buf_byte(b, '}');
	if (!what.last[0])
		return;
	buf_lit(b, ",\"last_passed_over\":");
	json_string(b, whole_characters(what.last));
	put_time(b, "last_passed_over_at", at);
}

static void put_numbers(struct buf *b, struct process *p, struct station *s, const struct fleet *f)
{
	struct send_status status = {
		.done = atomic_load(&s->done),
		.retries = atomic_load(&s->retries),
		.lost = atomic_load(&s->lost),
	};
	uint64_t waiting;
	int64_t lag;

	station_backlog(p, s, &lag, &waiting);
	fleet_add_backlog(f, s->name, app_now_ms(p->app), &lag, &waiting);
	if (s->sender)
		send_runner_status(s->sender, &status);
	buf_printf(b, ",\"lag_seconds\":%lld.%03d", (long long)(lag / 1000), (int)(lag % 1000));
	if (!s->sender)
		buf_printf(b, ",\"backlog\":%llu", (unsigned long long)waiting);
	buf_printf(b, ",\"done\":%llu,\"retries\":%llu,\"lost\":%llu", (unsigned long long)status.done,
		   (unsigned long long)status.retries, (unsigned long long)status.lost);
}

/* Where nothing runs because positions cannot be read, they need not be readable to say so. */
static bool count_parked(struct process *p, struct run *r, struct station *s, int64_t *parked)
{
	if (checkpoint_parked_count(r, s->name, parked)) {
		station_set_parked(s, *parked);
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
	if (!why[0])
		return;
	buf_lit(b, ",\"stands_still\":");
	json_string(b, slice_str(why));
}

static bool put_station(struct process *p, struct run *r, struct station *s, const struct fleet *f, struct buf *b)
{
	int64_t parked;

	if (!count_parked(p, r, s, &parked))
		return false;
	buf_lit(b, "{\"name\":");
	json_string(b, s->name);
	if (s->processor)
		put_on(b, s->processor);
	buf_printf(b, ",\"effect\":\"%s\",\"paused\":%s", effect_name(s), atomic_load(&s->paused) ? "true" : "false");
	put_standstill(b, p);
	put_numbers(b, p, s, f);
	buf_printf(b, ",\"parked\":%lld", (long long)parked);
	put_problem(b, p, s);
	put_passed_over(b, p, s);
	buf_byte(b, '}');
	return true;
}

/* ---- requests ---- */

struct control {
	struct process *process;
	struct run *run;
	const struct app_request *q;
	struct slice segments[TARGET_MOST_SEGMENTS]; /* behind "processors" */
	size_t count;
	struct station *station;
	struct fleet fleet;
	struct buf out;
	enum app_method method; /* that the address takes */
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
		struct slice v = pairs[i].value;
		int64_t seconds = 0;

		if (!slice_is(pairs[i].name, "wait"))
			return run_invalid(c->run, pairs[i].name, "is not a parameter of this address");
		for (size_t k = 0; k < v.n && seconds <= WAIT_MOST_S; k++)
			seconds = v.p[k] >= '0' && v.p[k] <= '9' ? seconds * 10 + (v.p[k] - '0') : WAIT_MOST_S + 1;
		if (!v.n || seconds > WAIT_MOST_S)
			return run_invalid(c->run, pairs[i].name, "is a number of seconds, at most %d", WAIT_MOST_S);
		*ms = seconds * 1000;
	}
	return true;
}

static bool list(struct control *c)
{
	const char *between = "";
	int64_t wait_ms;
	bool idle;

	if (!read_wait(c, &wait_ms))
		return false;
	/* First: whoever asks again until it is so gets the numbers of then. */
	idle = wait_ms ? process_wait_idle(c->process, c->run, wait_ms)
		       : process_is_idle(c->process) && c->fleet.others_idle;
	buf_printf(&c->out, "{\"idle\":%s", idle ? "true" : "false");
	fleet_put(&c->fleet, c->run->now_ms, &c->out);
	buf_lit(&c->out, ",\"processors\":[");
	for (size_t i = 0; i < c->process->station_count; i++) {
		buf_str(&c->out, between);
		between = ",";
		if (!put_station(c->process, c->run, &c->process->stations[i], &c->fleet, &c->out))
			return false;
	}
	buf_lit(&c->out, "]}");
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
	/* Both at once: a round of the watcher that read the table before this must not undo it in between. */
	pthread_mutex_lock(&c->process->lock);
	atomic_store(&s->paused, paused);
	atomic_fetch_add(&s->told, 1);
	pthread_mutex_unlock(&c->process->lock);
	if (s->sender)
		send_runner_pause(s->sender, paused);
	process_wake(c->process);
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

	if (!json_is(from, JSON_STRING) || (!time_parse(from->string, &ms) && !time_parse_date(from->string, &ms)) ||
	    ms < 1)
		return run_fail(c->run, PROBLEM_MALFORMED, "a replay is {\"from\": \"2026-01-15T10:30:00Z\"}");
	return process_replay(c->process, c->run, c->station, ms) && show(c);
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

static bool drop(struct control *c)
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
	{ 2, "parked", NULL, APP_GET, list_parked },
	{ 4, "parked", "retry", APP_POST, retry },
	{ 4, "parked", "drop", APP_POST, drop },
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
		return run_fail(c->run, PROBLEM_METHOD, "the address does not take this method");
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
