/* x-amzn-RequestId: 52 characters of A-V and 0-9, as DynamoDB's look. Unique, not secret.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_REQUEST_ID_H
#define THORPE_HTTP_CONNECTION_REQUEST_ID_H

#include <stdint.h>

#define REQUEST_ID_LENGTH 52

/* Belongs to one thread. */
struct request_ids {
	uint64_t state[4];
};

void request_ids_init(struct request_ids *ids);
/* Writes REQUEST_ID_LENGTH characters, no NUL. */
void request_id_next(struct request_ids *ids, char *out);

#endif
