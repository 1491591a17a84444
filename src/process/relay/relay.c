/* Which server is asked for a shard's records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/clock.h"
#include "process/relay/relay_internal.h"

/* Empty: no server can be asked. */
static struct slice ask_owner(struct relay *y, struct run *r, const struct tail_ask *ask)
{
	struct lease_owner owner;

	if (!lease_owner(y->leases, ask->shard, clock_monotonic_us(), &owner))
		return SLICE("");
	if (owner.is_this)
		return y->serves ? rings_answer(&y->rings, r->arena, ask) : SLICE("");
	return owner.address[0] ? peer_ask(y, r, &owner, ask) : SLICE("");
}

static enum tail_answer read_page(struct tail_source *s, struct run *r, const struct tail_ask *ask,
				  struct tail_page *out)
{
	struct relay *y = (struct relay *)s;
	struct slice bytes = ask_owner(y, r, ask);
	enum page_kind kind = PAGE_CANNOT;

	if (bytes.n && page_read(r->arena, bytes, &kind, out)) {
		if (kind == PAGE_RECORDS)
			return TAIL_ANSWER_PAGE;
		if (kind == PAGE_LATER)
			return TAIL_ANSWER_LATER;
	}
	atomic_fetch_add(&y->fallback, 1);
	return TAIL_ANSWER_NONE;
}

/* ---- life ---- */

struct relay *relay_new(struct app *app, struct leases *leases, bool serves)
{
	struct relay *y = mem_zalloc(sizeof(*y));

	if (!y)
		return NULL;
	if (!sealer_init(&y->sealer, slice_make(app_secret(app), CALLER_SECRET_BYTES))) {
		mem_free(y);
		return NULL;
	}
	y->source.read = read_page;
	y->app = app;
	y->leases = leases;
	y->serves = serves;
	rings_init(&y->rings, app);
	pthread_mutex_init(&y->asking, NULL);
	pthread_mutex_init(&y->answering, NULL);
	return y;
}

void relay_free(struct relay *y)
{
	if (!y)
		return;
	rings_release(&y->rings);
	sealer_release(&y->sealer);
	fetch_free(y->fetch);
	pthread_mutex_destroy(&y->asking);
	pthread_mutex_destroy(&y->answering);
	mem_free(y);
}

struct tail_source *relay_source(struct relay *y)
{
	return &y->source;
}

const struct design *relay_design(const struct relay *y)
{
	return app_design(y->app);
}

void relay_sweep(struct relay *y)
{
	rings_sweep(&y->rings, clock_monotonic_us());
}

struct relay_numbers relay_numbers(const struct relay *y)
{
	return (struct relay_numbers){ .taken = atomic_load(&y->taken),
				       .given = atomic_load(&y->given),
				       .refused = atomic_load(&y->refused),
				       .fallback = atomic_load(&y->fallback) };
}
