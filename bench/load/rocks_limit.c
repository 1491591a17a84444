/* What the disk and RocksDB can do at most: the batches that Thorpe wrote, written again by RocksDB alone.
 *
 *   rocks_limit threads JOURNAL DIR N SECONDS synced|relaxed    N threads, each writes a batch and waits for it
 *   rocks_limit merged JOURNAL DIR N SECONDS synced|relaxed     one thread writes N batches as one
 *   rocks_limit paced JOURNAL DIR RATE SECONDS synced|relaxed   one thread; what is due together is written as one, and its
 *                                                           time counts from when it was due
 *   rocks_limit fdatasync JOURNAL DIR - SECONDS -               a batch appended to a file, and fdatasync
 *
 * JOURNAL is a directory with a journal of Thorpe's (see written.h), DIR one that is not there yet. RocksDB is opened
 * with Thorpe's own options, except that it has its own log. Stream records get new keys, as they would; everything
 * else is written over. Prints one JSON document.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/internal.h"
#include "template.h"
#include "written.h"

#define BATCHES       20000
#define TIMES         ((size_t)1 << 21)
#define CACHE_BYTES   ((size_t)32 << 20)
#define LOG_BYTES     ((size_t)64 << 20)
#define STREAM_KEY    13
#define MOST_TOGETHER 64 /* as many as the clients of bench/load/steady.c can have under way */

static struct written_batch *batches;
static size_t batch_count;
static rocksdb_t *db;
static rocksdb_column_family_handle_t *families[STORE_FAMILIES];
static rocksdb_writeoptions_t *how;
static atomic_bool stop;
static atomic_ulong sequence;
static size_t times_each;

struct writer {
	pthread_t thread;
	size_t merge; /* requests in one batch */
	size_t done, noted, at;
	uint32_t *times;
};

static void open_database(const char *dir, bool synced)
{
	struct store like = { .cache = rocksdb_cache_create_lru(CACHE_BYTES), .is_new = true };
	struct store_tuning tuning;
	char *err = NULL;

	store_tuning_init(&tuning, &like, false);
	/* As suits a log of its own. */
	rocksdb_options_set_atomic_flush(tuning.families[STORE_META], 0);
	rocksdb_options_set_max_total_wal_size(tuning.families[STORE_META], LOG_BYTES);
	db = rocksdb_open_column_families(tuning.families[STORE_META], dir, STORE_FAMILIES, store_family_names,
					  (const rocksdb_options_t *const *)tuning.families, families, &err);
	if (err)
		quit("RocksDB: %s", err);
	store_tuning_release(&tuning);
	how = rocksdb_writeoptions_create();
	rocksdb_writeoptions_set_sync(how, synced);
}

static void add_batch(rocksdb_writebatch_t *to, const struct written_batch *b)
{
	char key[STREAM_KEY];

	for (size_t i = 0; i < b->count; i++) {
		const struct written_entry *e = &b->entries[i];
		const char *k = e->key;

		if (e->family == STORE_STREAM && e->key_size == STREAM_KEY) {
			uint64_t n = htobe64(atomic_fetch_add(&sequence, 1));

			memcpy(key, k, STREAM_KEY - 8);
			memcpy(key + STREAM_KEY - 8, &n, 8);
			k = key;
		}
		if (e->deletion)
			rocksdb_writebatch_delete_cf(to, families[e->family], k, e->key_size);
		else
			rocksdb_writebatch_put_cf(to, families[e->family], k, e->key_size, e->value, e->value_size);
	}
}

static void *write_on(void *arg)
{
	struct writer *w = arg;
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	char *err = NULL;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t start = now_us();

		rocksdb_writebatch_clear(batch);
		for (size_t i = 0; i < w->merge; i++)
			add_batch(batch, &batches[w->at++ % batch_count]);
		rocksdb_write(db, how, batch, &err);
		if (err)
			quit("RocksDB: %s", err);
		w->done += w->merge;
		if (w->noted < times_each)
			w->times[w->noted++] = (uint32_t)(now_us() - start);
	}
	rocksdb_writebatch_destroy(batch);
	return NULL;
}

static double batch_bytes(void)
{
	double sum = 0;

	for (size_t i = 0; i < batch_count; i++)
		sum += (double)batches[i].bytes;
	return sum / (double)batch_count;
}

static double processor_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void print(size_t done, double seconds, double processor, uint32_t *times, size_t n)
{
	printf("{\"cpu_us\": %.2f, ", done ? processor / (double)done : 0);
	printf("\"requests\": %zu, \"errors\": 0, \"seconds\": %.3f, \"rate\": %.1f, ", done, seconds,
	       (double)done / seconds);
	printf("\"batch_bytes\": %.0f, \"batch_entries\": %zu, ", batch_bytes(), batches[0].count);
	print_latencies(times, n);
	printf("}\n");
}

static void run_writers(size_t threads, size_t merge, double seconds)
{
	struct writer *all = mem_zalloc(threads * sizeof(*all));
	uint32_t *times = mem_alloc(TIMES * sizeof(*times));
	uint64_t start;
	double processor = processor_us();
	size_t done = 0, n = 0;

	if (!all || !times)
		quit("out of memory");
	times_each = TIMES / threads;
	start = now_us();
	for (size_t i = 0; i < threads; i++) {
		all[i] = (struct writer){ .merge = merge,
					  .times = times + i * times_each,
					  .at = i * batch_count / threads };
		if (pthread_create(&all[i].thread, NULL, write_on, &all[i]))
			quit("cannot start a thread");
	}
	while (now_us() - start < (uint64_t)(seconds * 1e6))
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	atomic_store(&stop, true);
	for (size_t i = 0; i < threads; i++) {
		pthread_join(all[i].thread, NULL);
		done += all[i].done;
		memmove(times + n, all[i].times, all[i].noted * sizeof(*times));
		n += all[i].noted;
	}
	print(done, (double)(now_us() - start) / 1e6, processor_us() - processor, times, n);
	mem_free(all);
	mem_free(times);
}

static void sleep_until(uint64_t us)
{
	struct timespec t = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Like a writer that has nothing else to do: no server that syncs can be sooner. */
static void run_paced(double rate, double seconds)
{
	size_t total = (size_t)(rate * seconds), done = 0;
	uint32_t *times = mem_alloc(total * sizeof(*times));
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	double processor = processor_us();
	uint64_t start = now_us(), due[MOST_TOGETHER], now;
	char *err = NULL;

	if (!times)
		quit("out of memory");
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	while (done < total) {
		size_t n = 0;

		rocksdb_writebatch_clear(batch);
		sleep_until(start + (uint64_t)((double)done * 1e6 / rate));
		for (now = now_us(); n < MOST_TOGETHER && done + n < total; n++) {
			due[n] = start + (uint64_t)((double)(done + n) * 1e6 / rate);
			if (due[n] > now)
				break;
			add_batch(batch, &batches[(done + n) % batch_count]);
		}
		rocksdb_write(db, how, batch, &err);
		if (err)
			quit("RocksDB: %s", err);
		now = now_us();
		for (size_t i = 0; i < n; i++)
			times[done++] = (uint32_t)(now - due[i]);
	}
	print(done, (double)(now_us() - start) / 1e6, processor_us() - processor, times, done);
	rocksdb_writebatch_destroy(batch);
	mem_free(times);
}

/* As RocksDB appends to its log: room is reserved ahead, the size grows with each write. */
static void run_fdatasync(const char *dir, double seconds)
{
	size_t bytes = (size_t)batch_bytes() + 7, n = 0;
	uint32_t *times = mem_alloc(TIMES * sizeof(*times));
	char *data = mem_zalloc(bytes);
	uint64_t start, before;
	double processor = processor_us();
	int at, fd;

	if (!times || !data)
		quit("out of memory");
	if (mkdir(dir, 0700) || (at = open(dir, O_DIRECTORY)) < 0 ||
	    (fd = openat(at, "log", O_CREAT | O_WRONLY | O_APPEND, 0600)) < 0)
		quit("%s: %s", dir, strerror(errno));
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 64 << 20))
		quit("fallocate: %s", strerror(errno));
	memset(data, 'x', bytes);
	for (start = now_us(); now_us() - start < (uint64_t)(seconds * 1e6) && n < TIMES;) {
		before = now_us();
		if (write(fd, data, bytes) != (ssize_t)bytes || fdatasync(fd))
			quit("fdatasync: %s", strerror(errno));
		times[n++] = (uint32_t)(now_us() - before);
	}
	print(n, (double)(now_us() - start) / 1e6, processor_us() - processor, times, n);
	mem_free(times);
	mem_free(data);
	close(fd);
	close(at);
}

int main(int argc, char **argv)
{
	size_t n = argc == 7 ? strtoul(argv[4], NULL, 10) : 0;
	double seconds = argc == 7 ? strtod(argv[5], NULL) : 0;

	if (argc != 7)
		quit("rocks_limit threads|merged|paced|fdatasync JOURNAL DIR N SECONDS synced|relaxed");
	batches = written_read(argv[2], STORE_STREAM, BATCHES, &batch_count);
	if (!strcmp(argv[1], "fdatasync")) {
		run_fdatasync(argv[3], seconds);
		return 0;
	}
	if (!n || (n > 1024 && strcmp(argv[1], "paced") != 0))
		quit("1 to 1024 threads or requests, or a rate");
	atomic_store(&sequence, (uint64_t)time(NULL) * 1000 << 22);
	open_database(argv[3], !strcmp(argv[6], "synced"));
	if (!strcmp(argv[1], "paced"))
		run_paced((double)n, seconds);
	else
		run_writers(strcmp(argv[1], "merged") ? n : 1, strcmp(argv[1], "merged") ? 1 : n, seconds);
	for (size_t i = 0; i < STORE_FAMILIES; i++)
		rocksdb_column_family_handle_destroy(families[i]);
	rocksdb_close(db);
	return 0;
}
