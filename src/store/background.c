/* RocksDB's own threads, and how they share the processors with those that answer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/log.h"
#include "store/internal.h"

/* A flush or a compaction computes for a tenth of a second and more without a pause. A sync of the log meanwhile is three short steps of the disk and,
 * on ext4, one of a thread of the kernel; each ends with someone who has to be given a processor. Linux (since 6.6) lets whoever runs
 * finish his turn first, and looks again at the next tick: 4 ms at 250 Hz. That was most of what the slowest hundredth of synced writes waited for.
 *
 * So these threads say that their turns are long, which to Linux means that whoever wants a shorter one goes first, at once; and they want a smaller share
 * of processors that others want too. Not too small a share: SCHED_IDLE does even more for the slowest hundredth, but with two other programs that compute, no
 * write was answered for 15 s, because all of them waited for a flush. With a tenth of it nothing was lost there. */
#define TURN_NS 100000000 /* the longest that Linux knows (since 6.12; before, it has no effect) */
#define NICER   10        /* than the rest of the process */
#define NICEST  19

/* As sched_setattr(2) has it, which the C library does not. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void stand_back(void)
{
	struct scheduling modest = { .size = sizeof(modest), .policy = SCHED_OTHER, .runtime = TURN_NS };

	/* Whoever was started in another class was put there by someone who knows why. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	modest.nice = getpriority(PRIO_PROCESS, 0) + NICER;
	if (modest.nice > NICEST)
		modest.nice = NICEST;
	if (syscall(SYS_sched_setattr, 0, &modest, 0) != 0)
		log_debug("store: flushes and compactions run like everything else: %m");
}

/* A thread begins as its creator is, and RocksDB's interface in C has no words for it. */
static void *start_threads(void *unused)
{
	rocksdb_env_t *env;

	(void)unused;
	stand_back();
	env = rocksdb_create_default_env();
	rocksdb_env_set_high_priority_background_threads(env, STORE_FLUSHES);
	rocksdb_env_set_low_priority_background_threads(env, STORE_COMPACTIONS);
	rocksdb_env_destroy(env);
	return NULL;
}

static void start_once(void)
{
	pthread_t starter;

	/* Without it RocksDB starts them itself when the first database is opened. */
	if (pthread_create(&starter, NULL, start_threads, NULL) == 0)
		pthread_join(starter, NULL);
}

void store_background_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_once);
}
