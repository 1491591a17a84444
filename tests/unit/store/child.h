/* This test program run once more, as a process of its own that can be killed.
 *
 * It is executed (exec), not only forked: RocksDB's threads would be missing after a fork.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_STORE_CHILD_H
#define THORPE_TESTS_STORE_CHILD_H

#include <signal.h>
#include <sys/wait.h>
#include "fixture.h"

struct child {
	pid_t pid;
	int from; /* what it writes to its standard output */
	int to;   /* its standard input */
};

static inline struct child child_start(const char *role, const char *dir)
{
	int in[2], out[2];
	struct child c;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		close(out[0]);
		execl("/proc/self/exe", "child", role, dir, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c.from = out[0];
	c.to = in[1];
	return c;
}

/* Reads one whole uint32_t; false at the end. */
static inline bool child_read(const struct child *c, uint32_t *number)
{
	char *p = (char *)number;
	size_t n = 0;

	while (n < sizeof(*number)) {
		ssize_t got = read(c->from, p + n, sizeof(*number) - n);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return true;
}

static inline void child_tell(uint32_t number)
{
	if (write(STDOUT_FILENO, &number, sizeof(number)) != sizeof(number))
		_exit(3);
}

/* Its exit status, or minus the signal that ended it. */
static inline int child_end(struct child *c)
{
	int status = 0;

	close(c->to);
	while (waitpid(c->pid, &status, 0) < 0)
		;
	close(c->from);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
