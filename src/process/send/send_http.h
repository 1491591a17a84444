/* POST over http or https (fetch/limits.h): no redirects, a reply of bounded size.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_HTTP_H
#define THORPE_PROCESS_SEND_HTTP_H

#include <stdatomic.h>
#include "base/buf.h"

#define SEND_RETRY_AFTER_MOST 300 /* seconds */

struct send_http; /* a connection that is kept; one thread */
/* `url` is copied. `stop`: see send.h. NULL: memory. */
struct send_http *send_http_new(const char *url, const atomic_bool *stop);
void send_http_free(struct send_http *h);

struct send_reply {
	int status;          /* 0: no reply, `why` says why not */
	struct slice body;   /* in the arena; what goes beyond `most` bytes is not read */
	int64_t retry_after; /* seconds; 0: not said */
	struct slice why;    /* a sentence, unless the status is 2xx */
};
struct send_request {
	const struct slice *headers; /* "Name: value" each */
	size_t header_count;
	struct slice body;
	size_t most; /* bytes of the reply to read */
};
void send_http_post(struct send_http *h, struct arena *a, const struct send_request *q, struct send_reply *reply);

#endif
