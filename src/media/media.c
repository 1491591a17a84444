/* One of the two kinds of stores.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "media/media_internal.h"

static bool is_bucket_name(const char *where)
{
	return where && !strncmp(where, "s3://", 5);
}

bool media_is_bucket(const struct media *m)
{
	return m->bucket;
}

const char *media_origin(const struct media *m)
{
	return m->bucket ? bucket_origin(m->bucket) : "";
}

static bool set_where(struct media *m, const char *where, char *why, size_t n)
{
	int length = snprintf(m->where, sizeof(m->where), "%s", where ? where : "");

	m->temporary = !where;
	while (length > 1 && length < PATH_MAX && m->where[length - 1] == '/')
		m->where[--length] = '\0';
	if (length < PATH_MAX - 256) /* room for the name of a file */
		return true;
	snprintf(why, n, "the name of the directory is too long");
	return false;
}

struct media *media_open(const struct media_options *o, char *why, size_t n)
{
	struct media *m = mem_zalloc(sizeof(*m));
	bool ok = false;

	snprintf(why, n, "not enough memory");
	if (!m)
		return NULL;
	m->clock = o->clock ? o->clock : &clock_system;
	m->most = o->most;
	pthread_mutex_init(&m->lock, NULL);
	if (set_where(m, o->where, why, n)) {
		if (is_bucket_name(o->where))
			ok = (m->bucket = bucket_open(o, why, n)) != NULL;
		else
			ok = directory_open(m, why, n);
	}
	if (ok)
		return m;
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
	return NULL;
}

void media_close(struct media *m)
{
	if (!m)
		return;
	if (m->bucket)
		bucket_close(m->bucket);
	else
		directory_close(m);
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
}

enum media_end media_look_at(struct media *m, struct arena *a, struct media_name f, struct media_look *out)
{
	*out = (struct media_look){ 0 };
	return m->bucket ? bucket_look(m->bucket, a, f, out) : directory_look(m, f, out);
}

enum media_end media_remove(struct media *m, struct arena *a, struct media_name f)
{
	return m->bucket ? bucket_remove(m->bucket, a, f) : directory_remove(m, f);
}

void media_tidy(struct media *m)
{
	if (!m->bucket)
		directory_tidy(m);
}
