/* Inside console/: the state that its documents share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_CONSOLE_INTERNAL_H
#define THORPE_CONSOLE_CONSOLE_INTERNAL_H

#include <pthread.h>

#include "console/console.h"
#include "console/verify.h"

struct console {
	struct console_options options; /* completed */
	pthread_mutex_t lock;           /* of what follows */
	struct arena arena;
	struct console_document *documents; /* in the order of options.apps; without a body: not made yet */
	struct verify **verifications;      /* in the order of options.apps; NULL: never requested */
};

#endif
