/* Two buffers: threads fill one while the writer writes the other out.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/audit.h"
#include "base/json_line.h"
#include "base/log.h"

#define BUFFER_BYTES (1024 * 1024)
#define LINE_BYTES   2048
#define TEXT_MOST    200

bool audit_on;

static struct {
	char *path; /* NULL: stderr */
	int fd;
	bool torn;    /* the last line in the file is incomplete */
	bool failing; /* the failure has been logged */
	pthread_t thread;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t changed;
	char *filling, *writing; /* BUFFER_BYTES each; only the thread uses `writing` */
	size_t filled;
	uint64_t untold; /* dropped, and not yet reported by a line */
	bool reopen_wanted, stopping;
} audit = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static _Atomic uint64_t dropped;

/* ---- the file ---- */

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & 077)
		log_warn("users other than its owner can read or write %s: run chmod 600 on it", path);
	return fd;
}

static void reopen(void)
{
	int fd = audit.path ? open_file(audit.path) : -1;

	if (fd < 0 && audit.path)
		log_warn("cannot reopen %s (%s): the audit log keeps writing to the old file", audit.path,
			 strerror(errno));
	if (fd < 0)
		return;
	close(audit.fd);
	audit.fd = fd;
	audit.torn = audit.failing = false;
}

static uint64_t lines_in(const char *p, size_t n)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

/* Returns the number of bytes written. */
static size_t write_out(const char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t wrote = write(audit.fd, p + done, n - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			break;
		done += (size_t)wrote;
	}
	return done;
}

/* Returns the number of lines lost. */
static uint64_t write_lines(const char *p, size_t n)
{
	size_t done;

	if (audit.torn && write_out("\n", 1))
		audit.torn = false;
	done = audit.torn ? 0 : write_out(p, n);
	if (done == n) {
		audit.failing = false;
		return 0;
	}
	if (!audit.failing)
		log_error("cannot write the audit log: %s", strerror(errno));
	audit.failing = true;
	audit.torn |= done && p[done - 1] != '\n';
	return lines_in(p + done, n - done);
}

static bool tell_dropped(uint64_t n)
{
	char line[LINE_BYTES], time[LINE_TIME_TEXT];
	struct json_line l;

	json_line_begin(&l, line, sizeof(line));
	json_line_text(&l, "time", line_time(time), LINE_TIME_TEXT);
	json_line_text(&l, "kind", SLICE("audit"), TEXT_MOST);
	json_line_text(&l, "outcome", SLICE("dropped"), TEXT_MOST);
	json_line_number(&l, "count", (int64_t)n);
	return !write_lines(line, json_line_end(&l));
}

/* ---- the thread ---- */

/* Called without the lock. */
static uint64_t write_round(size_t n, uint64_t untold, bool again)
{
	uint64_t lost;

	if (again)
		reopen();
	lost = n ? write_lines(audit.writing, n) : 0;
	if (lost)
		atomic_fetch_add(&dropped, lost);
	untold += lost;
	return untold && !audit.failing && tell_dropped(untold) ? 0 : untold;
}

static void *write_on(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&audit.lock);
	for (;;) {
		size_t n = audit.filled;
		uint64_t untold = audit.untold;
		bool again = audit.reopen_wanted, last = audit.stopping && !n;
		char *full = audit.filling;

		if (!n && !again && !last) {
			pthread_cond_wait(&audit.changed, &audit.lock);
			continue;
		}
		audit.filling = audit.writing;
		audit.writing = full;
		audit.filled = 0;
		audit.untold = 0;
		audit.reopen_wanted = false;
		pthread_mutex_unlock(&audit.lock);
		untold = write_round(n, untold, again);
		pthread_mutex_lock(&audit.lock);
		audit.untold += untold;
		if (last)
			break;
	}
	pthread_mutex_unlock(&audit.lock);
	return NULL;
}

/* ---- public functions ---- */

static void take_line(const char *line, size_t n)
{
	pthread_mutex_lock(&audit.lock);
	if (audit.filled + n > BUFFER_BYTES) {
		audit.untold++;
		atomic_fetch_add(&dropped, 1);
	} else {
		memcpy(audit.filling + audit.filled, line, n);
		audit.filled += n;
		if (audit.filled == n)
			pthread_cond_signal(&audit.changed);
	}
	pthread_mutex_unlock(&audit.lock);
}

static void put_text(struct json_line *l, const char *name, struct slice text)
{
	if (text.n)
		json_line_text(l, name, text, TEXT_MOST);
}

void audit_write(const struct audit_event *e)
{
	char line[LINE_BYTES], time[LINE_TIME_TEXT];
	struct json_line l;

	if (!audit_on)
		return;
	json_line_begin(&l, line, sizeof(line));
	json_line_text(&l, "time", line_time(time), LINE_TIME_TEXT);
	put_text(&l, "request", log_request());
	json_line_text(&l, "kind", slice_str(e->kind), TEXT_MOST);
	json_line_text(&l, "outcome", slice_str(e->outcome), TEXT_MOST);
	put_text(&l, "name", e->name);
	put_text(&l, "subject", e->subject);
	put_text(&l, "access_key", e->access_key);
	put_text(&l, "address", e->address);
	put_text(&l, "design", e->design);
	put_text(&l, "action", e->action);
	put_text(&l, "target", e->target);
	if (e->status)
		json_line_number(&l, "status", e->status);
	put_text(&l, "why", e->why);
	take_line(line, json_line_end(&l));
}

uint64_t audit_dropped(void)
{
	return atomic_load(&dropped);
}

void audit_reopen(void)
{
	if (!audit_on)
		return;
	pthread_mutex_lock(&audit.lock);
	audit.reopen_wanted = true;
	pthread_cond_signal(&audit.changed);
	pthread_mutex_unlock(&audit.lock);
}

static void release(void)
{
	if (audit.path && audit.fd >= 0)
		close(audit.fd);
	mem_free(audit.path);
	mem_free(audit.filling);
	mem_free(audit.writing);
	audit.path = audit.filling = audit.writing = NULL;
	audit.fd = -1;
	audit.torn = audit.failing = audit.stopping = audit.reopen_wanted = false;
	audit.filled = 0;
	audit.untold = 0;
}

bool audit_open(const char *path, char *why, size_t n)
{
	bool to_stderr = !strcmp(path, "-");

	audit.path = to_stderr ? NULL : mem_strndup(path, strlen(path));
	audit.filling = mem_alloc(BUFFER_BYTES);
	audit.writing = mem_alloc(BUFFER_BYTES);
	audit.fd = to_stderr ? STDERR_FILENO : audit.path ? open_file(path) : -1;
	if (audit.fd < 0)
		snprintf(why, n, "cannot write the audit log %s: %s", path, strerror(errno));
	else if (!audit.filling || !audit.writing)
		snprintf(why, n, "not enough memory");
	else if (pthread_create(&audit.thread, NULL, write_on, NULL))
		snprintf(why, n, "cannot start a thread");
	else
		audit_on = true;
	if (!audit_on)
		release();
	return audit_on;
}

void audit_close(void)
{
	if (!audit_on)
		return;
	audit_on = false;
	pthread_mutex_lock(&audit.lock);
	audit.stopping = true;
	pthread_cond_signal(&audit.changed);
	pthread_mutex_unlock(&audit.lock);
	pthread_join(audit.thread, NULL);
	release();
}
