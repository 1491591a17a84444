/* Deletes what has expired: items, idempotency tokens, stream records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/background.h"

#include "base/crashpoint.h"
#include "base/log.h"
#include "table/layout.h"
#include "table/internal.h"
#include "table/timekeeper.h"
#include "value/key.h"

#define TTL_CHUNK 200 /* items of one table deleted by one request */
/* DynamoDB ignores older expiry times: they are more likely mistakes. */
#define TTL_OLDEST_S (5LL * 365 * 24 * 3600)

static bool iter_ok(struct store_iter *it, struct arena *a, const char *what)
{
	struct error e;

	if (store_iter_ok(it, a, &e))
		return true;
	log_warn("%s put off: %.*s", what, SLICE_ARG(e.message));
	return false;
}

/* Whether any key is in [from, to). */
static bool has_any(struct db *db, enum store_family f, struct slice from, struct slice to, struct arena *a)
{
	struct store_iter *it =
		store_iter(&(struct store_at){ db_store(db), NULL, f }, &(struct store_walk){ from, to }, a);
	bool any = store_iter_next(it);

	store_iter_close(it);
	return any;
}

/* ---- TTL ---- */

static struct value key_item_of(const struct table *t, struct item_key k, struct arena *a)
{
	struct value_member m[2] = {
		{ t->key.hash[0].name, key_to_value(a, t->key.hash[0].type, k.pk) },
	};

	if (t->key.range_count)
		m[1] = (struct value_member){ t->key.range[0].name, key_to_value(a, t->key.range[0].type, k.sk) };
	return value_make_map(a, m, t->key.range_count ? 2 : 1);
}

/* Prepares up to TTL_CHUNK deletions of items that expired by `deadline`; returns their number. */
static size_t expired_items(struct db *db, const struct table *t, int64_t deadline, struct write_action *actions,
			    struct arena *a)
{
	int64_t oldest = deadline > TTL_OLDEST_S ? deadline - TTL_OLDEST_S : 0;
	struct store_iter *it = store_iter(&(struct store_at){ db_store(db), NULL, STORE_TTL },
					   &(struct store_walk){ layout_ttl_from(a, t->id, oldest),
								 layout_ttl_from(a, t->id, deadline + 1) },
					   a);
	size_t n = 0;

	while (n < TTL_CHUNK && store_iter_next(it)) {
		struct item_key key;
		uint32_t table;
		int64_t expiry;

		if (!layout_read_ttl_key(arena_copy(a, store_iter_key(it)), &table, &expiry, &key))
			continue;
		actions[n++] = (struct write_action){
			.kind = WRITE_DELETE,
			.table = t,
			.key = key,
			.key_item = key_item_of(t, key, a),
			.by_ttl = true,
			.ttl_deadline = deadline,
		};
	}
	if (!iter_ok(it, a, "TTL sweep"))
		n = 0;
	store_iter_close(it);
	return n;
}

static bool sweep_table(struct db *db, const struct table *t, int64_t deadline, struct arena *a)
{
	struct write_action *actions = arena_array(a, struct write_action, TTL_CHUNK);
	struct write_request r = { .arena = a, .mode = REQUEST_EACH, .actions = actions };
	bool deleted = false;

	r.action_count = expired_items(db, t, deadline, actions, a);
	if (!r.action_count)
		return false;
	crash_point("ttl-found");
	db_submit_wait(db, &r);
	crash_point("ttl-swept");
	if (r.error.code != ERR_NONE)
		return false;
	for (size_t i = 0; i < r.action_count; i++)
		deleted |= value_present(actions[i].old_item);
	return deleted;
}

/* Rounded up, so that deletion is never early. */
static int64_t delay_s(struct db *db, const struct table *t)
{
	const struct db_options *o = db_opts(db);

	return o->ttl_delay_ms ? (o->ttl_delay_ms(o->ttl_delay_ctx, t->name) + 999) / 1000 : 0;
}

bool sweep_ttl(struct db *db, struct arena *a)
{
	const struct catalog *c = db_catalog(db, a);
	int64_t deadline = timekeeper_ttl_ms(db) / 1000;
	bool worked = false;

	for (size_t i = 0; i < catalog_count(c) && deadline >= 0; i++) {
		const struct table *t = catalog_at(c, i);

		if (t->ttl == TTL_ENABLED)
			worked |= sweep_table(db, t, deadline - delay_s(db, t), a);
	}
	return worked;
}

/* ---- tokens ---- */

bool sweep_tokens(struct db *db, struct arena *a)
{
	struct control control = { .kind = CONTROL_SWEEP_TOKENS };
	int64_t now = db_time_ms(db);

	/* Looks first, so as not to wake the writer every second. */
	if (!has_any(db, STORE_TOKENS, layout_token_expiry_from(a, 0), layout_token_expiry_from(a, now), a))
		return false;
	return background_control(db, &control, a) && control.worked;
}

/* ---- streams ---- */

static bool trim_stream(struct db *db, const struct stream *s, struct arena *a)
{
	uint64_t horizon = db_stream_horizon(db, s);
	struct control control = {
		.kind = CONTROL_TRIM_STREAM,
		.stream_id = s->id,
		.stream_shards = s->shards,
		.before_sequence = horizon,
	};
	bool any = false;

	for (uint32_t shard = 0; shard < s->shards && !any; shard++)
		any = has_any(db, STORE_STREAM, layout_stream_key(a, s->id, shard, 0),
			      layout_stream_key(a, s->id, shard, horizon), a);
	if (!any)
		return false;
	crash_point("trim-found");
	any = background_control(db, &control, a);
	crash_point("trimmed");
	/* Deletes whole files without newer records at once: otherwise a busy stream would keep another day's worth. */
	for (uint32_t shard = 0; any && shard < s->shards; shard++)
		store_drop_files(db_store(db), STORE_STREAM, layout_stream_key(a, s->id, shard, 0),
				 layout_stream_key(a, s->id, shard, horizon));
	return any;
}

static bool drop_closed_stream(struct db *db, const struct table *t, const struct stream *s, struct arena *a)
{
	struct control control = {
		.kind = CONTROL_DROP_STREAM,
		.table_id = t->id,
		.stream_id = s->id,
	};

	return background_control(db, &control, a);
}

static bool sweep_table_streams(struct db *db, const struct table *t, struct arena *a)
{
	uint64_t horizon = atomic_load(&db->stream_horizon);
	bool worked = t->stream && trim_stream(db, t->stream, a);

	for (size_t i = 0; i < t->closed_stream_count; i++) {
		const struct stream *s = &t->closed_streams[i];

		if (s->closed_sequence < horizon)
			worked |= drop_closed_stream(db, t, s, a);
		else
			worked |= trim_stream(db, s, a);
	}
	return worked;
}

bool sweep_streams(struct db *db, struct arena *a)
{
	const struct catalog *c = db_catalog(db, a);
	bool worked = false;

	/* Saved before anything is trimmed, so that a reader gets the right error after a restart too. */
	if (!timekeeper_save_horizon(db, a))
		return false;
	for (size_t i = 0; i < catalog_count(c); i++)
		worked |= sweep_table_streams(db, catalog_at(c, i), a);
	return worked;
}
