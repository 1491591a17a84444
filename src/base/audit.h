/* The audit log: logins, refused callers and operators' actions; one JSON object per line, appended to a file.
 *
 *     {"time":"2026-11-15T12:00:00.123Z","request":"…","kind":"login","outcome":"refused","name":"alice",
 *      "address":"192.0.2.7","design":"social","status":401,"why":"wrong name or password"}
 *
 * Invariants
 *   A1  An event is one line, whatever its texts contain (json_line.h J1). Texts are cut to some 200 bytes.
 *   A2  No event waits for the disk: lines go to a buffer of 1 MB, and a thread writes it out. Lines that do not
 *       fit, or cannot be written, are counted; once writing works again, a line of kind "audit" says how many are
 *       missing.
 *   A3  Passwords, tokens and signatures are never part of an event: callers pass none.
 *   A4  audit_close() writes every event accepted before it.
 *
 * One per process, like the log. Thread safe, except opening and closing: open before other threads start, close
 * after they end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_AUDIT_H
#define THORPE_BASE_AUDIT_H

#include "base/error.h"
#include "base/slice.h"

/* empty, NULL and 0 members are left out */
struct audit_event {
	const char *kind;        /* "login", "password", "refused", "operator", "console" */
	const char *outcome;     /* "ok", "refused", "throttled", "failed" */
	struct slice name;       /* the name given at login */
	struct slice subject;    /* from the caller's token */
	struct slice access_key; /* the key that signed the request */
	struct slice address, design;
	struct slice action; /* "DELETE /users/alice", "CreateTable" */
	struct slice target; /* a table */
	int status;          /* of the reply */
	struct slice why;
};

extern bool audit_on; /* read only */
/* Cheap. Call it before building an event. */
static inline bool audit_is_on(void)
{
	return audit_on;
}

/* Opens a file, created with mode 0600 if absent; "-" means stderr. False: `why` holds a sentence. */
bool audit_open(const char *path, char *why, size_t n) MUST_CHECK;
void audit_close(void); /* does nothing if the log is not open */
/* For log rotation, after the file was renamed: the next line goes to a new file under the old name. Any thread
 * (but no signal handler); returns at once. If the new file cannot be opened, the old one stays in use and the log
 * says so. */
void audit_reopen(void);
/* Adds the current time and the request set by log_set_request(). */
void audit_write(const struct audit_event *e);
/* Events lost since the start. */
uint64_t audit_dropped(void);

#endif
