/* Reading a request's members.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op.h"

bool op_has(const struct json *obj, const char *name)
{
	return json_get_present(obj, name) != NULL;
}

bool op_bool(const struct json *obj, const char *name, bool otherwise)
{
	const struct json *j = json_get_present(obj, name);

	/* The shape has let through only "true", "1", "yes" and their opposites, as DynamoDB does. */
	if (json_is(j, JSON_STRING))
		return j->string.n && strchr("tT1yY", j->string.p[0]) != NULL;
	return json_is(j, JSON_BOOL) ? j->boolean : otherwise;
}

int64_t op_int(const struct json *obj, const char *name, int64_t otherwise)
{
	const struct json *j = json_get_present(obj, name);

	if (json_is(j, JSON_INT))
		return j->integer;
	if (!json_is(j, JSON_DOUBLE))
		return otherwise;
	/* As Java narrows: out-of-range values saturate. */
	if (j->number >= 9.2e18)
		return INT64_MAX;
	if (j->number <= -9.2e18)
		return INT64_MIN;
	return (int64_t)j->number;
}

const struct table *op_table(struct op_state *s, struct slice name, struct error *e)
{
	const struct table *t = catalog_table(s->catalog, name);

	if (!t && table_name_of_arn(name).n < 3)
		(void)!error_set(e, s->arena, ERR_VALIDATION,
				 "Invalid table/index name.  Table/index names must be between 3 and 255 "
				 "characters long, and may contain only the characters a-z, A-Z, 0-9, '_', "
				 "'-', and '.'");
	else if (!t)
		(void)!error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found");
	return t;
}
