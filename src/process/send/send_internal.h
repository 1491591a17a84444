/* What the files of a sender share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_INTERNAL_H
#define THORPE_PROCESS_SEND_INTERNAL_H

#include "app/auth/caller.h"
#include "process/send/send.h"
#include "process/send/send_http.h"

struct sender {
	const struct processor *p;
	const struct app *app;
	struct arena arena; /* of what lives as long as the sender */
	struct send_http *http;
	struct slice secret;       /* webhook */
	struct slice processor_id; /* webhook: distinguishes the ids of two processors */
	bool names_index;          /* OpenSearch: the address names no index, so every action does */
	int64_t retry_after;
};

/* An image as plain JSON, without hidden and private attributes; null when there is none. */
void send_put_item(struct run *r, const struct entity *e, struct value stored, struct buf *b);

/* send_webhook.c */
/* "v1=…" of the body at that time (seconds). */
struct slice webhook_signature(struct arena *a, struct slice secret, int64_t timestamp, struct slice body);
void webhook_init(struct sender *s);
void webhook_send(struct sender *s, struct run *r, const struct change *c, enum send_end *end, struct slice *why);

/* send_bulk.c */
/* The address of _bulk for the design's address; NULL: a bad one. */
const char *bulk_address(struct arena *a, struct slice url, bool *names_index);
size_t bulk_send(struct sender *s, struct run *r, const struct change *const *list, size_t n, enum send_end *ends,
		 struct slice *why);

#endif
