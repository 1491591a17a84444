/* Reads without documents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/direct.h"

#include "api/internal.h"
#include "api/op_streams.h"
#include "base/clock.h"
#include "table/layout.h"
#include "value/key.h"

/* ---- counting ---- */

static void count(struct api *api, op_handler handle, int64_t started_us)
{
	size_t row = 0;

	while (op_at(row)->handle != handle)
		row++;
	metrics_count(api, row, 200, clock_monotonic_us() - started_us);
}

/* ---- one item ---- */

bool api_get_item(struct api *api, struct arena *a, struct slice table, struct value key, struct value *item)
{
	int64_t started = clock_monotonic_us();
	const struct table *t = catalog_table(db_catalog(api->db, a), table);
	struct error e = { 0 };
	struct item_key k;

	if (!t || !table_key_of_key(t, key, a, &k, &e) || !db_get(api->db, NULL, t, k, a, item, &e))
		return false;
	stats_add(&t->stats->reads, 1);
	count(api, op_get_item, started);
	return true;
}

uint64_t api_item_version(struct api *api, struct arena *a, struct slice table, struct value key)
{
	const struct table *t = catalog_table(db_catalog(api->db, a), table);
	struct value partition = t ? value_get(key, t->key.hash[0].name) : VALUE_ABSENT;
	uint64_t version;

	if (!value_present(partition) || value_type(partition) != t->key.hash[0].type)
		return 0;
	version = store_version(db_store(api->db), layout_item_from_hash(a, t->id, key_hash(value_bytes(partition))));
	return version ? (uint64_t)t->id << 32 ^ version : 0;
}

/* ---- many ---- */

bool api_batch_get_items(struct api *api, struct arena *a, struct slice table, const struct value *keys, size_t n,
			 struct value *items)
{
	int64_t started = clock_monotonic_us();
	const struct table *t = catalog_table(db_catalog(api->db, a), table);
	struct item_key *item_keys = arena_array(a, struct item_key, n);
	struct value *there = arena_array(a, struct value, n);
	struct error e = { 0 };
	size_t asked = 0;

	for (size_t i = 0; i < n; i++)
		if (!t || (value_present(keys[i]) && !table_key_of_key(t, keys[i], a, &item_keys[asked++], &e)))
			return false;
	if (!db_get_many(api->db, n > 1 ? store_view(db_store(api->db), a) : NULL, t, item_keys, asked, a, there, &e))
		return false;
	asked = 0;
	for (size_t i = 0; i < n; i++)
		items[i] = value_present(keys[i]) ? there[asked++] : VALUE_ABSENT;
	if (n)
		stats_add(&t->stats->reads, (int64_t)n);
	count(api, op_batch_get_item, started);
	return true;
}

/* ---- a page ---- */

static const struct key_schema *schema_of(const struct page_request *r)
{
	return r->index ? &r->index->key : &r->table->key;
}

static const struct key_term *term_of(const struct page_request *r, struct slice name)
{
	for (size_t i = 0; i < r->term_count; i++)
		if (slice_equal(r->terms[i].name, name))
			return &r->terms[i];
	return NULL;
}

static bool value_fits(const struct key_attr *attr, struct value v)
{
	return value_type(v) == attr->type && (attr->type == VALUE_N || value_bytes(v).n);
}

static bool term_fits(const struct key_attr *attr, const struct key_term *t)
{
	if (!value_fits(attr, t->value) || t->not_indexable)
		return false;
	if (t->op == KEY_BETWEEN)
		return value_fits(attr, t->upper) && value_cmp(t->value, t->upper) <= 0;
	return t->op != KEY_BEGINS_WITH || attr->type != VALUE_N;
}

/* Every hash attribute with =, then range attributes from the left, all but the last with =, and nothing else. */
static bool terms_fit(const struct page_request *r)
{
	const struct key_schema *k = schema_of(r);
	size_t used = 0;

	for (size_t i = 0; i < k->hash_count; i++, used++) {
		const struct key_term *t = term_of(r, k->hash[i].name);

		if (!t || t->op != KEY_EQ || !term_fits(&k->hash[i], t))
			return false;
	}
	for (size_t i = 0; i < k->range_count && used < r->term_count; i++, used++) {
		const struct key_term *t = term_of(r, k->range[i].name);

		if (!t || !term_fits(&k->range[i], t) || (t->op != KEY_EQ && used + 1 < r->term_count))
			return false;
	}
	return used == r->term_count;
}

static bool attrs_fit(const struct key_attr *attrs, size_t n, struct value start)
{
	for (size_t i = 0; i < n; i++)
		if (!value_fits(&attrs[i], value_get(start, attrs[i].name)))
			return false;
	return true;
}

/* The key attributes of the table and the index, those alone, and on the way that the query goes. */
static bool start_fits(const struct page_request *r, struct arena *a)
{
	const struct key_schema *k = schema_of(r);
	struct item_key ignored;
	struct error e = { 0 };
	struct value key;

	if (!value_present(r->start))
		return true;
	key = table_key_item(r->table, r->index, r->start, a);
	return value_equal(key, r->start) && attrs_fit(k->hash, k->hash_count, key) &&
	       attrs_fit(k->range, k->range_count, key) && (r->index || k->range_count) &&
	       table_key_of_key(r->table, table_key_item(r->table, NULL, key, a), a, &ignored, &e) &&
	       page_start_check(r) == PAGE_START_FITS;
}

static struct slice braced(struct arena *a, struct slice members)
{
	struct buf b;

	buf_init(&b, a);
	buf_room(&b, members.n + 2);
	buf_byte(&b, '{');
	buf_put(&b, members);
	buf_byte(&b, '}');
	return buf_slice(&b);
}

static bool holds(const struct index *i, struct slice name)
{
	if (!i || i->projection == PROJECT_ALL)
		return true;
	for (size_t k = 0; k < i->include_count; k++)
		if (slice_equal(i->include[k], name))
			return true;
	return false;
}

/* Keys are no matter for a filter, nor is what the index does not hold. */
static bool filter_fits(const struct page_request *r)
{
	const struct path *paths;
	size_t n = condition_paths(r->filter, &paths);

	for (size_t i = 0; i < n; i++) {
		struct slice name = paths[i].steps[0].name;

		if (is_key_attribute(&r->table->key, name) || !holds(r->index, name))
			return false;
		for (size_t k = 0; k < r->table->index_count; k++)
			if (is_key_attribute(&r->table->indexes[k].key, name))
				return false;
	}
	return true;
}

static bool read_filter(const struct api_query *q, struct expr_cache *cache, struct arena *a, struct page_request *r)
{
	const struct json *names = NULL, *values = NULL;
	struct expr_bindings *b;
	struct error e = { 0 };

	if (!q->filter.n)
		return true;
	if (q->names.n && !(names = json_parse(a, braced(a, q->names))))
		return false;
	if (q->values.n && !(values = json_parse(a, braced(a, q->values))))
		return false;
	return expr_bindings_new(a, cache, names, values, &b, &e) &&
	       condition_compile(b, FILTER_EXPRESSION, q->filter, &r->filter, &e) && expr_bindings_check_used(b, &e) &&
	       filter_fits(r);
}

struct collection {
	struct arena *arena;
	const struct projection *projection;
	struct api_page *page;
	size_t room;
};

static void collect(void *ctx, struct value item)
{
	struct collection *c = ctx;
	struct api_page *p = c->page;

	if (p->count == c->room) {
		size_t room = c->room ? 2 * c->room : 32;

		p->items = arena_grow(c->arena, p->items, c->room * sizeof(item), room * sizeof(item));
		c->room = room;
	}
	p->items[p->count++] = c->projection ? projection_apply(c->projection, item, c->arena) : value_copy(c->arena, item);
}

static bool make_request(struct api *api, struct expr_cache *cache, struct arena *a, const struct api_query *q,
			 struct page_request *r)
{
	*r = (struct page_request){
		.table = catalog_table(db_catalog(api->db, a), q->table), .terms = q->terms, .term_count = q->term_count,
		.backwards = q->backwards, .start = q->start, .limit = q->limit, .consistent = q->consistent,
		.uncounted = true,
	};
	if (!r->table || !q->term_count)
		return false;
	r->index = q->index.n ? table_index(r->table, q->index) : NULL;
	if (q->index.n && (!r->index || r->index->status == STATUS_CREATING || (r->index->global && q->consistent)))
		return false;
	return terms_fit(r) && start_fits(r, a) && read_filter(q, cache, a, r);
}

bool api_query_items(struct api *api, struct api_thread *t, struct arena *a, const struct api_query *q, struct api_page *page)
{
	struct collection c = { .arena = a, .projection = q->projection, .page = page };
	int64_t started = clock_monotonic_us();
	struct page_request r;
	struct error e = { 0 };
	struct page found;

	*page = (struct api_page){ 0 };
	if (!make_request(api, api_thread_cache(t), a, q, &r))
		return false;
	if (!q->count_only) {
		r.emit = collect;
		r.ctx = &c;
	}
	if (!db_page(api->db, &r, a, &found, &e))
		return false;
	page->count = (size_t)found.count;
	if (r.index || r.table->key.range_count) /* a key that is whole finds one, and nothing after it */
		page->last = found.last_key;
	count(api, op_query, started);
	return true;
}

/* ---- records ---- */

struct record_list {
	struct arena *arena;
	struct api_records *out;
	size_t room;
};

static struct value kept(struct arena *a, struct value v)
{
	return value_present(v) ? value_copy(a, v) : v;
}

static void add_record(void *ctx, const struct stream_record *r)
{
	struct record_list *l = ctx;

	if (l->out->count == l->room) {
		size_t room = l->room ? 2 * l->room : 16;

		l->out->list = arena_grow(l->arena, l->out->list, l->room * sizeof(*l->out->list), room * sizeof(*l->out->list));
		l->room = room;
	}
	l->out->list[l->out->count++] = (struct api_record){
		.sequence = sequence_text(r->sequence, l->arena), .event = r->event, .by_ttl = r->by_ttl,
		.created_ms = r->created_ms / 1000 * 1000, .keys = kept(l->arena, r->keys),
		.old_image = kept(l->arena, r->old_image), .new_image = kept(l->arena, r->new_image),
	};
}

bool api_get_records(struct api *api, struct arena *a, struct slice iterator, int64_t limit, struct api_records *out)
{
	struct op_state s = { .arena = a, .api = api, .db = api->db, .catalog = db_catalog(api->db, a) };
	struct record_list list = { a, out, 0 };
	int64_t started = clock_monotonic_us();
	struct records_place place;
	struct error e = { 0 };

	if (limit < 1 || limit > 1000 || !records_at(&s, iterator, &place, &e))
		return false;
	*out = (struct api_records){ 0 };
	if (!records_read(&s, &place, limit, add_record, &list, &out->iterator, &e))
		return false;
	count(api, op_get_records, started);
	return true;
}
