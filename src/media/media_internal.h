/* Shared by the parts of a store.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_MEDIA_MEDIA_INTERNAL_H
#define THORPE_MEDIA_MEDIA_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include "media/media.h"

struct bucket;

struct media {
	char where[PATH_MAX]; /* without a '/' at its end */
	const struct clock *clock;
	bool temporary;         /* the directory ends with the store */
	int64_t most;           /* 0: no limit */
	_Atomic int64_t used;   /* bytes of files and uploads; counted while there is a limit */
	_Atomic int64_t coming; /* bytes that open uploads have yet to write */
	pthread_mutex_t lock;   /* of the list */
	struct media_upload *open;
	struct bucket *bucket; /* NULL: a directory */
};

bool directory_open(struct media *m, char *why, size_t n) MUST_CHECK;
void directory_close(struct media *m);
void directory_tidy(struct media *m);
enum media_end directory_look(struct media *m, struct media_name f, struct media_look *out) MUST_CHECK;
enum media_end directory_remove(struct media *m, struct media_name f) MUST_CHECK;

struct bucket *bucket_open(const struct media_options *o, char *why, size_t n); /* NULL: why */
void bucket_close(struct bucket *b);
const char *bucket_origin(const struct bucket *b);
enum media_end bucket_look(struct bucket *b, struct arena *a, struct media_name f, struct media_look *out) MUST_CHECK;
enum media_end bucket_remove(struct bucket *b, struct arena *a, struct media_name f) MUST_CHECK;

#endif
