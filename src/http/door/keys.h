/* The access keys a server accepts: a file with `ACCESS_KEY SECRET` on each line, # for comments.
 *
 * Immutable once loaded: any thread that has a share may look up. They live until the last share is freed; a secret's
 * slice lives no longer than the share it was looked up with.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_KEYS_H
#define THORPE_HTTP_DOOR_KEYS_H

#include "base/slice.h"

struct keys;

/* NULL with a sentence in `why` if the file cannot be read, has a bad line, or has no key. A file that others than
 * its owner can read is accepted with a warning in the log. */
struct keys *keys_load(const char *path, char *why, size_t n);
/* The same from text; messages call it `name`. */
struct keys *keys_parse(struct slice text, const char *name, char *why, size_t n);
struct keys *keys_share(struct keys *k); /* NULL is fine, as in keys_free() */
void keys_free(struct keys *k);

size_t keys_count(const struct keys *k);
/* The secret; p is NULL: no such key. Lives as long as the keys. */
struct slice keys_secret(const struct keys *k, struct slice access_key);

#endif
