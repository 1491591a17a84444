/* The design's document, from its name to its findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/design_doc.h"

/* Indexes of designs have one attribute of each kind. */
static void put_key_names(struct buf *b, const struct key_schema *k)
{
	doc_member(b, "hash", k->hash[0].name);
	doc_member_or_null(b, "range", k->range_count ? k->range[0].name : (struct slice){ 0 });
}

static void put_index(struct buf *b, const struct design_index *x)
{
	static const char *const projections[] = {
		[PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY", [PROJECT_INCLUDE] = "INCLUDE"
	};

	json_open(b, '{');
	doc_member(b, "name", x->name);
	design_line(b, x->place);
	put_key_names(b, &x->key);
	doc_member_str(b, "projection", projections[x->projection]);
	doc_member_texts(b, "include", x->include, x->include_count);
	json_close(b, '}');
}

static void put_table(struct buf *b, const struct design *d)
{
	const char *stream = d->stream == STREAM_NONE ? "" : stream_view_name(d->stream);

	json_member_open(b, "key", '{');
	put_key_names(b, &d->key);
	json_close(b, '}');
	json_member_open(b, "indexes", '[');
	for (size_t i = 0; i < d->index_count; i++)
		put_index(b, &d->indexes[i]);
	json_close(b, ']');
	doc_member_or_null(b, "ttl", d->ttl);
	doc_member_or_null(b, "stream", slice_str(stream));
	doc_member_texts(b, "roles", d->callers.roles, d->callers.role_count);
	json_member_open(b, "claims", '[');
	for (size_t i = 0; i < d->callers.claim_count; i++)
		json_string(b, d->callers.claims[i].attribute.name);
	json_close(b, ']');
}

static struct slice file_name(struct slice path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? slice_make(slash + 1, (size_t)(path.p + path.n - slash - 1)) : path;
}

struct slice design_document(struct arena *a, const struct design *d)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	doc_member(&b, "name", d->name);
	doc_member(&b, "title", d->title);
	doc_member(&b, "table", d->table);
	doc_member(&b, "file", file_name(d->source.file));
	doc_member(&b, "source", d->source.text);
	put_table(&b, d);
	json_member_open(&b, "entities", '[');
	for (size_t i = 0; i < d->entity_count; i++)
		design_entity_doc(&b, d, &d->entities[i]);
	json_close(&b, ']');
	json_member_open(&b, "access", '[');
	for (size_t i = 0; i < d->access_count; i++)
		design_access_doc(&b, d, &d->accesses[i]);
	json_close(&b, ']');
	json_member_open(&b, "processors", '[');
	for (size_t i = 0; i < d->processor_count; i++)
		if (d->processors[i].parts)
			design_processor_doc(&b, &d->processors[i]);
	json_close(&b, ']');
	json_name(&b, "findings");
	design_findings_doc(&b, d);
	json_close(&b, '}');
	return buf_slice(&b);
}
