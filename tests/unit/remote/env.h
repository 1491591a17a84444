/* An environment of the test's own: variables that are set for it and no others.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_REMOTE_ENV_H
#define THORPE_TESTS_REMOTE_ENV_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "remote/settings.h"

#define ENV_MOST 32

struct test_env {
	struct settings_env env;
	struct {
		char name[64], value[1024];
	} list[ENV_MOST];
	size_t count;
};

static inline const char *test_env_get(void *ctx, const char *name)
{
	struct test_env *e = ctx;

	for (size_t i = 0; i < e->count; i++)
		if (!strcmp(e->list[i].name, name))
			return e->list[i].value;
	return NULL;
}

static inline void test_env_init(struct test_env *e)
{
	*e = (struct test_env){ 0 };
	e->env = (struct settings_env){ test_env_get, e };
}

static inline void test_env_set(struct test_env *e, const char *name, const char *value)
{
	size_t i = 0;

	while (i < e->count && strcmp(e->list[i].name, name) != 0)
		i++;
	if (i == e->count)
		e->count++;
	snprintf(e->list[i].name, sizeof(e->list[i].name), "%s", name);
	snprintf(e->list[i].value, sizeof(e->list[i].value), "%s", value);
}

#endif
