/* Control requests: dispatch, and creating, deleting and tagging tables, and their TTL.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <sys/random.h>

#include "table/control/control_internal.h"
#include "table/layout.h"

const struct table *control_table(struct stage *s, const struct control *c, struct error *e)
{
	const struct table *t = catalog_table(stage_catalog(s), c->table);
	struct slice name = table_name_of_arn(c->table);

	if (!t)
		error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found: Table: %.*s not found",
			  SLICE_ARG(name));
	return t;
}

struct stats *control_new_stats(struct stage *s, uint32_t id)
{
	struct stats *stats = db_stats(s->batch->db, id);

	if (!stats)
		arena_out_of_memory(s->arena);
	return stats;
}

/* ---- create ---- */
static struct slice new_uuid(struct arena *a)
{
	uint8_t r[16];
	struct slice hex;
	struct buf b;

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		arena_out_of_memory(a);
	r[6] = (r[6] & 0x0f) | 0x40;
	r[8] = (r[8] & 0x3f) | 0x80;
	buf_init(&b, a);
	buf_hex(&b, slice_make(r, sizeof(r)));
	hex = buf_slice(&b);
	return arena_printf(a, "%.8s-%.4s-%.4s-%.4s-%.12s", hex.p, hex.p + 8, hex.p + 12, hex.p + 16, hex.p + 20);
}

static void number_indexes(struct stage *s, struct table *t)
{
	struct index *x = arena_array(s->arena, struct index, t->index_count);
	size_t i;

	for (i = 0; i < t->index_count; i++) {
		x[i] = t->indexes[i];
		x[i].id = stage_new_id(s);
		x[i].status = STATUS_ACTIVE;
		x[i].backfilling = false;
		x[i].stats = control_new_stats(s, x[i].id);
	}
	t->indexes = x;
}

static bool create_table(struct stage *s, struct control *c, struct error *e)
{
	const struct stream *asked = c->spec->stream;
	struct table t = *c->spec;

	assert(t.index_count <= INDEXES_MAX && t.key.hash_count == 1);
	if (catalog_table(stage_catalog(s), t.name))
		return error_set(e, s->arena, ERR_IN_USE, "Table already exists: %.*s", SLICE_ARG(t.name));
	t.id = stage_new_id(s);
	t.uuid = new_uuid(s->arena);
	t.region = slice_str(s->batch->db->region);
	t.created_ms = s->batch->now_ms;
	t.on_demand_since_ms = t.on_demand ? t.created_ms : 0;
	t.status = STATUS_ACTIVE;
	t.stats = control_new_stats(s, t.id);
	t.stream = NULL;
	t.closed_streams = NULL;
	t.closed_stream_count = 0;
	number_indexes(s, &t);
	if (asked && asked->view != STREAM_NONE)
		control_open_stream(s, &t, asked->view);
	c->result = stage_put_table(s, &t);
	return true;
}

/* ---- delete ---- */
void control_drop_index(struct stage *s, const struct index *i)
{
	stage_drop_id(s, STORE_INDEX, i->id, atomic_load(&i->stats->bytes));
	stage_drop_counters(s, i->id, i->stats);
}

static void drop_data(struct stage *s, const struct table *t)
{
	size_t i;

	stage_drop_id(s, STORE_ITEMS, t->id, atomic_load(&t->stats->bytes));
	stage_drop_id(s, STORE_TTL, t->id, 0);
	stage_delete_prefix(s, STORE_STATS, layout_collection_from(s->arena, t->id));
	stage_drop_counters(s, t->id, t->stats);
	for (i = 0; i < t->index_count; i++)
		control_drop_index(s, &t->indexes[i]);
	if (t->stream)
		control_drop_stream_records(s, t->stream->id);
	for (i = 0; i < t->closed_stream_count; i++)
		control_drop_stream_records(s, t->closed_streams[i].id);
}

static bool delete_table(struct stage *s, struct control *c, struct error *e)
{
	const struct table *t = control_table(s, c, e);

	if (!t)
		return false;
	if (t->deletion_protection)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "Resource cannot be deleted as it is currently protected against "
				 "deletion. Disable deletion protection first.");
	catalog_hold(stage_catalog(s), t, s->arena);
	c->result = t;
	drop_data(s, t);
	stage_drop_table(s, t->id);
	return true;
}

/* ---- TTL ---- */
static bool check_ttl(struct stage *s, const struct control *c, const struct table *t, struct error *e)
{
	bool same = slice_equal(t->ttl_attribute, c->ttl_attribute);

	if (t->ttl == TTL_ENABLED && !same)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "TimeToLive is active on a different AttributeName: current "
				 "AttributeName is %.*s",
				 SLICE_ARG(t->ttl_attribute));
	if (t->ttl == TTL_ENABLED && c->ttl_enable)
		return error_set(e, s->arena, ERR_VALIDATION, "TimeToLive is already enabled");
	if (t->ttl == TTL_DISABLED && !c->ttl_enable)
		return error_set(e, s->arena, ERR_VALIDATION, "TimeToLive is already disabled");
	return true;
}

static bool update_ttl(struct stage *s, struct control *c, struct error *e)
{
	const struct table *was = control_table(s, c, e);
	struct table t;

	if (!was || !check_ttl(s, c, was, e))
		return false;
	t = *was;
	t.ttl = c->ttl_enable ? TTL_ENABLED : TTL_DISABLED;
	t.ttl_attribute = c->ttl_attribute;
	t.ttl_backfilling = c->ttl_enable;
	t.ttl_epoch = stage_next_sequence(s);
	if (c->ttl_enable)
		s->wake = true;
	else
		stage_delete_prefix(s, STORE_TTL, layout_id(s->arena, t.id));
	c->result = stage_put_table(s, &t);
	return true;
}

/* ---- tags ---- */
static struct tag *find_tag(struct tag *tags, size_t n, struct slice key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slice_equal(tags[i].key, key))
			return &tags[i];
	return NULL;
}

static bool tag(struct stage *s, struct control *c, struct error *e)
{
	const struct table *was = catalog_table(stage_catalog(s), c->table);
	struct table t;
	struct tag *tags;
	size_t i;

	if (!was)
		return error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found: ResourcArn: %.*s not found",
				 SLICE_ARG(c->table));
	t = *was;
	tags = arena_array(s->arena, struct tag, t.tag_count + c->tag_count);
	if (t.tag_count)
		memcpy(tags, t.tags, t.tag_count * sizeof(*tags));
	for (i = 0; i < c->tag_count; i++) {
		struct tag *known = find_tag(tags, t.tag_count, c->tags[i].key);

		*(known ? known : &tags[t.tag_count++]) = c->tags[i];
	}
	if (t.tag_count > TABLE_TAGS_MAX)
		return error_set(e, s->arena, ERR_VALIDATION, INVALID "Too many tags: a resource can have at most %d",
				 TABLE_TAGS_MAX);
	t.tags = tags;
	c->result = stage_put_table(s, &t);
	return true;
}

static bool is_named(const struct control *c, struct slice key)
{
	size_t i;

	for (i = 0; i < c->tag_key_count; i++)
		if (slice_equal(c->tag_keys[i], key))
			return true;
	return false;
}

static bool untag(struct stage *s, struct control *c, struct error *e)
{
	const struct table *was = catalog_table(stage_catalog(s), c->table);
	struct table t;
	struct tag *tags;
	size_t i;

	if (!was)
		return error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found");
	t = *was;
	tags = arena_array(s->arena, struct tag, t.tag_count);
	for (i = 0, t.tag_count = 0; i < was->tag_count; i++)
		if (!is_named(c, was->tags[i].key))
			tags[t.tag_count++] = was->tags[i];
	t.tags = tags;
	c->result = stage_put_table(s, &t);
	return true;
}

bool control_run(struct stage *s, struct control *c, struct error *e)
{
	c->result = NULL;
	c->worked = 0;
	switch (c->kind) {
	case CONTROL_CREATE_TABLE: return create_table(s, c, e);
	case CONTROL_DELETE_TABLE: return delete_table(s, c, e);
	case CONTROL_UPDATE_TABLE: return control_update_table(s, c, e);
	case CONTROL_UPDATE_TTL: return update_ttl(s, c, e);
	case CONTROL_TAG: return tag(s, c, e);
	case CONTROL_UNTAG: return untag(s, c, e);
	case CONTROL_BACKFILL_CHUNK: return control_backfill_chunk(s, c, e);
	case CONTROL_BACKFILL_DONE: return control_backfill_done(s, c);
	case CONTROL_TTL_CHUNK: return control_ttl_chunk(s, c, e);
	case CONTROL_TTL_DONE: return control_ttl_done(s, c);
	case CONTROL_TRIM_STREAM: return control_trim_stream(s, c);
	case CONTROL_DROP_STREAM: return control_drop_stream(s, c);
	case CONTROL_SPLIT_STREAM: return control_split_stream(s, c);
	case CONTROL_SAVE_TIME: stage_put(s, STORE_META, SLICE("timeline"), c->timeline); return true;
	case CONTROL_RECLAIMED: return control_reclaimed(s, c);
	case CONTROL_SWEEP_TOKENS: break;
	}
	return token_sweep(s, &c->worked, e);
}
