/* One writing action, as the members of a request.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DYN_ACTION_H
#define THORPE_APP_DYN_ACTION_H

#include "app/dyn_request.h"

/* What it is sent as: an UPDATE that changes nothing is a CHECK, as a transaction takes no empty update. */
enum dyn_write_kind dyn_action_kind(const struct dyn_write *w);
/* The expressions, at the end of the document, and without what would be around them; nothing where there is none. */
void dyn_put_update(struct dyn_request *q, const struct dyn_write *w);
void dyn_put_condition(struct dyn_request *q, const struct dyn_write *w);
/* Its members, without braces: the same alone and in a transaction. */
void dyn_put_action(struct dyn_request *q, const struct dyn_write *w);

#endif
