/* ItemCollectionMetrics of operations that touch several tables:
 * "ItemCollectionMetrics":{"table":[{…},…]}, each collection once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_COLLECTIONS_H
#define THORPE_API_OP_COLLECTIONS_H

#include "api/op/action.h"

/* Writes nothing unless ReturnItemCollectionMetrics asks for it and a table has local indexes. */
void collections_reply(struct op_state *s, const struct write_action *actions, size_t n);

#endif
