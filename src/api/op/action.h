/* Turning puts, updates, deletes and checks into what the writer does.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_ACTION_H
#define THORPE_API_OP_ACTION_H

#include "api/op/params.h"

/* Parses an action: decodes values, compiles expressions. `obj` is the request or the transaction's Put, Update,
 * Delete or ConditionCheck. */
bool action_parse(struct op_state *s, enum write_kind kind, const struct json *obj, struct request_action *act,
		  struct error *e) MUST_CHECK;
/* The parts that depend on the table: its key, key attributes not updated, index keys, item size. */
bool action_resolve(struct op_state *s, const struct table *t, struct write_action *act, struct error *e) MUST_CHECK;
/* Fills s->write except for the token. If actions of a transaction are invalid, s->reasons says which. */
bool actions_prepare(struct op_state *s, const struct request_write *q, struct error *e) MUST_CHECK;
/* After the commit: whether it was refused, and why; with conditions or a cancellation, s->reasons has one for each
 * action. */
bool actions_failed(struct op_state *s, struct error *e) MUST_CHECK;
/* The key attributes of the action's item, also of a PUT. */
struct value action_key_item(const struct write_action *act, struct arena *a);

#endif
