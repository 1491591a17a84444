/* design_load(): turns the text of a file into a design, or findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "design/load/load.h"

/* ---- the words of a file ---- */
bool load_consists_of(struct slice s, const char *allowed)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr(allowed, s.p[i], strlen(allowed)))
			return false;
	return s.n > 0;
}

/* The name with what is not allowed in it replaced. */
static struct slice like_name(struct load *l, struct slice name, bool lower)
{
	struct buf b;

	buf_init(&b, l->a);
	buf_lit(&b, "for example ");
	for (size_t i = 0; i < name.n && i < 64; i++) {
		char c = lower ? (char)tolower((unsigned char)name.p[i]) : name.p[i];

		buf_byte(&b, isalnum((unsigned char)c) && (unsigned char)c < 128 ? (uint8_t)c : '-');
	}
	return buf_slice(&b);
}

static void read_design(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;

	d->name = load_text(l, y, "the name of the design");
	if (y->kind == YAML_SCALAR &&
	    (d->name.n > 64 || !load_consists_of(d->name, "abcdefghijklmnopqrstuvwxyz0123456789-")))
		load_error(l, y->place, "bad-name",
			   "the name of a design has up to 64 lower case letters, digits and '-'")
			->repair = like_name(l, d->name, true);
}

static const struct load_shape ttl_shape = { SHAPE_TEXT, "the name of an attribute" };

static void read_table(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;

	d->table = load_text(l, y, "the name of the table");
	d->table_place = y->place;
}

static void read_ttl(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;

	d->ttl = load_text(l, y, ttl_shape.what);
	d->ttl_place = y->place;
}

static const struct load_shape design_name_shape = { SHAPE_TEXT, "the name of the design: it is in addresses",
						     "[a-z0-9-]{1,64}" };
static const struct load_shape resource_shape = { SHAPE_TEXT, "the name of the table", "[A-Za-z0-9_.-]{3,255}" };

/* The table comes first: items are checked against its key. */
static const struct load_word words[] = {
	{ "design", .read = read_design, .shape = &design_name_shape },
	{ "title", WORD_TEXT, AT(design, title), "a title" },
	{ "table", .read = read_table, .shape = &resource_shape },
	{ "key", WORD_KEY, AT(design, key) },
	{ "indexes", .read = load_indexes, .shape = &load_indexes_shape },
	{ "stream", .read = load_stream, .shape = &load_stream_shape },
	{ "ttl", .read = read_ttl, .shape = &ttl_shape },
	{ "billing", .read = load_billing, .shape = &load_billing_shape },
	{ "callers", .read = load_callers, .shape = &load_callers_shape },
	{ "types", .read = load_structures, .shape = &load_structures_shape },
	{ "entities", .read = load_entities, .shape = &load_entities_shape },
	{ "access", .read = load_accesses, .shape = &load_accesses_shape },
	{ "processors", .read = load_processors, .shape = &load_processors_shape },
	{ "everywhere", .read = load_everywhere, .shape = &load_everywhere_shape },
	{ "traffic", .read = load_traffic, .shape = &load_traffic_shape },
	{ "accept", WORD_ACCEPT, AT(design, accepts) },
	{ 0 },
};

static const char *const needed[] = { "design", "table", "key", "entities", NULL };

const struct load_shape load_design_shape = { SHAPE_WORDS, "a design", .words = words, .needed = needed };

static const char *const examples[] = { "as in design: shop", "as in table: Shop", "as in key: [PK, SK]",
					"as in entities: {User: {path: /users/<user>, …}}" };

static void check_complete(struct load *l, const struct yaml *root)
{
	for (size_t i = 0; needed[i]; i++)
		if (!load_has_word(root, needed[i]))
			load_error(l, root->place, "missing-word", "a design needs '%s'", needed[i])->repair =
				slice_str(examples[i]);
}

const struct design *design_load(struct arena *a, struct source s, const char *(*env)(void *ctx, const char *name),
				 void *env_ctx, struct findings *f)
{
	struct load *l = arena_new(a, struct load);
	size_t before = findings_errors(f);
	const struct yaml *root;

	l->a = a;
	l->f = f;
	l->d = arena_new(a, struct design);
	l->later_end = &l->later;
	l->named_end = &l->named;
	l->d->source = s;
	l->source = &l->d->source;
	root = yaml_parse(a, l->source, env, env_ctx, f);
	if (root && root->kind == YAML_NULL) {
		load_error(l, root->place, "missing-value", "the file is empty")->repair =
			SLICE("a design begins with 'design: name', 'table: …' and 'entities: …'");
	} else if (root && root->kind != YAML_MAP) {
		load_expected(l, root, "a design: 'design: name', 'table: …', 'entities: …'");
	} else if (root) {
		load_words(l, root, "a design", words, l->d, NULL);
		check_complete(l, root);
		load_spread_everywhere(l);
		load_check_keys(l);
		load_resolve(l);
		load_make_references(l);
		load_share_processors(l);
		if (findings_errors(f) == before)
			load_make_bound(l);
		load_check_claims(l);
		load_infer(l);
		load_check_sequences(l);
		load_check_files(l);
		load_check_also(l);
		load_check_removed(l);
		load_check_renames(l);
		load_refer(l);
		if (findings_errors(f) == before) {
			load_keyed(l);
			load_require_filtered(l);
			load_sound(l);
			load_shards(l);
		}
		if (findings_errors(f) == before)
			load_types(l);
		if (findings_errors(f) == before)
			load_names(l);
	}
	findings_sort(f);
	return findings_errors(f) == before ? l->d : NULL;
}

/* ---- files ---- */
static bool read_all(struct arena *a, FILE *file, struct slice *out)
{
	struct buf b;
	size_t n;

	buf_init(&b, a);
	do {
		n = fread(buf_room(&b, 65536), 1, 65536, file);
		b.n += n;
	} while (n && b.n <= YAML_SIZE_MAX);
	*out = buf_slice(&b);
	return !ferror(file);
}

static void close_file(void *p)
{
	FILE **file = p;

	if (*file)
		fclose(*file);
	*file = NULL;
}

const struct design *design_load_file(struct arena *a, const char *path, struct source *s, struct findings *f)
{
	FILE **file = arena_new(a, FILE *);
	bool read;

	*s = (struct source){ .file = arena_copy(a, slice_str(path)), .text = SLICE("") };
	arena_defer(a, close_file, file);
	*file = fopen(path, "rb");
	read = *file && read_all(a, *file, &s->text);
	if (!read)
		findings_add(f, SEVERITY_ERROR, "cannot-read", (struct place){ 0 }, "%s", strerror(errno));
	close_file(file);
	return read ? design_load(a, *s, NULL, NULL, f) : NULL;
}
