/* Turning one put, update, delete or check of a request into a write_action.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_ACTION_H
#define THORPE_API_ACTION_H

#include "api/params.h"

/* The parts of an action that depend on the request alone: values decoded, expressions compiled. `obj` is
 * the request or the transaction's Put, Update, Delete or ConditionCheck. action->table stays NULL. */
bool action_parse(struct op_state *s, enum write_kind kind, const struct json *obj, struct write_action *act,
		  struct error *e) MUST_CHECK;
/* The parts that depend on the table: its key, key attributes not updated, index keys, item size. */
bool action_resolve(struct op_state *s, const struct table *t, struct write_action *act, struct error *e)
	MUST_CHECK;
/* The key attributes of the action's item, also of a PUT. */
struct value action_key_item(const struct write_action *act, struct arena *a);

#endif
