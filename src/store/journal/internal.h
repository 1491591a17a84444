/* What the files of the journal share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_INTERNAL_H
#define THORPE_STORE_JOURNAL_INTERNAL_H

#include <pthread.h>
#include "store/journal/journal.h"

#define JOURNAL_NAME "journal."
/* What is written at once is whole blocks at places that are multiples of this: what disks and direct I/O want. */
#define JOURNAL_BLOCK ((size_t)4096)
#define JOURNAL_HEAD 40
#define JOURNAL_RECORD_HEAD 24
extern const char journal_magic[16];

/* A database that is hardly written to has a small journal. Segments grow up to what is used again. */
#define SEGMENT_FIRST ((uint64_t)256 << 10)
#define SEGMENT_GROWTH 4
#define SEGMENT_BYTES ((uint64_t)16 << 20)
/* Segments that wait for use. A flush frees as many as have been filled since the last one, and all will be wanted before the next. */
#define SEGMENTS_WAITING 8

struct segment {
	struct segment *next;
	unsigned file;        /* number in its name */
	int fd;               /* -1: closed, as is whatever is not written or synced; descriptors are for clients */
	int direct;           /* the same file past the page cache, on disk when the call returns; -1 where there is no such thing */
	uint64_t size;        /* of the file. Up to here writing is writing over */
	uint64_t limit;       /* up to here it is written, except by a record that is larger than that */
	uint64_t salt, first; /* of this use */
	uint64_t last;        /* record in it; 0: none */
	uint64_t unsynced;    /* last record that was written and not synced; 0: none */
	unsigned pins;        /* of threads that sync it: it stays open */
};

struct journal {
	struct store *store;
	pthread_mutex_t lock; /* guards everything below; a write has it all the time */
	struct segment *current;
	struct segment *full; /* written before, needed until RocksDB's files have their records */
	struct segment *waiting;
	unsigned waiting_count, last_file;
	uint64_t grown;       /* size of the last segment that was prepared */
	uint64_t next;        /* number of the next record */

	/* What is written next, at `start` of the current segment: `kept` bytes that are on disk already, or the segment's head; then the record. */
	char *memory, *buf;   /* buf is at a multiple of JOURNAL_BLOCK in memory */
	size_t room, kept, filled;
	uint64_t start;
	bool is_written;      /* all of it is in the file */

	struct reason broken; /* why nothing can be written any more */
	bool is_rescued;      /* what RocksDB had in memory then is in its files */
	int fail_next;

	/* The system tells only one of two who sync a file at once that it failed: the other looks here. */
	pthread_mutex_t syncing;
	int sync_error;       /* guarded by syncing */

	pthread_t thread;
	bool has_thread, stopping, woken, trim;
	pthread_cond_t wake;
};

/* segment.c: files. */
/* Makes and opens a new one. `size` bytes of it are written now; 0: none. */
struct segment *segment_make(struct journal *j, unsigned file, uint64_t size, struct reason *r);
/* One that is there. It is not open yet. NULL: out of memory. */
struct segment *segment_new(unsigned file);
bool segment_open(const char *dir, struct segment *s, struct reason *r);
bool segment_open_to_read(const char *dir, struct segment *s, struct reason *r);
void segment_close(struct segment *s);
/* Closes it, and lets go of it; `remove` removes its file, too. */
void segment_free(struct journal *j, struct segment *s, bool remove);
/* Of a file: remove it, or call it journal.N.lost. False: errno. */
bool segment_remove(const char *dir, unsigned file);
bool segment_set_aside(const char *dir, unsigned file);
/* fdatasync, again when it was interrupted. 0, or the errno. */
int segment_sync(const struct segment *s);
/* Writes whole blocks. *error is the errno. `synced` is whether they are on disk when this returns. */
bool segment_write(struct segment *s, const char *p, size_t n, uint64_t at, bool sync, bool *synced, int *error);
/* Each number of a segment's file in the directory. */
bool segment_files(const char *dir, unsigned **files, size_t *n, struct reason *r);

/* replay.c: puts the segments that are still needed into j->full and removes the others. */
bool journal_replay(struct journal *j, uint64_t after, journal_apply *apply, struct reason *r) MUST_CHECK;

/* keeper.c: the thread that prepares segments and sees which are no longer needed. */
bool journal_keeper_start(struct journal *j);
void journal_keeper_stop(struct journal *j);
/* Lock held. */
void journal_keeper_wake(struct journal *j);

__attribute__((format(printf, 2, 3)))
bool journal_fail(struct reason *r, const char *fmt, ...);

#endif
