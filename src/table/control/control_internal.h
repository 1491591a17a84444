/* What the files of control share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_CONTROL_CONTROL_INTERNAL_H
#define THORPE_TABLE_CONTROL_CONTROL_INTERNAL_H

#include "table/apply.h"

#define INVALID "One or more parameter values were invalid: "

/* The table a request names, or NULL and NOT_FOUND. */
const struct table *control_table(struct stage *s, const struct control *c, struct error *e);
/* The counters of a new table or index. */
struct stats *control_new_stats(struct stage *s, uint32_t id);
/* Forgets an index's entries and counters. */
void control_drop_index(struct stage *s, const struct index *i);

/* ---- control_update.c, control_gsi.c ---- */
bool control_update_table(struct stage *s, struct control *c, struct error *e) MUST_CHECK;
/* Applies the changes of indexes to *t, whose billing is already as it will be. `was`: the table
 * before. */
bool control_change_indexes(struct stage *s, const struct table *was, const struct table_change *change,
			    struct table *t, struct error *e) MUST_CHECK;
/* A change of provisioned throughput; `what` names table or index in the error. */
bool control_change_throughput(struct stage *s, const char *what, struct throughput asked, struct throughput *t,
			       struct error *e) MUST_CHECK;

/* ---- control_stream.c ---- */
/* Gives *t a new stream; its label and creation time are later than those of all the table still has. */
void control_open_stream(struct stage *s, struct table *t, enum stream_view view);
/* Makes the stream one of the closed ones. */
void control_close_stream(struct stage *s, struct table *t);
void control_drop_stream_records(struct stage *s, uint32_t stream);
bool control_trim_stream(struct stage *s, struct control *c) MUST_CHECK;
bool control_drop_stream(struct stage *s, struct control *c) MUST_CHECK;
bool control_split_stream(struct stage *s, struct control *c) MUST_CHECK;

/* ---- reclaim.c ---- */
bool control_reclaimed(struct stage *s, struct control *c) MUST_CHECK;

/* ---- control_work.c: backfills ---- */
bool control_backfill_chunk(struct stage *s, struct control *c, struct error *e) MUST_CHECK;
bool control_backfill_done(struct stage *s, struct control *c) MUST_CHECK;
bool control_ttl_chunk(struct stage *s, struct control *c, struct error *e) MUST_CHECK;
bool control_ttl_done(struct stage *s, struct control *c) MUST_CHECK;

#endif
