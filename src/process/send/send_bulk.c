/* Changes as one request to OpenSearch's _bulk, and its result for each.
 * SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <openssl/evp.h>
#include "app/entity/output.h"
#include "process/send/send_internal.h"

#define REPLY_MOST  (8 * 1024 * 1024)
#define ID_MOST     512 /* bytes of an _id */
#define REASON_MOST 400

/* ---- where to ---- */

static bool is_root(const char *path)
{
	return !*path || !strcmp(path, "/");
}

static bool set_path(struct arena *a, CURLU *u, bool *names_index)
{
	char *path = NULL;
	struct slice whole;
	bool ok;

	if (curl_url_get(u, CURLUPART_PATH, &path, 0) != CURLUE_OK)
		return false;
	whole = slice_str(path);
	while (whole.n && whole.p[whole.n - 1] == '/')
		whole.n--;
	*names_index = is_root(path);
	whole = arena_printf(a, "%.*s/_bulk", SLICE_ARG(whole));
	curl_free(path);
	ok = curl_url_set(u, CURLUPART_PATH, arena_cstr(a, whole), 0) == CURLUE_OK;
	/* Asks for the result only: the full reply would repeat the request. */
	return ok && curl_url_set(u, CURLUPART_QUERY,
				  "filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason",
				  CURLU_APPENDQUERY) == CURLUE_OK;
}

static void free_url(void *u)
{
	curl_url_cleanup(u);
}

const char *bulk_address(struct arena *a, struct slice url, bool *names_index)
{
	const char *text = arena_cstr(a, url);
	CURLU *u = curl_url();
	char *made = NULL;

	if (!u)
		arena_out_of_memory(a);
	arena_defer(a, free_url, u);
	if (curl_url_set(u, CURLUPART_URL, text, 0) != CURLUE_OK || !set_path(a, u, names_index) ||
	    curl_url_get(u, CURLUPART_URL, &made, 0) != CURLUE_OK)
		return NULL;
	arena_defer(a, curl_free, made);
	return made;
}

/* ---- the request ---- */

static void put_escaped(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '|' || s.p[i] == '%')
			buf_printf(b, "%%%02X", s.p[i]);
		else
			buf_byte(b, (uint8_t)s.p[i]);
}

static struct slice key_text(struct run *r, struct value v)
{
	struct buf b;

	if (value_type(v) == VALUE_S)
		return value_bytes(v);
	buf_init(&b, r->arena);
	output_value(&b, v);
	return buf_slice(&b);
}

static void put_key_part(struct run *r, struct buf *b, struct value key, struct slice name)
{
	if (b->n)
		buf_byte(b, '|');
	put_escaped(b, key_text(r, value_get(key, name)));
}

static void put_key(struct run *r, struct buf *b, struct value key)
{
	const struct key_schema *k = &r->design->key;

	for (size_t i = 0; i < k->hash_count; i++)
		put_key_part(r, b, key, k->hash[i].name);
	for (size_t i = 0; i < k->range_count; i++)
		put_key_part(r, b, key, k->range[i].name);
}

static bool has_identity(const struct row *item)
{
	const struct entity *e = item->entity;

	for (size_t i = 0; i < e->param_count; i++)
		if (!value_present(row_get(item, e->param_at[i])))
			return false;
	return e->path.n && e->param_count;
}

/* The item's path, /posts/p1, which stays when the item moves to another key. Without a path: USER#alice|POST#1. If
 * that is too long: its hash. */
static struct slice id_of(struct run *r, const struct change *c)
{
	struct row item = entity_lay(r, c->entity, value_present(c->new_image) ? c->new_image : c->old_image);
	uint8_t hash[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf b;

	buf_init(&b, r->arena);
	if (has_identity(&item))
		buf_put(&b, entity_path(r, &item));
	else
		put_key(r, &b, c->key);
	if (b.n <= ID_MOST)
		return buf_slice(&b);
	if (EVP_Digest(b.p, b.n, hash, &n, EVP_sha256(), NULL) != 1)
		arena_out_of_memory(r->arena);
	b.n = 0;
	buf_hex(&b, slice_make(hash, n));
	return buf_slice(&b);
}

/* OpenSearch's versions have 63 bits, enough for our sequence numbers until 2039. Those of another database may be
 * longer: then the time is used, and equal times count as newer. */
static void put_version(struct buf *b, const struct change *c)
{
	const char *p = c->sequence.p, *end = p + c->sequence.n;
	uint64_t version = 0;

	while (p < end && *p >= '0' && *p <= '9' && version <= ((uint64_t)INT64_MAX - 9) / 10)
		version = version * 10 + (uint64_t)(*p++ - '0');
	if (p == end && c->sequence.n)
		buf_printf(b, "\"version\":%llu,\"version_type\":\"external\"", (unsigned long long)version);
	else
		buf_printf(b, "\"version\":%lld,\"version_type\":\"external_gte\"",
			   (long long)(c->created_ms > 0 ? c->created_ms : 0));
}

/* Names of indexes are in lower case. */
static void put_index(struct buf *b, struct run *r, const struct change *c)
{
	struct slice parts[] = { r->design->name, SLICE("-"), c->entity->name };

	buf_lit(b, "\"_index\":\"");
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < parts[i].n; k++) {
			char byte = parts[i].p[k];

			buf_byte(b, (uint8_t)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte));
		}
	buf_lit(b, "\",");
}

static void put_action(struct sender *s, struct run *r, const struct change *c, struct buf *b)
{
	bool gone = c->events == ON_DELETED;

	buf_str(b, gone ? "{\"delete\":{" : "{\"index\":{");
	if (s->names_index)
		put_index(b, r, c);
	buf_lit(b, "\"_id\":");
	json_string(b, id_of(r, c));
	buf_byte(b, ',');
	put_version(b, c);
	buf_lit(b, "}}\n");
	if (gone)
		return;
	send_put_item(r, c->entity, c->new_image, b);
	buf_byte(b, '\n');
}

/* Returns how many changes fit: at least one, whatever its size. */
static size_t put_actions(struct sender *s, struct run *r, const struct change *const *list, size_t n, struct buf *b)
{
	size_t count = 0;

	while (count < n && count < SEND_BULK_MOST) {
		size_t before = b->n;

		put_action(s, r, list[count], b);
		if (count && b->n > SEND_BULK_BYTES) {
			b->n = before;
			break;
		}
		count++;
	}
	return count;
}

/* ---- the reply ---- */

static struct slice text_of(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_STRING) ? slice_cut(j->string, REASON_MOST) : SLICE("");
}

/* One of "items": {"index": {"status": 201}}, {"delete": {"status": 404}}. */
static bool read_item(struct run *r, const struct json *item, enum send_end *end, struct slice *why)
{
	const struct json *body = json_is(item, JSON_OBJECT) && item->count == 1 ? &item->members[0].value : NULL;
	const struct json *status = json_get(body, "status"), *error = json_get(body, "error");
	struct slice type = text_of(error, "type"), reason = text_of(error, "reason");
	bool gone;

	if (!json_is(status, JSON_INT))
		return false;
	gone = status->integer == 404 && slice_is(item->members[0].name, "delete");
	if ((status->integer >= 200 && status->integer <= 299) || status->integer == 409 || gone)
		*end = SEND_TAKEN;
	else
		*end = status->integer == 429 || status->integer >= 500 ? SEND_AGAIN : SEND_REFUSED;
	if (*end != SEND_TAKEN)
		*why = arena_printf(r->arena, "OpenSearch answered %lld%s%.*s%s%.*s", (long long)status->integer,
				    type.n ? ": " : "", SLICE_ARG(type), reason.n ? ": " : "", SLICE_ARG(reason));
	return true;
}

/* False: the reply cannot be understood. */
static bool read_items(struct run *r, struct slice text, size_t n, enum send_end *ends, struct slice *why)
{
	const struct json *reply = json_parse(r->arena, text);
	const struct json *errors = json_get(reply, "errors"), *items = json_get(reply, "items");

	if (!json_is(errors, JSON_BOOL) || !json_is(items, JSON_ARRAY) || items->count != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!read_item(r, &items->items[i], &ends[i], &why[i]))
			return false;
	return true;
}

static void end_all(size_t n, enum send_end *ends, struct slice *why, enum send_end end, struct slice reason)
{
	for (size_t i = 0; i < n; i++) {
		ends[i] = end;
		why[i] = reason;
	}
}

size_t bulk_send(struct sender *s, struct run *r, const struct change *const *list, size_t n, enum send_end *ends,
		 struct slice *why)
{
	static const struct slice type = { "Content-Type: application/x-ndjson", 34 };
	struct send_request q = { .headers = &type, .header_count = 1, .most = REPLY_MOST };
	struct send_reply reply;
	struct buf b;

	buf_init(&b, r->arena);
	n = put_actions(s, r, list, n, &b);
	q.body = buf_slice(&b);
	send_http_post(s->http, r->arena, &q, &reply);
	s->retry_after = reply.retry_after;
	if (reply.status == 413 && n > 1) /* too large: sends a part of it */
		return bulk_send(s, r, list, n / 2, ends, why);
	end_all(n, ends, why, SEND_TAKEN, SLICE(""));
	if (reply.status < 200 || reply.status > 299)
		end_all(n, ends, why, reply.status == 413 ? SEND_REFUSED : SEND_AGAIN, reply.why);
	else if (!read_items(r, reply.body, n, ends, why))
		end_all(n, ends, why, SEND_AGAIN, SLICE("the receiver's answer is not one of _bulk"));
	return n;
}
