/* A typed request to a table and its reply: one item, many, a page, writes alone or together, changes.
 *
 * A request has everything that DynamoDB's document of the same name has, with values encoded and expressions
 * compiled or built (expr/build.h). api/ reads documents into requests and executes them; app/ makes requests,
 * never documents; document.h writes a request as its document for a database elsewhere, and for people. Errors are
 * worded the same everywhere: as for the document. The request's contents are borrowed until the reply is there;
 * the reply's live in the arena of the call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_REQUEST_H
#define THORPE_REQUEST_REQUEST_H

#include "base/error.h"
#include "expr/expr.h"
#include "value/limits.h"

/* ---- requests ---- */

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
	const struct value *keys;            /* all present; a repeated key is in the document once */
	size_t count;                        /* at most REQUEST_KEYS_MOST */
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
	struct value key;                  /* for every kind except PUT, which has it in the item */
	struct value item;                 /* PUT */
	const struct condition *condition; /* NULL: none. A CHECK has one */
	const struct update *update;       /* UPDATE; NULL: only makes sure that the item exists */
	bool return_old_on_failure;        /* a failed condition returns the item */
};
/* PutItem, UpdateItem, DeleteItem; TransactWriteItems */
struct request_write {
	const struct request_action *actions;
	size_t count;
	bool together;      /* a transaction, even for one action; several always are one */
	struct slice token; /* ClientRequestToken of a transaction; empty: none */
};

/* GetRecords */
struct request_records {
	struct slice iterator;
	int64_t limit; /* 1..1000 */
};

struct request {
	enum request_kind kind;
	bool measured; /* report the consumed capacity */
	union {
		struct request_get get;
		struct request_batch batch;
		struct request_query query;
		struct request_write write;
		struct request_records records;
	};
};

/* Whether only a transaction can do it: several actions, one that only checks, or a token. */
bool request_is_transaction(const struct request_write *w);
/* "GetItem": the DynamoDB operation. */
const char *request_operation(const struct request *q);
static inline bool request_is_read(const struct request *q)
{
	return q->kind != REQUEST_WRITE;
}

/* ---- replies ---- */

/* of one action that was not done */
struct reply_reason {
	struct error error; /* NONE: this action was not the cause */
	struct value item;  /* CONDITION_FAILED: the existing item; absent: none, or not requested */
};

enum stream_event { EVENT_INSERT = 1, EVENT_MODIFY, EVENT_REMOVE };
struct reply_record {
	struct slice sequence; /* as on the wire */
	enum stream_event event;
	bool by_ttl;
	int64_t created_ms;                      /* whole seconds */
	struct value keys, old_image, new_image; /* absent if there is none */
};

struct reply {
	int status;           /* 200; or 400, 500 …: then only `reasons` below is set */
	struct slice error;   /* "ResourceNotFoundException"; empty if status is 200 */
	struct slice message; /* the error's text */
	double units;         /* consumed, if measured: of reads or of writes */
	struct value item;    /* GET; absent: not found */
	struct value *items;  /* BATCH_GET: items[i] for keys[i], or absent. QUERY: the page */
	bool *left;           /* BATCH_GET: keys not processed yet; NULL: none */
	size_t count;         /* QUERY (with count_only the only result), RECORDS; BATCH_GET: the number found */
	struct value last;    /* QUERY: key to continue after; absent: the end */
	struct reply_record *records;
	struct slice iterator; /* RECORDS: to continue with; empty: the shard has ended */
	/* WRITE: for ConditionalCheckFailedException and TransactionCanceledException, one for each action; else
	 * NULL. */
	struct reply_reason *reasons;
};

/* Fills in an error. */
void reply_fail(struct reply *r, const struct error *e);
/* Whether a write that was not answered with 200 may have been done nevertheless. */
bool reply_may_be_done(const struct reply *r);
/* "ConditionalCheckFailed": a code as in CancellationReasons, and back (unknown names become VALIDATION). */
const char *reason_name(enum err code);
enum err reason_of(struct slice name);
/* "Transaction cancelled, please refer …" */
struct slice reasons_message(struct arena *a, const struct reply_reason *reasons, size_t n);

#endif
