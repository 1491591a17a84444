/* A database with a clock that tests move, and short ways to fill and read it.
 *
 * Items are written as JSON with single quotes: put(f, "t", "{'pk':{'S':'a'}}").
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_TABLE_FIXTURE_H
#define THORPE_TESTS_TABLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <unistd.h>
#include "table/control/control.h"
#include "table/read.h"
#include "table/streams.h"
#include "value/codec.h"

#define FIXTURE_START_MS 1800000000000LL

struct fixture {
	struct db *db;
	struct arena arena;
	int64_t now_ms;
	int64_t steady_ms; /* where a test gives the clock a steady face */
	struct clock clock;
	char dir[64]; /* empty: in memory */
	const struct catalog *catalog;
};

static inline int64_t fixture_now(void *ctx)
{
	return ((struct fixture *)ctx)->now_ms;
}

static inline void fixture_open(struct fixture *f)
{
	struct db_options o = {
		.dir = f->dir[0] ? f->dir : NULL,
		.clock = &f->clock,
		.no_background = true,
	};
	char why[256] = "";

	if (db_open(&o, &f->db, why, sizeof(why)) != STORE_OPENED)
		fail_msg("%s", why);
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->now_ms = FIXTURE_START_MS;
	f->clock = (struct clock){ .now_ms = fixture_now, .ctx = f };
	arena_init(&f->arena);
	fixture_open(f);
	*state = f;
	return 0;
}

static inline int fixture_setup_on_disk(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->now_ms = FIXTURE_START_MS;
	f->clock = (struct clock){ .now_ms = fixture_now, .ctx = f };
	snprintf(f->dir, sizeof(f->dir), "/tmp/thorpe-table-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	arena_init(&f->arena);
	fixture_open(f);
	*state = f;
	return 0;
}

static inline void fixture_reopen(struct fixture *f)
{
	arena_clear(&f->arena);
	db_close(f->db);
	fixture_open(f);
}

static inline void fixture_remove_dir(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[512];

	while (d && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	db_close(f->db);
	if (f->dir[0])
		fixture_remove_dir(f->dir);
	free(f);
	return 0;
}

/* ---- values ---- */

static inline const struct json *json_of(struct fixture *f, const char *text)
{
	char *copy = arena_cstr(&f->arena, slice_str(text));
	const struct json *j;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	j = json_parse(&f->arena, slice_str(copy));
	assert_non_null(j);
	return j;
}

static inline struct value item_of(struct fixture *f, const char *text)
{
	struct value v;
	struct error e = { 0 };

	if (!item_from_json(&f->arena, json_of(f, text), &v, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return v;
}

static inline struct value value_of(struct fixture *f, const char *text)
{
	struct value v;
	struct error e = { 0 };

	if (!value_from_json(&f->arena, json_of(f, text), &v, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return v;
}

static inline char *item_text(struct fixture *f, struct value item)
{
	struct buf b;

	buf_init(&b, &f->arena);
	item_to_json(&b, item);
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i] == '"')
			b.p[i] = '\'';
	return arena_cstr(&f->arena, buf_slice(&b));
}

/* ---- tables ---- */

/* "pk:S sk:N" as key attributes; "a:S b:S | c:N d:B" for several of each kind. */
static inline struct key_schema key_schema_of(const char *text)
{
	struct key_schema k = { 0 };
	bool bars = strchr(text, '|') != NULL, ranges = false;

	while (*text) {
		const char *colon = strchr(text, ':');
		struct key_attr *attr;

		if (*text == ' ' || *text == '|') {
			ranges |= *text++ == '|';
			continue;
		}
		attr = ranges ? &k.range[k.range_count++] : &k.hash[k.hash_count++];
		attr->name = slice_make(text, (size_t)(colon - text));
		attr->type = value_type_parse(slice_make(colon + 1, 1));
		text = colon + 2;
		ranges |= !bars;
	}
	return k;
}

static inline struct index index_of(const char *name, const char *key, bool global, enum projection_kind projection)
{
	return (struct index){
		.name = slice_str(name),
		.global = global,
		.key = key_schema_of(key),
		.projection = projection,
		.max_read_units = -1,
		.max_write_units = -1,
	};
}

static inline void add_definitions(struct key_attr *to, size_t *n, const struct key_attr *k, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool known = false;

		for (size_t j = 0; j < *n; j++)
			known |= slice_equal(to[j].name, k[i].name);
		if (!known)
			to[(*n)++] = k[i];
	}
}

static inline size_t definitions_of(struct key_attr *to, const struct key_schema *table, const struct index *indexes,
				    size_t index_count)
{
	size_t n = 0;

	add_definitions(to, &n, table->hash, table->hash_count);
	add_definitions(to, &n, table->range, table->range_count);
	for (size_t i = 0; i < index_count; i++) {
		add_definitions(to, &n, indexes[i].key.hash, indexes[i].key.hash_count);
		add_definitions(to, &n, indexes[i].key.range, indexes[i].key.range_count);
	}
	return n;
}

static inline void run_control(struct fixture *f, struct control *c)
{
	struct write_request r = { .arena = &f->arena, .mode = REQUEST_CONTROL, .control = c };

	db_submit_wait(f->db, &r);
	if (r.error.code != ERR_NONE)
		fail_msg("%.*s", SLICE_ARG(r.error.message));
}

static inline void make_table(struct fixture *f, const char *name, const char *key, const struct index *indexes,
			      size_t index_count, enum stream_view view)
{
	struct key_attr definitions[32];
	struct stream stream = { .view = view };
	struct table t = {
		.name = slice_str(name),
		.key = key_schema_of(key),
		.attributes = definitions,
		.indexes = indexes,
		.index_count = index_count,
		.on_demand = true,
		.max_read_units = -1,
		.max_write_units = -1,
		.stream = view ? &stream : NULL,
	};
	struct control c = { .kind = CONTROL_CREATE_TABLE, .table = t.name, .spec = &t };

	for (size_t i = 0; i < index_count; i++)
		t.has_local_indexes |= !indexes[i].global;
	t.attribute_count = definitions_of(definitions, &t.key, indexes, index_count);
	run_control(f, &c);
}

static inline const struct table *table_of(struct fixture *f, const char *name)
{
	const struct table *t;

	f->catalog = db_catalog(f->db, &f->arena);
	t = catalog_table(f->catalog, slice_str(name));
	assert_non_null(t);
	return t;
}

static inline void set_ttl(struct fixture *f, const char *table, const char *attribute, bool enable)
{
	struct control c = { .kind = CONTROL_UPDATE_TTL,
			     .table = slice_str(table),
			     .ttl_enable = enable,
			     .ttl_attribute = slice_str(attribute) };

	run_control(f, &c);
}

static inline void add_index(struct fixture *f, const char *table, struct index i)
{
	const struct table *t = table_of(f, table);
	struct gsi_change change = { .kind = GSI_CREATE, .index = i };
	struct key_attr definitions[32];
	struct table_change tc = { .attributes = definitions, .indexes = &change, .index_count = 1 };
	struct control c = { .kind = CONTROL_UPDATE_TABLE, .table = slice_str(table), .change = &tc };

	tc.attribute_count = definitions_of(definitions, &t->key, &i, 1);
	run_control(f, &c);
}

/* ---- items ---- */

static inline struct write_action write_one(struct fixture *f, enum write_kind kind, const char *table,
					    struct value item)
{
	const struct table *t = table_of(f, table);
	struct write_action w = { .kind = kind, .table = t };
	struct write_request r = { .arena = &f->arena, .mode = REQUEST_EACH, .actions = &w, .action_count = 1 };
	struct error e = { 0 };

	if (!table_key_of_item(t, item, &f->arena, &w.key, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	w.key_item = table_key_item(t, NULL, item, &f->arena);
	w.item = kind == WRITE_PUT ? item : VALUE_ABSENT;
	db_submit_wait(f->db, &r);
	if (r.error.code != ERR_NONE)
		fail_msg("%.*s", SLICE_ARG(r.error.message));
	assert_int_equal(w.error.code, ERR_NONE);
	return w;
}

static inline void put(struct fixture *f, const char *table, const char *text)
{
	write_one(f, WRITE_PUT, table, item_of(f, text));
}

static inline void putf(struct fixture *f, const char *table, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static inline void putf(struct fixture *f, const char *table, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct slice text = arena_vprintf(&f->arena, fmt, ap);
	va_end(ap);
	put(f, table, arena_cstr(&f->arena, text));
}

static inline void del(struct fixture *f, const char *table, const char *key)
{
	write_one(f, WRITE_DELETE, table, item_of(f, key));
}

static inline char *get(struct fixture *f, const char *table, const char *key)
{
	const struct table *t = table_of(f, table);
	struct item_key k;
	struct value item;
	struct error e = { 0 };

	assert_true(table_key_of_key(t, item_of(f, key), &f->arena, &k, &e));
	assert_true(db_get(&(struct db_at){ f->db, NULL, t }, k, &f->arena, &item, &e));
	return value_present(item) ? item_text(f, item) : NULL;
}

static inline void assert_verified(struct fixture *f)
{
	struct buf report;

	buf_init(&report, &f->arena);
	if (!db_verify(f->db, &report))
		fail_msg("%.*s", SLICE_ARG(buf_slice(&report)));
}

/* ---- pages ---- */

struct found {
	struct fixture *f;
	const char *attribute;
	struct buf text;
	struct page page;
};

static inline void found_emit(void *ctx, struct value item)
{
	struct found *found = ctx;
	struct value v = value_get(item, slice_str(found->attribute));
	char number[NUMBER_TEXT_MAX];

	if (found->text.n)
		buf_byte(&found->text, ' ');
	if (value_type(v) == VALUE_N) {
		struct number n = value_number(v);

		buf_add(&found->text, number, number_format(&n, number));
	} else if (value_type(v) == VALUE_B) {
		buf_hex(&found->text, value_bytes(v));
	} else {
		buf_put(&found->text, value_present(v) ? value_bytes(v) : SLICE("-"));
	}
}

/* The values of one attribute of what a page emits, with blanks between. */
static inline char *read_page(struct fixture *f, struct page_request *r, const char *attribute, struct page *page)
{
	struct found found = { .f = f, .attribute = attribute };
	struct error e = { 0 };
	struct page own;

	buf_init(&found.text, &f->arena);
	r->emit = found_emit;
	r->ctx = &found;
	if (!db_page(f->db, r, &f->arena, page ? page : &own, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return arena_cstr(&f->arena, buf_slice(&found.text));
}

static inline struct key_term term(struct fixture *f, const char *name, enum key_op op, const char *value,
				   const char *upper)
{
	struct key_term t = { .name = slice_str(name), .op = op, .value = value_of(f, value) };

	if (upper)
		t.upper = value_of(f, upper);
	return t;
}

#endif
