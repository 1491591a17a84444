/* Crash points: dying on purpose.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/crashpoint.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char wanted[64]; /* empty: none */
static _Atomic long left;

static void read_environment(void)
{
	const char *at = getenv("THORPE_CRASH_AT");
	size_t n = at ? strcspn(at, ":") : 0;

	if (!n || n >= sizeof(wanted))
		return;
	memcpy(wanted, at, n);
	left = at[n] ? strtol(at + n + 1, NULL, 10) : 1;
}

void crash_point(const char *name)
{
	pthread_once(&once, read_environment);
	if (!wanted[0] || strcmp(name, wanted) != 0)
		return;
	if (atomic_fetch_sub(&left, 1) != 1)
		return;
	(void)kill(getpid(), SIGKILL);
	pause(); /* the signal is on its way */
}
