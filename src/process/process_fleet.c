/* The backlog that the servers of a table report to one another with their beats (lease.h).
 *
 *     {"idle": true, "waiting": [[<shard>, <processor>, <when the oldest change was made>, <changes known to wait>], …]}
 *
 * Idle processors are left out, so that a beat of a server at rest costs one write unit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "process/process_internal.h"

#define TOLD_MOST 100 /* rows of one server */

/* ---- telling ---- */

static void tell_row(struct buf *b, size_t *rows, struct slice shard, struct slice processor, int64_t oldest_ms,
		     uint64_t waiting)
{
	if (!oldest_ms || *rows == TOLD_MOST)
		return;
	json_open(b, '[');
	json_string(b, shard);
	json_string(b, processor);
	json_int(b, oldest_ms);
	json_int(b, (int64_t)waiting);
	json_close(b, ']');
	++*rows;
}

static void tell_sender(struct buf *b, size_t *rows, const struct station *s, int64_t now_ms)
{
	int64_t lag = send_runner_lag_ms(s->sender);

	tell_row(b, rows, SLICE(""), s->name, lag ? now_ms - lag : 0, 0);
}

void fleet_tell(struct process *p, struct run *r)
{
	size_t rows = 0;
	struct buf b;

	buf_init(&b, r->arena);
	json_open(&b, '{');
	json_member_bool(&b, "idle", process_is_idle(p));
	json_member_open(&b, "waiting", '[');
	for (struct seat *s = p->readers.first; s; s = s->next)
		for (size_t i = 0; i < reader_of(s)->track_count; i++) {
			const struct track *t = &reader_of(s)->tracks[i];

			tell_row(&b, &rows, slice_str(s->shard), t->station->name, atomic_load(&t->oldest_ms),
				 atomic_load(&t->waiting));
		}
	for (size_t i = 0; i < p->station_count; i++)
		if (p->stations[i].sender)
			tell_sender(&b, &rows, &p->stations[i], r->now_ms);
	json_close(&b, ']');
	json_close(&b, '}');
	if (!lease_tell(p->leases, buf_slice(&b)))
		log_warn("%.*s: not enough memory to tell other servers how far its processors are",
			 SLICE_ARG(p->design->name));
}

/* ---- looking ---- */

static void unref(void *view)
{
	lease_view_unref(view);
}

static void read_row(struct fleet *f, const struct json *j, bool is_this)
{
	struct fleet_row *row = &f->rows[f->row_count];

	if (!json_is(j, JSON_ARRAY) || j->count != 4 || !json_is(&j->items[0], JSON_STRING) ||
	    !json_is(&j->items[1], JSON_STRING) || !json_is(&j->items[2], JSON_INT) || !json_is(&j->items[3], JSON_INT))
		return;
	*row = (struct fleet_row){ .shard = j->items[0].string,
				   .processor = j->items[1].string,
				   .oldest_ms = j->items[2].integer,
				   .waiting = (uint64_t)j->items[3].integer,
				   .is_this = is_this };
	f->row_count++;
}

/* A server that reports nothing is of another version: what it does is unknown. */
static void read_server(struct fleet *f, struct run *r, const struct lease_server *s)
{
	const struct json *told = json_parse(r->arena, slice_str(s->told)), *idle = json_get(told, "idle"),
			  *list = json_get(told, "waiting");

	if (!s->is_this)
		f->others_idle = f->others_idle && json_is(idle, JSON_BOOL) && idle->boolean;
	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count && i < TOLD_MOST; i++)
		read_row(f, &list->items[i], s->is_this);
}

void fleet_look(struct process *p, struct run *r, struct fleet *f)
{
	*f = (struct fleet){ .others_idle = true };
	if (!p->leases)
		return;
	f->view = lease_view(p->leases);
	if (!f->view) {
		f->others_idle = false;
		return;
	}
	arena_defer(r->arena, unref, f->view);
	f->rows = arena_array(r->arena, struct fleet_row, f->view->server_count * TOLD_MOST);
	for (size_t i = 0; i < f->view->server_count; i++)
		read_server(f, r, &f->view->servers[i]);
	for (size_t i = 0; i < f->view->shard_count; i++)
		f->others_idle = f->others_idle && f->view->shards[i].owner[0];
}

void fleet_add_backlog(const struct fleet *f, struct slice processor, int64_t now_ms, int64_t *lag_ms, uint64_t *waiting)
{
	for (size_t i = 0; i < f->row_count; i++) {
		const struct fleet_row *row = &f->rows[i];

		if (row->is_this || !slice_equal(row->processor, processor))
			continue;
		*lag_ms = now_ms - row->oldest_ms > *lag_ms ? now_ms - row->oldest_ms : *lag_ms;
		*waiting += row->waiting;
	}
}

static void put_shard(const struct fleet *f, const struct lease_shard *s, int64_t now_ms, struct buf *b)
{
	uint64_t waiting = 0;
	int64_t lag = 0;

	for (size_t i = 0; i < f->row_count; i++)
		if (slice_is(f->rows[i].shard, s->id)) {
			lag = now_ms - f->rows[i].oldest_ms > lag ? now_ms - f->rows[i].oldest_ms : lag;
			waiting += f->rows[i].waiting;
		}
	json_open(b, '{');
	json_member_string(b, "shard", slice_str(s->id));
	json_name(b, "owner");
	if (s->owner[0])
		json_string(b, slice_str(s->owner));
	else
		json_null(b);
	json_member_bool(b, "closed", s->closed);
	if (s->owner[0]) {
		json_name(b, "lag_seconds");
		buf_printf(b, "%lld.%03d", (long long)(lag / 1000), (int)(lag % 1000));
		json_member_int(b, "backlog", (int64_t)waiting);
	}
	json_close(b, '}');
}

void fleet_put(const struct fleet *f, int64_t now_ms, struct buf *b)
{
	if (!f->view)
		return;
	json_member_open(b, "servers", '[');
	for (size_t i = 0; i < f->view->server_count; i++) {
		json_open(b, '{');
		json_member_word(b, "server", f->view->servers[i].id);
		json_member_bool(b, "this", f->view->servers[i].is_this);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_member_open(b, "shards", '[');
	for (size_t i = 0; i < f->view->shard_count; i++)
		put_shard(f, &f->view->shards[i], now_ms, b);
	json_close(b, ']');
}
