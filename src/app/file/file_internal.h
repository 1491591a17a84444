/* Shared by the parts of app/file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_FILE_FILE_INTERNAL_H
#define THORPE_APP_FILE_FILE_INTERNAL_H

#include "app/file/file.h"

#define FILES_NEW  "FILES#NEW"
#define FILES_GONE "FILES#GONE"

/* {PK: "FILE#<id>", SK: "-"} */
struct value file_key(struct run *r, struct slice id);
struct value file_new_key(struct run *r, struct slice id);
struct value file_quota_key(struct run *r, struct slice owner);
struct value_member file_text(struct run *r, const char *name, struct slice v);
struct value_member file_number(struct run *r, const char *name, int64_t v);
/* The caller, as an owner of files. */
struct slice file_owner(struct run *r);
/* "Post.picture" */
struct slice file_of(struct run *r, const struct entity *e, const struct attribute *a);
/* When a file that is new is too late for an item. */
int64_t file_until_ms(const struct run *r, struct slice id);
struct media_name file_name(const struct run *r, struct slice id);
int64_t file_counted(int64_t size);
/* The address of an upload to a directory, or to a bucket; empty: none, and the problem is set. */
struct slice file_upload_url(struct run *r, const struct file_ask *q, struct slice id, int64_t until_ms);

#endif
