/* What the files of the journal share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_INTERNAL_H
#define THORPE_STORE_JOURNAL_INTERNAL_H

#include <pthread.h>
#include "base/buf.h"
#include "store/journal/journal.h"

#define JOURNAL_NAME "journal."
#define JOURNAL_MARK "acknowledged"
/* What is written at once is whole blocks at places that are multiples of this: what disks and direct I/O want. */
#define JOURNAL_BLOCK           ((size_t)4096)
#define JOURNAL_RECORD_HEAD     36
#define JOURNAL_OLD_RECORD_HEAD 24
/* Enough for journal.N and journal.N.lost.M. */
#define JOURNAL_NAME_ROOM 64

/* A database that is hardly written to has a small journal. Segments grow up to what is used again. */
#define SEGMENT_FIRST  ((uint64_t)256 << 10)
#define SEGMENT_GROWTH 4
#define SEGMENT_BYTES  ((uint64_t)16 << 20)
/* Segments that wait for use. A flush frees as many as have been filled since the last one, and all will be wanted before the next. */
#define SEGMENTS_WAITING 8

/* ---- layout.c: the first block of a segment ---- */

struct journal_head {
	uint64_t run, first, before; /* as journal.h has it; before: run of the record before the first */
	uint8_t identity[JOURNAL_IDENTITY];
	bool is_old; /* of the version before: no identity, and no `before` */
};
/* Fills a block. */
void journal_head_put(char block[JOURNAL_BLOCK], const struct journal_head *h);
/* False: neither copy is whole. Two that differ were torn when they were written, and then no record follows either. */
bool journal_head_get(const char block[JOURNAL_BLOCK], struct journal_head *h);
/* Makes p, where a batch of n bytes stands at JOURNAL_RECORD_HEAD, a record. `before`: the sum of the one before it. Returns its own sum. */
uint64_t journal_record_put(char *p, size_t n, uint64_t number, uint32_t open, uint64_t before, uint64_t run);
/* Whether p, of at least a record's head, begins one; and, once all of its n bytes are there, whether it is whole. */
bool journal_record_begins(const char *p, uint64_t run);
bool journal_record_is_whole(const char *p, size_t n, uint64_t run);

/* ---- reader.c: one segment, read from its beginning ---- */

struct journal_reader {
	struct journal_io *io;
	struct journal_file file;
	struct journal_head head;
	uint64_t at;   /* where the next record is */
	uint64_t next; /* number that it must have */
	uint64_t run;  /* seed of its checksum */
	uint64_t sum;  /* of the record before it; 0: not known */
	size_t record_head;
	uint32_t open; /* of the record that was read: how many before it were not known to be on disk */
	bool is_blank; /* there is no head, and nothing else */
	char *buf;
	size_t room;
};
enum journal_read { JOURNAL_RECORD, JOURNAL_END, JOURNAL_FAILED };
/* Opens the segment. JOURNAL_RECORD: it has a head, and there may be records. JOURNAL_END: it has none. JOURNAL_FAILED: *r says why that
 * cannot be told. journal_reader_end() is due in all three. */
enum journal_read journal_reader_start(struct journal_reader *rd, struct journal_io *io, const char *name,
				       struct reason *r);
/* JOURNAL_RECORD: *record is valid until the next call. JOURNAL_END: no record follows. JOURNAL_FAILED: *r says why that cannot be told. */
enum journal_read journal_reader_next(struct journal_reader *rd, struct slice *record, struct reason *r);
/* Looks for a whole record with a number of at least rd->next anywhere after rd->at, and goes there: the next call of journal_reader_next() gives it.
 * JOURNAL_END: there is none. */
enum journal_read journal_reader_search(struct journal_reader *rd, struct reason *r);
void journal_reader_end(struct journal_reader *rd);

/* ---- segment.c: files ---- */

struct segment {
	struct segment *next;
	unsigned file;         /* number in its name */
	struct journal_file f; /* closed unless it is written or synced: descriptors are for clients */
	uint64_t size;         /* of the file, in whole blocks. Up to here writing is writing over */
	uint64_t limit;        /* up to here it is written, except by a record that is larger than that */
	uint64_t first;        /* of this use */
	uint64_t last;         /* record in it; 0: none */
	uint64_t unsynced;     /* last record that was written and not synced; 0: none */
	unsigned pins;         /* of threads that sync it: it stays open */
	bool aside;            /* it also has records that cannot be used: renamed, not removed (J6) */
};

/* Makes and opens a new one. `size` bytes of it are written now; 0: none. */
struct segment *segment_make(struct journal *j, unsigned file, uint64_t size, struct reason *r);
/* One that is there. It is not open yet. NULL: out of memory. */
struct segment *segment_new(unsigned file);
bool segment_open(struct journal *j, struct segment *s, struct reason *r);
void segment_close(struct journal *j, struct segment *s);
/* Closes it, and lets go of it; `remove` removes its file, too. */
void segment_free(struct journal *j, struct segment *s, bool remove);
void segment_name(char name[JOURNAL_NAME_ROOM], unsigned file);
/* Of a file: remove it, or rename it to NAME.lost. 0, or the errno. */
int segment_remove(struct journal_io *io, unsigned file);
int segment_set_aside(struct journal_io *io, unsigned file);
/* The numbers of all segments' files, upwards. *files is the caller's to free. */
bool segment_files(struct journal_io *io, unsigned **files, size_t *n, struct reason *r);

/* ---- mark.c: the file `acknowledged` ---- */

struct journal_mark {
	bool exists, is_whole;
	uint64_t number; /* 0: none */
	uint8_t identity[JOURNAL_IDENTITY];
};
/* False: *r says why it cannot be read. */
bool journal_mark_read(struct journal_io *io, struct journal_mark *m, struct reason *r);
/* Opens it for journal_mark_put(), and makes it if it is not whole. */
bool journal_mark_open(struct journal *j, const struct journal_mark *was, struct reason *r);
/* Lock held. Says that everything up to j->durable is on disk. */
void journal_mark_put(struct journal *j);
/* `durable`: what it says is on disk when this returns. */
void journal_mark_close(struct journal *j, bool durable);

/* ---- look.c: what there is, before anything is done about it ---- */

struct journal_found {
	unsigned file;
	struct journal_head head;
	bool has_head, is_blank;
	bool seen;         /* its records were walked */
	bool needed;       /* some of them have to be replayed */
	uint64_t last;     /* of those that are walked; 0: none */
	uint64_t end;      /* where they end */
	uint64_t stranded; /* whole records after the first that is missing */
};

struct journal_survey {
	const struct journal_options *o;
	struct journal_found *all; /* upwards by file */
	size_t n;
	struct journal_mark mark;
	uint64_t next;                        /* first number that is missing */
	uint64_t run, sum;                    /* of the record before it; 0: not known */
	uint64_t witnessed;                   /* this record and all before it were on disk (J5) */
	const struct journal_found *ended_in; /* where `next` should be; NULL: in no file */
	struct journal_look look;
};
/* Looks at everything; with apply, each record that has to be replayed is given to it. False: *r says why; s->look.state what kind of failure it
 * is. journal_survey_release() is due in any case. */
bool journal_survey(struct journal_survey *s, const struct journal_options *o, journal_apply *apply,
		    struct reason *r) MUST_CHECK;
void journal_survey_release(struct journal_survey *s);

/* ---- write.c ---- */

struct journal {
	struct journal_io *io;
	struct journal_options o;
	char *dir;
	pthread_mutex_t lock; /* guards everything below; a write has it all the time */
	struct segment *current;
	struct segment *full; /* written before, needed until RocksDB's files have their records */
	struct segment *waiting;
	unsigned waiting_count, last_file;
	uint64_t grown;       /* size of the last segment that was prepared */
	uint64_t next;        /* number of the next record */
	uint64_t run, before; /* of this opening; of the record before its first */
	uint64_t sum;         /* of the last record that was kept */
	uint64_t written_sum; /* of the one that is being written */
	uint64_t durable;     /* this record and all before it are on disk */
	struct journal_file mark;
	bool mark_failed; /* said once */

	/* What is written next, at `start` of the current segment: `kept` bytes that are on disk already, or the segment's head; then the record. */
	char *memory, *buf; /* buf is at a multiple of JOURNAL_BLOCK in memory */
	size_t room, kept, filled;
	uint64_t start;
	bool is_written; /* all of it is in the file */
	bool is_synced;  /* and on disk, with all before it */

	struct reason broken; /* why nothing can be written any more */
	bool is_rescued;      /* what RocksDB had in memory then is in its files */
	int fail_next;

	/* The system tells only one of two who sync a file at once that it failed: the other looks here. */
	pthread_mutex_t syncing;
	int sync_error; /* guarded by syncing */

	pthread_t thread;
	bool has_thread, stopping, woken, trim;
	pthread_cond_t wake;
};

/* ---- replay.c: opening ---- */

/* Replays, and brings order into the files: j->full has what is still needed, everything else is gone or set aside. */
bool journal_replay(struct journal *j, struct reason *r) MUST_CHECK;

/* ---- keeper.c: the thread that prepares segments and sees which are no longer needed ---- */

bool journal_keeper_start(struct journal *j);
void journal_keeper_stop(struct journal *j);
/* Lock held. */
void journal_keeper_wake(struct journal *j);

/* An errno in words; valid until the thread's next call. */
const char *journal_error(int error);

#endif
