/* Findings: in words, as JSON, and which of them are reported.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"
#include "oracle/oracle_internal.h"
#include "value/codec.h"

#define SAID_MOST 200 /* bytes of a value in a sentence */

const char *oracle_kind_name(enum oracle_kind k)
{
	static const char *const names[] = {
#define X(id, name) name,
		ORACLE_KIND_MAP(X)
#undef X
	};

	return k < ORACLE_KINDS ? names[k] : "?";
}

/* ---- in words ---- */

static void put_scalar(struct buf *b, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_S: buf_put(b, value_bytes(v)); break;
	case VALUE_N:
		n = value_number(v);
		buf_add(b, text, number_format(&n, text));
		break;
	default: value_to_json(b, v); break;
	}
}

static struct slice shortened(struct buf *b)
{
	if (b->n > SAID_MOST) {
		b->n = SAID_MOST;
		while (b->n && ((unsigned char)b->p[b->n - 1] & 0xc0) == 0x80)
			b->n--; /* not within a character */
		if (b->n && (unsigned char)b->p[b->n - 1] >= 0xc0)
			b->n--;
		buf_lit(b, "…");
	}
	return buf_slice(b);
}

struct slice say_value(struct run *r, struct value v)
{
	struct buf b;

	buf_init(&b, r->arena);
	if (!value_present(v))
		return SLICE("nothing");
	if (value_type(v) == VALUE_S) {
		buf_byte(&b, '\'');
		buf_put(&b, value_bytes(v));
		shortened(&b);
		buf_byte(&b, '\'');
		return buf_slice(&b);
	}
	if (value_type(v) == VALUE_BOOL)
		return value_bool(v) ? SLICE("true") : SLICE("false");
	put_scalar(&b, v);
	return shortened(&b);
}

struct slice say_key(struct run *r, struct value key)
{
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; i < key_count(r->design); i++) {
		if (i)
			buf_lit(&b, " / ");
		put_scalar(&b, key_part(key, r->design->key_at[i]));
	}
	return buf_slice(&b);
}

struct slice say_item(struct run *r, const struct entity *e, struct value key)
{
	struct row item;
	struct buf b;

	buf_init(&b, r->arena);
	if (!e)
		return say_key(r, key);
	item = entity_lay(r, e, key);
	buf_put(&b, e->name);
	for (size_t i = 0; i < e->param_count; i++) {
		struct value v = row_get(&item, e->param_at[i]);

		if (!value_present(v)) {
			b.n = 0;
			buf_lit(&b, "the ");
			buf_put(&b, e->name);
			buf_lit(&b, " at ");
			buf_put(&b, say_key(r, key));
			break;
		}
		buf_byte(&b, i ? '/' : ' ');
		put_scalar(&b, v);
	}
	return buf_slice(&b);
}

/* ---- as JSON ---- */

static void put_member(struct buf *b, const char *name, struct slice text)
{
	if (text.n)
		json_member_string(b, name, text);
}

static void put_item(struct buf *b, const char *name, struct value v)
{
	if (!value_present(v))
		return;
	json_name(b, name);
	if (value_type(v) == VALUE_M)
		item_to_json(b, v);
	else
		value_to_json(b, v);
}

/* A map that is an attribute's value is {"M":…}; an item or a key is not. */
static void put_value(struct buf *b, const char *name, struct value v, bool whole)
{
	if (whole || !value_present(v)) {
		put_item(b, name, v);
		return;
	}
	json_name(b, name);
	value_to_json(b, v);
}

static bool is_about_items(enum oracle_kind k)
{
	return k == ORACLE_GUARD_MISSING || k == ORACLE_GUARD_DIFFERS || k == ORACLE_GUARD_LEFT ||
	       k == ORACLE_COMPANION_MISSING || k == ORACLE_COMPANION_DIFFERS || k == ORACLE_COMPANION_LEFT;
}

void oracle_finding_json(struct buf *b, const struct design *d, const struct oracle_finding *f)
{
	static const char *const weights[] = { "difference", "pending", "note" };
	bool whole = is_about_items(f->kind);

	json_open(b, '{');
	json_member_word(b, "kind", oracle_kind_name(f->kind));
	json_member_word(b, "severity", weights[f->weight]);
	put_member(b, "design", d->name);
	put_member(b, "entity", f->entity ? f->entity->name : SLICE(""));
	put_item(b, "key", f->key);
	put_member(b, "attribute", f->attribute);
	put_value(b, "found", f->found, whole);
	put_value(b, "expected", f->expected, whole);
	if (f->other_entity || value_present(f->other)) {
		json_member_open(b, "other", '{');
		put_member(b, "entity", f->other_entity ? f->other_entity->name : SLICE(""));
		put_item(b, "key", f->other);
		json_close(b, '}');
	}
	put_member(b, "sentence", f->sentence);
	json_close(b, '}');
}

/* ---- which are reported ---- */

static uint64_t hash_of(struct oracle *o, const struct oracle_finding *f)
{
	struct buf b;

	buf_init(&b, o->run.arena);
	buf_byte(&b, (uint8_t)f->kind);
	fact_put_value(&b, f->key);
	buf_part(&b, f->attribute);
	fact_put_value(&b, f->found);
	fact_put_value(&b, f->expected);
	fact_put_value(&b, f->other);
	if (!value_present(f->key))
		buf_put(&b, f->sentence);
	return hash_bytes(buf_slice(&b));
}

static bool has_key(const struct hash_set *s, struct value key)
{
	return value_present(key) && hash_set_has(s, hash_bytes(value_slice(key)));
}

/* Whether the keeper or a processor will mend it: it has not seen a change of the item, or of the one this follows
 * from. */
static bool is_pending(const struct oracle *o, const struct oracle_finding *f)
{
	switch (f->kind) {
	case ORACLE_DERIVED_DIFFERS:
	case ORACLE_KEY_DIFFERS: return has_key(&o->counted, f->key);
	case ORACLE_COMPANION_MISSING:
	case ORACLE_COMPANION_DIFFERS: return has_key(&o->counted, f->other);
	case ORACLE_COPY_DIFFERS: return has_key(&o->copied, f->key) || has_key(&o->copied, f->other);
	case ORACLE_OUTLIVED: return has_key(&o->unseen, f->other);
	case ORACLE_FILE_LEFT: return o->waiting;
	default: return false;
	}
}

/* Whether an item that it compares with another one changed meanwhile. */
static bool is_moving(const struct oracle *o, const struct oracle_finding *f)
{
	return o->group_hash && (has_key(&o->touched, f->key) || has_key(&o->touched, f->other));
}

static void deliver(struct oracle *o, const struct oracle_finding *f)
{
	struct oracle_summary *s = o->summary;

	s->kinds[f->kind]++;
	s->differences += f->weight == ORACLE_DIFFERENCE;
	s->pending += f->weight == ORACLE_PENDING;
	s->notes += f->weight == ORACLE_NOTE;
	if (o->options->tell)
		o->options->tell(o->options->ctx, f);
}

void tell(struct oracle *o, struct oracle_finding *f, const char *fmt, ...)
{
	bool once = o->options->passes <= 1 || f->kind == ORACLE_NOT_JUDGED || f->kind == ORACLE_KEEPER_BEHIND;
	va_list ap;
	uint64_t h;

	va_start(ap, fmt);
	f->sentence = arena_vprintf(o->run.arena, fmt, ap);
	va_end(ap);
	if (f->weight == ORACLE_DIFFERENCE && is_pending(o, f))
		f->weight = ORACLE_PENDING;
	if (once) {
		deliver(o, f);
		return;
	}
	h = hash_of(o, f);
	/* Out of memory: a finding is reported rather than lost. */
	if (!hash_set_add(&o->seen, h) || !hash_set_add(&o->candidates, h) ||
	    (o->group_hash && !hash_set_add(&o->next_suspects, o->group_hash)))
		deliver(o, f);
	else if (!is_moving(o, f) && hash_set_has(&o->seen_before, h) && !hash_set_has(&o->told, h)) {
		if (hash_set_add(&o->told, h))
			deliver(o, f);
	}
}
