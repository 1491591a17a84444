/* What the operations of the Streams API share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_STREAMS_H
#define THORPE_API_OP_STREAMS_H

#include "api/op.h"

/* The stream with this ARN and its table; NULL with VALIDATION (no stream ARN) or NOT_FOUND. */
const struct stream *op_stream(struct op_state *s, struct slice arn, const struct table **t,
			       struct error *e);

#endif
