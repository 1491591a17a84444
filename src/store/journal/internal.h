/* Shared by the files of the journal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_INTERNAL_H
#define THORPE_STORE_JOURNAL_INTERNAL_H

#include <pthread.h>
#include "base/buf.h"
#include "store/journal/journal.h"

#define JOURNAL_NAME "journal."
#define JOURNAL_MARK "acknowledged"
/* Writes cover whole blocks at multiples of this size, as disks and direct I/O require. */
#define JOURNAL_BLOCK           ((size_t)4096)
#define JOURNAL_RECORD_HEAD     36
#define JOURNAL_OLD_RECORD_HEAD 24
/* Enough for journal.N and journal.N.lost.M. */
#define JOURNAL_NAME_ROOM 64

/* A database with few writes has a small journal. Segments grow up to the size that is reused. */
#define SEGMENT_FIRST  ((uint64_t)256 << 10)
#define SEGMENT_GROWTH 4
#define SEGMENT_BYTES  ((uint64_t)16 << 20)
/* Segments waiting for use. A flush frees as many as were filled since the last one, and all will be needed before
 * the next. */
#define SEGMENTS_WAITING 8

/* ---- layout.c: the first block of a segment ---- */

struct journal_head {
	uint64_t run, first, before; /* as in journal.h; before: run of the record before the first */
	uint8_t identity[JOURNAL_IDENTITY];
	bool is_old; /* of the previous version: no identity, and no `before` */
};
/* Fills a block. */
void journal_head_put(char block[JOURNAL_BLOCK], const struct journal_head *h);
/* False: neither copy is intact. Two that differ were torn during the write, and then no record follows. */
bool journal_head_get(const char block[JOURNAL_BLOCK], struct journal_head *h);
/* Turns p, which has a batch of n bytes at JOURNAL_RECORD_HEAD, into a record. `before`: the checksum of the
 * previous record. Returns its own. */
uint64_t journal_record_put(char *p, size_t n, uint64_t number, uint32_t open, uint64_t before, uint64_t run);
/* Whether p, of at least the size of a record's head, begins a record; and, once all of its n bytes are there,
 * whether it is intact. */
bool journal_record_begins(const char *p, uint64_t run);
bool journal_record_is_whole(const char *p, size_t n, uint64_t run);

/* ---- reader.c: reads one segment from its beginning ---- */

struct journal_reader {
	struct journal_io *io;
	struct journal_file file;
	struct journal_head head;
	uint64_t at;   /* offset of the next record */
	uint64_t next; /* the number it must have */
	uint64_t run;  /* seed of its checksum */
	uint64_t sum;  /* of the previous record; 0: unknown */
	size_t record_head;
	uint32_t open; /* of the record just read: how many before it were not known to be on disk */
	bool is_blank; /* there is no head and nothing else */
	char *buf;
	size_t room;
};
enum journal_read { JOURNAL_RECORD, JOURNAL_END, JOURNAL_FAILED };
/* Opens the segment. JOURNAL_RECORD: it has a head, and records may follow. JOURNAL_END: it has no head.
 * JOURNAL_FAILED: it could not be read, and *r says why. Call journal_reader_end() in all three cases. */
enum journal_read journal_reader_start(struct journal_reader *rd, struct journal_io *io, const char *name,
				       struct reason *r);
/* JOURNAL_RECORD: *record is valid until the next call. JOURNAL_END: no record follows. JOURNAL_FAILED: it could
 * not be read, and *r says why. */
enum journal_read journal_reader_next(struct journal_reader *rd, struct slice *record, struct reason *r);
/* Searches after rd->at for an intact record numbered at least rd->next, and moves there: the next
 * journal_reader_next() returns it. JOURNAL_END: there is none. */
enum journal_read journal_reader_search(struct journal_reader *rd, struct reason *r);
void journal_reader_end(struct journal_reader *rd);

/* ---- segment.c: files ---- */

struct segment {
	struct segment *next;
	unsigned file;         /* the number in its name */
	struct journal_file f; /* closed unless it is being written or synced: descriptors are for clients */
	uint64_t size;         /* of the file, in whole blocks. Up to here writes are overwrites */
	uint64_t limit;        /* it is filled up to here, except by a larger record */
	uint64_t first;        /* number of this use's first record */
	uint64_t last;         /* number of the last record in it; 0: none */
	uint64_t unsynced;     /* last record written but not synced; 0: none */
	unsigned pins;         /* threads syncing it: it stays open */
	bool aside;            /* also has records that cannot be used: rename it, do not remove it (J6) */
};

/* Creates and opens a new one, and writes its first `size` bytes now; 0: none. */
struct segment *segment_make(struct journal *j, unsigned file, uint64_t size, struct reason *r);
/* An existing one, not open yet. NULL: out of memory. */
struct segment *segment_new(unsigned file);
bool segment_open(struct journal *j, struct segment *s, struct reason *r);
void segment_close(struct journal *j, struct segment *s);
/* Closes and frees it; `remove` also removes its file. */
void segment_free(struct journal *j, struct segment *s, bool remove);
void segment_name(char name[JOURNAL_NAME_ROOM], unsigned file);
/* For a file: removes it, or renames it to NAME.lost. 0, or the errno. */
int segment_remove(struct journal_io *io, unsigned file);
int segment_set_aside(struct journal_io *io, unsigned file);
/* The numbers of all segments' files, ascending. The caller frees *files. */
bool segment_files(struct journal_io *io, unsigned **files, size_t *n, struct reason *r);

/* ---- mark.c: the file `acknowledged` ---- */

struct journal_mark {
	bool exists, is_whole;
	uint64_t number; /* 0: none */
	uint8_t identity[JOURNAL_IDENTITY];
};
/* False: *r says why it cannot be read. */
bool journal_mark_read(struct journal_io *io, struct journal_mark *m, struct reason *r);
/* Opens it for journal_mark_put(), and creates it if it is not intact. */
bool journal_mark_open(struct journal *j, const struct journal_mark *was, struct reason *r);
/* Lock held. Records that everything up to j->durable is on disk. */
void journal_mark_put(struct journal *j);
/* `durable`: sync its content before returning. */
void journal_mark_close(struct journal *j, bool durable);

/* ---- look.c: surveys what exists, before anything is done about it ---- */

struct journal_found {
	unsigned file;
	struct journal_head head;
	bool has_head, is_blank;
	bool seen;         /* its records have been walked */
	bool needed;       /* some of its records must be replayed */
	uint64_t last;     /* number of the last record walked; 0: none */
	uint64_t end;      /* offset where they end */
	uint64_t stranded; /* intact records after the first missing one */
};

struct journal_survey {
	const struct journal_options *o;
	struct journal_found *all; /* ascending by file */
	size_t n;
	struct journal_mark mark;
	uint64_t next;                        /* first missing number */
	uint64_t run, sum;                    /* of the record before it; 0: unknown */
	uint64_t witnessed;                   /* this record and all before it were on disk (J5) */
	const struct journal_found *ended_in; /* the file where `next` should be; NULL: none */
	struct journal_look look;
};
/* Surveys everything; with apply, passes it each record that must be replayed. False: *r says why, s->look.state
 * which kind of failure. Always call journal_survey_release(). */
bool journal_survey(struct journal_survey *s, const struct journal_options *o, journal_apply *apply,
		    struct reason *r) MUST_CHECK;
void journal_survey_release(struct journal_survey *s);

/* ---- write.c ---- */

struct journal {
	struct journal_io *io;
	struct journal_options o;
	char *dir;
	pthread_mutex_t lock; /* guards everything below; a write holds it throughout */
	struct segment *current;
	struct segment *full; /* filled, needed until RocksDB's files contain their records */
	struct segment *waiting;
	unsigned waiting_count, last_file;
	uint64_t grown;       /* size of the segment prepared last */
	uint64_t next;        /* number of the next record */
	uint64_t run, before; /* of this opening; of the record before its first */
	uint64_t sum;         /* of the last record kept */
	uint64_t written_sum; /* of the record being written */
	uint64_t durable;     /* this record and all before it are on disk */
	struct journal_file mark;
	bool mark_failed; /* logged once */

	/* What is written next, at `start` of the current segment: `kept` bytes that are already on disk, or the
	 * segment's head; then the record. */
	char *memory, *buf; /* buf is aligned to JOURNAL_BLOCK within memory */
	size_t room, kept, filled;
	uint64_t start;
	bool is_written; /* all of it is in the file */
	bool is_synced;  /* and on disk, with everything before it */

	struct reason broken; /* why nothing can be written any more */
	bool is_rescued;      /* what RocksDB had in memory then is in its files */
	int fail_next;

	/* If two threads sync a file at once, the system reports a failure to only one of them. The other finds it
	 * here. */
	pthread_mutex_t syncing;
	int sync_error; /* guarded by syncing */

	pthread_t thread;
	bool has_thread, stopping, woken, trim;
	pthread_cond_t wake;
};

/* ---- replay.c: opening ---- */

/* Replays the records and tidies the files: j->full gets what is still needed, everything else is removed or set
 * aside. */
bool journal_replay(struct journal *j, struct reason *r) MUST_CHECK;

/* ---- keeper.c: the thread that prepares segments and finds out which are no longer needed ---- */

bool journal_keeper_start(struct journal *j);
void journal_keeper_stop(struct journal *j);
/* Lock held. */
void journal_keeper_wake(struct journal *j);

/* An errno as text; valid until the thread's next call. */
const char *journal_error(int error);

#endif
