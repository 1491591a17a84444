/* SIGHUP: the hooks, and replacing keys and certificate in the event loops.
 *
 * Each loop has its own shares, and a post replaces them between two turns: they do not change during a request, and
 * reading them takes no lock.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/alloc.h"
#include "base/log.h"
#include "http/server_internal.h"

void server_on_hangup(struct server *s, void (*hook)(void *ctx), void *ctx)
{
	assert(s->hook_count < SERVER_HOOKS);
	s->hooks[s->hook_count].run = hook;
	s->hooks[s->hook_count++].ctx = ctx;
}

void server_run_hooks(struct server *s)
{
	if (s->stopping) /* the loops may have ended */
		return;
	if (!s->hook_count)
		log_info("SIGHUP: nothing to reload");
	for (size_t i = 0; i < s->hook_count; i++)
		s->hooks[i].run(s->hooks[i].ctx);
}

void server_hangup(struct server *s)
{
	atomic_store(&s->hangup_wanted, true);
	uv_async_send(&s->wake);
}

/* ---- replacing keys and certificate ---- */

/* One for all loops. The last one frees it. */
struct replacement {
	atomic_uint left;
	size_t key_count; /* 0: the same as before */
	bool has_certificate;
};

struct replacement_post {
	struct loop_post post;
	struct keys *keys;
	struct tls_context *tls;
	struct replacement *all;
};

static void say_done(const struct replacement *r)
{
	if (r->key_count)
		log_info("%zu access key%s in use now", r->key_count, r->key_count == 1 ? " is" : "s are");
	if (r->has_certificate)
		log_info("the certificate was reloaded: new connections get it");
}

static void run_post(struct loop *l, struct loop_post *post)
{
	struct replacement_post *p = (struct replacement_post *)post;

	if (p->keys) {
		keys_free(l->keys);
		l->keys = p->keys;
		sigv4_forget(&l->sigv4);
	}
	if (p->tls) {
		tls_context_free(l->tls);
		l->tls = p->tls;
	}
	if (atomic_fetch_sub(&p->all->left, 1) == 1) {
		say_done(p->all);
		mem_free(p->all);
	}
	mem_free(p);
}

/* NULL: memory. */
static struct replacement_post **make_posts(unsigned n)
{
	struct replacement_post **posts = mem_zalloc(n * sizeof(*posts));
	unsigned made = 0;

	while (posts && made < n && (posts[made] = mem_zalloc(sizeof(**posts))))
		made++;
	if (posts && made == n)
		return posts;
	while (made)
		mem_free(posts[--made]);
	mem_free(posts);
	return NULL;
}

static void keep_files(struct server *s, struct keys *keys, struct tls_context *tls)
{
	if (keys) {
		keys_free(s->options.keys);
		s->options.keys = keys_share(keys);
	}
	if (tls) {
		tls_context_free(s->options.tls);
		s->options.tls = tls_context_share(tls);
	}
}

bool server_replace(struct server *s, struct keys *keys, struct tls_context *tls)
{
	struct replacement *all = mem_zalloc(sizeof(*all));
	struct replacement_post **posts = all ? make_posts(s->thread_count) : NULL;

	assert((!keys || s->options.keys) && (!tls || s->options.tls));
	if (!posts) {
		mem_free(all);
		return false;
	}
	atomic_init(&all->left, s->thread_count);
	all->key_count = keys ? keys_count(keys) : 0;
	all->has_certificate = tls != NULL;
	keep_files(s, keys, tls);
	for (unsigned i = 0; i < s->thread_count; i++) {
		*posts[i] =
			(struct replacement_post){ { .run = run_post }, keys_share(keys), tls_context_share(tls), all };
		loop_post(&s->threads[i].loop, &posts[i]->post);
	}
	mem_free(posts);
	return true;
}
