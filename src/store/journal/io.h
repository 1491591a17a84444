/* All that the journal asks of the system. Nothing else in store/journal/ reads, writes, makes or removes a file, so a test can
 * put a disk of its own below it: one that tears, reorders and forgets what was not synced (tests/unit/store/power.h).
 *
 * What is assumed of a disk stands in journal.h, A1 to A6.
 *
 * Files are named relative to the directory of the database. Calls return 0 or an errno; an interrupted call is made again
 * by the implementation. Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_IO_H
#define THORPE_STORE_JOURNAL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal_io;

/* An open file, and the end of it. */
struct journal_file {
	int fd;        /* of the implementation; -1: not open */
	int direct;    /* the same file past the page cache, on disk when a write returns; -1: there is no such thing */
	uint64_t size; /* when it was opened */
};
#define JOURNAL_FILE_CLOSED ((struct journal_file){ .fd = -1, .direct = -1 })

enum journal_open_mode {
	JOURNAL_READ,   /* it is there */
	JOURNAL_WRITE,  /* it is there, and is read and written */
	JOURNAL_CREATE, /* it is made, or emptied */
};

struct journal_io_calls {
	int (*open)(struct journal_io *io, const char *name, enum journal_open_mode mode, struct journal_file *f);
	void (*close)(struct journal_io *io, struct journal_file *f);
	/* *got is less than n at the end of the file only. */
	int (*read)(struct journal_io *io, struct journal_file *f, void *to, size_t n, uint64_t at, size_t *got);
	/* All of it, or an error: then nobody knows how much. With *durable it is on disk when the call returns, if the system can
	 * do that in one call; *durable tells afterwards. Then p, n and at are multiples of a block. */
	int (*write)(struct journal_io *io, struct journal_file *f, const void *p, size_t n, uint64_t at, bool *durable);
	/* What was written to the file is on disk, and its size. */
	int (*sync)(struct journal_io *io, struct journal_file *f);
	/* The system need not keep the file in memory. */
	void (*forget)(struct journal_io *io, struct journal_file *f);
	/* Names that were made, changed and removed are so on disk. */
	int (*sync_dir)(struct journal_io *io);
	int (*rename)(struct journal_io *io, const char *from, const char *to);
	int (*unlink)(struct journal_io *io, const char *name);
	/* Calls each() with every name that begins with `prefix`, until it returns false. */
	int (*list)(struct journal_io *io, const char *prefix, bool (*each)(void *ctx, const char *name), void *ctx);
};

/* An implementation begins with this. */
struct journal_io {
	const struct journal_io_calls *calls;
};

/* The system's own. */
struct journal_posix {
	struct journal_io io;
	int dir_fd; /* of the directory; not closed by it */
};
struct journal_posix journal_posix(int dir_fd);

#endif
