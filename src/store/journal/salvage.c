/* Recovers every intact record of a damaged journal, also after unreadable parts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/grow.h"
#include "store/journal/internal.h"

struct whole_record {
	uint64_t number, first; /* first: of its segment */
	unsigned file;
	uint64_t at;
};

struct salvage {
	const struct journal_options *o;
	struct whole_record *all;
	size_t n, room;
	uint64_t witnessed;
	journal_tell *tell;
	void *ctx;
};

__attribute__((format(printf, 2, 3))) static void say(struct salvage *v, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	v->tell(v->ctx, text);
}

static bool remember(struct salvage *v, const struct journal_reader *rd, unsigned file, uint64_t at)
{
	if (!GROW(v->all, v->n + 1, v->room, 1024))
		return false;
	v->all[v->n++] =
		(struct whole_record){ .number = rd->next - 1, .first = rd->head.first, .file = file, .at = at };
	return true;
}

static void witness(struct salvage *v, uint64_t number)
{
	if (number > v->witnessed)
		v->witnessed = number;
}

/* JOURNAL_END: the whole file was read. */
static enum journal_read collect(struct salvage *v, struct journal_reader *rd, unsigned file, struct reason *r)
{
	for (;;) {
		uint64_t at = rd->at;
		struct slice record;
		enum journal_read did = journal_reader_next(rd, &record, r);

		if (did == JOURNAL_RECORD && rd->next - 1 > v->o->after.number && !remember(v, rd, file, at)) {
			reason_set(r, "out of memory");
			return JOURNAL_FAILED;
		}
		if (did == JOURNAL_RECORD)
			continue;
		if (did == JOURNAL_END)
			did = journal_reader_search(rd, r);
		if (did != JOURNAL_RECORD)
			return did;
	}
}

static bool look_at(struct salvage *v, unsigned file, struct reason *r)
{
	struct reason why = { 0 };
	char name[JOURNAL_NAME_ROOM];
	struct journal_reader rd;
	enum journal_read did;

	segment_name(name, file);
	did = journal_reader_start(&rd, v->o->io, name, &why);
	if (did == JOURNAL_RECORD && !rd.head.is_old && memcmp(rd.head.identity, v->o->identity, JOURNAL_IDENTITY) != 0) {
		say(v, "%s belongs to another database and is not used", name);
	} else if (did == JOURNAL_RECORD) {
		did = collect(v, &rd, file, &why);
	} else if (did == JOURNAL_END && !rd.is_blank) {
		say(v, "%s has no readable head, so its records cannot be distinguished from older data", name);
	}
	journal_reader_end(&rd);
	if (did == JOURNAL_FAILED)
		say(v, "%s: %s", name, why.text);
	if (strcmp(why.text, "out of memory") == 0)
		*r = why;
	return !r->failed;
}

static bool look_at_all(struct salvage *v, struct reason *r)
{
	unsigned *files;
	bool ok;
	size_t n;

	ok = segment_files(v->o->io, &files, &n, r);
	for (size_t i = 0; i < n && ok; i++)
		ok = look_at(v, files[i], r);
	mem_free(files);
	return ok;
}

/* Of two records with the same number, the one from the newer segment comes first: the other was not kept (J4). */
static int by_number(const void *a, const void *b)
{
	const struct whole_record *x = a, *y = b;

	if (x->number != y->number)
		return x->number > y->number ? 1 : -1;
	return (x->first < y->first) - (x->first > y->first);
}

static bool apply_one(struct salvage *v, const struct whole_record *w, struct reason *r)
{
	char name[JOURNAL_NAME_ROOM];
	struct journal_reader rd;
	struct slice record;
	bool ok;

	segment_name(name, w->file);
	ok = journal_reader_start(&rd, v->o->io, name, r) == JOURNAL_RECORD;
	rd.at = w->at;
	rd.next = w->number;
	ok = ok && journal_reader_next(&rd, &record, r) == JOURNAL_RECORD;
	if (!ok && !r->failed)
		reason_set(r, "%s has changed meanwhile", name);
	ok = ok && v->o->apply(v->o->owner, record, r);
	journal_reader_end(&rd);
	return ok;
}

static void say_lost(struct salvage *v, uint64_t from, uint64_t to, struct journal_salvaged *s)
{
	s->lost += to - from + 1;
	if (from == to)
		say(v, "write %" PRIu64 " is lost", from);
	else
		say(v, "writes %" PRIu64 " to %" PRIu64 " are lost", from, to);
}

static bool apply_all(struct salvage *v, bool stop_at_damage, struct journal_salvaged *s, struct reason *r)
{
	uint64_t next = v->o->after.number + 1;

	for (size_t i = 0; i < v->n; i++) {
		const struct whole_record *w = &v->all[i];

		if (w->number < next)
			continue;
		if (w->number > next && stop_at_damage)
			break;
		if (w->number > next)
			say_lost(v, next, w->number - 1, s);
		if (!apply_one(v, w, r))
			return false;
		s->applied++;
		next = w->number + 1;
	}
	s->last = v->n && v->all[v->n - 1].number > v->witnessed ? v->all[v->n - 1].number : v->witnessed;
	if (s->last < next)
		s->last = next - 1;
	else
		say_lost(v, next, s->last, s);
	return true;
}

bool journal_salvage(const struct journal_options *o, bool stop_at_damage, struct journal_salvaged *s,
		     journal_tell *tell, void *ctx, struct reason *r)
{
	struct salvage v = { .o = o, .tell = tell, .ctx = ctx };
	struct journal_mark mark;
	bool ok;

	*s = (struct journal_salvaged){ 0 };
	if (!journal_mark_read(o->io, &mark, r)) {
		say(&v, "%s", r->text);
		*r = (struct reason){ 0 };
	}
	if (mark.is_whole && memcmp(mark.identity, o->identity, JOURNAL_IDENTITY) == 0)
		witness(&v, mark.number);
	ok = look_at_all(&v, r);
	if (ok && v.n)
		qsort(v.all, v.n, sizeof(*v.all), by_number);
	ok = ok && apply_all(&v, stop_at_damage, s, r);
	mem_free(v.all);
	return ok;
}
