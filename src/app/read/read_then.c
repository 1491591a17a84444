/* What is shown of raw rows: the items they lead to, and of those what the caller may see.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/row.h"
#include "app/read/read_where.h"

struct show_flow {
	struct flow s;
	struct pattern *p;
	struct flow *raw;
	int calls;
};

/* ---- rules ---- */

static const struct term *rule_of(const struct entity *e, enum allow_verb verb)
{
	return e->allow[verb] || verb != ALLOW_LIST ? e->allow[verb] : e->allow[ALLOW_READ];
}

/* Whether an index's row has all that the rule looks at. */
static bool suffices(const struct pattern *p, const struct entity *e, const struct term *rule)
{
	struct name_list names = { 0 };

	names_of_term(p->g->r->arena, &names, e, rule);
	for (size_t i = 0; i < names.count; i++) {
		const struct attribute *a = entity_attribute(e, names.list[i]);
		bool identity = false;

		for (size_t k = 0; k < e->param_count; k++)
			identity = identity || slice_equal(e->params[k], names.list[i]);
		if (!identity && !(a && a->from_key) && !query_projects(p, names.list[i]))
			return false;
	}
	return true;
}

static bool is_partial(const struct pattern *p)
{
	const struct design_index *i = p->access->index.n ? design_index(p->g->r->design, p->access->index) : NULL;

	return i && i->projection != PROJECT_ALL;
}

enum verdict { SHOW, DROP, ASK, ASK_WHOLE /* of the item in the table, for the row has not enough of it */ };

static bool is_asked(const struct term *rule)
{
	return rule && rule->kind != TERM_ALWAYS;
}

/* The rule of the entity that is to be asked; NULL: none is. */
static const struct term *rule_for(const struct pattern *p, const struct entity *e, const struct show_question *q)
{
	const struct term *rule = e && q->of_rows && !p->past_rules ? rule_of(e, q->verb) : NULL;

	return is_asked(rule) ? rule : NULL;
}

static const struct term *own_rule(const struct pattern *p, const struct show_question *q)
{
	return q->of_list && p->row_rule && is_asked(p->access->allow) ? p->access->allow : NULL;
}

static enum verdict before_asking(const struct pattern *p, const struct entity *e, const struct show_question *q)
{
	const struct term *rule = rule_for(p, e, q), *own = own_rule(p, q);

	if (e && q->of_rows && !p->past_rules && !rule_of(e, q->verb) && !q->followed)
		return DROP;
	if (!rule && !own)
		return SHOW;
	if (q->whole || !e || ((!rule || suffices(p, e, rule)) && (!own || suffices(p, e, own))))
		return ASK;
	return ASK_WHOLE;
}

/* Of what is no entity's: companions have the shape that one is given. There is no rule to ask of them but the pattern's. */
static enum verdict of_stranger(const struct pattern *p, const struct found *row, const struct show_question *q)
{
	if (!entity_is_companion(p->g->r, row->stored))
		return DROP;
	return own_rule(p, q) ? ASK : SHOW;
}

/* The pattern's own rule, where it looks at rows. */
static bool ask_pattern(struct pattern *p, const struct row *item, bool *may)
{
	struct scope s = pattern_scope(p, VALUE_ABSENT);

	s.item = item;
	return scope_holds(&s, p->access->allow, may);
}

/* The rules of the rows' entities; those of one entity mostly follow one another. */
struct asking {
	const struct entity *of; /* whose rule `asked` asks; NULL: nobody's yet */
	const struct show_question *q;
	struct entity_asking asked;
};

static bool ask(struct asking *x, struct pattern *p, const struct row *item, bool *may)
{
	const struct entity *e = item->entity;

	*may = true;
	if (own_rule(p, x->q) && !ask_pattern(p, item, may))
		return false;
	if (!*may || !rule_for(p, e, x->q))
		return true;
	if (x->of != e)
		entity_asking_init(&x->asked, p->g->r, e, x->q->verb);
	x->of = e;
	return entity_ask(&x->asked, item, may);
}

/* The whole items of the rows that need them, where those are. */
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
		if (verdicts[i] >= ASK && !ask(&asking, p, row, &may))
			return false;
		if (may && kept++ != i)
			rows[kept - 1] = rows[i];
	}
	*n = kept;
	return true;
}

/* ---- then ---- */

static bool fits_key(const struct key_schema *k, struct slice name, struct value v)
{
	for (size_t i = 0; i < k->hash_count; i++)
		if (slice_equal(k->hash[i].name, name))
			return value_type(v) == k->hash[i].type && value_bytes(v).n;
	for (size_t i = 0; i < k->range_count; i++)
		if (slice_equal(k->range[i].name, name))
			return value_type(v) == k->range[i].type && value_bytes(v).n;
	return false;
}

bool then_key(struct pattern *p, const struct found *row, struct value *key)
{
	struct run *r = p->g->r;
	const struct then_rule *t = &p->access->then;
	struct value_member *members = arena_array(r->arena, struct value_member, t->key_count);
	size_t n = 0;
	struct scope s;

	*key = VALUE_ABSENT;
	s = pattern_scope_raw(p, row);
	for (size_t i = 0; i < t->key_count; i++) {
		struct value v;
		bool holds;

		if (!scope_holds(&s, t->keys[i].when, &holds))
			return false;
		if (!holds)
			continue;
		if (!scope_fill(&s, t->keys[i].template, false, &v))
			return false;
		if (!fits_key(&r->design->key, t->keys[i].attribute, v))
			return true;
		members[n++] = (struct value_member){ t->keys[i].attribute, v };
	}
	if (n == (size_t)r->design->key.hash_count + r->design->key.range_count)
		*key = value_make_map(r->arena, members, n);
	return true;
}

static bool keeps(struct pattern *p, const struct row *row, bool *keep)
{
	struct scope s;

	*keep = true;
	if (!p->access->then.keep)
		return true;
	s = pattern_scope(p, VALUE_ABSENT);
	s.item = row;
	return scope_holds(&s, p->access->then.keep, keep);
}

/* The row with what it leads to, an item of `said` (NULL: of whatever it is); false: that has expired, or is of another entity,
 * whose rules are others: what a row names may be anything. */
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
	const struct entity *e = t->entity.n ? design_entity(r->design, t->entity) : NULL;
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

		if (!value_present(items[i]) || !led_to(r, e, items[i], &row))
			continue;
		if (!keeps(p, &row.shown, &keep))
			return false;
		if (keep)
			rows[kept++] = row;
	}
	*n = kept;
	return true;
}

/* ---- the flow ---- */

/* A merge shows what its own `without` leaves; what those of its parts leave out has to go here. */
static void leave_out(const struct pattern *p, struct found *rows, size_t n)
{
	for (size_t i = 0; p->child && i < n; i++)
		for (size_t k = 0; k < p->access->without_count; k++)
			if (value_present(row_find(&rows[i].shown, p->access->without[k])))
				rows[i].shown = row_without(p->g->r->arena, &rows[i].shown, p->access->without[k]);
}

static bool show_rows(struct pattern *p, struct found *rows, size_t *n)
{
	const struct access *a = p->access;
	bool one = a->kind == ACCESS_GET || a->kind == ACCESS_BATCH || a->single;
	struct show_question q = {
		.verb = ALLOW_LIST, .of_rows = true, .followed = true, .whole = a->kind != ACCESS_QUERY || !is_partial(p)
	};

	if (a->has_then) {
		/* who may not see a row is not led on by it either; the parts of a merge have asked */
		if ((a->kind != ACCESS_MERGE && !show_allowed(p, rows, n, &q)) || !fetch(p, rows, n))
			return false;
		q.whole = true;
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
	/* Of a thousand that may come, most lists have few. */
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
