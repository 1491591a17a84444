/* RocksDB's own threads, and how they share the processors with threads that answer requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/log.h"
#include "store/internal.h"

/* A flush or compaction computes for a tenth of a second or more without a pause. Meanwhile a sync of the log takes
 * three short disk operations and, on ext4, one kernel thread; after each a thread needs a processor. Linux (since
 * 6.6) lets the running thread finish its turn and checks again at the next tick: 4 ms at 250 Hz. That was most of
 * the delay of the slowest hundredth of synced writes.
 *
 * So these threads request long turns, which makes Linux run threads with shorter turns first, at once; and they
 * request a smaller share of busy processors. The share must not be too small: SCHED_IDLE does even more for the
 * slowest hundredth, but with two other busy programs no write was answered for 15 s, because all waited for a flush.
 * With a tenth of a share that delay disappeared. */
#define TURN_NS 100000000 /* the longest that Linux knows (since 6.12; before, it has no effect) */
#define NICER   10        /* than the rest of the process */
#define NICEST  19

/* For sched_setattr(2), which the C library does not declare. */
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

	/* If the process was started in another class, leaves it there. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	modest.nice = getpriority(PRIO_PROCESS, 0) + NICER;
	if (modest.nice > NICEST)
		modest.nice = NICEST;
	if (syscall(SYS_sched_setattr, 0, &modest, 0) != 0)
		log_debug("store: flushes and compactions run with normal priority: %m");
}

/* A thread inherits its creator's scheduling, and RocksDB's C API cannot set it. */
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
