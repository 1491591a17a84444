/* How long the server waits for others, and how much of their answers it reads: every client that goes out through this room,
 * but calls of a remote database (remote/retry.h), whose limits are the AWS SDKs'.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FETCH_LIMITS_H
#define THORPE_FETCH_LIMITS_H

/* Keys of an issuer: a request that needs them waits meanwhile. A JWKS document has some KB. */
#define FETCH_KEYS_MS        5000L
#define FETCH_KEYS_BYTES     (1024 * 1024)
#define FETCH_KEYS_REDIRECTS 3L

/* A webhook or OpenSearch: receivers reply quickly and work later. */
#define FETCH_HOOK_MS       10000L
#define FETCH_HOOK_GRACE_MS 1000L /* for a request under way when the server stops */
#define FETCH_HOOK_BYTES    65536 /* only the status is looked at */

/* A mail server: it may ask others about the sender before it answers. */
#define FETCH_MAIL_CONNECT_MS 10000L
#define FETCH_MAIL_MS         30000L
#define FETCH_MAIL_GRACE_MS   2000L

#endif
