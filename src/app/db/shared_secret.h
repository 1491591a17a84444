/* The common secret of all servers of a design on one table, kept in <table>.thorpe (beside.h): every server accepts
 * the tokens and cursors of the others. Read access to that table is enough to make tokens; `--secret-file` keeps the
 * secret out of the database.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_SHARED_SECRET_H
#define THORPE_APP_DB_SHARED_SECRET_H

#include "request/backend.h"
#include "app/run/run.h"
#include "design/design.h"

/* Creates it if missing; servers that start at the same moment get the same one. The table must exist. False:
 * e->message is a sentence for a person. */
bool shared_secret_load(struct backend *b, const struct design *d, struct arena *a, uint8_t out[CALLER_SECRET_BYTES],
			struct error *e) MUST_CHECK;

#endif
