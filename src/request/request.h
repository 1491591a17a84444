/* What is asked of a table, typed: one item, many, a page, writes alone or together, changes; and what comes back.
 *
 * A request has everything that DynamoDB's document of the same name has, with values encoded and expressions compiled or built
 * (expr/build.h). api/ reads documents into requests and carries them out; app/ makes requests and no documents; document.h writes one as its
 * document for a database elsewhere, and for people. There is one set of words for what is refused: the error of the document.
 * Everything is borrowed until the reply is there; what is in the reply lives in the arena of the call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_REQUEST_H
#define THORPE_REQUEST_REQUEST_H

#include "base/error.h"
#include "expr/expr.h"
#include "value/limits.h"

/* ---- what is asked ---- */

enum request_kind { REQUEST_GET, REQUEST_BATCH_GET, REQUEST_QUERY, REQUEST_WRITE, REQUEST_RECORDS };

/* GetItem */
struct request_get {
	struct slice table;
	struct value key;
	const struct projection *projection; /* NULL: all */
	bool consistent;
};

#define REQUEST_KEYS_MOST BATCH_GETS_MAX
/* BatchGetItem of one table */
struct request_batch {
	struct slice table;
	const struct value *keys;            /* all present; one that repeats is in the document once */
	size_t count;                        /* REQUEST_KEYS_MOST at most */
	const struct projection *projection; /* NULL: all */
	bool consistent;
};

/* Query */
struct request_query {
	struct slice table, index;    /* index empty: the table */
	const struct key_term *terms; /* the key condition */
	size_t term_count;
	const struct condition *filter;      /* NULL: none */
	const struct projection *projection; /* NULL: all */
	bool backwards, consistent, count_only;
	int64_t limit;      /* 0: none */
	struct value start; /* absent: from the beginning */
};

enum write_kind { WRITE_PUT, WRITE_UPDATE, WRITE_DELETE, WRITE_CHECK };
struct request_action {
	enum write_kind kind;
	struct slice table;
	struct value key;                  /* of every kind but PUT, where it is in the item */
	struct value item;                 /* PUT */
	const struct condition *condition; /* NULL: none. A CHECK has one */
	const struct update *update;       /* UPDATE; NULL: only makes sure that the item exists */
	bool return_old_on_failure;        /* a condition that fails shows the item */
};
/* PutItem, UpdateItem, DeleteItem; TransactWriteItems */
struct request_write {
	const struct request_action *actions;
	size_t count;
	bool together;      /* a transaction, also of one action; several are one anyway */
	struct slice token; /* ClientRequestToken, of a transaction; empty: none */
};

/* GetRecords */
struct request_records {
	struct slice iterator;
	int64_t limit; /* 1..1000 */
};

struct request {
	enum request_kind kind;
	bool measured; /* what it consumes is to be told */
	union {
		struct request_get get;
		struct request_batch batch;
		struct request_query query;
		struct request_write write;
		struct request_records records;
	};
};

/* Several actions, one that only checks, or a token: nothing but a transaction can do it. */
bool request_is_transaction(const struct request_write *w);
/* "GetItem": the operation of DynamoDB that it is. */
const char *request_operation(const struct request *q);
static inline bool request_is_read(const struct request *q)
{
	return q->kind != REQUEST_WRITE;
}

/* ---- what comes back ---- */

/* of one action that was not done */
struct reply_reason {
	struct error error; /* NONE: it did not stand in the way */
	struct value item;  /* CONDITION_FAILED: what is there; absent: nothing, or it was not asked for */
};

enum stream_event { EVENT_INSERT = 1, EVENT_MODIFY, EVENT_REMOVE };
struct reply_record {
	struct slice sequence; /* as on the wire */
	enum stream_event event;
	bool by_ttl;
	int64_t created_ms;                      /* whole seconds */
	struct value keys, old_image, new_image; /* absent where there is none */
};

struct reply {
	int status;           /* 200; or 400, 500 …: nothing below but `reasons` is set */
	struct slice error;   /* "ResourceNotFoundException"; empty when status is 200 */
	struct slice message; /* the error's text */
	double units;         /* consumed, if measured: of reads or of writes */
	struct value item;    /* GET; absent: there is none */
	struct value *items;  /* BATCH_GET: items[i] is that of keys[i], or absent. QUERY: the page */
	bool *left;           /* BATCH_GET: not looked for yet, by key; NULL: none */
	size_t count;         /* QUERY, with count_only only this. RECORDS. BATCH_GET: that there are */
	struct value last;    /* QUERY: to go on after; absent: the end */
	struct reply_record *records;
	struct slice iterator; /* RECORDS: to go on; empty: the shard has ended */
	/* WRITE: of ConditionalCheckFailedException and TransactionCanceledException one for each action; else NULL. */
	struct reply_reason *reasons;
};

/* Fills in an error. */
void reply_fail(struct reply *r, const struct error *e);
/* A write that was not answered with 200: it may have been done nevertheless. */
bool reply_may_be_done(const struct reply *r);
/* "ConditionalCheckFailed": a code as CancellationReasons has it, and back (what is not known is VALIDATION). */
const char *reason_name(enum err code);
enum err reason_of(struct slice name);
/* "Transaction cancelled, please refer …" */
struct slice reasons_message(struct arena *a, const struct reply_reason *reasons, size_t n);

#endif
