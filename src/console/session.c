/* The server's identity, and the tokens its console uses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/console_internal.h"
#include "console/doc.h"

static void put_design(struct buf *b, const struct app *app)
{
	const struct design *d = app_design(app);
	int64_t expires = app_now_ms(app) + CONSOLE_TOKEN_SECONDS * INT64_C(1000);

	json_open(b, '{');
	doc_member(b, "name", d->name);
	doc_member(b, "title", d->title);
	doc_member(b, "table", d->table);
	doc_member(b, "base", arena_printf(b->arena, "/api/%.*s", SLICE_ARG(d->name)));
	doc_member(b, "token", app_operator_token(app, b->arena, CONSOLE_TOKEN_SECONDS));
	json_member_int(b, "expires_at", expires);
	json_close(b, '}');
}

struct slice console_session(struct console *c, struct arena *a, struct slice endpoint, bool has_keys)
{
	const struct console_options *o = &c->options;
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	doc_member_str(&b, "version", THORPE_VERSION);
	doc_member_str(&b, "auth", has_keys ? "keys" : "none");
	doc_member_str(&b, "region", o->region);
	doc_member(&b, "endpoint", endpoint);
	doc_member_str(&b, "durability", o->in_memory ? "memory" : o->relaxed ? "relaxed" : "synced");
	json_member_open(&b, "designs", '[');
	for (size_t i = 0; i < o->app_count; i++)
		put_design(&b, o->apps[i]);
	json_close(&b, ']');
	json_close(&b, '}');
	return buf_slice(&b);
}
