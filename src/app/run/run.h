/* One request to a design's application, from its caller to its problem.
 *
 * Everything in app/ takes the run first. A function that can fail returns false and has filled run->problem; the
 * request then ends with it. Memory is the run's arena's and lives as long; running out leaves by longjmp (arena.h).
 * A run belongs to one thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_RUN_RUN_H
#define THORPE_APP_RUN_RUN_H

#include "request/backend.h"
#include "app/run/fields.h"
#include "design/row.h"
#include "design/design.h"

struct app; /* state.h */
struct permission_source;

#define CALLER_SECRET_BYTES 32 /* of a server: keys of tokens, cursors and stamps are derived from it */

/* What the token of a login hangs on (caller_session.c). */
struct caller_session {
	struct slice account; /* which: the entity's name, ':', the identity if it is not the subject; empty: no login's token */
	struct slice stamp;   /* of the account when it logged in, as the token has it */
	struct value keys[2]; /* the account's, and that of its credentials; absent: in the account itself */
	uint64_t versions[2]; /* of both when they were last read (backend.h); 0: to be read again each time */
};

struct caller {
	struct slice subject;      /* empty: nobody is logged in */
	const struct slice *roles; /* as the account has them now; of other tokens than a login's as in the token */
	size_t role_count;
	bool operator_;     /* may everything, also what no rule allows */
	int64_t expires_ms; /* when the token is taken no more; 0: never */
	struct caller_session session;
	/* Answered when first asked (caller.h) */
	bool permissions_known;
	const struct slice *permissions;
	const struct permission_source *permission_sources; /* of each: where it comes from (caller_permissions.c) */
	size_t permission_count;
};

/* What went wrong, as RFC 9457 has it. The types: docs/rest-api.md. */
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
	struct slice attribute;     /* TAKEN: whose value; else empty */
	struct problem_part *parts; /* INVALID */
	size_t part_count, part_capacity;
	int retry_after; /* TOO_MANY, BUSY: seconds; 0: not said */
	/* BUSY: what became of the write */
	enum problem_outcome {
		OUTCOME_NOT_DONE, /* nothing was written */
		OUTCOME_UNKNOWN,  /* the database did not say whether it was */
		OUTCOME_DONE,     /* it was; only the answer is missing */
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
	double read_units, write_units; /* consumed, as the reply says; 0 when it does not */
	size_t items;                   /* that came back */
	int64_t us;
};
struct trace {
	struct trace_call *first, **last;
};

struct memo;
struct witnesses;
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
	struct trace *trace;         /* NULL: nobody asks */
	struct memo *memo;           /* other items that rules have looked at: entity.h */
	struct witnesses *witnesses; /* what a write looks at while it is decided: witness.h; NULL: nobody takes notes */
	const struct dyn_write *riders; /* to go along with the next write: dyn.h; NULL: none */
	size_t rider_count;
	bool rider_lost;
	bool is_unsure; /* the last dyn_write() was not DYN_DONE, and may have been done nevertheless */
	struct passed_over *passed_over; /* counts what is not done, and why: passed_over.h; NULL: nobody counts */
	uint8_t second[NUMBER_ENCODED_MAX]; /* now_ms in seconds as items have numbers, when entity_expires() first asked */
	size_t second_size;
	int64_t second_of;  /* the second that it is */
	int depth;          /* of rules that ask for rules (visible E): bounded */
	bool no_hashing;    /* app_request.no_hashing; run_may_hash() looks at it */
	bool wants_hashing; /* it said no */
};

/* Sets the problem and returns false. */
bool run_fail(struct run *r, enum problem_type t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Adds a part to an INVALID problem (making it one, whose detail is this part's) and returns false, so that several can
 * be told at once. */
bool run_invalid(struct run *r, struct slice attribute, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* From an error of terms, templates and values: VALIDATION is INVALID, the rest INTERNAL, unless a problem is set
 * already: a term's fetch has then said what it is. False. */
bool run_error(struct run *r, const struct error *e);
/* Before a password is hashed, and before anything is written. False: not on this thread; BUSY. */
bool run_may_hash(struct run *r) MUST_CHECK;
/* BUSY, with the time to wait: the database was asked often enough. False. */
bool run_busy(struct run *r);
/* From a failed database call that the caller has no better word for: throttling, conflicts and a database elsewhere that does not
 * answer are BUSY (OUTCOME_UNKNOWN after a write that may have been done), what is too large TOO_LARGE, ValidationException
 * INVALID, the rest INTERNAL. What the database says is logged and does not leave. False. */
bool run_backend_error(struct run *r, const struct backend_reply *reply);
bool run_reply_error(struct run *r, const struct reply *reply);
/* A value as a sentence has it; empty: neither a text, a number nor a boolean. */
struct slice run_text(struct run *r, struct value v);

/* ---- runs inside a run ---- */
/* The same request with its own memory, to be cleared from item to item, and its own problem. */
struct run *branch_new(struct run *r);
void branch_clear(struct run *branch, const struct run *r);

/* Whether the caller has the role. "user": everyone who is logged in has it; operators have all. */
bool run_has_role(const struct run *r, struct slice role);

#endif
