/* Projections: the parts of an item at given paths, in their original structure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/bind.h"
#include "expr/path.h"
#include "expr/projection.h"

struct projection {
	const struct path *paths;   /* in order of appearance */
	const struct path **sorted; /* in path_cmp() order */
	size_t count;
};

/* How many of the paths share the first one's step at `depth`. */
static size_t group_size(const struct path *const *paths, size_t n, size_t depth)
{
	size_t i = 1;

	while (i < n && path_step_cmp(&paths[0]->steps[depth], &paths[i]->steps[depth]) == 0)
		i++;
	return i;
}

static struct value pick(struct arena *a, const struct path *const *paths, size_t n, size_t depth, struct value v);

/* A walk over a list or map, in step with paths that select its elements in ascending order. */
struct walk {
	struct value_iter it;
	size_t index; /* of the current element; lists */
	bool at_end;
};

static struct walk walk_start(struct value v)
{
	struct walk w = { .it = value_iter(v) };

	w.at_end = !value_next(&w.it);
	return w;
}

static bool is_before(const struct walk *w, const struct path_step *s)
{
	return s->is_index ? w->index < s->index : slice_cmp(w->it.name, s->name) < 0;
}

static struct value walk_to(struct walk *w, const struct path_step *s)
{
	while (!w->at_end && is_before(w, s)) {
		w->at_end = !value_next(&w->it);
		w->index++;
	}
	if (w->at_end || (!s->is_index && !slice_equal(w->it.name, s->name)))
		return VALUE_ABSENT;
	return w->it.value;
}

/* What `paths`, which share the step at `depth`, select from the element there. */
static struct value pick_element(struct arena *a, const struct path *const *paths, size_t n, size_t depth,
				 struct walk *w)
{
	struct value element = walk_to(w, &paths[0]->steps[depth]);

	if (!value_present(element) || paths[0]->count == depth + 1)
		return element;
	return pick(a, paths, n, depth + 1, element);
}

static struct value pick(struct arena *a, const struct path *const *paths, size_t n, size_t depth, struct value v)
{
	bool is_list = paths[0]->steps[depth].is_index;
	struct value_member *members = NULL;
	struct value *elements = NULL;
	struct walk w = walk_start(v);
	size_t found = 0;

	if (value_type(v) != (is_list ? VALUE_L : VALUE_M))
		return VALUE_ABSENT;
	if (is_list)
		elements = arena_array(a, struct value, n);
	else
		members = arena_array(a, struct value_member, n);
	for (size_t i = 0, size; i < n; i += size) {
		struct value element;

		size = group_size(paths + i, n - i, depth);
		element = pick_element(a, paths + i, size, depth, &w);
		if (!value_present(element))
			continue;
		if (is_list)
			elements[found++] = element;
		else
			members[found++] = (struct value_member){ paths[i]->steps[depth].name, element };
	}
	if (!found)
		return VALUE_ABSENT;
	return is_list ? value_make_list(a, elements, found) : value_make_map(a, members, found);
}

struct value projection_pick(struct arena *a, const struct path *const *sorted, size_t n, struct value item)
{
	return n ? pick(a, sorted, n, 0, item) : VALUE_ABSENT;
}

struct value projection_apply(const struct projection *p, struct value item, struct arena *a)
{
	struct value v = projection_pick(a, p->sorted, p->count, item);

	return value_present(v) ? v : value_make_map(a, NULL, 0);
}

size_t projection_paths(const struct projection *p, const struct path **out)
{
	*out = p->paths;
	return p->count;
}

static const struct projection *make_projection(struct arena *a, const struct path *paths, size_t n)
{
	struct projection *p = arena_new(a, struct projection);

	p->paths = paths;
	p->sorted = path_sorted(a, paths, n);
	p->count = n;
	return p;
}

bool projection_compile(struct expr_bindings *b, struct slice text, const struct projection **out, struct error *e)
{
	const struct node *root, **nodes;
	struct path *paths;
	struct binder x;
	size_t n, i = 0;

	if (!binder_init(&x, b, TREE_PROJECTION, "ProjectionExpression", text, e))
		return false;
	root = tree_node(x.tree, x.tree->root);
	n = tree_children(x.tree, root);
	nodes = arena_array(b->arena, const struct node *, n);
	paths = arena_array(b->arena, struct path, n);
	for (unsigned c = root->child; c; c = tree_node(x.tree, c)->next)
		nodes[i++] = tree_node(x.tree, c);
	if (!binder_paths_apart(&x, nodes, n, paths) || !binder_finish(&x))
		return false;
	*out = make_projection(b->arena, paths, n);
	return true;
}

const struct projection *projection_of_names(struct arena *a, const struct slice *names, size_t n)
{
	struct path *paths = arena_array(a, struct path, n);
	struct path_step *steps = arena_array(a, struct path_step, n);

	for (size_t i = 0; i < n; i++) {
		steps[i].name = names[i];
		paths[i] = (struct path){ &steps[i], 1 };
	}
	return make_projection(a, paths, n);
}
