/* Shared by the files of control/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_CONTROL_CONTROL_INTERNAL_H
#define THORPE_TABLE_CONTROL_CONTROL_INTERNAL_H

#include "table/apply.h"

#define INVALID "One or more parameter values were invalid: "

/* The table a request names, or NULL and NOT_FOUND. */
const struct table *control_table(struct stage *s, const struct control *c, struct error *e);
/* The counters of a new table or index. */
struct stats *control_new_stats(struct stage *s, uint32_t id);
/* Drops an index's entries and counters. */
void control_drop_index(struct stage *s, const struct index *i);

/* ---- control_update.c, control_gsi.c ---- */
bool control_update_table(struct stage *s, struct control *c, struct error *e) MUST_CHECK;
/* Applies the changes of indexes to *t, which already has its new billing mode. `was`: the table before. */
bool control_change_indexes(struct stage *s, const struct table *was, const struct table_change *change,
			    struct table *t, struct error *e) MUST_CHECK;
/* Changes provisioned throughput; `what` names the table or index in the error. */
bool control_change_throughput(struct stage *s, const char *what, struct throughput asked, struct throughput *t,
			       struct error *e) MUST_CHECK;

/* ---- control_stream.c ---- */
/* Gives *t a new stream; its label and creation time are later than those of all its remaining streams. */
void control_open_stream(struct stage *s, struct table *t, enum stream_view view);
/* Moves the enabled stream to the closed ones. */
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
