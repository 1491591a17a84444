/* Topics: which lists are watched by which watchers, and delivery of their events.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/live/live_internal.h"

/* ---- keys ---- */

/* The caller as far as it matters for the list: anonymous (also where no rule asks who the caller is), an operator, or
 * a subject with its session. */
static struct caller caller_of(struct run *r, const struct access *access)
{
	const struct caller *c = &r->caller;

	if (!c->operator_ && (!c->subject.n || !read_depends_on_caller(r, access)))
		return (struct caller){ 0 };
	return *c;
}

static void add_caller(struct buf *b, const struct caller *c)
{
	if (!c->operator_ && !c->subject.n)
		return;
	buf_byte(b, c->operator_ ? 'o' : 'c');
	buf_part(b, c->subject);
	buf_part(b, c->session.account);
	buf_part(b, c->session.stamp);
	buf_part(b, c->session.id);
	for (size_t i = 0; i < c->role_count; i++)
		buf_part(b, c->roles[i]);
	for (size_t i = 0; i < c->claim_count; i++)
		buf_part(b, slice_make(c->claims[i].p, c->claims[i].n));
}

struct slice live_topic_key(struct run *r, const struct read_live *list, struct caller *caller)
{
	struct buf b;

	buf_init(&b, r->arena);
	buf_add(&b, &list->access, sizeof(list->access));
	buf_part(&b, value_slice(list->params));
	buf_part(&b, value_slice(list->key));
	*caller = caller_of(r, list->access);
	add_caller(&b, caller);
	return buf_slice(&b);
}

/* ---- life ---- */

static struct value keep_value(char **at, struct value v)
{
	struct slice s = slice_pack(at, value_slice(v));

	return value_present(v) ? (struct value){ (const uint8_t *)s.p, s.n } : VALUE_ABSENT;
}

static struct live_topic *make_topic(struct slice key, const struct read_live *list, const struct caller *caller)
{
	size_t size = caller_copy_bytes(caller) + key.n + list->params.n + list->key.n;
	struct live_topic *t = mem_zalloc(sizeof(*t) + size);
	char *at;

	if (!t)
		return NULL;
	t->caller = caller_copy(caller, t->room);
	at = t->room + caller_copy_bytes(caller);
	t->node.key = slice_pack(&at, key);
	t->node.topic = t;
	t->list = (struct read_live){ .access = list->access,
				      .params = keep_value(&at, list->params),
				      .key = keep_value(&at, list->key) };
	return t;
}

static void drop_partitions(struct live_topic *t)
{
	for (size_t i = 0; i < t->partition_count; i++)
		live_table_remove(&t->live->partitions, &t->partitions[i]);
	mem_free(t->partitions);
	t->partitions = NULL;
	t->partition_count = 0;
}

bool live_topic_move(struct live_topic *t, const struct slice *partitions, size_t n)
{
	size_t size = n * sizeof(struct live_node);
	struct live_node *list;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += partitions[i].n;
	list = mem_zalloc(size ? size : 1);
	if (!list)
		return false;
	drop_partitions(t);
	at = (char *)(list + n);
	for (size_t i = 0; i < n; i++) {
		list[i].key = slice_pack(&at, partitions[i]);
		list[i].topic = t;
		live_table_add(&t->live->partitions, &list[i]);
	}
	t->partitions = list;
	t->partition_count = n;
	return true;
}

static void add_moving(struct live_topic *t)
{
	t->moving = t->live->moving;
	if (t->moving)
		t->moving->moving_at = &t->moving;
	t->moving_at = &t->live->moving;
	t->live->moving = t;
}

void live_topic_hide(struct live_topic *t)
{
	live_table_remove(&t->live->topics, &t->node);
	drop_partitions(t);
	if (t->moving_at) {
		*t->moving_at = t->moving;
		if (t->moving)
			t->moving->moving_at = t->moving_at;
		t->moving_at = NULL;
	}
}

void live_topic_unref(struct live_topic *t)
{
	if (--t->refs)
		return;
	live_topic_hide(t);
	for (struct live_place *p = t->places, *next; p; p = next) {
		next = p->next;
		mem_free(p);
	}
	mem_free(t);
}

struct live_topic *live_topic_get(struct live *l, struct slice key, const struct read_live *list,
				  const struct caller *caller, const struct slice *partitions, size_t n)
{
	struct live_node *found = live_table_find(&l->topics, key);
	struct live_topic *t = found ? found->topic : make_topic(key, list, caller);

	if (!t)
		return NULL;
	t->refs++;
	if (found)
		return t;
	t->live = l;
	if (!live_topic_move(t, partitions, n)) {
		live_topic_unref(t);
		return NULL;
	}
	live_table_add(&l->topics, &t->node);
	if (read_live_moves(&t->list))
		add_moving(t);
	return t;
}

/* ---- telling ---- */

static void keep_for(struct live_watcher *w, uint64_t sequence, struct live_bytes *bytes)
{
	struct live_pending *p;

	if (w->cut || sequence <= w->from)
		return;
	p = !w->pending_bytes || w->pending_bytes + bytes->n <= LIVE_PENDING_BYTES ? mem_alloc(sizeof(*p)) : NULL;
	if (!p) {
		w->cut = true;
		return;
	}
	*p = (struct live_pending){ NULL, sequence, live_bytes_ref(bytes) };
	w->pending_bytes += bytes->n;
	*w->last = p;
	w->last = &p->next;
}

void live_topic_tell(struct live_topic *t, uint64_t sequence, struct live_bytes *bytes, bool end)
{
	end |= !bytes; /* no memory for the event */
	for (struct live_watcher *w = t->pending; w; w = w->next) {
		if (end)
			w->cut = true;
		else
			keep_for(w, sequence, bytes);
	}
	for (struct live_place *p = t->places; p; p = p->next) {
		struct live_event e = { .place = p, .sequence = sequence, .bytes = bytes, .end = end };

		if (!p->watchers)
			continue;
		live_bytes_ref(bytes);
		if (!p->target->post(p->target, &e)) {
			live_bytes_unref(bytes);
			continue;
		}
		t->refs++;
		t->live->posts++;
		t->live->posted_bytes += bytes ? bytes->n : 0;
	}
	live_bytes_unref(bytes);
}
