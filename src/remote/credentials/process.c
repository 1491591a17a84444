/* credential_process: a program that prints credentials.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "remote/credentials/lookup.h"

#define OUTPUT_MOST (64 * 1024)
#define WORDS_MOST  64
#define PATIENCE_US (60 * 1000000LL)
#define POLL_MS     200

extern char **environ;

/* ---- words, as a shell would make them of quotes and backslashes ---- */

static const char *take_word(struct lookup *l, const char *p, char **word)
{
	char *out = arena_alloc(l->arena, strlen(p) + 1), quote = 0;

	for (*word = out; *p && (quote || !strchr(" \t", *p)); p++) {
		if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else if (*p == '\\' && quote != '\'' && p[1] && (!quote || strchr("\"\\", p[1])))
			*out++ = *++p;
		else
			*out++ = *p;
	}
	*out = '\0';
	return quote ? NULL : p;
}

/* False: a quote is not closed, or there are too many words. */
static bool split(struct lookup *l, const char *command, char *words[WORDS_MOST + 1])
{
	size_t n = 0;

	for (;;) {
		command += strspn(command, " \t");
		if (!*command)
			break;
		if (n == WORDS_MOST || !(command = take_word(l, command, &words[n++])))
			return false;
	}
	words[n] = NULL;
	return n > 0;
}

/* ---- running it ---- */

struct running {
	pid_t pid;
	int out; /* its standard output */
};

static int spawn_with(struct running *r, int to, char **words)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, pipes;
	int error;

	sigemptyset(&none);
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipes);
	posix_spawnattr_setpgroup(&attr, 0); /* so that what it starts can be ended with it */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	error = posix_spawnp(&r->pid, words[0], &actions, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int start_program(struct running *r, char **words)
{
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	error = spawn_with(r, ends[1], words);
	close(ends[1]);
	r->out = ends[0];
	if (error)
		close(ends[0]);
	return error;
}

/* Everything it prints, until it closes its output or time is up. False: too much, or too late. */
static bool read_all(const struct running *r, const atomic_bool *stop, char *text, size_t *n)
{
	int64_t until = clock_monotonic_us() + PATIENCE_US;

	for (*n = 0; *n < OUTPUT_MOST && clock_monotonic_us() < until && !(stop && atomic_load(stop));) {
		struct pollfd p = { .fd = r->out, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, POLL_MS) <= 0)
			continue;
		got = read(r->out, text + *n, OUTPUT_MOST - *n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		*n += (size_t)got;
	}
	return false;
}

/* Its exit status; -1: it was ended by a signal. */
static int end(const struct running *r, bool kill_it)
{
	int status = 0;

	close(r->out);
	if (kill_it)
		kill(-r->pid, SIGKILL);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static enum found read_output(struct lookup *l, const char *profile, struct slice text, struct found_keys *k)
{
	const struct json *j = json_parse(l->arena, text), *version = json_get(j, "Version");

	if (!json_is(j, JSON_OBJECT))
		return lookup_trouble(l, "the credential_process of profile '%s' printed no JSON object", profile);
	if (!json_is(version, JSON_INT) || version->integer != 1)
		return lookup_trouble(l, "the credential_process of profile '%s' printed no \"Version\": 1", profile);
	if (!lookup_read_keys(l, j, "SessionToken", k))
		return lookup_trouble(
			l,
			"the credential_process of profile '%s' printed no AccessKeyId and SecretAccessKey, or an Expiration that "
			"is not a time",
			profile);
	k->source = lookup_print(l, "the credential_process of profile '%s'", profile);
	return FOUND_KEYS;
}

enum found lookup_process(struct lookup *l, const char *profile, struct found_keys *k)
{
	const char *command = settings_get(l->settings, profile, "credential_process", SETTINGS_BOTH);
	char *words[WORDS_MOST + 1], *text;
	struct running r;
	int error, status;
	bool whole;
	size_t n;

	*k = (struct found_keys){ 0 };
	if (!command)
		return FOUND_NOTHING;
	if (!split(l, command, words))
		return lookup_trouble(
			l, "the credential_process of profile '%s' has a quote that is not closed, or too many words",
			profile);
	text = arena_alloc(l->arena, OUTPUT_MOST + 1); /* before it runs: nothing may leave by longjmp meanwhile */
	error = start_program(&r, words);
	if (error)
		return lookup_trouble(l, "the credential_process of profile '%s' cannot be started: %s: %s", profile,
				      words[0], strerror(error));
	whole = read_all(&r, l->stop, text, &n);
	status = end(&r, !whole);
	if (!whole)
		return lookup_trouble(
			l, "the credential_process of profile '%s' was ended: no end after a minute, or more than 64 KB",
			profile);
	if (status)
		return lookup_trouble(
			l,
			"the credential_process of profile '%s' failed (exit status %d); what it said is on standard error",
			profile, status);
	return read_output(l, profile, slice_make(text, n), k);
}
