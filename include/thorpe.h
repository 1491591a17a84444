/* libthorpe: the whole database in your process, without a server.
 *
 * The interface is DynamoDB's own: the name of an operation and a JSON document in, a JSON document
 * out. Whatever an SDK can ask of `thorpe serve`, thorpe_call() answers with the same bytes.
 *
 *     struct thorpe *db;
 *     char why[256];
 *     if (!thorpe_open(&(struct thorpe_options){ .dir = "./data" }, &db, why, sizeof(why)))
 *             errx(1, "%s", why);
 *     struct thorpe_reply r;
 *     thorpe_call(db, "GetItem", body, strlen(body), &r);
 *     printf("%d %.*s\n", r.status, (int)r.size, r.body);
 *     thorpe_reply_free(&r);
 *     thorpe_close(db);
 *
 * Threads: any number of threads may call everything except open and close at once. A write returns when it is on
 * disk (or, with `relaxed`, when it is applied). Writes of several threads share one sync, and a thread may do the
 * write itself if no other is writing, so do not cancel a thread within a call. Only one process at a time may have
 * a directory open.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_H
#define THORPE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct thorpe;

/* zero is the default everywhere */
struct thorpe_options {
	const char *dir;    /* NULL: in memory, gone at close */
	bool relaxed;       /* sync on a timer instead of before each answer */
	const char *region; /* shown in ARNs; NULL: us-east-1 */
};

struct thorpe_reply {
	int status;       /* as over HTTP: 200, 400, 500 */
	const char *body; /* JSON, NUL-terminated; never NULL */
	size_t size;      /* without the NUL */
	void *owner;      /* for thorpe_reply_free() */
};

/* False: `why` (of n bytes) holds a sentence for a person. */
bool thorpe_open(const struct thorpe_options *o, struct thorpe **out, char *why, size_t n);
/* Waits for calls under way to be committed. No other thread may be in a call. NULL is fine. */
void thorpe_close(struct thorpe *db);

/* `operation`: "PutItem", "GetRecords", … Errors are replies too: DynamoDB's error document. */
void thorpe_call(struct thorpe *db, const char *operation, const char *body, size_t size, struct thorpe_reply *reply);
void thorpe_reply_free(struct thorpe_reply *reply);

#ifdef __cplusplus
}
#endif
#endif
