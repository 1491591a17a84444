/* Where the designs of `thorpe serve` have their tables: --backend [DESIGN=]WHERE.
 *
 * WHERE is an endpoint of DynamoDB's API: https://…, or http:// on a loopback address. Without --backend a design's table is in
 * this process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_BACKEND_H
#define THORPE_CLI_SERVE_BACKEND_H

#include <stdatomic.h>
#include "app/database.h"

#define SERVE_BACKENDS_MAX 64

struct serve_backend { /* as it was given */
	struct slice design; /* empty: every design that has none of its own */
	const char *where;
};

/* From [DESIGN=]WHERE. False: `why` is a sentence. */
bool serve_backend_parse(const char *value, struct serve_backend *out, char *why, size_t n) MUST_CHECK;
/* The one of a design. NULL: this process. */
const struct serve_backend *serve_backend_of(const struct serve_backend *list, size_t count, struct slice design);
/* Whether it is on this machine: tables are made there as they are in this process. */
bool serve_backend_is_near(const struct serve_backend *b);

/* A database at an endpoint. */
struct database_remote {
	struct database base;
	const char *endpoint;
	_Atomic uint64_t writes; /* through this process: what `latest` tells */
};
void database_remote_init(struct database_remote *d, const char *endpoint);

#endif
