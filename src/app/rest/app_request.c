/* Methods and targets of requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_request.h"

static const char *const methods[] = {
	[APP_GET] = "GET",     [APP_HEAD] = "HEAD",     [APP_POST] = "POST", [APP_PUT] = "PUT",
	[APP_PATCH] = "PATCH", [APP_DELETE] = "DELETE", [APP_OTHER] = "?",
};

const char *app_method_name(enum app_method m)
{
	return methods[m];
}

enum app_method app_method_parse(struct slice name)
{
	enum app_method m = APP_GET;

	while (m < APP_OTHER && !slice_is(name, methods[m]))
		m++;
	return m;
}

void app_request_target(struct app_request *q, struct slice target)
{
	slice_next(&target, '?', &q->path);
	q->query = target;
}
