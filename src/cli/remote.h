/* A database at an endpoint as a backend: DynamoDB's operations over HTTP, signed as AWS asks. For commands: one thread, one
 * connection. Throttling, conflicts of a moment and a server that does not answer are tried again a few times.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_REMOTE_H
#define THORPE_CLI_REMOTE_H

#include "app/backend.h"

/* Credentials and region are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION (or AWS_DEFAULT_REGION) of
 * the environment. Without any, made up ones, which a Thorpe on a loopback address takes. NULL: memory is out. */
struct backend *remote_new(const char *endpoint);
void remote_free(struct backend *b); /* NULL is fine */

#endif
