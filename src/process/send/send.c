/* A sender: what it needs for as long as it sends, and the choice between webhook and OpenSearch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/send_internal.h"
#include <openssl/hmac.h>
#include "app/app.h"
#include "app/entity/output.h"
#include "base/alloc.h"

bool send_is_needed(const struct processor *p)
{
	return p->effect == EFFECT_SEND && p->send_url.n;
}

/* ---- the secret ---- */

/* Derived from the server's secret, so that a receiver may know it without learning the server's. */
struct slice send_secret(struct arena *a, struct slice design, const uint8_t secret[CALLER_SECRET_BYTES])
{
	static const char purpose[] = "thorpe webhook";
	uint8_t made[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf b;

	buf_init(&b, a);
	buf_add(&b, purpose, sizeof(purpose)); /* its NUL divides it from the name */
	buf_put(&b, design);
	if (!HMAC(EVP_sha256(), secret, CALLER_SECRET_BYTES, (const uint8_t *)b.p, b.n, made, &n))
		arena_out_of_memory(a);
	b.n = 0;
	buf_lit(&b, SEND_SECRET_PREFIX);
	buf_hex(&b, slice_make(made, n));
	OPENSSL_cleanse(made, sizeof(made));
	return buf_slice(&b);
}

/* ---- a sender ---- */

static bool prepare(struct sender *s, const atomic_bool *stop)
{
	const char *url;

	if (s->p->send_opensearch) {
		url = bulk_address(&s->arena, s->p->send_url, &s->names_index);
	} else {
		s->secret = s->p->send_secret;
		if (!s->secret.n)
			s->secret = send_secret(&s->arena, app_design(s->app)->name, app_secret(s->app));
		webhook_init(s);
		url = arena_cstr(&s->arena, s->p->send_url);
	}
	s->http = url ? send_http_new(url, stop) : NULL;
	return s->http != NULL;
}

struct sender *sender_new(const struct processor *p, const struct app *app, const atomic_bool *stop)
{
	struct sender *s = mem_zalloc(sizeof(*s));
	volatile bool ok = false;

	if (!s)
		return NULL;
	s->p = p;
	s->app = app;
	arena_init(&s->arena);
	ARENA_TRY(&s->arena, { ok = prepare(s, stop); }, {});
	if (ok)
		return s;
	sender_free(s);
	return NULL;
}

void sender_free(struct sender *s)
{
	if (!s)
		return;
	send_http_free(s->http);
	arena_release(&s->arena);
	mem_free(s);
}

size_t sender_most(const struct sender *s)
{
	return s->p->send_opensearch ? SEND_BULK_MOST : 1;
}

int64_t sender_retry_after(const struct sender *s)
{
	return s->retry_after;
}

size_t sender_send(struct sender *s, struct run *r, const struct change *const *list, size_t n, enum send_end *ends,
		   struct slice *why)
{
	s->retry_after = 0;
	if (s->p->send_opensearch)
		return bulk_send(s, r, list, n, ends, why);
	webhook_send(s, r, list[0], ends, why);
	return 1;
}

/* ---- items ---- */

void send_put_item(struct run *r, const struct entity *e, struct value stored, struct buf *b)
{
	const struct name **without = arena_array(r->arena, const struct name *, e->attribute_count);
	struct row item;
	size_t n = 0;

	if (!value_present(stored)) {
		buf_lit(b, "null");
		return;
	}
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].private_ || e->attributes[i].hidden)
			without[n++] = e->attributes[i].at;
	item = entity_lay(r, e, stored);
	/* Fails only if a rule about private attributes fails, and no rule is evaluated here. */
	if (!output_row(r, &item, false, without, n, b))
		buf_lit(b, "null");
}

/* ---- by hand ---- */

static void free_sender(void *s)
{
	sender_free(s);
}

bool send_parked(struct run *r, const struct processor *p, const struct parked *parked)
{
	const struct change *c = &parked->change;
	enum send_end end = SEND_AGAIN;
	struct slice why = SLICE("");
	struct sender *s;

	if (parked->cut || !c->entity)
		return run_fail(r, PROBLEM_CONFLICT, "the change was too large to be kept, or its entity is gone");
	s = send_is_needed(p) ? sender_new(p, r->app, NULL) : NULL;
	if (!s)
		return run_fail(r, PROBLEM_CONFLICT, "there is no address to send it to");
	arena_defer(r->arena, free_sender, s);
	sender_send(s, r, &c, 1, &end, &why);
	return end == SEND_TAKEN || run_fail(r, PROBLEM_BUSY, "%.*s", SLICE_ARG(why));
}
