/* What `thorpe call` was asked for, and how its answer is printed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_CALL_H
#define THORPE_CLI_CALL_H

#include "base/buf.h"

/* The reply of POST /call: the result, and with --explain each request to the database and what all of them cost. */
void call_print(struct buf *b, struct slice reply);
/* The reply of GET /api/<design>: its access patterns with their parameters. */
void call_print_patterns(struct buf *b, struct slice index, struct slice design);

#endif
