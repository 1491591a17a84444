/* Files of items, and whose the table beside the design's says they are (app/file/file.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"
#include "app/file/file.h"
#include "json/json.h"
#include "oracle/oracle_internal.h"
#include "value/codec.h"

/* ---- facts ---- */

static void imply_one(struct oracle *o, size_t at, const struct row *item, struct value file, enum fact_weight weight)
{
	struct buf b;

	if (!file_id(file).n)
		return;
	b = fact_begin(o, SPACE_FILE, file_id(file), FACT_HOLDS);
	buf_byte(&b, (uint8_t)weight);
	buf_be16(&b, (uint16_t)entity_index(o->run.design, item->entity));
	buf_be16(&b, (uint16_t)at);
	fact_put_value(&b, dyn_key_of(&o->run, item->full));
	fact_add(o, &b);
}

void files_imply(struct oracle *o, const struct row *item, enum fact_weight weight)
{
	const struct entity *e = item->entity;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		struct value v = attribute_file(a) ? row_get(item, a->at) : VALUE_ABSENT;

		if (value_type(v) == VALUE_M)
			imply_one(o, i, item, v, weight);
		if (value_type(v) != VALUE_L)
			continue;
		for (struct value_iter it = value_iter(v); value_next(&it);)
			imply_one(o, i, item, it.value, weight);
	}
}

/* ---- the records ---- */

static bool read_record(struct run *r, const struct json *j, struct value *item)
{
	struct error e = { 0 };

	*item = VALUE_ABSENT;
	return !j || item_from_json(r->arena, j, item, &e) || run_error(r, &e);
}

/* *start: where the next page begins; absent: this was the last. */
static bool scan_page(struct oracle *o, struct value *start)
{
	static const char filter[] = "\"ConsistentRead\":true,\"FilterExpression\":\"begins_with(PK,:file)\","
				     "\"ExpressionAttributeValues\":{\":file\":{\"S\":\"FILE#\"}}";
	struct run *r = &o->run;
	struct backend_reply reply;
	const struct json *items;
	struct value item;
	struct buf body;

	buf_init(&body, r->arena);
	buf_lit(&body, "{\"TableName\":");
	json_string(&body, beside_table(r));
	buf_byte(&body, ',');
	buf_str(&body, filter);
	if (value_present(*start)) {
		buf_lit(&body, ",\"ExclusiveStartKey\":");
		item_to_json(&body, *start);
	}
	buf_byte(&body, '}');
	*start = VALUE_ABSENT;
	if (!dyn_call(r, "Scan", buf_slice(&body), &reply))
		return slice_is(reply.error, "ResourceNotFoundException") || run_backend_error(r, &reply);
	items = json_get(reply.body, "Items");
	for (size_t i = 0; items && i < items->count; i++) {
		struct slice pk;
		struct buf b;

		if (!read_record(r, &items->items[i], &item))
			return false;
		pk = beside_text(item, "PK");
		b = fact_begin(o, SPACE_FILE, slice_make(pk.p + 5, pk.n - 5), FACT_FILE);
		fact_put_value(&b, value_get(item, SLICE("item")));
		fact_put_value(&b, value_get(item, SLICE("of")));
		fact_add(o, &b);
	}
	return read_record(r, json_get(reply.body, "LastEvaluatedKey"), start);
}

bool files_scan(struct oracle *o)
{
	struct value start = VALUE_ABSENT;

	if (!design_has_files(o->run.design))
		return true;
	do {
		if (!scan_page(o, &start))
			return false;
	} while (value_present(start) && !o->failed);
	return !o->failed;
}

/* ---- comparing ---- */

static struct value keep(struct oracle *o, struct value v)
{
	struct slice s;

	if (!value_present(v))
		return v;
	s = arena_copy(&o->group, value_slice(v));
	return (struct value){ (const uint8_t *)s.p, s.n };
}

void files_begin(struct at_file *x, struct oracle *o, struct slice id)
{
	*x = (struct at_file){ .id = arena_copy(&o->group, id) };
}

static void compare_holder(struct at_file *x, struct oracle *o, struct fact_reader *f)
{
	enum fact_weight weight = (enum fact_weight)fact_u8(f);
	const struct entity *e = &o->run.design->entities[fact_u16(f)];
	const struct attribute *a = &e->attributes[fact_u16(f)];
	struct value key = fact_value(f);
	struct oracle_finding finding = { .kind = ORACLE_FILE_FOREIGN,
					  .entity = e,
					  .key = key,
					  .attribute = a->name,
					  .found = value_make_s(&o->group, x->id) };

	if (value_present(x->item) && value_equal(x->item, key)) {
		x->held = true;
		return;
	}
	if (weight == FACT_FULL)
		tell(o, &finding, "%.*s has the file %.*s as its %.*s, which is %s",
		     SLICE_ARG(say_item(&o->run, e, key)), SLICE_ARG(x->id), SLICE_ARG(a->name),
		     value_present(x->item) ? "another item's" : "no item's: it may be gone");
}

void files_fact(struct at_file *x, struct oracle *o, enum fact_kind kind, struct fact_reader *f)
{
	if (kind == FACT_HOLDS) {
		compare_holder(x, o, f);
		return;
	}
	x->item = keep(o, fact_value(f));
	x->of = keep(o, fact_value(f));
}

void files_end(struct at_file *x, struct oracle *o)
{
	struct slice of = value_type(x->of) == VALUE_S ? value_bytes(x->of) : SLICE(""), entity;
	struct oracle_finding finding = { .kind = ORACLE_FILE_LEFT,
					  .key = x->item,
					  .found = value_make_s(&o->group, x->id) };

	if (!value_present(x->item) || x->held)
		return;
	slice_next(&of, '.', &entity);
	finding.entity = design_entity(o->run.design, entity);
	finding.attribute = of;
	tell(o, &finding, "%.*s no longer has the file %.*s, which is still there",
	     SLICE_ARG(say_item(&o->run, finding.entity, x->item)), SLICE_ARG(x->id));
}
