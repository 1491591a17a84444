/* Looking into a document by a path: json_at(doc, "entities[User].keys[0].template").
 *
 * A bracket holds a position, or a name: the member of the list whose "name" (or "attribute") that is. NULL: there is
 * nothing. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_CONSOLE_JSON_H
#define THORPE_TESTS_CONSOLE_JSON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "json/json.h"

static inline bool json_is_called(const struct json *j, struct slice name)
{
	const struct json *own = json_get(j, "name");

	if (!own)
		own = json_get(j, "attribute");
	return json_is(own, JSON_STRING) && slice_equal(own->string, name);
}

static inline const struct json *json_in(const struct json *list, struct slice what)
{
	if (!json_is(list, JSON_ARRAY))
		return NULL;
	if (what.n && what.p[0] >= '0' && what.p[0] <= '9') {
		size_t i = strtoul(what.p, NULL, 10);

		return i < list->count ? &list->items[i] : NULL;
	}
	for (uint32_t i = 0; i < list->count; i++)
		if (json_is_called(&list->items[i], what))
			return &list->items[i];
	return NULL;
}

static inline const struct json *json_at(const struct json *j, const char *path)
{
	while (j && *path) {
		size_t n = *path == '[' ? strcspn(path, "]") : strcspn(path, ".[");

		if (*path == '[') {
			j = json_in(j, slice_make(path + 1, n - 1));
			path += n + 1;
		} else {
			j = json_get_slice(j, slice_make(path, n));
			path += n;
		}
		path += *path == '.';
	}
	return j;
}

/* What stands there, as JSON. */
static inline void json_says(struct arena *a, const struct json *doc, const char *path, const char *expected)
{
	const struct json *j = json_at(doc, path);
	struct buf b;

	if (!j)
		fail_msg("there is no %s", path);
	buf_init(&b, a);
	json_write(&b, j);
	if (!slice_is(buf_slice(&b), expected))
		fail_msg("%s is %.*s instead of %s", path, SLICE_ARG(buf_slice(&b)), expected);
}

#endif
