/* A store of files: a directory, or a bucket with S3's API.
 *
 * A file has an id, never changes and is written once. It is there as a whole or not at all, also after a kill or a
 * loss of power.
 *
 * Invariants
 *   G1  A file of a directory gets its name after its bytes are on disk, and only if no other file has the name.
 *   G2  Names come from ids, which are ULIDs, and from names of designs: nothing a client sends becomes a path.
 *   G3  An address of a bucket allows one request on one file, until its end: for an upload with one type and one
 *       length, and only while the file is not there.
 *
 * Threads: any. Nothing here leaves by longjmp but what takes an arena (arena.h A1).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_MEDIA_MEDIA_H
#define THORPE_MEDIA_MEDIA_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"

struct media_options {
	const char *where;         /* a directory, or s3://bucket/prefix; NULL: a directory that ends with the store */
	const char *endpoint;      /* of the bucket's service; NULL: Amazon's */
	const char *region;        /* NULL: the settings' */
	int64_t most;              /* bytes of all files of a directory; 0: as long as the disk has room */
	const struct clock *clock; /* NULL: the system's */
};
struct media;
/* NULL with a sentence in `why`. */
struct media *media_open(const struct media_options *o, char *why, size_t n);
void media_close(struct media *m); /* NULL is fine */
bool media_is_bucket(const struct media *m);
/* Of the addresses of a bucket's files, as https://bucket.s3.eu-west-1.amazonaws.com; "": a directory's have none. */
const char *media_origin(const struct media *m);

struct media_name {
	struct slice design, id;
};

enum media_end {
	MEDIA_DONE,
	MEDIA_NONE,    /* no such file */
	MEDIA_THERE,   /* a file of that name is there already */
	MEDIA_FULL,    /* no room */
	MEDIA_TROUBLE, /* the disk or the service failed, which has been logged; or too many upload the file at once */
};

#define MEDIA_HEAD_BYTES 64 /* that media_kind_fits() looks at */
struct media_look {
	int64_t size;
	struct slice type; /* of a bucket's file; empty: not known */
	uint8_t head[MEDIA_HEAD_BYTES];
	size_t head_size;
};
enum media_end media_look_at(struct media *m, struct arena *a, struct media_name f, struct media_look *out) MUST_CHECK;
/* A file that is not there is fine. */
enum media_end media_remove(struct media *m, struct arena *a, struct media_name f) MUST_CHECK;
/* From time to time: removes what interrupted uploads have left. */
void media_tidy(struct media *m);

/* ---- a bucket ---- */
struct media_address {
	struct media_name file;
	int64_t from_s, seconds; /* valid from then on, for so long */
	struct slice type;
	int64_t size;             /* of an upload */
	struct slice disposition; /* Content-Disposition of a download */
};
/* False with a sentence in `why`: there are no credentials. */
bool media_upload_url(struct media *m, struct arena *a, const struct media_address *q, struct slice *url, char *why,
		      size_t n) MUST_CHECK;
bool media_download_url(struct media *m, struct arena *a, const struct media_address *q, struct slice *url, char *why,
			size_t n) MUST_CHECK;

/* ---- a directory ---- */
struct media_upload;
/* *out: to be ended by media_upload_drop(). */
enum media_end media_upload_begin(struct media *m, struct media_name f, int64_t size,
				  struct media_upload **out) MUST_CHECK;
/* False: the disk failed, or more than `size` bytes came. */
bool media_upload_write(struct media_upload *u, struct slice bytes) MUST_CHECK;
int64_t media_upload_length(const struct media_upload *u);    /* so far */
struct slice media_upload_head(const struct media_upload *u); /* its first bytes */
/* All bytes have come: makes it a file. It blocks until they are on disk. */
enum media_end media_upload_finish(struct media_upload *u) MUST_CHECK;
/* Removes what is not a file yet. */
void media_upload_drop(struct media_upload *u);

/* The bytes of a file, in memory that the arena gives back. They stay as they are when the file is removed. */
enum media_end media_read(struct media *m, struct arena *a, struct media_name f, struct slice *out) MUST_CHECK;

/* ---- types ---- */
/* Whether a file that begins so can be of the type. True for types whose beginning is not known. */
bool media_kind_fits(struct slice type, struct slice head);
/* Whether browsers may show it where it is: a picture, sound or film whose beginning is known. */
bool media_kind_is_shown(struct slice type);

#endif
