/* TransactionCanceledException and its reasons.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_CANCELLATION_H
#define THORPE_API_OP_CANCELLATION_H

#include "api/op.h"

/* Fills *e with the exception; always returns false. */
bool cancellation_set(struct error *e, struct arena *a, const struct reply_reason *reasons, size_t n) MUST_CHECK;

#endif
