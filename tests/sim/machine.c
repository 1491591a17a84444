/* The system calls of the program under test, answered from the seed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <crypt.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include "api/execute.h"
#include "base/log.h"
#include "base/ulid.h"
#include "process/send/send_http.h"

#define REAL(type, name, ...)            \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

static struct {
	machine_watch *watch;
	machine_log *log;
	void *watch_ctx;
	const void *held[256]; /* mutexes held by fibers */
	size_t held_count;
} machine;

/* ---- time ---- */

REAL(int, clock_gettime, clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t us;

	if (!fiber_is_here())
		return __real_clock_gettime(id, t);
	us = id == CLOCK_REALTIME ? fiber_date_us() : fiber_now_us();
	*t = (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	return 0;
}

REAL(int, nanosleep, const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!fiber_is_here())
		return __real_nanosleep(t, left);
	fiber_sleep(t->tv_sec * INT64_C(1000000) + t->tv_nsec / 1000);
	return 0;
}

REAL(int, setpriority, int which, id_t who, int priority);
int __wrap_setpriority(int which, id_t who, int priority)
{
	return fiber_is_here() ? 0 : __real_setpriority((__priority_which_t)which, who, priority);
}

/* ---- randomness ---- */

static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)random_next(fiber_random());
}

REAL(ssize_t, getrandom, void *p, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags)
{
	if (!fiber_is_here())
		return __real_getrandom(p, n, flags);
	fill(p, n);
	return (ssize_t)n;
}

REAL(int, RAND_bytes, unsigned char *p, int n);
int __wrap_RAND_bytes(unsigned char *p, int n)
{
	if (!fiber_is_here())
		return __real_RAND_bytes(p, n);
	fill(p, (size_t)n);
	return 1;
}

/* Hashing takes 50 ms and is not tested here: 22 characters of salt, then 31 derived from salt and password. */
#define SALT_LENGTH 29
#define HASH_LENGTH 60

char *__wrap_crypt_r(const char *password, const char *salt, struct crypt_data *data);
char *__wrap_crypt_r(const char *password, const char *salt, struct crypt_data *data)
{
	struct random r = { .state = 7 };

	for (const char *p = password; *p; p++)
		r.state = (r.state ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < SALT_LENGTH && salt[i]; i++)
		r.state = (r.state ^ (uint8_t)salt[i]) * UINT64_C(0x100000001b3);
	snprintf(data->output, sizeof(data->output), "%.*s", SALT_LENGTH, salt);
	for (size_t i = strlen(data->output); i < HASH_LENGTH; i++)
		data->output[i] = (char)('a' + random_below(&r, 26));
	data->output[HASH_LENGTH] = 0;
	return data->output;
}

char *__wrap_crypt_gensalt_rn(const char *prefix, unsigned long count, const char *bytes, int n, char *out, int room);
char *__wrap_crypt_gensalt_rn(const char *prefix, unsigned long count, const char *bytes, int n, char *out, int room)
{
	(void)bytes;
	(void)n;
	snprintf(out, (size_t)room, "%s%02lu$", prefix, count);
	for (size_t i = strlen(out); i < SALT_LENGTH; i++) {
		out[i] = (char)('a' + random_below(fiber_random(), 26));
		out[i + 1] = 0;
	}
	return out;
}

/* ---- threads ---- */

REAL(int, pthread_create, pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	if (!fiber_is_here())
		return __real_pthread_create(t, attr, fn, arg);
	*t = (pthread_t)(uintptr_t)fiber_new("thread", fn, arg);
	return 0;
}

REAL(int, pthread_join, pthread_t t, void **result);
int __wrap_pthread_join(pthread_t t, void **result)
{
	void *r;

	if (!fiber_is_here() || !fiber_is((const void *)(uintptr_t)t))
		return __real_pthread_join(t, result);
	r = fiber_join((struct fiber *)(uintptr_t)t);
	if (result)
		*result = r;
	return 0;
}

/* ---- locks ---- */

static bool is_held(const void *m)
{
	for (size_t i = machine.held_count; i-- > 0;)
		if (machine.held[i] == m)
			return true;
	return false;
}

REAL(int, pthread_mutex_lock, pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	if (!fiber_is_here())
		return __real_pthread_mutex_lock(m);
	while (is_held(m))
		(void)fiber_wait(m, FIBER_EVER);
	if (machine.held_count == sizeof(machine.held) / sizeof(*machine.held))
		abort();
	machine.held[machine.held_count++] = m;
	return __real_pthread_mutex_lock(m);
}

REAL(int, pthread_mutex_unlock, pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (!fiber_is_here())
		return __real_pthread_mutex_unlock(m);
	for (size_t i = machine.held_count; i-- > 0;)
		if (machine.held[i] == m) {
			machine.held[i] = machine.held[--machine.held_count];
			break;
		}
	fiber_wake(m, true);
	return __real_pthread_mutex_unlock(m);
}

REAL(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (!fiber_is_here())
		return __real_pthread_cond_wait(c, m);
	__wrap_pthread_mutex_unlock(m);
	(void)fiber_wait(c, FIBER_EVER);
	return __wrap_pthread_mutex_lock(m);
}

REAL(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	bool woken;

	if (!fiber_is_here())
		return __real_pthread_cond_timedwait(c, m, until);
	__wrap_pthread_mutex_unlock(m);
	woken = fiber_wait(c, until->tv_sec * INT64_C(1000000) + until->tv_nsec / 1000); /* all are of CLOCK_MONOTONIC */
	__wrap_pthread_mutex_lock(m);
	return woken ? 0 : ETIMEDOUT;
}

REAL(int, pthread_cond_signal, pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
	if (fiber_is_here())
		fiber_wake(c, false);
	return __real_pthread_cond_signal(c);
}

REAL(int, pthread_cond_broadcast, pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
	if (fiber_is_here())
		fiber_wake(c, true);
	return __real_pthread_cond_broadcast(c);
}

REAL(int, sem_wait, sem_t *s);
int __wrap_sem_wait(sem_t *s)
{
	if (!fiber_is_here())
		return __real_sem_wait(s);
	while (sem_trywait(s))
		(void)fiber_wait(s, FIBER_EVER);
	return 0;
}

REAL(int, sem_post, sem_t *s);
int __wrap_sem_post(sem_t *s)
{
	int result = __real_sem_post(s);

	if (fiber_is_here())
		fiber_wake(s, false);
	return result;
}

/* ---- calls of the database: each may have to wait for others ---- */

static void tell(const struct machine_write *w)
{
	if (machine.watch)
		machine.watch(machine.watch_ctx, w);
}

static void others_first(void)
{
	if (fiber_is_here())
		fiber_yield();
}

bool machine_is_write(struct slice operation)
{
	static const char *const reads[] = {
		"GetItem",          "Query",          "Scan",        "BatchGetItem",  "TransactGetItems",  "GetRecords",
		"GetShardIterator", "DescribeStream", "ListStreams", "DescribeTable", "DescribeTimeToLive"
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++)
		if (slice_is(operation, reads[i]))
			return false;
	return true;
}

static struct slice operation_of(struct slice target)
{
	const char *dot = memchr(target.p, '.', target.n);

	return dot ? slice_make(dot + 1, target.n - (size_t)(dot + 1 - target.p)) : target;
}

REAL(void, api_call_wait, struct api *api, struct api_thread *t, struct api_call *c);
void __wrap_api_call_wait(struct api *api, struct api_thread *t, struct api_call *c)
{
	struct machine_write w = { .operation = operation_of(c->target), .document = c->body };
	bool told = machine_is_write(w.operation);

	others_first();
	if (told)
		tell(&w);
	__real_api_call_wait(api, t, c);
	w.is_done = true;
	w.outcome = c->status == 200 ? SLICE("done") : c->reply;
	if (told)
		tell(&w);
}

REAL(void, api_execute, struct api *api, struct arena *a, const struct request *q, struct reply *reply);
void __wrap_api_execute(struct api *api, struct arena *a, const struct request *q, struct reply *reply)
{
	bool told = q->kind == REQUEST_WRITE;

	others_first();
	if (told)
		tell(&(struct machine_write){ .actions = q->write.actions, .count = q->write.count });
	__real_api_execute(api, a, q, reply);
	if (told)
		tell(&(struct machine_write){ .is_done = true,
					      .outcome = reply->status == 200 ? SLICE("done")
							 : reply->reasons     ? SLICE("refused")
									      : SLICE("not written") });
}

REAL(struct api_started *, api_execute_start, struct api *api, struct arena *a, const struct request *q);
struct api_started *__wrap_api_execute_start(struct api *api, struct arena *a, const struct request *q)
{
	others_first();
	tell(&(struct machine_write){ .actions = q->write.actions, .count = q->write.count });
	return __real_api_execute_start(api, a, q);
}

REAL(bool, api_execute_wait, struct api_started *w);
bool __wrap_api_execute_wait(struct api_started *w)
{
	bool done = __real_api_execute_wait(w);

	tell(&(struct machine_write){ .is_done = true, .outcome = done ? SLICE("done") : SLICE("not written") });
	return done;
}

/* ---- receivers outside: usually accept requests ---- */

/* OpenSearch's answer to a _bulk: one result for each line that names an index or a deletion. */
static struct slice bulk_answer(struct arena *a, struct slice body)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "{\"errors\":false,\"items\":[");
	for (size_t i = 0; i < body.n;) {
		const char *end = memchr(body.p + i, '\n', body.n - i);
		struct slice line = slice_make(body.p + i, end ? (size_t)(end - body.p) - i : body.n - i);

		if (slice_starts(line, SLICE("{\"index\":{")) || slice_starts(line, SLICE("{\"delete\":{")))
			buf_printf(&b, "%s{\"%s\":{\"status\":200}}", b.p[b.n - 1] == '[' ? "" : ",",
				   line.p[2] == 'i' ? "index" : "delete");
		i += line.n + 1;
	}
	buf_lit(&b, "]}");
	return buf_slice(&b);
}

REAL(void, send_http_post, struct send_http *h, struct arena *a, const struct send_request *q, struct send_reply *reply);
void __wrap_send_http_post(struct send_http *h, struct arena *a, const struct send_request *q, struct send_reply *reply)
{
	(void)h;
	fiber_sleep((int64_t)random_below(fiber_random(), 200000));
	*reply = (struct send_reply){ .status = 200, .body = bulk_answer(a, q->body) };
	if (random_percent(fiber_random(), 10))
		*reply = (struct send_reply){ .status = 503, .why = SLICE(MACHINE_NOT_NOW) };
}

/* ---- the log: a part of the history ---- */

void __wrap_log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void __wrap_log_write(enum log_level level, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	if (!machine.log || level < LOG_INFO)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	machine.log(machine.watch_ctx, text);
}

/* ---- life ---- */

void machine_begin(uint64_t seed)
{
	char id[ULID_LENGTH];

	memset(&machine, 0, sizeof(machine));
	fiber_begin(seed);
	/* Resets the only state that outlives the program: the last id, which the next one of the same millisecond
	 * follows. */
	if (!ulid_new(0, id))
		abort();
}

void machine_end(void)
{
	fiber_end();
}

void machine_set_watch(machine_watch *fn, machine_log *log, void *ctx)
{
	machine.watch = fn;
	machine.log = log;
	machine.watch_ctx = ctx;
}
