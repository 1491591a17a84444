/* Opening and closing the ends of a copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/copy/copy_side.h"
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

#define TEXT_MOST ((CALLER_SECRET_BYTES + 2) / 3 * 4)

bool copy_side_is_directory(const char *where)
{
	return strcmp(where, "aws") != 0 && strncmp(where, "aws:", 4) != 0 && strncmp(where, "http://", 7) != 0 &&
	       strncmp(where, "https://", 8) != 0;
}

static struct slice explain(void *ctx, struct arena *a, const struct backend_reply *r)
{
	return remote_explain(((struct copy_end_point *)ctx)->remote.remote, a, r);
}

/* So that what is not there is not made by looking at it. */
static bool has_database(const char *dir)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/CURRENT", dir) < (int)sizeof(path) && access(path, F_OK) == 0;
}

static bool open_directory(struct copy_end_point *p, enum copy_side_use use, char *why, size_t n)
{
	struct db_options options = { .dir = p->where, .no_background = use != COPY_SIDE_TARGET };
	struct api_options api_options = { 0 };
	size_t length;

	if (use == COPY_SIDE_LOOK && !has_database(p->where))
		options.dir = NULL;
	if (use == COPY_SIDE_SOURCE && !has_database(p->where)) {
		snprintf(why, n, "there is no database in %s", p->where);
		return false;
	}
	switch (db_open(&options, &p->db, why, n)) {
	case STORE_OPENED: break;
	case STORE_HELD:
		length = strlen(why);
		snprintf(why + length, n - length,
			 " If a server has it, say the server's address instead: --%s http://127.0.0.1:8000",
			 use == COPY_SIDE_SOURCE ? "from" : "to");
		return false;
	case STORE_NEWER:
	case STORE_DAMAGED:
	case STORE_FAILED: return false;
	}
	api_options.db = p->db;
	p->api = api_new(&api_options);
	if (!p->api) {
		snprintf(why, n, "not enough memory");
		return false;
	}
	database_local_init(&p->local, p->api);
	p->side.database = &p->local.base;
	p->side.is_directory = true;
	return true;
}

bool copy_side_open(struct copy_end_point *p, const char *where, enum copy_side_use use, char *why, size_t n)
{
	*p = (struct copy_end_point){ .where = where, .is_directory = copy_side_is_directory(where) };
	p->side.name = where;
	if (p->is_directory)
		return open_directory(p, use, why, n);
	if (!database_remote_open(&p->remote, where, why, n))
		return false;
	p->side.database = &p->remote.base;
	p->side.is_far = p->remote.is_far;
	p->side.is_amazon = remote_is_amazon(p->remote.remote);
	p->side.explain = explain;
	p->side.ctx = p;
	return true;
}

void copy_side_close(struct copy_end_point *p)
{
	if (!p->where)
		return;
	if (!p->is_directory) {
		database_remote_close(&p->remote);
		return;
	}
	if (p->api)
		api_free(p->api);
	db_close(p->db);
}

bool copy_side_secret(struct copy_end_point *p, struct slice table, uint8_t out[CALLER_SECRET_BYTES])
{
	struct backend *b = database_open(p->side.database);
	uint8_t bytes[TEXT_MOST / 4 * 3 + 1];
	const struct json *text;
	struct backend_reply r;
	struct arena a;
	bool found = false;

	if (!b)
		return false;
	arena_init(&a);
	backend_call(b, &a, "GetItem",
		     arena_printf(&a,
				  "{\"TableName\":\"%.*s.thorpe\",\"Key\":{\"PK\":{\"S\":\"SECRET\"},\"SK\":{\"S\":\"token\"}},"
				  "\"ConsistentRead\":true}",
				  SLICE_ARG(table)),
		     &r);
	text = r.status == 200 ? json_get(json_get(json_get(r.body, "Item"), "secret"), "B") : NULL;
	if (json_is(text, JSON_STRING) && text->string.n == TEXT_MOST)
		found = EVP_DecodeBlock(bytes, (const uint8_t *)text->string.p, TEXT_MOST) >= CALLER_SECRET_BYTES;
	if (found)
		memcpy(out, bytes, CALLER_SECRET_BYTES);
	arena_release(&a);
	backend_free(b);
	return found;
}
