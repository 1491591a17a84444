/* Terms as DynamoDB condition and filter expressions.
 *
 * What does not read the item is evaluated first. DynamoDB has no constants true and false, refuses
 * comparisons whose values could never match (x < true, bounds in the wrong order, an attribute
 * with itself) and unused placeholders; so every part is either known now, and then leaves nothing
 * behind, or written in a form DynamoDB takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term_internal.h"
#include "expr/limits.h"
#include "value/codec.h"

/* ---- writing ---- */

/* What a part turned out to be: an error, known, or text that holds together as loosely as said.
 * Invariant: a part that failed or is known has left nothing in text, names and values. */
enum outcome { FAILED, FALSE, TRUE, LEAF, NOT, AND, OR };

struct writer {
	struct term_filter *f;
	const struct term_scope *scope;
	struct error *e;
};

struct operand {
	enum { OPERAND_VALUE, OPERAND_ATTRIBUTE, OPERAND_SIZE } kind;
	struct value value; /* may be absent */
	struct slice name;
};

/* Where the three texts stood, to go back to. */
struct mark {
	size_t text, names, values;
	int next;
};

static struct mark mark(const struct writer *w)
{
	const struct term_filter *f = w->f;

	return (struct mark){ f->text.n, f->names.n, f->values.n, f->next };
}

static enum outcome back(struct writer *w, struct mark m, enum outcome o)
{
	w->f->text.n = m.text;
	w->f->names.n = m.names;
	w->f->values.n = m.values;
	w->f->next = m.next;
	return o;
}

static enum outcome known(bool holds)
{
	return holds ? TRUE : FALSE;
}

static void insert(struct buf *b, size_t at, struct slice s)
{
	char *room = buf_room(b, s.n) - b->n + at;

	memmove(room + s.n, room, b->n - at);
	memcpy(room, s.p, s.n);
	b->n += s.n;
}

static void put_parentheses(struct writer *w, size_t from)
{
	insert(&w->f->text, from, SLICE("("));
	buf_byte(&w->f->text, ')');
}

/* A placeholder in the text, and its member without the value: "#f0": */
static void put_placeholder(struct writer *w, char sign, struct buf *members)
{
	struct term_filter *f = w->f;

	buf_printf(&f->text, "%c%s%d", sign, f->prefix, f->next);
	buf_printf(members, "%s\"%c%s%d\":", members->n ? "," : "", sign, f->prefix, f->next);
	f->next++;
}

static void put_name(struct writer *w, struct slice name)
{
	put_placeholder(w, '#', &w->f->names);
	json_string(&w->f->names, name);
}

static void put_value(struct writer *w, struct value v)
{
	put_placeholder(w, ':', &w->f->values);
	value_to_json(&w->f->values, v);
}

static void put_operand(struct writer *w, const struct operand *o)
{
	switch (o->kind) {
	case OPERAND_VALUE: put_value(w, o->value); break;
	case OPERAND_ATTRIBUTE: put_name(w, o->name); break;
	case OPERAND_SIZE:
		buf_lit(&w->f->text, "size(");
		put_name(w, o->name);
		buf_byte(&w->f->text, ')');
		break;
	}
}

static bool read_operand(struct writer *w, const struct term *t, struct operand *out)
{
	*out = (struct operand){ .kind = OPERAND_VALUE };
	if (!term_reads_item(t))
		return term_value(t, w->scope, &out->value, w->e);
	out->kind = t->kind == TERM_PATH ? OPERAND_ATTRIBUTE : OPERAND_SIZE;
	out->name = t->kind == TERM_PATH ? t->names[0] : t->args[0]->names[0];
	return true;
}

static bool is_value(const struct operand *o)
{
	return o->kind == OPERAND_VALUE;
}

static bool is_same(const struct operand *x, const struct operand *y)
{
	return x->kind == OPERAND_ATTRIBUTE && y->kind == OPERAND_ATTRIBUTE &&
	       slice_equal(x->name, y->name);
}

static enum outcome put_function(struct writer *w, const char *function, const struct operand *x,
				 const struct operand *y)
{
	struct buf *text = &w->f->text;

	buf_printf(text, "%s(", function);
	put_operand(w, x);
	if (y) {
		buf_lit(text, ", ");
		put_operand(w, y);
	}
	buf_byte(text, ')');
	return LEAF;
}

/* The attribute is of one of these types, as of "SB". */
static enum outcome put_types(struct writer *w, const struct operand *x, const char *types)
{
	struct arena *a = w->f->text.arena;

	for (const char *t = types; *t; t++) {
		struct operand type = { .value = value_make_s(a, slice_make(t, 1)) };

		if (t > types)
			buf_lit(&w->f->text, " OR ");
		put_function(w, "attribute_type", x, &type);
	}
	return OR;
}

/* ---- comparisons ---- */

static const char *sign_of(enum term_kind op)
{
	switch (op) {
	case TERM_EQ: return " = ";
	case TERM_NE: return " <> ";
	case TERM_LT: return " < ";
	case TERM_LE: return " <= ";
	case TERM_GT: return " > ";
	default: return " >= ";
	}
}

static enum outcome compare_same(struct writer *w, enum term_kind op, const struct operand *x)
{
	switch (op) {
	case TERM_EQ: return put_function(w, "attribute_exists", x, NULL);
	case TERM_NE: return put_function(w, "attribute_not_exists", x, NULL);
	case TERM_LE:
	case TERM_GE: return put_types(w, x, "SNB");
	default: return FALSE;
	}
}

/* Whether DynamoDB takes the operand in a comparison by order: it refuses what has none. */
static bool may_have_order(const struct operand *o)
{
	return !is_value(o) || term_is_ordered(o->value);
}

static enum outcome compare(struct writer *w, enum term_kind op, const struct operand *x,
			    const struct operand *y)
{
	bool equality = op == TERM_EQ || op == TERM_NE;

	if (is_value(x) && is_value(y))
		return known(term_compare(op, x->value, y->value));
	if ((is_value(x) && !value_present(x->value)) || (is_value(y) && !value_present(y->value)))
		return known(op == TERM_NE);
	if (!equality && (!may_have_order(x) || !may_have_order(y)))
		return FALSE;
	if (is_same(x, y))
		return compare_same(w, op, x);
	put_operand(w, x);
	buf_str(&w->f->text, sign_of(op));
	put_operand(w, y);
	return LEAF;
}

/* Both must hold, of which the first has been written since `m`. */
static enum outcome both(struct writer *w, struct mark m, enum outcome x,
			 const struct operand *const y[2])
{
	struct buf *text = &w->f->text;
	size_t at;
	enum outcome o;

	if (x == FALSE)
		return FALSE;
	if (x == OR)
		put_parentheses(w, m.text);
	if (x != TRUE)
		buf_lit(text, " AND ");
	at = text->n;
	o = compare(w, TERM_LE, y[0], y[1]);
	if (o == FALSE)
		return back(w, m, FALSE);
	if (o == TRUE) {
		text->n = x == TRUE ? at : at - strlen(" AND ");
		return x == OR ? LEAF : x;
	}
	if (x == TRUE)
		return o;
	if (o == OR)
		put_parentheses(w, at);
	return AND;
}

static enum outcome between(struct writer *w, const struct operand x[3])
{
	const struct operand *const upper[] = { &x[0], &x[2] };
	struct mark m = mark(w);

	for (int i = 0; i < 3; i++)
		if (!may_have_order(&x[i]))
			return FALSE;
	if (is_value(&x[1]) && is_value(&x[2]) && !term_compare(TERM_LE, x[1].value, x[2].value))
		return FALSE;
	if (is_same(&x[0], &x[1]) || is_same(&x[0], &x[2]))
		return both(w, m, compare(w, TERM_GE, &x[0], &x[1]), upper);
	put_operand(w, &x[0]);
	buf_lit(&w->f->text, " BETWEEN ");
	put_operand(w, &x[1]);
	buf_lit(&w->f->text, " AND ");
	put_operand(w, &x[2]);
	return LEAF;
}

static enum outcome in(struct writer *w, const struct operand *x, const struct operand *list,
		       size_t n)
{
	struct mark m = mark(w);
	size_t left = 0;

	if (is_value(x) && !value_present(x->value))
		return FALSE;
	put_operand(w, x);
	buf_lit(&w->f->text, " IN (");
	for (size_t i = 0; i < n; i++) {
		if (is_same(x, &list[i])) {
			back(w, m, TRUE);
			return put_function(w, "attribute_exists", x, NULL);
		}
		if (is_value(&list[i]) && !value_present(list[i].value))
			continue;
		if (is_value(x) && is_value(&list[i])) {
			if (value_equal(x->value, list[i].value))
				return back(w, m, TRUE);
			continue;
		}
		if (left++)
			buf_lit(&w->f->text, ", ");
		put_operand(w, &list[i]);
	}
	if (!left)
		return back(w, m, FALSE);
	buf_byte(&w->f->text, ')');
	return LEAF;
}

/* begins_with and contains are never true of these. */
static bool never_begins(const struct operand *o)
{
	enum value_type t = value_type(o->value);

	return o->kind == OPERAND_SIZE || (is_value(o) && t != VALUE_S && t != VALUE_B);
}

static bool never_contains(const struct operand *in_, const struct operand *what)
{
	if (in_->kind == OPERAND_SIZE || (is_value(what) && !value_present(what->value)))
		return true;
	if (!is_value(in_))
		return false;
	switch (value_type(in_->value)) {
	case VALUE_NONE:
	case VALUE_N:
	case VALUE_BOOL:
	case VALUE_NULL:
	case VALUE_M: return true;
	default: return false;
	}
}

static enum outcome present(struct writer *w, const struct operand *x, bool wanted)
{
	struct operand zero = { .value = VALUE_ABSENT };

	if (is_value(x))
		return known(value_present(x->value) == wanted);
	if (x->kind == OPERAND_ATTRIBUTE)
		return put_function(w, wanted ? "attribute_exists" : "attribute_not_exists", x,
				    NULL);
	/* There is a size where it can be compared with a number. */
	zero.value = value_make_i64(w->f->text.arena, 0);
	if (!wanted)
		buf_lit(&w->f->text, "NOT ");
	compare(w, TERM_GE, x, &zero);
	return wanted ? LEAF : NOT;
}

static enum outcome write_comparison(struct writer *w, const struct term *t)
{
	struct operand *x = arena_array(w->f->text.arena, struct operand, t->arg_count);

	for (size_t i = 0; i < t->arg_count; i++)
		if (!read_operand(w, t->args[i], &x[i]))
			return FAILED;
	switch (t->kind) {
	case TERM_IN: return in(w, &x[0], x + 1, t->arg_count - 1);
	case TERM_BETWEEN: return between(w, x);
	case TERM_PRESENT:
	case TERM_ABSENT: return present(w, &x[0], t->kind == TERM_PRESENT);
	case TERM_BEGINS:
		if (never_begins(&x[0]) || never_begins(&x[1]))
			return FALSE;
		return is_same(&x[0], &x[1]) ? put_types(w, &x[0], "SB")
					     : put_function(w, "begins_with", &x[0], &x[1]);
	case TERM_CONTAINS:
		if (never_contains(&x[0], &x[1]))
			return FALSE;
		return is_same(&x[0], &x[1]) ? put_types(w, &x[0], "SB")
					     : put_function(w, "contains", &x[0], &x[1]);
	default: return compare(w, t->kind, &x[0], &x[1]);
	}
}

/* ---- logic ---- */

static enum outcome write_condition(struct writer *w, const struct term *t);

static enum outcome write_not(struct writer *w, const struct term *t)
{
	size_t at = w->f->text.n;
	enum outcome o;

	if (t->args[0]->kind == TERM_NOT)
		return write_condition(w, t->args[0]->args[0]);
	o = write_condition(w, t->args[0]);
	if (o == FAILED)
		return o;
	if (o == TRUE || o == FALSE)
		return known(o == FALSE);
	if (o == AND || o == OR)
		put_parentheses(w, at);
	insert(&w->f->text, at, SLICE("NOT "));
	return NOT;
}

/* One side of AND or OR, in parentheses where the other operator is inside. */
static enum outcome write_side(struct writer *w, const struct term *t, enum outcome joined)
{
	size_t at = w->f->text.n;
	enum outcome o = write_condition(w, t);

	if ((o == AND || o == OR) && o != joined) {
		put_parentheses(w, at);
		return LEAF;
	}
	return o;
}

static enum outcome write_logic(struct writer *w, const struct term *t)
{
	enum outcome joined = t->kind == TERM_AND ? AND : OR;
	enum outcome decides = t->kind == TERM_AND ? FALSE : TRUE;
	enum outcome nothing = known(decides == FALSE);
	struct mark m = mark(w), behind_left;
	enum outcome left = write_side(w, t->args[0], joined), right;

	if (left == FAILED || left == decides)
		return left;
	if (left == nothing)
		return write_condition(w, t->args[1]);
	behind_left = mark(w);
	buf_str(&w->f->text, joined == AND ? " AND " : " OR ");
	right = write_side(w, t->args[1], joined);
	if (right == FAILED || right == decides)
		return back(w, m, right);
	if (right == nothing)
		return back(w, behind_left, left);
	return joined;
}

static enum outcome write_condition(struct writer *w, const struct term *t)
{
	struct operand yes = { .value = VALUE_ABSENT };
	struct operand x;
	bool holds;

	if (!term_reads_item(t))
		return term_holds(t, w->scope, &holds, w->e) ? known(holds) : FAILED;
	switch (t->kind) {
	case TERM_AND:
	case TERM_OR: return write_logic(w, t);
	case TERM_NOT: return write_not(w, t);
	case TERM_PATH:
		yes.value = value_make_bool(w->f->text.arena, true);
		return read_operand(w, t, &x) ? compare(w, TERM_EQ, &x, &yes) : FAILED;
	case TERM_CALL: return FALSE; /* a size is not true */
	default: return write_comparison(w, t);
	}
}

/* DynamoDB has no constants: an attribute that no item has is there, or not there, or both. */
static void write_known(struct writer *w, bool holds)
{
	struct operand none = { .kind = OPERAND_ATTRIBUTE, .name = SLICE("thorpe:none") };

	put_function(w, "attribute_not_exists", &none, NULL);
	if (holds)
		return;
	buf_lit(&w->f->text, " AND ");
	put_function(w, "attribute_exists", &none, NULL);
}

void term_filter_init(struct term_filter *f, struct arena *a, const char *prefix)
{
	*f = (struct term_filter){ .prefix = prefix };
	buf_init(&f->text, a);
	buf_init(&f->names, a);
	buf_init(&f->values, a);
}

bool term_to_filter(const struct term *t, const struct term_scope *s, struct term_filter *f,
		    const char **why, struct error *e)
{
	struct writer w = { f, s, e };
	struct mark m = mark(&w);
	enum outcome o;

	*why = NULL;
	if (!term_can_filter(t, why))
		return false;
	o = write_condition(&w, t);
	if (o == FAILED) {
		back(&w, m, FAILED);
		return false;
	}
	if (o == OR)
		put_parentheses(&w, m.text);
	if (o == TRUE || o == FALSE)
		write_known(&w, o == TRUE);
	if (f->text.n - m.text > EXPR_SIZE_MAX) {
		*why = "DynamoDB takes at most 4 KB of an expression";
		back(&w, m, FAILED);
		return false;
	}
	return true;
}
