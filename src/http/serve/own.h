/* The rows of the server itself: DynamoDB's API, health checks, metrics, faults. Tried after the rows of
 * server_options. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_OWN_H
#define THORPE_HTTP_SERVE_OWN_H

#include "http/connection/route.h"

/* Valid for the life of the program. */
const struct http_route *own_rows(size_t *count);

#endif
