/* Members of objects, by type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"

const struct json *json_get_present(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return j && j->type != JSON_NULL ? j : NULL;
}

struct slice json_get_text(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_STRING) ? j->string : SLICE("");
}

int64_t json_get_int(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_INT) ? j->integer : 0;
}

double json_get_number(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	if (json_is(j, JSON_INT))
		return (double)j->integer;
	return json_is(j, JSON_DOUBLE) ? j->number : 0;
}
