/* Opening: applies the records that are not in RocksDB's files, and tidies the journal's files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include "base/log.h"
#include "store/journal/internal.h"

#define MB ((uint64_t)1 << 20)

/* Syncs the needed segments before any new record: a killed process may have left them only in the page cache. */
static bool sync_needed(struct journal *j, const struct journal_survey *v, struct reason *r)
{
	for (size_t i = 0; i < v->n; i++) {
		char name[JOURNAL_NAME_ROOM];
		struct journal_file f;
		int error;

		if (!v->all[i].needed)
			continue;
		segment_name(name, v->all[i].file);
		error = j->io->calls->open(j->io, name, JOURNAL_READ, &f);
		if (!error)
			error = j->io->calls->sync(j->io, &f);
		j->io->calls->close(j->io, &f);
		if (error)
			return reason_set(r, "%s/%s cannot be synced: %s", j->dir, name, journal_error(error));
	}
	return true;
}

/* Flushes replayed records to RocksDB's files before any request is answered: after a failed sync, the system may
 * have them in memory only and report them as on disk. On a full disk they stay in the journal. */
static bool flush_replayed(struct journal *j, const struct journal_survey *v, struct reason *r)
{
	uint64_t on_disk = 0;

	if (!v->look.count || j->o.no_flush || !j->o.has_room(j->o.owner, v->look.bytes))
		return true;
	j->o.flush(j->o.owner);
	if (j->o.on_disk(j->o.owner, &on_disk) && on_disk >= v->look.last)
		return true;
	if (!j->o.has_room(j->o.owner, 0))
		return true;
	return reason_set(r, "cannot write the records replayed from the journal in %s to RocksDB's files", j->dir);
}

static bool keep_for_now(struct journal *j, const struct journal_found *f, struct reason *r)
{
	struct segment *s = segment_new(f->file);

	if (!s)
		return reason_set(r, "out of memory");
	s->first = f->head.first;
	s->last = f->last;
	s->aside = f->stranded > 0;
	s->next = j->full;
	j->full = s;
	return true;
}

/* J6. */
static bool is_lost(const struct journal_found *f)
{
	return f->stranded > 0 || (!f->has_head && !f->is_blank);
}

/* Keeps segments with needed records and removes the others, so that no number occurs twice. The removal is on disk
 * before the next write: creating a segment syncs the directory. */
static bool sort_out(struct journal *j, const struct journal_survey *v, struct reason *r)
{
	size_t lost = 0;
	int error = 0;

	for (size_t i = 0; i < v->n && !error; i++) {
		const struct journal_found *f = &v->all[i];

		if (f->file > j->last_file)
			j->last_file = f->file;
		lost += is_lost(f);
		if (f->needed && !keep_for_now(j, f, r))
			return false;
		if (!f->needed)
			error = is_lost(f) ? segment_set_aside(j->io, f->file) : segment_remove(j->io, f->file);
	}
	if (lost)
		log_warn("store: write %" PRIu64
			 " is not in the journal of %s, but %zu of its files %s something after it. It was not synced before the "
			 "machine stopped, so it may be missing; those files are kept as journal.N.lost",
			 v->next, j->dir, lost, lost == 1 ? "has" : "have");
	return !error || reason_set(r, "the directory %s cannot be written: %s", j->dir, journal_error(error));
}

static void log_replay(struct journal *j, const struct journal_survey *v)
{
	if (v->look.count)
		log_info("store: the database was not closed; %" PRIu64 " batches (%" PRIu64
			 " MB) were taken from its journal",
			 v->look.count, (v->look.bytes + MB / 2) / MB);
	if (v->mark.exists && !v->mark.is_whole)
		log_warn("store: %s/" JOURNAL_MARK " was damaged and has been recreated; the journal itself is sound",
			 j->dir);
	else if (!v->mark.exists && !j->o.is_new)
		log_warn("store: %s/" JOURNAL_MARK " was missing and has been recreated; the journal itself is sound",
			 j->dir);
}

bool journal_replay(struct journal *j, struct reason *r)
{
	struct journal_survey v;
	bool ok;

	/* Surveys everything before applying anything (J5). */
	ok = journal_survey(&v, &j->o, NULL, r);
	journal_survey_release(&v);
	if (!ok)
		return false;
	ok = journal_survey(&v, &j->o, j->o.apply, r);
	j->next = v.next;
	j->before = v.run;
	j->sum = v.sum;
	j->durable = v.look.last; /* true once the steps below succeed */
	ok = ok && sync_needed(j, &v, r) && flush_replayed(j, &v, r) && sort_out(j, &v, r) &&
	     journal_mark_open(j, &v.mark, r);
	if (ok) {
		journal_mark_put(j);
		log_replay(j, &v);
	}
	journal_survey_release(&v);
	return ok;
}
