/* A view of the last round for readers on any thread: one block, never changed, freed with its last reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "process/lease_internal.h"

struct filling {
	struct lease_view *view;
	char *text; /* where the next told text goes */
};

static void add_server(struct filling *x, const char *id, const char *told, const char *address, bool is_this)
{
	struct lease_server *s = &x->view->servers[x->view->server_count++];
	size_t n = told ? strlen(told) : 0;

	*s = (struct lease_server){ .is_this = is_this, .told = x->text };
	memcpy(s->id, id, sizeof(s->id));
	memcpy(s->address, address, sizeof(s->address));
	if (n)
		memcpy(x->text, told, n);
	x->text[n] = 0;
	x->text += n + 1;
}

static void copy_text(char *to, size_t room, struct slice s)
{
	size_t n = s.n < room ? s.n : room - 1;

	if (n)
		memcpy(to, s.p, n);
	to[n] = 0;
}

void lease_keep_view(struct leases *l, const struct shard_list *shards, const struct slice *owners)
{
	size_t servers = 1, text = 1 + (l->told ? strlen(l->told) : 0);
	struct lease_view *v, *old;
	struct filling x;

	for (const struct seen *s = l->servers; s; s = s->next)
		if (s->lives) {
			servers++;
			text += 1 + (s->told ? strlen(s->told) : 0);
		}
	v = mem_zalloc(sizeof(*v) + shards->count * sizeof(*v->shards) + servers * sizeof(*v->servers) + text);
	if (v) {
		atomic_init(&v->refs, 1);
		v->servers = (struct lease_server *)(v + 1);
		v->shards = (struct lease_shard *)(v->servers + servers);
		x = (struct filling){ v, (char *)(v->shards + shards->count) };
		add_server(&x, l->id, l->told, l->address, true);
		for (const struct seen *s = l->servers; s; s = s->next)
			if (s->lives)
				add_server(&x, s->id, s->told, s->address, false);
		for (size_t i = 0; i < shards->count; i++) {
			struct lease_shard *s = &v->shards[v->shard_count++];

			copy_text(s->id, sizeof(s->id), shards->list[i].id);
			copy_text(s->owner, sizeof(s->owner), owners[i]);
			s->closed = shards->list[i].closed;
		}
	}
	pthread_mutex_lock(&l->lock);
	old = l->view;
	l->view = v;
	pthread_mutex_unlock(&l->lock);
	lease_view_unref(old);
}

struct lease_view *lease_view(struct leases *l)
{
	struct lease_view *v;

	pthread_mutex_lock(&l->lock);
	v = l->view;
	if (v)
		atomic_fetch_add(&v->refs, 1);
	pthread_mutex_unlock(&l->lock);
	return v;
}

void lease_view_unref(struct lease_view *v)
{
	if (v && atomic_fetch_sub(&v->refs, 1) == 1)
		mem_free(v);
}

/* With the reference held. */
static const struct lease_server *owner_in(const struct lease_view *v, struct slice shard)
{
	const char *owner = "";

	for (size_t i = 0; i < v->shard_count; i++)
		if (slice_is(shard, v->shards[i].id))
			owner = v->shards[i].owner;
	for (size_t i = 0; owner[0] && i < v->server_count; i++)
		if (!strcmp(v->servers[i].id, owner))
			return &v->servers[i];
	return NULL;
}

bool lease_owner(struct leases *l, struct slice shard, int64_t now_us, struct lease_owner *out)
{
	struct lease_view *v = lease_view(l);
	const struct lease_server *s = v ? owner_in(v, shard) : NULL;
	bool found = s != NULL;

	*out = (struct lease_owner){ 0 };
	if (s) {
		memcpy(out->id, s->id, sizeof(out->id));
		memcpy(out->address, s->address, sizeof(out->address));
		out->is_this = s->is_this;
	}
	lease_view_unref(v);
	return found && (!out->is_this || lease_is_mine(l, shard, now_us));
}
