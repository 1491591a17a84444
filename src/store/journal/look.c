/* Surveys the journal: which records must be replayed, where they end, and whether that end is a torn tail or
 * damage.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include "base/alloc.h"
#include "store/journal/internal.h"

/* ---- the files ---- */

static bool unreadable(struct journal_survey *s, unsigned file, struct reason *r)
{
	struct reason was = *r;

	s->look.state = JOURNAL_UNREADABLE;
	return reason_set(r, "%s/" JOURNAL_NAME "%u: %.400s", s->o->dir, file, was.text);
}

static bool read_head(struct journal_survey *s, struct journal_found *f, struct reason *r)
{
	char name[JOURNAL_NAME_ROOM];
	struct journal_reader rd;
	enum journal_read did;

	segment_name(name, f->file);
	did = journal_reader_start(&rd, s->o->io, name, r);
	f->has_head = did == JOURNAL_RECORD;
	f->is_blank = rd.is_blank;
	f->head = rd.head;
	f->end = JOURNAL_BLOCK;
	journal_reader_end(&rd);
	return did != JOURNAL_FAILED || unreadable(s, f->file, r);
}

static bool find_segments(struct journal_survey *s, struct reason *r)
{
	unsigned *files;
	bool ok = true;
	size_t n;

	s->look.state = JOURNAL_UNREADABLE;
	if (!segment_files(s->o->io, &files, &n, r))
		return false;
	s->all = mem_zalloc((n + 1) * sizeof(*s->all));
	if (!s->all)
		ok = reason_set(r, "out of memory");
	for (size_t i = 0; i < n && ok; i++) {
		s->all[i].file = files[i];
		s->n = i + 1;
		ok = read_head(s, &s->all[i], r);
		s->look.has_files |= !s->all[i].is_blank;
	}
	mem_free(files);
	return ok;
}

/* ---- the database they belong to ---- */

static bool foreign(struct journal_survey *s, const char *what, struct reason *r)
{
	s->look.state = JOURNAL_FOREIGN;
	return reason_set(
		r,
		"%s in %s belongs to another database, or to another copy of this one. Nothing was changed. Move it away, or put back the "
		"files it belongs to",
		what, s->o->dir);
}

static bool foreign_segment(struct journal_survey *s, const struct journal_found *f, struct reason *r)
{
	char name[JOURNAL_NAME_ROOM];

	segment_name(name, f->file);
	return foreign(s, name, r);
}

static bool check_identities(struct journal_survey *s, struct reason *r)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct journal_found *f = &s->all[i];

		if (f->has_head && !f->head.is_old && memcmp(f->head.identity, s->o->identity, JOURNAL_IDENTITY) != 0)
			return foreign_segment(s, f, r);
	}
	if (s->mark.is_whole && memcmp(s->mark.identity, s->o->identity, JOURNAL_IDENTITY) != 0)
		return foreign(s, "The file " JOURNAL_MARK, r);
	return true;
}

/* Whether the segment's run continued after `last`. */
static bool follows(const struct journal_found *f, struct journal_point last)
{
	uint64_t wrote_last = f->head.first <= last.number ? f->head.run : f->head.before;

	return f->head.is_old || !last.run || !wrote_last || wrote_last == last.run;
}

/* ---- walking ---- */

static struct journal_found *beginning_with(struct journal_survey *s, uint64_t number)
{
	for (size_t i = 0; i < s->n; i++) {
		struct journal_found *f = &s->all[i];

		if (f->has_head && !f->seen && f->head.first == number)
			return f;
	}
	return NULL;
}

/* The segment with the first record to replay, if any. */
static struct journal_found *first_needed(struct journal_survey *s)
{
	struct journal_found *best = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct journal_found *f = &s->all[i];

		if (f->has_head && f->head.first <= s->o->after.number + 1 && (!best || f->head.first > best->head.first))
			best = f;
	}
	return best;
}

static void witness(struct journal_survey *s, uint64_t number)
{
	if (number > s->witnessed)
		s->witnessed = number;
}

/* What a record says about earlier ones. */
static void witness_of(struct journal_survey *s, const struct journal_reader *rd)
{
	uint64_t before = rd->next - 2; /* rd->next is the number after this record */

	witness(s, before > rd->open ? before - rd->open : 0);
}

/* Walks to its end, or to a segment that begins with the next number (J4). */
static bool walk_records(struct journal_survey *s, struct journal_found *f, struct journal_reader *rd,
			 journal_apply *apply, struct reason *r)
{
	struct slice record;

	while (!beginning_with(s, rd->next)) {
		enum journal_read did = journal_reader_next(rd, &record, r);

		if (did == JOURNAL_FAILED)
			return unreadable(s, f->file, r);
		if (did == JOURNAL_END)
			break;
		witness_of(s, rd);
		f->last = rd->next - 1;
		if (f->last <= s->o->after.number)
			continue;
		if (!f->needed && !follows(f, (struct journal_point){ f->last - 1, s->run }))
			return foreign_segment(s, f, r);
		if (apply && !apply(s->o->owner, record, r))
			return false;
		f->needed = true;
		s->look.count++;
		s->look.bytes += record.n;
	}
	return true;
}

static bool walk_segment(struct journal_survey *s, struct journal_found *f, journal_apply *apply, struct reason *r)
{
	char name[JOURNAL_NAME_ROOM];
	struct journal_reader rd;
	bool ok;

	f->seen = true;
	segment_name(name, f->file);
	ok = journal_reader_start(&rd, s->o->io, name, r) == JOURNAL_RECORD;
	if (!ok) {
		if (!r->failed)
			reason_set(r, "it changed while it was read");
		(void)unreadable(s, f->file, r);
	}
	if (rd.next == s->next) /* it continues where the previous one ended */
		rd.sum = s->sum;
	ok = ok && walk_records(s, f, &rd, apply, r);
	f->end = rd.at;
	s->next = rd.next;
	s->sum = rd.sum;
	if (f->needed)
		s->run = f->head.run;
	journal_reader_end(&rd);
	return ok;
}

static bool walk(struct journal_survey *s, journal_apply *apply, struct reason *r)
{
	struct journal_found *f = first_needed(s);

	s->next = s->o->after.number + 1;
	s->run = s->o->after.run;
	while (f) {
		s->ended_in = f;
		if (!walk_segment(s, f, apply, r))
			return false;
		f = beginning_with(s, s->next);
	}
	/* RocksDB's files may have more than the journal, if it was not synced. */
	if (s->next <= s->o->after.number) {
		s->next = s->o->after.number + 1;
		s->run = s->o->after.run;
		s->sum = 0;
	}
	return true;
}

/* ---- after the end ---- */

/* Counts the intact records of a segment from the reader's position, skipping unreadable parts. */
static bool count_stranded(struct journal_survey *s, struct journal_found *f, struct journal_reader *rd,
			   struct reason *r)
{
	enum journal_read did = JOURNAL_RECORD;
	struct slice record;

	while (did == JOURNAL_RECORD) {
		did = journal_reader_next(rd, &record, r);
		if (did == JOURNAL_RECORD) {
			witness_of(s, rd);
			f->stranded++;
		} else if (did == JOURNAL_END) {
			did = journal_reader_search(rd, r);
		}
	}
	return did != JOURNAL_FAILED || unreadable(s, f->file, r);
}

static bool look_behind(struct journal_survey *s, struct journal_found *f, struct reason *r)
{
	char name[JOURNAL_NAME_ROOM];
	struct journal_reader rd;
	bool ok;

	segment_name(name, f->file);
	ok = journal_reader_start(&rd, s->o->io, name, r) == JOURNAL_RECORD || unreadable(s, f->file, r);
	rd.at = f->end;
	/* Only numbers not seen yet: leftovers of an earlier use of the segment have lower ones. */
	if (rd.next < s->next)
		rd.next = s->next;
	rd.sum = 0;
	ok = ok && count_stranded(s, f, &rd, r);
	journal_reader_end(&rd);
	s->look.stranded += f->stranded;
	return ok;
}

/* Collects all evidence that a record was once on disk. */
static bool gather_witnesses(struct journal_survey *s, struct reason *r)
{
	if (s->mark.is_whole)
		witness(s, s->mark.number);
	for (size_t i = 0; i < s->n; i++) {
		struct journal_found *f = &s->all[i];

		if (f->has_head && (f == s->ended_in || f->head.first >= s->next) && !look_behind(s, f, r))
			return false;
	}
	return true;
}

static const struct journal_found *headless(const struct journal_survey *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->all[i].has_head && !s->all[i].is_blank)
			return &s->all[i];
	}
	return NULL;
}

static bool damaged(struct journal_survey *s, struct reason *r)
{
	const struct journal_found *f = s->ended_in, *h = headless(s);
	uint64_t lost = s->witnessed - s->next + 1;
	char where[160];

	s->look.state = JOURNAL_DAMAGED;
	s->look.lost = s->next;
	if (h)
		snprintf(where, sizeof(where), JOURNAL_NAME "%u at byte 0 has no head that can be read", h->file);
	else if (f)
		snprintf(where, sizeof(where), JOURNAL_NAME "%u at byte %" PRIu64 " should have write %" PRIu64,
			 f->file, f->end, s->next);
	else
		snprintf(where, sizeof(where), "no file of the journal has write %" PRIu64, s->next);
	return reason_set(
		r,
		"The journal in %s is damaged: %s, which was on disk once. At least %" PRIu64
		" acknowledged %s from there on cannot be read in "
		"order; %" PRIu64
		" whole %s after it. Nothing was changed. 'thorpe salvage %s' copies the directory and recovers what can be",
		s->o->dir, where, lost, lost == 1 ? "batch" : "batches", s->look.stranded,
		s->look.stranded == 1 ? "batch lies" : "batches lie", s->o->dir);
}

bool journal_survey(struct journal_survey *s, const struct journal_options *o, journal_apply *apply, struct reason *r)
{
	bool ok;

	*s = (struct journal_survey){ .o = o };
	ok = find_segments(s, r) && journal_mark_read(o->io, &s->mark, r) && check_identities(s, r) &&
	     walk(s, apply, r) && gather_witnesses(s, r);
	s->look.last = s->next ? s->next - 1 : 0;
	s->look.witnessed = s->witnessed;
	if (ok && s->witnessed >= s->next)
		return damaged(s, r);
	if (ok)
		s->look.state = JOURNAL_SOUND;
	return ok;
}

void journal_survey_release(struct journal_survey *s)
{
	mem_free(s->all);
	s->all = NULL;
	s->n = 0;
}

void journal_look(const struct journal_options *o, struct journal_look *look, struct reason *r)
{
	struct journal_survey s;

	if (!journal_survey(&s, o, NULL, r) && s.look.state == JOURNAL_SOUND)
		s.look.state = JOURNAL_UNREADABLE;
	*look = s.look;
	journal_survey_release(&s);
}
