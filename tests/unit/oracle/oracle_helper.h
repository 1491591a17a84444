/* Asking the oracle in a test: findings as text, one a line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_ORACLE_HELPER_H
#define THORPE_TESTS_ORACLE_HELPER_H

#include "write_helper.h"
#include "oracle/oracle.h"

struct told {
	struct app_fixture *fixture;
	struct buf text; /* "counter-differs PK=USER#a posts 3 2\n" */
	struct buf sentences;
	bool notes;
	unsigned settled, page;
	void (*meanwhile)(struct app_fixture *f, unsigned n); /* between passes */
};

static inline void put_told(struct buf *b, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_NONE: buf_lit(b, " -"); break;
	case VALUE_S: buf_printf(b, " %.*s", SLICE_ARG(value_bytes(v))); break;
	case VALUE_N:
		n = value_number(v);
		buf_byte(b, ' ');
		buf_add(b, text, number_format(&n, text));
		break;
	case VALUE_BOOL: buf_str(b, value_bool(v) ? " true" : " false"); break;
	default: buf_lit(b, " *"); break;
	}
}

static inline void take_told(void *ctx, const struct oracle_finding *f)
{
	struct told *t = ctx;

	if (f->weight == ORACLE_NOTE && !t->notes)
		return;
	if (f->weight == ORACLE_PENDING)
		buf_lit(&t->text, "pending ");
	buf_str(&t->text, oracle_kind_name(f->kind));
	put_told(&t->text, value_get(f->key, SLICE("PK")));
	if (f->attribute.n)
		buf_printf(&t->text, " %.*s", SLICE_ARG(f->attribute));
	put_told(&t->text, f->found);
	put_told(&t->text, f->expected);
	buf_byte(&t->text, '\n');
	buf_put(&t->sentences, f->sentence);
	buf_byte(&t->sentences, '\n');
}

static inline void settle_told(void *ctx)
{
	struct told *t = ctx;

	if (t->meanwhile)
		t->meanwhile(t->fixture, ++t->settled);
}

static inline struct oracle_summary ask_with(struct app_fixture *f, struct told *t, struct oracle_options o)
{
	struct oracle_summary s;
	char why[256] = "";

	t->fixture = f;
	buf_init(&t->text, &f->arena);
	buf_init(&t->sentences, &f->arena);
	o.now_ms = APP_FIXTURE_NOW;
	o.tell = take_told;
	o.settle = settle_told;
	o.ctx = t;
	if (!oracle_check(f->backend, f->design, &o, &s, why, sizeof(why)))
		fail_msg("%s", why);
	buf_byte(&t->text, 0);
	buf_byte(&t->sentences, 0);
	return s;
}

/* All it says, but for notes. */
static inline void assert_told(struct app_fixture *f, const char *expected)
{
	struct told t = { 0 };

	ask_with(f, &t, (struct oracle_options){ 0 });
	assert_string_equal(t.text.p, expected);
}

/* ---- direct writes, bypassing the runtime ---- */

static inline void raw(struct app_fixture *f, const char *operation, const char *fmt, ...)
{
	struct backend_reply reply;
	va_list ap;

	va_start(ap, fmt);
	backend_call(f->backend, &f->arena, operation, arena_vprintf(&f->arena, fmt, ap), &reply);
	va_end(ap);
	if (reply.status != 200)
		fail_msg("%s: %.*s", operation, SLICE_ARG(reply.message));
}

#define RAW_KEY "{\"PK\":{\"S\":\"%s\"},\"SK\":{\"S\":\"%s\"}}"

static inline void raw_delete(struct app_fixture *f, const char *pk, const char *sk)
{
	raw(f, "DeleteItem", "{\"TableName\":\"Test\",\"Key\":" RAW_KEY "}", pk, sk);
}

static inline void raw_put(struct app_fixture *f, const char *item)
{
	raw(f, "PutItem", "{\"TableName\":\"Test\",\"Item\":%s}", item);
}

/* value: {"N":"3"}; NULL: removes it */
static inline void raw_set(struct app_fixture *f, const char *pk, const char *sk, const char *name, const char *value)
{
	if (value)
		raw(f, "UpdateItem",
		    "{\"TableName\":\"Test\",\"Key\":" RAW_KEY ",\"UpdateExpression\":\"SET #n = :v\","
		    "\"ExpressionAttributeNames\":{\"#n\":\"%s\"},\"ExpressionAttributeValues\":{\":v\":%s}}",
		    pk, sk, name, value);
	else
		raw(f, "UpdateItem",
		    "{\"TableName\":\"Test\",\"Key\":" RAW_KEY ",\"UpdateExpression\":\"REMOVE #n\","
		    "\"ExpressionAttributeNames\":{\"#n\":\"%s\"}}",
		    pk, sk, name);
}

#endif
