/* One item: {PK: DESIGN, SK: served, text: <gzip of the file>}.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"
#include "design/source/yaml.h"
#include "evolve/served.h"
#include "wire/gzip.h"

/* The item; without a text, its key. */
static struct value item(struct arena *a, struct value text)
{
	struct value_member members[] = {
		{ SLICE("PK"), value_make_s(a, SLICE("DESIGN")) },
		{ SLICE("SK"), value_make_s(a, SLICE("served")) },
		{ SLICE("text"), text },
	};

	return value_make_map(a, members, value_present(text) ? 3 : 2);
}

static void release(void *g)
{
	gzip_release(g);
}

static struct gzip *packer(struct arena *a)
{
	struct gzip *g = arena_new(a, struct gzip);

	arena_defer(a, release, g);
	return g;
}

/* The kept text; empty: the item has none that can be read. */
static struct slice unpack(struct arena *a, struct value stored)
{
	struct value text = value_get(stored, SLICE("text"));
	struct slice out = SLICE("");

	if (value_type(text) == VALUE_B && gunzip(packer(a), a, value_bytes(text), YAML_SIZE_MAX, &out) != GUNZIP_OK)
		out = SLICE("");
	return out;
}

static void compare(const struct design *d, struct arena *a, struct slice text, struct served *out)
{
	struct source s = { SLICE("the design before"), text };
	struct findings f;

	if (slice_equal(text, d->source.text)) {
		out->is = SERVED_SAME;
		return;
	}
	findings_init(&f, a);
	out->before = design_load(a, s, NULL, NULL, &f);
	if (!out->before) {
		out->is = SERVED_UNKNOWN;
		out->why = arena_printf(a, "the design that was served before cannot be read: %.*s, in line %d of it",
					SLICE_ARG(f.count ? f.list[0].message : SLICE("it is empty")),
					f.count ? f.list[0].place.line : 0);
		return;
	}
	diff_designs(a, out->before, d, &out->changes);
	out->is = out->changes.count ? SERVED_CHANGED : SERVED_SAME;
}

void served_look(struct backend *b, const struct design *d, struct arena *a, struct served *out)
{
	struct request q = {
		.kind = REQUEST_GET,
		.get = { .table = beside_name(a, d->table), .key = item(a, VALUE_ABSENT), .consistent = true }
	};
	struct reply r;

	*out = (struct served){ .is = SERVED_FAILED };
	backend_execute(b, a, &q, &r);
	if (r.status != 200 && !slice_is(r.error, "ResourceNotFoundException"))
		out->why = arena_printf(a, "table %.*s.thorpe: %.*s", SLICE_ARG(d->table), SLICE_ARG(r.message));
	else if (r.status != 200 || !value_present(r.item))
		out->is = SERVED_FIRST;
	else
		compare(d, a, unpack(a, r.item), out);
}

bool served_keep(struct backend *b, const struct design *d, struct arena *a, struct error *e)
{
	struct request_action action = { .kind = WRITE_PUT, .table = beside_name(a, d->table) };
	struct request q = { .kind = REQUEST_WRITE, .write = { .actions = &action, .count = 1 } };
	struct slice packed = gzip_pack(packer(a), a, d->source.text);
	struct reply r;

	if (!packed.n)
		return error_set(e, a, ERR_INTERNAL, "the design cannot be compressed");
	action.item = item(a, value_make_b(a, packed));
	backend_execute(b, a, &q, &r);
	if (r.status == 200)
		return true;
	return error_set(e, a, ERR_INTERNAL, "table %.*s.thorpe: %.*s", SLICE_ARG(d->table), SLICE_ARG(r.message));
}
