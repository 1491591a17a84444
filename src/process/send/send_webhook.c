/* A change as a signed POST.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "app/entity/output.h"
#include "base/clock.h"
#include "base/timestamp.h"
#include "fetch/limits.h"
#include "process/send/send_internal.h"

#define ID_BYTES 8 /* of the processor's name's hash */

/* Includes the processor's name: two processors may send one change to one receiver, which is no repetition. */
void webhook_init(struct sender *s)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	struct buf b;

	buf_init(&b, &s->arena);
	if (EVP_Digest(s->p->name.p, s->p->name.n, hash, NULL, EVP_sha256(), NULL) != 1)
		arena_out_of_memory(&s->arena);
	buf_hex(&b, slice_make(hash, ID_BYTES));
	s->processor_id = buf_slice(&b);
}

static struct slice id_of(struct sender *s, struct arena *a, const struct change *c)
{
	return arena_printf(a, "%.*s.%.*s", SLICE_ARG(c->sequence), SLICE_ARG(s->processor_id));
}

static void webhook_body(struct sender *s, struct run *r, const struct change *c, struct buf *b)
{
	char time[TIME_TEXT_MAX];

	json_open(b, '{');
	json_member_string(b, "id", id_of(s, r->arena, c));
	json_member_string(b, "design", r->design->name);
	json_member_string(b, "processor", s->p->name);
	json_member_word(b, "event", event_word(c->events));
	if (c->by_ttl)
		json_member_bool(b, "expired", true);
	json_member_string(b, "entity", c->entity->name);
	json_member_string(b, "time", time_format(c->created_ms, time));
	json_name(b, "key");
	output_value(b, c->key);
	json_name(b, "old");
	send_put_item(r, c->entity, c->old_image, b);
	json_name(b, "new");
	send_put_item(r, c->entity, c->new_image, b);
	json_close(b, '}');
}

struct slice webhook_signature(struct arena *a, struct slice secret, int64_t timestamp, struct slice body)
{
	uint8_t made[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf b;

	buf_init(&b, a);
	buf_i64(&b, timestamp);
	buf_byte(&b, '.');
	buf_put(&b, body);
	if (!HMAC(EVP_sha256(), secret.p, (int)secret.n, (const uint8_t *)b.p, b.n, made, &n))
		arena_out_of_memory(a);
	b.n = 0;
	buf_lit(&b, "v1=");
	buf_hex(&b, slice_make(made, n));
	return buf_slice(&b);
}

void webhook_send(struct sender *s, struct run *r, const struct change *c, enum send_end *end, struct slice *why)
{
	int64_t timestamp = clock_now_ms(&clock_system) / 1000; /* the receiver compares it with its own */
	struct slice headers[4];
	struct send_request q = { .headers = headers, .header_count = 4, .most = FETCH_HOOK_BYTES };
	struct send_reply reply;
	struct buf b;

	*why = SLICE("");
	buf_init(&b, r->arena);
	webhook_body(s, r, c, &b);
	headers[0] = SLICE("Content-Type: application/json");
	headers[1] = arena_printf(r->arena, "Thorpe-Id: %.*s", SLICE_ARG(id_of(s, r->arena, c)));
	headers[2] = arena_printf(r->arena, "Thorpe-Timestamp: %lld", (long long)timestamp);
	headers[3] = arena_printf(r->arena, "Thorpe-Signature: %.*s",
				  SLICE_ARG(webhook_signature(r->arena, s->secret, timestamp, buf_slice(&b))));
	q.body = buf_slice(&b);
	send_http_post(s->http, r->arena, &q, &reply);
	*end = reply.status >= 200 && reply.status <= 299 ? SEND_TAKEN
	       : reply.status == 410                      ? SEND_REFUSED
							  : SEND_AGAIN;
	if (*end != SEND_TAKEN)
		*why = reply.why;
	s->retry_after = reply.retry_after;
}
