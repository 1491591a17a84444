/* Where the designs of a command have their tables: --backend [DESIGN=]WHERE.
 *
 * WHERE is as remote/place.h has it: aws, aws:REGION, https://…, or http:// on a loopback address. Without --backend a
 * design's table is in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_BACKEND_H
#define THORPE_CLI_SERVE_SERVE_BACKEND_H

#include <stdatomic.h>
#include "request/database.h"
#include "remote/remote.h"

#define SERVE_BACKENDS_MAX 64

/* as it was given */
struct serve_backend {
	struct slice design; /* empty: every design that has none of its own */
	const char *where;
};

/* From [DESIGN=]WHERE. False: `why` is a sentence. */
bool serve_backend_parse(const char *value, struct serve_backend *out, char *why, size_t n) MUST_CHECK;
/* The one of a design. NULL: this process. */
const struct serve_backend *serve_backend_of(const struct serve_backend *list, size_t count, struct slice design);

/* A database at an address. */
struct database_remote {
	struct database base;
	struct remote *remote;
	const char *where;
	bool is_far;             /* not on this machine: tables are made there by `thorpe deploy` only */
	_Atomic uint64_t writes; /* through this process: what `latest` tells */
};
/* Looks for credentials; sends no other request. False: `why` is a sentence that says what to do. */
bool database_remote_open(struct database_remote *d, const char *where, char *why, size_t n) MUST_CHECK;
/* All its backends have been freed. One that was not opened (zero) is fine. */
void database_remote_close(struct database_remote *d);

#endif
