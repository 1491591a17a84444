/* The secret of all servers of a design on one table, kept in the table beside the design's (beside.h): a token or a cursor that
 * one server has made is taken by the others. Who can read that table can make tokens, as who can read the design's own table
 * can read everything: `--secret-file` keeps it out of both.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_SHARED_SECRET_H
#define THORPE_APP_DB_SHARED_SECRET_H

#include "request/backend.h"
#include "app/run/run.h"
#include "design/design.h"

/* Makes it when there is none; of servers that start at the same moment all have the same. The table is there. False:
 * e->message is a sentence for a person. */
bool shared_secret_load(struct backend *b, const struct design *d, struct arena *a, uint8_t out[CALLER_SECRET_BYTES],
			struct error *e) MUST_CHECK;

#endif
