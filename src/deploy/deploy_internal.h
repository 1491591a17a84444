/* Shared by the files of deploy/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DEPLOY_INTERNAL_H
#define THORPE_DEPLOY_INTERNAL_H

#include "deploy/deploy.h"

/* ---- descriptions (want.c) ---- */
/* "PK, SK" */
void deploy_put_key_words(struct buf *b, const struct key_schema *k);
/* "GSI1: GSI1PK, GSI1SK; all attributes" */
struct slice deploy_index_words(const struct design_index *i, struct arena *a);
/* "new and old images", as in designs. */
const char *deploy_view_words(enum stream_view v);
struct slice deploy_billing_words(const struct design *d, struct arena *a);

/* ---- documents (request.c) ---- */
struct slice deploy_request_create(const struct deploy_table *t, struct arena *a);
struct slice deploy_request_stream(const struct deploy_table *t, struct arena *a);
struct slice deploy_request_protect(const struct deploy_table *t, struct arena *a);
struct slice deploy_request_recovery(const struct deploy_table *t, struct arena *a);
/* `units`: for a table that is not billed on demand; NULL: it is. */
struct slice deploy_request_index(const struct deploy_table *t, const struct design_index *i, const struct json *units,
				  struct arena *a);
struct slice deploy_request_tag(const struct deploy_table *t, struct slice arn, struct arena *a);
struct slice deploy_request_list_tags(struct slice arn, struct slice next, struct arena *a);
/* "Tags":[…] */
void deploy_put_tags(struct buf *b, const struct deploy_table *t);
/* PointInTimeRecoverySpecification and DeletionProtectionEnabled, if wanted. */
void deploy_put_guards(struct buf *b, const struct deploy_table *t);

/* ---- looking (look.c) ---- */
/* The description of a table; *table NULL: it does not exist. False: see the failure. */
bool deploy_look_table(struct backend *b, const struct deploy_table *t, struct arena *a, const struct json **table,
		       struct deploy_failure *f);
/* ProvisionedThroughput of a table that is not billed on demand; NULL: it is. */
const struct json *deploy_units_in(const struct json *table);
bool deploy_is_unknown(const struct backend_reply *r);

/* ---- text ---- */
/* JSON with line breaks, two spaces a level. */
struct slice deploy_pretty(struct slice json, struct arena *a);
/* The statements of a policy: `arn(table)` writes a table's ARN and suffix. */
struct policy_arn {
	void (*put)(struct buf *b, size_t table, const char *tail, void *ctx);
	void *ctx;
};
void deploy_put_policy(struct buf *b, const struct deploy_want *w, bool of_deploying, const struct policy_arn *arn);

#endif
