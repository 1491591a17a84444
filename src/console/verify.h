/* The oracle (oracle/oracle.h) for the console: one check of a design's items at a time, in the background.
 *
 * Threads: verify_start() and verify_free() are called by one at a time (the console's lock); the document by any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_VERIFY_H
#define THORPE_CONSOLE_VERIFY_H

#include "process/process.h"

#define CONSOLE_VERIFY_MOST 500 /* findings that are kept; all are counted */

struct verify;
/* `process` NULL: the design has none. NULL: memory. */
struct verify *verify_new(const struct design *d, struct process *process, struct database *database);
void verify_free(struct verify *v); /* stops it; NULL is fine */
/* Begins a new check, unless one is running. */
void verify_start(struct verify *v);
/* types.ts: Verification. In the arena. */
struct slice verify_document(struct verify *v, struct arena *a);

#endif
