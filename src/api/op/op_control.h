/* What the operations on tables share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_OP_CONTROL_H
#define THORPE_API_OP_OP_CONTROL_H

#include "api/op.h"

/* The table a control operation names (name or ARN), or DynamoDB's text for these: "Requested
 * resource not found: Table: x not found". */
const struct table *op_control_table(struct op_state *s, struct slice name, struct error *e);

/* Hands `c` to the writer; `written` makes the reply and finds `c` in s->write.control. */
bool op_control_submit(struct op_state *s, struct control *c, bool (*written)(struct op_state *s, struct error *e));

#endif
