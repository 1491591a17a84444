/* The table beside a design's (app/db/beside.h), copied at the switch, when nothing changes it any more. It has no
 * stream, and is small.
 *
 *   copied    DELETING and RENAMING (unfinished deletions and renames continue at the target), PARKED and the positions of its
 *             retries, PROCESSOR (paused; not a waiting replay, which belongs to the old stream), REPLY (answers under
 *             an Idempotency-Key), LOGIN (failed logins), SECRET (tokens, cursors), MAIL (tokens to send), and all kinds not
 *             listed here
 *   not       POSITION and ENDED (of the old stream), LEASE (of the old servers), COPY (the copy's own state), MOVED
 *             (the source refuses writes; closed.c). The target's own MOVED, of an earlier move away from it, is
 *             removed
 *
 * The target's stream begins empty (C4), and so do positions there: those of an earlier life of the table are
 * removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/moved.h"
#include "base/map.h"
#include "copy/copy_internal.h"

bool copy_beside_goes_along(struct slice pk, struct slice sk)
{
	if (slice_starts(pk, SLICE("POSITION#")))
		return slice_starts(sk, SLICE("retry#"));
	return !slice_is(pk, "LEASE") && !slice_is(pk, "ENDED") && !slice_starts(pk, SLICE("ENDED#")) &&
	       !slice_is(pk, "COPY") && !slice_is(pk, MOVED_PK);
}

static struct slice part(const struct json *item, const char *name)
{
	return json_get_text(json_get(item, name), "S");
}

/* The item without members that belong to the old stream. */
static const struct json *stripped(struct copier *c, const struct json *item)
{
	struct json_member *members;
	struct json *out;

	if (!slice_is(part(item, "PK"), "PROCESSOR") || !json_get(item, "replay_from"))
		return item;
	members = arena_array(&c->arena, struct json_member, item->count);
	out = arena_new(&c->arena, struct json);
	out->type = JSON_OBJECT;
	for (size_t i = 0; i < item->count; i++)
		if (!slice_is(item->members[i].name, "replay_from"))
			members[out->count++] = item->members[i];
	out->members = members;
	return out;
}

static bool bring_page(struct copier *c, const struct json *reply)
{
	const struct json *items = json_get(reply, "Items");
	struct batch b;

	copy_batch_init(&b, c, copy_beside(c));
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		const struct json *item = &items->items[i];

		if (copy_beside_goes_along(part(item, "PK"), part(item, "SK")) && !copy_batch_put(&b, stripped(c, item)))
			return false;
	}
	return copy_batch_flush(&b);
}

static bool is_kept(const struct json *item)
{
	return slice_is(part(item, "PK"), "COPY") || slice_is(part(item, "PK"), "SECRET");
}

static bool clear_page(struct copier *c, const struct json *reply)
{
	const struct json *items = json_get(reply, "Items");
	struct keyed k = copy_keyed_beside(c);
	struct map found;
	struct batch b;

	if (!copy_keyed_get(c, &k, COPY_FROM, items, &found))
		return false;
	copy_batch_init(&b, c, k.table);
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		const struct json *item = &items->items[i];
		struct slice key = copy_keyed_bytes(c, &k, item);

		if (!key.n)
			return false;
		if (is_kept(item) ||
		    (copy_beside_goes_along(part(item, "PK"), part(item, "SK")) && map_get(&found, key)))
			continue;
		if (!copy_batch_delete(&b, copy_keyed_key(c, &k, item)))
			return false;
	}
	return copy_batch_flush(&b);
}

/* A server with a local table keeps its secret in a file, not in the table: writes it to the target. */
static bool put_secret(struct copier *c)
{
	struct buf b = copy_body(c, copy_beside(c));
	struct backend_reply r;

	buf_lit(&b, ",\"Item\":{\"PK\":{\"S\":\"SECRET\"},\"SK\":{\"S\":\"token\"},\"secret\":{\"B\":\"");
	buf_base64(&b, slice_make(c->job->o->secret, CALLER_SECRET_BYTES));
	buf_lit(&b, "\"}}}");
	return copier_must(c, COPY_TO, "PutItem", buf_slice(&b), &r);
}

bool copy_beside_bring(struct copier *c)
{
	struct walk bring = { .at = COPY_FROM, .table = copy_beside(c), .page = bring_page };
	struct walk clear = { .at = COPY_TO, .table = copy_beside(c), .page = clear_page };
	const struct json *there;

	if (!copy_table_describe(c, COPY_FROM, copy_beside(c), &there))
		return false;
	if (there && !copy_walk_all(c, &bring))
		return false;
	return copy_walk_all(c, &clear) && (!c->job->o->has_secret || put_secret(c));
}
