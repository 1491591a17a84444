/* What the operations on tables share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"

const struct table *op_control_table(struct op_state *s, struct slice name, struct error *e)
{
	const struct table *t = catalog_table(s->catalog, name);
	struct slice shown = table_name_of_arn(name);

	if (!t)
		(void)!error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found: Table: %.*s not found",
				 SLICE_ARG(shown));
	return t;
}

bool op_control_submit(struct op_state *s, struct control *c, bool (*written)(struct op_state *s, struct error *e))
{
	s->write.mode = REQUEST_CONTROL;
	s->write.control = c;
	s->written = written;
	s->submit = true;
	return true;
}
