/* The journal's interface to the system. No other file in store/journal/ reads, writes, creates or removes files,
 * so a test can substitute a disk that tears, reorders and forgets what was not synced (tests/unit/store/power.h).
 *
 * journal.h, A1 to A6, states the assumptions about a disk.
 *
 * File names are relative to the database's directory. Calls return 0 or an errno; the implementation repeats
 * interrupted calls. Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_IO_H
#define THORPE_STORE_JOURNAL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal_io;

/* An open file and its size. */
struct journal_file {
	int fd;        /* the implementation's descriptor; -1: not open */
	int direct;    /* the same file past the page cache, on disk when a write returns; -1: not supported */
	uint64_t size; /* when it was opened */
};
#define JOURNAL_FILE_CLOSED ((struct journal_file){ .fd = -1, .direct = -1 })

enum journal_open_mode {
	JOURNAL_READ,   /* must exist */
	JOURNAL_WRITE,  /* must exist; read and written */
	JOURNAL_CREATE, /* created, or emptied */
};

struct journal_io_calls {
	int (*open)(struct journal_io *io, const char *name, enum journal_open_mode mode, struct journal_file *f);
	void (*close)(struct journal_io *io, struct journal_file *f);
	/* *got is less than n only at the end of the file. */
	int (*read)(struct journal_io *io, struct journal_file *f, void *to, size_t n, uint64_t at, size_t *got);
	/* Writes all of it, or fails after an unknown part. If *durable is set and the system can do so in one
	 * call, the data is on disk when the call returns; *durable says afterwards whether it is. p, n and at are
	 * then multiples of a block. */
	int (*write)(struct journal_io *io, struct journal_file *f, const void *p, size_t n, uint64_t at, bool *durable);
	/* Brings the file's data and size to disk. */
	int (*sync)(struct journal_io *io, struct journal_file *f);
	/* Tells the system that it need not cache the file. */
	void (*forget)(struct journal_io *io, struct journal_file *f);
	/* Brings created, renamed and removed names to disk. */
	int (*sync_dir)(struct journal_io *io);
	int (*rename)(struct journal_io *io, const char *from, const char *to);
	int (*unlink)(struct journal_io *io, const char *name);
	/* Calls each() with every name that begins with `prefix`, until it returns false. */
	int (*list)(struct journal_io *io, const char *prefix, bool (*each)(void *ctx, const char *name), void *ctx);
};

/* The first member of every implementation. */
struct journal_io {
	const struct journal_io_calls *calls;
};

/* The system's own calls. */
struct journal_posix {
	struct journal_io io;
	int dir_fd; /* of the directory; the owner closes it */
};
struct journal_posix journal_posix(int dir_fd);

#endif
