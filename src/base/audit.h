/* The audit log: logins, callers that were refused, and what operators did; one JSON object a line, appended to a file.
 *
 *     {"time":"2026-11-15T12:00:00.123Z","request":"…","kind":"login","outcome":"refused","name":"alice",
 *      "address":"192.0.2.7","design":"social","status":401,"why":"wrong name or password"}
 *
 * Invariants
 *   A1  An event is one line, whatever its texts hold (json_line.h J1). Texts are cut to some 200 bytes.
 *   A2  No event waits for the disk: lines go to a buffer of 1 MB, and a thread writes it out. Lines that do not fit,
 *       or cannot be written, are counted; as soon as writing works again a line of kind "audit" says how many are
 *       missing.
 *   A3  Passwords, tokens and signatures are never part of an event: callers give none.
 *   A4  audit_close() writes everything that was taken before.
 *
 * One for the process, as the log is. Thread safe, but for opening and closing: before other threads start and after
 * they end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_AUDIT_H
#define THORPE_BASE_AUDIT_H

#include "base/error.h"
#include "base/slice.h"

/* what is empty, NULL or 0 is left out */
struct audit_event {
	const char *kind;        /* "login", "password", "refused", "operator", "console" */
	const char *outcome;     /* "ok", "refused", "throttled", "failed" */
	struct slice name;       /* that someone tried to log in with */
	struct slice subject;    /* of the caller's token */
	struct slice access_key; /* that the request was signed with */
	struct slice address, design;
	struct slice action; /* "DELETE /users/alice", "CreateTable" */
	struct slice target; /* a table */
	int status;          /* of the reply */
	struct slice why;
};

extern bool audit_on; /* read only */
/* Quick. Asked before an event is put together. */
static inline bool audit_is_on(void)
{
	return audit_on;
}

/* A file, made with mode 0600 if it is not there, or "-": stderr. False with a sentence in `why`. */
bool audit_open(const char *path, char *why, size_t n) MUST_CHECK;
void audit_close(void); /* fine when it is not open */
/* The file was moved away: the next line goes to a new one of its name. Any thread (no signal handler); returns at
 * once. When the new file cannot be opened the old one stays in use, and the log says so. */
void audit_reopen(void);
/* With the time of now and the request of log_set_request(). */
void audit_write(const struct audit_event *e);
/* Events that are missing since the start. */
uint64_t audit_dropped(void);

#endif
