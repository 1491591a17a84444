/* The server's documents for the console in the browser: about itself, its metrics and its designs.
 *
 * The documents are those of console/src/lib/types.ts. They are for operators: http/serve/console.c checks that
 * before it serves them. Knows no connection; the caller passes in what only the HTTP server knows.
 *
 * Threads: a console is shared by all. Documents of designs are made at the first request and kept: a design does not
 * change while it is served.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_CONSOLE_H
#define THORPE_CONSOLE_CONSOLE_H

#include "process/process.h"
#include "table/db.h"

#define CONSOLE_TOKEN_SECONDS 3600

/* everything pointed to must outlive the console */
struct console_options {
	struct db *db;
	const char *region; /* NULL: us-east-1 */
	bool in_memory;
	bool relaxed; /* replies before the data is on disk */
	struct app *const *apps;
	size_t app_count;
	struct process *const *processes; /* of the apps that have one, in any order */
	size_t process_count;
};

struct console;
struct console *console_new(const struct console_options *o); /* NULL: memory */
/* Call before freeing the processes and the api: a check of items may be running. NULL is fine. */
void console_free(struct console *c);

/* ---- documents, in the arena ---- */

/* The server's identity, with an operator's token for each design, valid for CONSOLE_TOKEN_SECONDS. `endpoint`: the
 * address the browser used. */
struct slice console_session(struct console *c, struct arena *a, struct slice endpoint, bool has_keys);

/* facts from the HTTP server */
struct console_server {
	int64_t uptime_ms;
	uint64_t memory_bytes, connections;
};
struct slice console_stats(struct console *c, struct arena *a, const struct console_server *s);

struct console_document {
	struct slice body; /* JSON */
	struct slice etag; /* with its quotes */
};
/* NULL: no design has this name, or out of memory (*missing says which). Lives as long as the console. */
const struct console_document *console_design(struct console *c, struct slice name, bool *missing);

/* The oracle's check of a design's items (console/verify.h): the last findings, or the progress of a running check.
 * `start`: begins one, unless one is running. Empty: no design has this name, or the oracle is unavailable. */
struct slice console_verification(struct console *c, struct arena *a, struct slice name, bool start);

#endif
