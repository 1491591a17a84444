/* An end of a copy: a data directory, opened, or a database at an address.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_COPY_COPY_SIDE_H
#define THORPE_CLI_COPY_COPY_SIDE_H

#include "cli/serve/serve_backend.h"
#include "api/local.h"
#include "copy/copy.h"

struct copy_end_point {
	const char *where; /* as it was given */
	bool is_directory;
	struct database_remote remote; /* where it is none */
	struct database_local local;
	struct db *db;
	struct api *api;
	struct copy_side side; /* for copy.h */
};

/* aws, aws:REGION, https://…, http:// on this machine; anything else is a directory. */
bool copy_side_is_directory(const char *where);
enum copy_side_use {
	COPY_SIDE_SOURCE, /* a directory must be there */
	COPY_SIDE_TARGET, /* it is made */
	COPY_SIDE_LOOK,   /* a target that is only looked at: one that is not there is empty, and is not made */
};
/* False: `why` is a sentence. Closed in any case. */
bool copy_side_open(struct copy_end_point *p, const char *where, enum copy_side_use use, char *why, size_t n) MUST_CHECK;
void copy_side_close(struct copy_end_point *p);
/* The secret that is in <table>.thorpe; false: none. */
bool copy_side_secret(struct copy_end_point *p, struct slice table, uint8_t out[CALLER_SECRET_BYTES]);

#endif
