/* One request to a design's application: its caller, time, memory, trace and problem.
 *
 * Every function of app/ takes the run first. A function that fails returns false after setting run->problem, with
 * which the request ends. Memory comes from the run's arena; running out leaves by longjmp (arena.h). A run belongs
 * to one thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_RUN_RUN_H
#define THORPE_APP_RUN_RUN_H

#include <stdatomic.h>
#include "request/backend.h"
#include "app/run/fields.h"
#include "design/row.h"
#include "design/design.h"

struct app; /* state.h */
struct permission_source;

#define CALLER_SECRET_BYTES 32 /* the server's secret; keys of tokens, cursors and stamps derive from it */

#define CALLER_KEYS 3

/* What a login's token depends on (caller_session.c). */
struct caller_session {
	struct slice account; /* the entity's name, ':', the identity if it is not the subject; empty: not a login's token */
	struct slice stamp; /* the account's at login, from the token */
	struct slice id;    /* of a session that can be renewed (sessions.h); empty: none */
	/* Of the account; of its credentials (absent: in the account itself); of its sessions, in the table beside the design's
	 * (absent: not renewed). */
	struct value keys[CALLER_KEYS];
	uint64_t versions[CALLER_KEYS]; /* of these when last read (backend.h); 0: read again each time */
};

struct caller {
	struct slice subject;      /* empty: anonymous */
	const struct slice *roles; /* the account's current ones; for tokens not from a login, the token's */
	size_t role_count;
	/* Those that the design declares, by their place; absent: the token does not have it. The account's current values, as
	 * the roles. NULL and 0: none. */
	const struct value *claims;
	size_t claim_count;
	bool operator_;     /* may do everything, whatever the rules say */
	int64_t expires_ms; /* end of the token's validity; 0: none */
	struct caller_session session;
	/* Computed on first use (caller.h) */
	bool permissions_known;
	const struct slice *permissions;
	const struct permission_source *permission_sources; /* of each permission: its source (caller_permissions.c) */
	size_t permission_count;
};

/* The types of problems (RFC 9457); see docs/rest-api.md. */
#define PROBLEM_MAP(X)                                                   \
	X(MALFORMED, 400, "malformed", "The request cannot be read")     \
	X(UNAUTHENTICATED, 401, "unauthenticated", "Log in first")       \
	X(FORBIDDEN, 403, "forbidden", "You may not do this")            \
	X(NOT_FOUND, 404, "not-found", "There is nothing here")          \
	X(METHOD, 405, "method-not-allowed", "This cannot be done here") \
	X(EXISTS, 409, "already-exists", "It is there already")          \
	X(TAKEN, 409, "taken", "Someone else has it")                    \
	X(CONFLICT, 409, "conflict", "Not in this state")                \
	X(CHANGED, 412, "changed", "It has changed since you read it")   \
	X(TOO_LARGE, 413, "too-large", "Too large")                      \
	X(MEDIA_TYPE, 415, "media-type", "JSON is expected")             \
	X(INVALID, 422, "invalid", "Some values are not valid")          \
	X(TOO_MANY, 429, "too-many-attempts", "Wait a moment")           \
	X(INTERNAL, 500, "internal", "Something went wrong here")        \
	X(BUSY, 503, "busy", "Try again in a moment")
enum problem_type {
	PROBLEM_NONE,
#define X(name, status, type, title) PROBLEM_##name,
	PROBLEM_MAP(X)
#undef X
};

/* of an INVALID: one attribute or parameter */
struct problem_part {
	struct slice attribute, detail;
};

struct problem {
	enum problem_type type;
	struct slice detail;        /* a sentence for people */
	struct slice attribute;     /* TAKEN: the attribute; else empty */
	struct problem_part *parts; /* INVALID */
	size_t part_count, part_capacity;
	int retry_after; /* TOO_MANY, BUSY: seconds; 0: not said */
	/* BUSY: the outcome of the write */
	enum problem_outcome {
		OUTCOME_NOT_DONE, /* nothing was written */
		OUTCOME_UNKNOWN,  /* the database did not report the outcome */
		OUTCOME_DONE,     /* written; only the reply is missing */
	} outcome;
};

int problem_status(enum problem_type t);
const char *problem_name(enum problem_type t);
const char *problem_title(enum problem_type t);

/* One request to the database, for --explain and the console. */
struct trace_call {
	struct trace_call *next;
	const char *operation;
	struct slice request; /* the document sent */
	int status;
	struct slice error;             /* empty: none */
	double read_units, write_units; /* consumed, from the reply; 0: not reported */
	size_t items;                   /* in the reply */
	int64_t us;
};
struct trace {
	struct trace_call *first, **last;
};

struct memo;
struct witnesses;
struct renamed;
struct dyn_write;
struct passed_over;

struct run {
	struct app *app;
	const struct design *design;
	struct backend *backend;
	struct arena *arena;
	struct caller caller;
	int64_t now_ms; /* one time for the whole request */
	struct problem problem;
	struct trace *trace;            /* NULL: not traced */
	struct memo *memo;              /* other items that rules have read: entity.h */
	struct renamed *renames;        /* unfinished ones that this run has met: renamed.h */
	struct witnesses *witnesses;    /* items a write reads while it decides: witness.h; NULL: not recorded */
	const struct dyn_write *riders; /* to include in the next write: dyn.h; NULL: none */
	size_t rider_count;
	bool rider_lost;
	bool is_unsure;                  /* the last dyn_write() did not return DYN_DONE but may have been executed */
	struct passed_over *passed_over; /* counts skipped effects: passed_over.h; NULL: not counted */
	atomic_bool *unserved;           /* becomes true: run_note_unserved(); NULL: nobody asks */
	uint8_t second[NUMBER_ENCODED_MAX]; /* now_ms in seconds, encoded as in items, when entity_expires() first needed it */
	size_t second_size;
	int64_t second_of;  /* that second */
	bool is_own;        /* the runtime looks for itself, without a caller: the rule for everywhere does not apply */
	int depth;          /* of nested rules (visible E): bounded */
	bool no_hashing;    /* from app_request.no_hashing; run_may_hash() checks it */
	bool wants_hashing; /* run_may_hash() returned false */
};

/* Whether this run only explores: backend.h, explores. */
static inline bool run_explores(const struct run *r)
{
	return r->backend && r->backend->explores;
}

/* Sets the problem and returns false. */
bool run_fail(struct run *r, enum problem_type t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Adds a part to an INVALID problem (or creates it, with this part's detail) and returns false, so that several can
 * be reported at once. */
bool run_invalid(struct run *r, struct slice attribute, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* From an error of terms, templates and values: VALIDATION becomes INVALID, others INTERNAL. Keeps a problem already
 * set by a term's fetch. Returns false. */
bool run_error(struct run *r, const struct error *e);
/* Call before hashing a password and before any write. False: not on this thread; BUSY. */
bool run_may_hash(struct run *r) MUST_CHECK;
/* Sets BUSY with the time to wait, after enough attempts. Returns false. */
bool run_busy(struct run *r);
/* Notes in `unserved` whether a call failed for a reason that says nothing about the request: the database throttles,
 * does not answer, or refuses this server's credentials. */
void run_note_unserved(struct run *r, const struct request *q, const struct reply *reply);
/* From a failed database call for which the caller has no better problem: throttling, conflicts and a remote database
 * that does not answer, or refuses this server's credentials, become BUSY (OUTCOME_UNKNOWN after a write that may have been done), too large items
 * TOO_LARGE, ValidationException INVALID, others INTERNAL. Logs the database's message; clients do not see it.
 * Returns false. */
bool run_backend_error(struct run *r, const struct backend_reply *reply);
bool run_reply_error(struct run *r, const struct reply *reply);
/* A value as text for a sentence; empty: neither a text, a number nor a boolean. */
struct slice run_text(struct run *r, struct value v);

/* ---- runs inside a run ---- */
/* The same request with its own memory, to be cleared between items, and its own problem. */
struct run *branch_new(struct run *r);
void branch_clear(struct run *branch, const struct run *r);

/* Whether the caller has the role. Every logged-in caller has "user"; operators have all roles. */
bool run_has_role(const struct run *r, struct slice role);

#endif
