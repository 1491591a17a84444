/* The same for Terraform and OpenTofu: resources of the hashicorp/aws provider.
 *
 * Its aws_dynamodb_table has hash_key and range_key for the table, and since 6.29 key_schema for indexes, which works
 * as it should from 6.37 on; hash_key of an index is deprecated and cannot have several attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "deploy/deploy_internal.h"

#define PROVIDER ">= 6.37"

static const char *const ids[DEPLOY_TABLES] = { "table", "thorpe" };

/* A quoted string: "${" and "%{" begin templates. */
static void put_string(struct buf *b, struct slice s)
{
	buf_byte(b, '"');
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];

		if ((c == '$' || c == '%') && i + 1 < s.n && s.p[i + 1] == '{')
			buf_byte(b, c);
		if (c == '"' || c == '\\')
			buf_byte(b, '\\');
		if (c < 0x20 || c == 0x7f)
			buf_printf(b, "\\u%04x", c);
		else
			buf_byte(b, c);
	}
	buf_byte(b, '"');
}

static void put_named(struct buf *b, const char *before, const char *name, struct slice value)
{
	buf_printf(b, "%s%s = ", before, name);
	put_string(b, value);
	buf_byte(b, '\n');
}

/* ---- attributes of keys, each once ---- */

struct defined {
	struct slice names[(KEY_HASH_MAX + KEY_RANGE_MAX) * (INDEXES_MAX + 1)];
	size_t count;
};

static void put_attribute(struct buf *b, struct defined *d, const struct key_attr *k)
{
	for (size_t i = 0; i < d->count; i++)
		if (slice_equal(d->names[i], k->name))
			return;
	d->names[d->count++] = k->name;
	buf_lit(b, "\n  attribute {\n");
	put_named(b, "    ", "name", k->name);
	put_named(b, "    ", "type", slice_str(value_type_name(k->type)));
	buf_lit(b, "  }\n");
}

static void put_attributes(struct buf *b, struct defined *d, const struct key_schema *k)
{
	for (size_t i = 0; i < k->hash_count; i++)
		put_attribute(b, d, &k->hash[i]);
	for (size_t i = 0; i < k->range_count; i++)
		put_attribute(b, d, &k->range[i]);
}

/* ---- tables ---- */

static void put_units(struct buf *b, const char *before, const struct design *d)
{
	if (d->provisioned)
		buf_printf(b, "%sread_capacity = %lld\n%swrite_capacity = %lld\n", before, (long long)d->read_units,
			   before, (long long)d->write_units);
}

static void put_key_schema(struct buf *b, const struct key_attr *k, const char *type)
{
	buf_lit(b, "\n    key_schema {\n");
	put_named(b, "      ", "attribute_name", k->name);
	put_named(b, "      ", "key_type", slice_str(type));
	buf_lit(b, "    }\n");
}

static void put_index(struct buf *b, const struct design *d, const struct design_index *i)
{
	static const char *const types[] = {
		[PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY", [PROJECT_INCLUDE] = "INCLUDE"
	};

	buf_lit(b, "\n  global_secondary_index {\n");
	put_named(b, "    ", "name", i->name);
	put_named(b, "    ", "projection_type", slice_str(types[i->projection]));
	if (i->projection == PROJECT_INCLUDE) {
		buf_lit(b, "    non_key_attributes = [");
		for (size_t n = 0; n < i->include_count; n++) {
			buf_str(b, n ? ", " : "");
			put_string(b, i->include[n]);
		}
		buf_lit(b, "]\n");
	}
	put_units(b, "    ", d);
	for (size_t n = 0; n < i->key.hash_count; n++)
		put_key_schema(b, &i->key.hash[n], "HASH");
	for (size_t n = 0; n < i->key.range_count; n++)
		put_key_schema(b, &i->key.range[n], "RANGE");
	buf_lit(b, "  }\n");
}

static void put_settings(struct buf *b, const struct deploy_table *t)
{
	const struct design *d = t->as;

	if (d->ttl.n) {
		buf_lit(b, "\n  ttl {\n    enabled = true\n");
		put_named(b, "    ", "attribute_name", d->ttl);
		buf_lit(b, "  }\n");
	}
	if (t->recovery)
		buf_lit(b, "\n  point_in_time_recovery {\n    enabled = true\n  }\n");
	buf_lit(b, "\n  tags = {\n");
	for (size_t i = 0; i < t->tag_count; i++) {
		buf_lit(b, "    ");
		put_string(b, t->tags[i].key);
		buf_lit(b, " = ");
		put_string(b, t->tags[i].value);
		buf_lit(b, "\n");
	}
	buf_lit(b, "  }\n\n  lifecycle {\n    prevent_destroy = true\n  }\n");
}

static void put_table(struct buf *b, const struct deploy_table *t, const char *id, struct arena *a)
{
	struct defined *defined = arena_new(a, struct defined);
	const struct design *d = t->as;

	buf_printf(b, "\nresource \"aws_dynamodb_table\" \"%s\" {\n", id);
	put_named(b, "  ", "name", d->table);
	put_named(b, "  ", "billing_mode", slice_str(d->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST"));
	put_units(b, "  ", d);
	put_named(b, "  ", "hash_key", d->key.hash[0].name);
	if (d->key.range_count)
		put_named(b, "  ", "range_key", d->key.range[0].name);
	if (d->stream != STREAM_NONE) {
		buf_lit(b, "  stream_enabled = true\n");
		put_named(b, "  ", "stream_view_type", slice_str(stream_view_name(d->stream)));
	}
	if (t->protection)
		buf_lit(b, "  deletion_protection_enabled = true\n");
	put_attributes(b, defined, &d->key);
	for (size_t i = 0; i < d->index_count; i++)
		put_attributes(b, defined, &d->indexes[i].key);
	for (size_t i = 0; i < d->index_count; i++)
		put_index(b, d, &d->indexes[i]);
	put_settings(b, t);
	buf_lit(b, "}\n");
}

/* ---- the rest ---- */

/* The policy is JSON, which jsonencode() takes as an expression; ARNs are templates in its strings. */
static void put_arn(struct buf *b, size_t table, const char *tail, void *ctx)
{
	(void)ctx;
	json_string(b, arena_printf(b->arena, "${aws_dynamodb_table.%s.arn}%s", ids[table], tail));
}

static void put_output(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "\noutput \"%s\" {\n  value = %s\n}\n", name, value);
}

static void put_policy(struct buf *b, const struct deploy_want *w, struct arena *a)
{
	struct slice pretty;
	struct buf json;

	buf_init(&json, a);
	deploy_put_policy(&json, w, false, &(struct policy_arn){ put_arn, NULL });
	pretty = deploy_pretty(buf_slice(&json), a);
	buf_lit(b, "\nresource \"aws_iam_policy\" \"server\" {\n");
	put_named(b, "  ", "description",
		  arena_printf(a, "What servers of the design %.*s may do", SLICE_ARG(w->design->name)));
	buf_lit(b, "  policy = jsonencode(");
	for (size_t i = 0; i + 1 < pretty.n; i++) { /* without the last line break; indented as the rest */
		if (i && pretty.p[i] == ':' && pretty.p[i - 1] == '"' && pretty.p[i + 1] == ' ')
			buf_byte(b, ' ');
		buf_byte(b, (uint8_t)pretty.p[i]);
		if (pretty.p[i] == '\n')
			buf_lit(b, "  ");
	}
	buf_lit(b, ")\n}\n");
}

/* ---- as `terraform fmt` has it: values of lines that follow each other begin in one column ---- */

struct line {
	struct slice text, key, value; /* empty key: no value, or one of several lines */
	size_t indent, width;          /* of the key, in characters */
};

static size_t characters(struct slice s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += (s.p[i] & 0xc0) != 0x80;
	return n;
}

/* Where the key that begins at `i` ends. */
static size_t key_end(struct slice s, size_t i)
{
	if (i < s.n && s.p[i] == '"') {
		for (i++; i < s.n && s.p[i] != '"'; i++)
			i += s.p[i] == '\\';
		return i + 1;
	}
	while (i < s.n && s.p[i] != ' ')
		i++;
	return i;
}

static struct line read_line(struct slice s)
{
	struct line l = { .text = s };
	size_t end;

	while (l.indent < s.n && s.p[l.indent] == ' ')
		l.indent++;
	end = key_end(s, l.indent);
	if (end + 3 >= s.n || memcmp(s.p + end, " = ", 3) || memchr("{[(", s.p[s.n - 1], 3))
		return l;
	l.key = slice_make(s.p + l.indent, end - l.indent);
	l.value = slice_make(s.p + end + 3, s.n - end - 3);
	l.width = characters(l.key);
	return l;
}

static void put_aligned(struct buf *b, const struct line *list, size_t n)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = list[i].width > most ? list[i].width : most;
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%.*s%.*s%*s = %.*s\n", (int)list[i].indent, list[i].text.p, SLICE_ARG(list[i].key),
			   (int)(most - list[i].width), "", SLICE_ARG(list[i].value));
}

static struct slice aligned(struct slice text, struct arena *a)
{
	struct line group[32], l;
	size_t n = 0;
	struct buf b;

	buf_init(&b, a);
	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t length = end ? (size_t)(end - text.p) : text.n;

		l = read_line(slice_make(text.p, length));
		if (n == sizeof(group) / sizeof(*group) || (n && (!l.key.n || l.indent != group[0].indent))) {
			put_aligned(&b, group, n);
			n = 0;
		}
		if (l.key.n)
			group[n++] = l;
		else
			buf_printf(&b, "%.*s\n", SLICE_ARG(l.text));
		text = slice_make(text.p + length + (end != NULL), text.n - length - (end != NULL));
	}
	put_aligned(&b, group, n);
	return buf_slice(&b);
}

struct slice deploy_terraform(const struct deploy_want *w, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_printf(&b, "# The tables of the design %.*s. Made by `thorpe deploy --format terraform`.\n\n",
		   SLICE_ARG(w->design->name));
	buf_lit(&b,
		"terraform {\n  required_providers {\n    aws = {\n      source = \"hashicorp/aws\"\n      version = \"" PROVIDER
		"\"\n    }\n  }\n}\n");
	for (size_t i = 0; i < DEPLOY_TABLES; i++)
		put_table(&b, &w->tables[i], ids[i], a);
	put_policy(&b, w, a);
	put_output(&b, "table_arn", "aws_dynamodb_table.table.arn");
	if (w->design->stream != STREAM_NONE)
		put_output(&b, "stream_arn", "aws_dynamodb_table.table.stream_arn");
	put_output(&b, "thorpe_table_arn", "aws_dynamodb_table.thorpe.arn");
	put_output(&b, "server_policy_arn", "aws_iam_policy.server.arn");
	return aligned(buf_slice(&b), a);
}
