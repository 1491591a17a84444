/* Can two key templates give the same string? The question behind every "does this query find that item".
 *
 * A template becomes a row of atoms (a literal character; any character but '#'; any number of those), and two rows
 * are walked together. SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

enum atom_kind { ATOM_LITERAL, ATOM_ANY, ATOM_DIGIT, ATOM_MORE };

struct atom {
	enum atom_kind kind;
	char c;
};

struct atoms {
	struct atom *list;
	size_t n;
};

/* Times and numbers begin with a digit, so they never meet METADATA or POST#. */
static bool begins_with_digit(const struct template_part *p, const struct entity *e)
{
	if (format_begins_with_digit(p->format))
		return true;
	const struct attribute *a = e && p->name_count == 1 ? entity_attribute(e, p->names[0]) : NULL;
	return a && (a->type == ATTR_TIMESTAMP || a->type == ATTR_EPOCH);
}

/* A literal word never meets a placeholder of an enum without that choice: STATUS#published and STATUS#<status>. Both
 * templates must be alike up to there, so that the literal is known to be the whole word. */
static bool words_meet(const struct template *a, const struct template *b, const struct entity *e)
{
	struct slice la = template_prefix(a), lb = template_prefix(b);
	const struct template_part *hole = b->part_count > 1 ? &b->parts[1] : NULL;
	const struct attribute *x =
		e && lb.n && hole && hole->names && hole->name_count == 1 ? entity_attribute(e, hole->names[0]) : NULL;
	if (!x || x->type != ATTR_ENUM || hole->format != FORMAT_PLAIN || la.n <= lb.n || !slice_starts(la, lb))
		return true;
	struct slice rest = slice_make(la.p + lb.n, la.n - lb.n);
	const char *end = memchr(rest.p, '#', rest.n);
	if (!end && (a->part_count > 1 || b->part_count > 2))
		return true;
	if (end)
		rest.n = (size_t)(end - rest.p);
	return slice_among(x->choices, x->choice_count, rest);
}

static struct atoms to_atoms(struct arena *arena, const struct template *t, const struct entity *e)
{
	size_t room = 0;
	EACH (struct template_part, p, t->parts, t->part_count)
		room += p->names ? 2 : p->literal.n;
	struct atoms out = { arena_array(arena, struct atom, room + 1), 0 };
	EACH (struct template_part, p, t->parts, t->part_count) {
		if (p->names) {
			out.list[out.n++].kind = begins_with_digit(p, e) ? ATOM_DIGIT : ATOM_ANY;
			out.list[out.n++].kind = ATOM_MORE;
			continue;
		}
		for (size_t i = 0; i < p->literal.n; i++)
			out.list[out.n++] = (struct atom){ ATOM_LITERAL, p->literal.p[i] };
	}
	return out;
}

static bool one_meets(struct atom x, struct atom y)
{
	if (x.kind == ATOM_LITERAL && y.kind == ATOM_LITERAL)
		return x.c == y.c;
	if (x.kind != ATOM_LITERAL && y.kind != ATOM_LITERAL)
		return true;
	struct atom literal = x.kind == ATOM_LITERAL ? x : y;
	struct atom other = x.kind == ATOM_LITERAL ? y : x;
	if (other.kind == ATOM_DIGIT)
		return (literal.c >= '0' && literal.c <= '9') || literal.c == '-';
	return literal.c != '#';
}

struct walk {
	struct atoms a, b;
	bool prefix;   /* a needs only be the beginning */
	uint8_t *seen; /* pairs that were tried without success */
};

static bool only_more(const struct atoms *t, size_t from)
{
	for (size_t i = from; i < t->n; i++)
		if (t->list[i].kind != ATOM_MORE)
			return false;
	return true;
}

static bool walk_on(struct walk *w, size_t i, size_t j)
{
	if (i == w->a.n)
		return w->prefix || only_more(&w->b, j);
	if (j == w->b.n)
		return only_more(&w->a, i);
	uint8_t *seen = &w->seen[i * (w->b.n + 1) + j];
	if (*seen)
		return false;
	*seen = 1;
	struct atom x = w->a.list[i], y = w->b.list[j];
	if (x.kind == ATOM_MORE && y.kind == ATOM_MORE)
		return walk_on(w, i + 1, j) || walk_on(w, i, j + 1);
	if (x.kind == ATOM_MORE)
		return walk_on(w, i + 1, j) || (one_meets(x, y) && walk_on(w, i, j + 1));
	if (y.kind == ATOM_MORE)
		return walk_on(w, i, j + 1) || (one_meets(x, y) && walk_on(w, i + 1, j));
	return one_meets(x, y) && walk_on(w, i + 1, j + 1);
}

static bool meets(struct arena *arena, const struct template *a, const struct template *b, const struct entity *entity,
		  bool prefix)
{
	if (template_is_bare(a)) /* a parameter may hold a whole key */
		return true;
	if (!prefix && !words_meet(a, b, entity))
		return false;
	struct walk w = { to_atoms(arena, a, NULL), to_atoms(arena, b, entity), prefix, NULL };
	w.seen = arena_zalloc(arena, (w.a.n + 1) * (w.b.n + 1));
	return walk_on(&w, 0, 0);
}

bool template_meets(struct arena *arena, const struct template *a, const struct template *b, const struct entity *entity)
{
	return meets(arena, a, b, entity, false);
}

bool template_begins(struct arena *arena, const struct template *a, const struct template *b,
		     const struct entity *entity)
{
	return meets(arena, a, b, entity, true);
}

bool template_names(const struct template *t, struct slice attribute)
{
	EACH (struct template_part, p, t->parts, t->part_count)
		if (p->names && slice_equal(p->names[p->name_count - 1], attribute))
			return true;
	return false;
}

size_t template_holes(const struct template *t)
{
	size_t n = 0;
	EACH (struct template_part, p, t->parts, t->part_count)
		n += p->names != NULL;
	return n;
}

const struct template_part *template_hole(const struct template *t, size_t i)
{
	EACH (struct template_part, p, t->parts, t->part_count)
		if (p->names && i-- == 0)
			return p;
	return NULL;
}
