/* What the servers of a table tell one another of their processors, with their beats (lease.h).
 *
 *     {"idle": true, "waiting": [[<shard>, <processor>, <when the oldest change was made>, <changes known to wait>], …]}
 *
 * What has nothing to do is not told, so that a beat of a server at rest costs one write unit.
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
	buf_str(b, *rows ? ",[" : "[");
	json_string(b, shard);
	buf_byte(b, ',');
	json_string(b, processor);
	buf_printf(b, ",%lld,%llu]", (long long)oldest_ms, (unsigned long long)waiting);
	++*rows;
}

static void tell_sender(struct buf *b, size_t *rows, const struct station *s, int64_t now_ms)
{
	struct send_status status;

	send_runner_status(s->sender, &status);
	tell_row(b, rows, SLICE(""), s->name, status.lag_ms ? now_ms - status.lag_ms : 0, 0);
}

void fleet_tell(struct process *p, struct run *r)
{
	size_t rows = 0;
	struct buf b;

	buf_init(&b, r->arena);
	buf_printf(&b, "{\"idle\":%s,\"waiting\":[", process_is_idle(p) ? "true" : "false");
	for (struct seat *s = p->readers.first; s; s = s->next)
		for (size_t i = 0; i < reader_of(s)->track_count; i++) {
			const struct track *t = &reader_of(s)->tracks[i];

			tell_row(&b, &rows, slice_str(s->shard), t->station->name, atomic_load(&t->oldest_ms),
				 atomic_load(&t->waiting));
		}
	for (size_t i = 0; i < p->station_count; i++)
		if (p->stations[i].sender)
			tell_sender(&b, &rows, &p->stations[i], r->now_ms);
	buf_lit(&b, "]}");
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

/* One that says nothing is of another version: what it does is not known. */
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
	buf_lit(b, "{\"shard\":");
	json_string(b, slice_str(s->id));
	if (s->owner[0])
		buf_printf(b, ",\"owner\":\"%s\"", s->owner);
	else
		buf_lit(b, ",\"owner\":null");
	buf_printf(b, ",\"closed\":%s", s->closed ? "true" : "false");
	if (s->owner[0])
		buf_printf(b, ",\"lag_seconds\":%lld.%03d,\"backlog\":%llu", (long long)(lag / 1000), (int)(lag % 1000),
			   (unsigned long long)waiting);
	buf_byte(b, '}');
}

void fleet_put(const struct fleet *f, int64_t now_ms, struct buf *b)
{
	const char *between = "";

	if (!f->view)
		return;
	buf_lit(b, ",\"servers\":[");
	for (size_t i = 0; i < f->view->server_count; i++, between = ",")
		buf_printf(b, "%s{\"server\":\"%s\",\"this\":%s}", between, f->view->servers[i].id,
			   f->view->servers[i].is_this ? "true" : "false");
	buf_lit(b, "],\"shards\":[");
	between = "";
	for (size_t i = 0; i < f->view->shard_count; i++, between = ",") {
		buf_str(b, between);
		put_shard(f, &f->view->shards[i], now_ms, b);
	}
	buf_byte(b, ']');
}
