/* From raw rows to the rows shown: the items they lead to, as far as the caller may see them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/row.h"
#include "app/read/read_internal.h"

struct show_flow {
	struct flow s;
	struct pattern *p;
	struct flow *raw;
	int calls;
};

/* ---- rules ---- */

/* ASK_WHOLE: of the item in the table, since the row lacks attributes that the rule reads */
enum verdict { SHOW, DROP, ASK, ASK_WHOLE };

static bool is_asked(const struct term *rule)
{
	return rule && rule->kind != TERM_ALWAYS;
}

/* The entity's rule that rows must pass; NULL: none. */
static const struct term *rule_for(const struct pattern *p, const struct entity *e, const struct show_question *q)
{
	const struct term *rule = e && q->of_rows ? read_row_rule(e, q->verb, p->past_rules) : NULL;

	return is_asked(rule) ? rule : NULL;
}

static const struct term *own_rule(const struct pattern *p, const struct show_question *q)
{
	return q->of_list && p->row_rule && is_asked(p->access->allow) ? p->access->allow : NULL;
}

/* Whether rows of the entity have all that their rules read. */
static bool has_enough(const struct pattern *p, const struct entity *e, const struct show_question *q,
		       const struct term *rule, const struct term *own)
{
	const struct read_suffices *x;

	if (q->whole || !e || !p->known->suffices)
		return true;
	x = &p->known->suffices[e - p->g->r->design->entities];
	return (!rule || (q->verb == ALLOW_LIST ? x->list : x->read)) && (!own || x->own);
}

static enum verdict before_asking(const struct pattern *p, const struct entity *e, const struct show_question *q)
{
	const struct term *rule = rule_for(p, e, q), *own = own_rule(p, q);

	if (e && q->of_rows && !p->past_rules && !read_rule(e, q->verb) && !q->followed)
		return DROP;
	if (!rule && !own)
		return SHOW;
	return has_enough(p, e, q, rule, own) ? ASK : ASK_WHOLE;
}

/* A companion must pass the rule for everywhere of its entity: it carries what the rule reads, or the key that finds it
 * proves it. */
static const struct term *companion_rule(const struct pattern *p, const struct row *row, const struct show_question *q)
{
	const struct entity *of = q->of_rows ? entity_of_companion(p->g->r, row->full) : NULL;

	return of && (q->led || !p->known->keeps) ? of->everywhere : NULL;
}

/* Of items without an entity only companions are shown. They have no rule but the pattern's, and that for everywhere. */
static enum verdict of_stranger(const struct pattern *p, const struct found *row, const struct show_question *q)
{
	if (!entity_is_companion(p->g->r, row->stored))
		return DROP;
	return own_rule(p, q) || companion_rule(p, &row->shown, q) ? ASK : SHOW;
}

/* The rule of one entity at a time: rows of one entity mostly follow one another. */
struct asking {
	const struct entity *of; /* whose rule is in `asked`; NULL: none yet */
	const struct show_question *q;
	struct entity_asking asked;
};

static bool ask_rules(struct asking *x, struct pattern *p, const struct row *item, bool *may)
{
	const struct entity *e = item->entity;

	if (!pattern_holds(p, own_rule(p, x->q), item, may))
		return false;
	if (*may && !e && p->g->r->design->everywhere.rule)
		return pattern_holds(p, companion_rule(p, item, x->q), item, may);
	if (!*may || !rule_for(p, e, x->q))
		return true;
	if (x->of != e)
		entity_asking_rule(&x->asked, p->g->r, rule_for(p, e, x->q));
	x->of = e;
	return entity_ask(&x->asked, item, may);
}

/* Reads the whole items of the rows that need them. */
static bool whole_items(struct pattern *p, const struct found *rows, size_t n, const enum verdict *verdicts,
			struct value **items)
{
	struct run *r = p->g->r;
	struct value *keys = arena_array(r->arena, struct value, n);
	bool any = false;

	*items = arena_array(r->arena, struct value, n);
	for (size_t i = 0; i < n; i++)
		if (verdicts[i] == ASK_WHOLE) {
			keys[i] = dyn_key_of(r, rows[i].stored);
			any = true;
		}
	return !any || dyn_batch_get(r, keys, n, p->access->consistent || p->trusted, *items);
}

static void judge(struct pattern *p, const struct found *rows, size_t n, const struct show_question *q,
		  enum verdict *verdicts)
{
	const struct entity *last = NULL;
	enum verdict of_last = SHOW;

	for (size_t i = 0; i < n; i++) {
		const struct entity *e = rows[i].shown.entity;

		if (e && e != last) {
			of_last = before_asking(p, e, q);
			last = e;
		}
		verdicts[i] = e ? of_last : of_stranger(p, &rows[i], q);
	}
}

bool show_allowed(struct pattern *p, struct found *rows, size_t *n, const struct show_question *q)
{
	struct run *r = p->g->r;
	enum verdict *verdicts;
	struct asking asking = { .q = q };
	struct value *items;
	size_t kept = 0;

	if (p->open)
		return true;
	verdicts = arena_array(r->arena, enum verdict, *n);
	judge(p, rows, *n, q, verdicts);
	if (!whole_items(p, rows, *n, verdicts, &items))
		return false;
	for (size_t i = 0; i < *n; i++) {
		const struct row *row = &rows[i].shown;
		bool may = verdicts[i] == SHOW;
		struct row whole;

		if (verdicts[i] == ASK_WHOLE) {
			if (!value_present(items[i]))
				continue;
			whole = entity_lay(r, row->entity, items[i]);
			row = &whole;
		}
		if (verdicts[i] >= ASK && !ask_rules(&asking, p, row, &may))
			return false;
		if (may && kept++ != i)
			rows[kept - 1] = rows[i];
	}
	*n = kept;
	return true;
}

/* ---- then ---- */

static bool fits_key(const struct name *name, struct value v)
{
	return name->key && name->of_table && value_type(v) == name->key->type && value_bytes(v).n;
}

bool then_key(struct pattern *p, const struct found *row, struct value *key)
{
	struct run *r = p->g->r;
	const struct then_rule *t = &p->access->then;
	struct value_member *members = arena_array(r->arena, struct value_member, t->key_count);
	size_t n = 0;
	struct scope s;

	*key = VALUE_ABSENT;
	s = pattern_scope(p, &row->raw);
	for (size_t i = 0; i < t->key_count; i++) {
		struct value v;
		bool holds;

		if (!scope_holds(&s, t->keys[i].when, &holds))
			return false;
		if (!holds)
			continue;
		if (!scope_fill(&s, t->keys[i].template, false, &v))
			return false;
		if (!fits_key(t->keys[i].at, v))
			return true;
		members[n++] = (struct value_member){ t->keys[i].attribute, v };
	}
	if (n == (size_t)r->design->key.hash_count + r->design->key.range_count)
		*key = value_make_map(r->arena, members, n);
	return true;
}

/* Puts the item that a row leads to into the row. False: the item has expired, or is not of `said` (NULL: any entity):
 * a row may name anything, and other entities have other rules. */
static bool led_to(struct run *r, const struct entity *said, struct value stored, struct found *row)
{
	struct row item = row_of(stored);
	const struct entity *e = entity_of_likely(r, stored, said);

	if (said && e != said)
		return false;
	if (e)
		item = entity_lay(r, e, stored);
	if (item.values && item.full.p == stored.p ? entity_item_expired(r, &item) : entity_expired(r, stored))
		return false;
	row->stored = stored;
	row->shown = item;
	return true;
}

static bool fetch(struct pattern *p, struct found *rows, size_t *n)
{
	struct run *r = p->g->r;
	const struct then_rule *t = &p->access->then;
	struct value *keys = arena_array(r->arena, struct value, *n);
	struct value *items = arena_array(r->arena, struct value, *n);
	size_t kept = 0;
	bool keep;

	for (size_t i = 0; i < *n; i++)
		if (!then_key(p, &rows[i], &keys[i]))
			return false;
	if (!dyn_batch_get(r, keys, *n, p->access->consistent || p->trusted, items))
		return false;
	for (size_t i = 0; i < *n; i++) {
		struct found row = rows[i];

		if (!value_present(items[i]) || !led_to(r, t->of, items[i], &row))
			continue;
		if (!pattern_holds(p, t->keep, &row.shown, &keep))
			return false;
		if (keep)
			rows[kept++] = row;
	}
	*n = kept;
	return true;
}

/* ---- the flow ---- */

/* A merge leaves out what its own `without` names when it is shown; what its parts leave out goes here. */
static void leave_out(const struct pattern *p, struct found *rows, size_t n)
{
	for (size_t i = 0; p->child && i < n; i++)
		for (size_t k = 0; k < p->access->without_count; k++)
			if (value_present(row_get(&rows[i].shown, p->access->without_at[k])))
				rows[i].shown = row_without(p->g->r->arena, &rows[i].shown, p->access->without[k]);
}

static bool show_rows(struct pattern *p, struct found *rows, size_t *n)
{
	const struct access *a = p->access;
	bool one = a->kind == ACCESS_GET || a->kind == ACCESS_BATCH || a->single;
	struct show_question q = { .verb = ALLOW_LIST, .of_rows = true, .followed = true, .whole = !p->known->suffices };

	if (a->has_then) {
		/* Rows that the caller may not see lead nowhere. The parts of a merge have checked that already. */
		if ((a->kind != ACCESS_MERGE && !show_allowed(p, rows, n, &q)) || !fetch(p, rows, n))
			return false;
		q.whole = q.led = true;
	}
	q.verb = one ? ALLOW_READ : ALLOW_LIST;
	q.of_rows = a->kind != ACCESS_MERGE || a->has_then;
	q.of_list = true;
	q.followed = p->followed;
	if (!show_allowed(p, rows, n, &q))
		return false;
	leave_out(p, rows, *n);
	return true;
}

static bool show_more(struct flow *s, size_t want)
{
	struct show_flow *x = (struct show_flow *)s;
	size_t most = want << x->calls, n = 1;
	struct found first, *rows;
	bool got;

	most = most < READ_MOST_CHUNK ? most : READ_MOST_CHUNK;
	if (x->calls < 8)
		x->calls++;
	if (!flow_next(x->raw, most, &first, &got))
		return false;
	if (!got) {
		s->ended = x->raw->ended;
		s->now = x->raw->now;
		return true;
	}
	/* Most lists have far fewer rows than they may have. */
	if (most > 1 + x->raw->count - x->raw->head)
		most = 1 + x->raw->count - x->raw->head;
	rows = arena_alloc(s->g->r->arena, arena_array_size(sizeof(*rows), most));
	rows[0] = first;
	while (n < most && x->raw->head < x->raw->count)
		if (!flow_next(x->raw, 1, &rows[n++], &got))
			return false;
	if (!show_rows(x->p, rows, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		flow_push(s, &rows[i]);
	if (!n)
		s->now = x->raw->now;
	return true;
}

static void show_save(struct flow *s, const struct read_place *place, struct buf *b)
{
	struct show_flow *x = (struct show_flow *)s;

	x->raw->ops->save(x->raw, place, b);
}

static bool show_load(struct flow *s, struct slice saved)
{
	struct show_flow *x = (struct show_flow *)s;

	if (!flow_load(x->raw, saved))
		return false;
	s->now = x->raw->now;
	return true;
}

static const struct flow_ops show_ops = { show_more, show_save, show_load };

struct flow *show_open(struct pattern *p, struct flow *raw)
{
	const struct access *a = p->access;
	bool strips = p->child && a->without_count;
	struct show_flow *x;

	if (!a->has_then && !p->row_rule && !strips && (p->open || a->kind == ACCESS_MERGE))
		return raw;
	x = arena_new(p->g->r->arena, struct show_flow);
	x->s.ops = &show_ops;
	x->s.g = p->g;
	x->p = p;
	x->raw = raw;
	return &x->s;
}
