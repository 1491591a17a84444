/* Jobs that are done at the same time (remote/crew.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "remote/crew.h"

#define JOBS_MOST 64
#define PATIENCE  30 /* seconds until those that never meet are taken to have missed one another */

/* A job, and what became of it. */
struct task {
	struct crew_job job; /* first */
	struct meeting *meeting;
	pthread_t by;
	atomic_int times; /* that it was done */
	int result;
	bool met;
};

/* Where `wanted` jobs wait for one another: they meet only if they are under way at the same time. */
struct meeting {
	pthread_mutex_t lock;
	pthread_cond_t come;
	unsigned wanted, there;
};

static void meeting_open(struct meeting *m, unsigned wanted)
{
	*m = (struct meeting){ .wanted = wanted };
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->come, NULL);
}

static void meeting_close(struct meeting *m)
{
	pthread_cond_destroy(&m->come);
	pthread_mutex_destroy(&m->lock);
}

static bool meet(struct meeting *m)
{
	struct timespec until;
	bool late = false;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&m->lock);
	if (++m->there >= m->wanted)
		pthread_cond_broadcast(&m->come);
	while (m->there < m->wanted && !late)
		late = pthread_cond_timedwait(&m->come, &m->lock, &until) != 0;
	pthread_mutex_unlock(&m->lock);
	return !late;
}

static void work(struct crew_job *j)
{
	struct task *t = (struct task *)j;

	t->by = pthread_self();
	t->met = !t->meeting || meet(t->meeting);
	t->result = 7;
	atomic_fetch_add(&t->times, 1);
}

static void do_all(struct crew *c, struct task *tasks, size_t n, struct meeting *m)
{
	struct crew_job *jobs[JOBS_MOST];

	for (size_t i = 0; i < n; i++) {
		tasks[i] = (struct task){ .job = { .work = work }, .meeting = m };
		jobs[i] = &tasks[i].job;
	}
	crew_do(c, jobs, n);
}

/* What is written by a job is seen by the thread that waited. */
static void assert_done(const struct task *tasks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(tasks[i].times, 1);
		assert_int_equal(tasks[i].result, 7);
		assert_int_equal(tasks[i].job.state, CREW_DONE);
		assert_true(tasks[i].met);
	}
}

static size_t count_own(const struct task *tasks, size_t n)
{
	size_t own = 0;

	for (size_t i = 0; i < n; i++)
		own += pthread_equal(tasks[i].by, pthread_self()) != 0;
	return own;
}

static void one_job_is_done_by_its_own_thread(void **state)
{
	struct crew *c = crew_new(4);
	struct task t[1];

	(void)state;
	do_all(c, t, 0, NULL);
	do_all(c, t, 1, NULL);
	assert_done(t, 1);
	assert_int_equal(count_own(t, 1), 1);
	crew_free(c);
}

static void several_are_under_way_together(void **state)
{
	struct crew *c = crew_new(7);

	(void)state;
	for (unsigned n = 2; n <= 8; n++) {
		struct task t[8];
		struct meeting m;

		meeting_open(&m, n);
		do_all(c, t, n, &m);
		assert_done(t, n);
		assert_int_equal(count_own(t, n), 1);
		meeting_close(&m);
	}
	crew_free(c);
}

/* As many at a time as there are threads, and the one that waits. */
static void more_jobs_than_threads_are_done_too(void **state)
{
	struct crew *c = crew_new(2);
	struct task t[JOBS_MOST];
	struct meeting m;

	(void)state;
	meeting_open(&m, 3);
	do_all(c, t, JOBS_MOST, &m);
	assert_done(t, JOBS_MOST);
	meeting_close(&m);
	crew_free(c);
}

static void without_threads_they_are_done_one_after_the_other(void **state)
{
	struct crew *c = crew_new(0);
	struct task t[JOBS_MOST];

	(void)state;
	do_all(c, t, JOBS_MOST, NULL);
	assert_done(t, JOBS_MOST);
	assert_int_equal(count_own(t, JOBS_MOST), JOBS_MOST);
	crew_free(c);
}

/* ---- several callers ---- */

#define CALLERS 8
#define ROUNDS  200

struct caller {
	pthread_t thread;
	struct crew *crew;
	size_t each;
	atomic_bool *go;
};

static void *call_often(void *arg)
{
	struct caller *x = arg;

	while (!atomic_load(x->go))
		;
	for (int i = 0; i < ROUNDS; i++) {
		struct task t[JOBS_MOST];

		do_all(x->crew, t, x->each, NULL);
		assert_done(t, x->each);
	}
	return NULL;
}

/* Each waits for its own jobs and no others; they are on its stack, and gone when it returns. */
static void many_callers_at_once_get_what_is_theirs(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 4; threads += 2) {
		struct crew *c = crew_new(threads);
		struct caller callers[CALLERS];
		atomic_bool go = false;

		for (size_t i = 0; i < CALLERS; i++) {
			callers[i] = (struct caller){ .crew = c, .each = 1 + i, .go = &go };
			assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
		}
		atomic_store(&go, true);
		for (size_t i = 0; i < CALLERS; i++)
			pthread_join(callers[i].thread, NULL);
		crew_free(c);
	}
}

/* A job that takes long keeps nobody else's from being done. */
static void *call_beside(void *arg)
{
	struct caller *x = arg;
	struct task t[4];

	do_all(x->crew, t, 4, NULL);
	assert_done(t, 4);
	atomic_store(x->go, true);
	return NULL;
}

struct blocked {
	struct crew_job job; /* first */
	struct caller *other;
	bool was_done; /* while this job was under way */
};

static void wait_for_other(struct crew_job *j)
{
	struct blocked *b = (struct blocked *)j;

	assert_int_equal(pthread_create(&b->other->thread, NULL, call_beside, b->other), 0);
	pthread_join(b->other->thread, NULL);
	b->was_done = atomic_load(b->other->go);
}

static void who_waits_for_nothing_else_goes_on(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 2; threads++) {
		struct crew *c = crew_new(threads);
		atomic_bool gos[2] = { false, false };
		struct caller others[2] = { { .crew = c, .go = &gos[0] }, { .crew = c, .go = &gos[1] } };
		struct blocked b[2] = { { .job = { .work = wait_for_other }, .other = &others[0] },
					{ .job = { .work = wait_for_other }, .other = &others[1] } };
		struct crew_job *jobs[2] = { &b[0].job, &b[1].job };

		crew_do(c, jobs, 2); /* all of the crew's threads are in a job that ends after somebody else's */
		assert_true(b[0].was_done && b[1].was_done);
		crew_free(c);
	}
}

/* ---- the end, and want ---- */

static void it_ends_with_threads_that_have_done_nothing_lately(void **state)
{
	(void)state;
	crew_free(NULL);
	for (int i = 0; i < 50; i++) {
		struct crew *c = crew_new(4);
		struct task t[8];

		if (i % 2)
			do_all(c, t, 1 + (size_t)i % 8, NULL);
		crew_free(c); /* at once: some may not have begun to wait */
	}
}

/* A job is done even if it cannot do what it is for: it says so where its caller looks. */
static void fail_at_odd(struct crew_job *j)
{
	struct task *t = (struct task *)j;

	atomic_fetch_add(&t->times, 1);
	t->met = true;
	t->result = t->result % 2 ? -1 : 7;
}

static void what_fails_keeps_nothing_from_being_done(void **state)
{
	struct crew *c = crew_new(3);
	struct task t[JOBS_MOST];
	struct crew_job *jobs[JOBS_MOST];

	(void)state;
	for (int i = 0; i < JOBS_MOST; i++) {
		t[i] = (struct task){ .job = { .work = fail_at_odd }, .result = i };
		jobs[i] = &t[i].job;
	}
	crew_do(c, jobs, JOBS_MOST);
	for (int i = 0; i < JOBS_MOST; i++) {
		assert_int_equal(t[i].times, 1);
		assert_int_equal(t[i].result, i % 2 ? -1 : 7);
	}
	crew_free(c);
}

static void without_memory_there_is_none(void **state)
{
	(void)state;
	alloc_fail_after(0);
	assert_null(crew_new(4));
	alloc_fail_never();
}

/* Used again and again, also for other numbers of jobs. */
static void it_is_the_same_the_next_time(void **state)
{
	struct crew *c = crew_new(3);

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		struct task t[JOBS_MOST];

		do_all(c, t, i % 9, NULL);
		assert_done(t, i % 9);
	}
	crew_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_job_is_done_by_its_own_thread),
		cmocka_unit_test(several_are_under_way_together),
		cmocka_unit_test(more_jobs_than_threads_are_done_too),
		cmocka_unit_test(without_threads_they_are_done_one_after_the_other),
		cmocka_unit_test(many_callers_at_once_get_what_is_theirs),
		cmocka_unit_test(who_waits_for_nothing_else_goes_on),
		cmocka_unit_test(it_ends_with_threads_that_have_done_nothing_lately),
		cmocka_unit_test(what_fails_keeps_nothing_from_being_done),
		cmocka_unit_test(without_memory_there_is_none),
		cmocka_unit_test(it_is_the_same_the_next_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
