/* The words of a letter: the design's, or, as the server speaks no language, the design's title, the token and its end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/mail.h"
#include "base/timestamp.h"

static void put_part(struct run *r, const struct letter_part *p, const struct row *account, const struct mail *m,
		     struct buf *b)
{
	char time[TIME_TEXT_MAX];

	switch (p->is) {
	case LETTER_LITERAL: buf_put(b, p->text); break;
	case LETTER_TOKEN: buf_put(b, m->token); break;
	case LETTER_EXPIRES: buf_put(b, time_format(m->expires_s * 1000, time)); break;
	case LETTER_TITLE: buf_put(b, r->design->title.n ? r->design->title : r->design->name); break;
	case LETTER_ATTRIBUTE: buf_put(b, run_text(r, row_get(account, p->at))); break;
	}
}

static struct slice fill(struct run *r, const struct letter_text *t, const struct row *account, const struct mail *m)
{
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; i < t->count; i++)
		put_part(r, &t->parts[i], account, m, &b);
	return buf_slice(&b);
}

void mail_letter(struct run *r, const struct row *account, struct mail *m)
{
	static const struct letter_part subject[] = { { .is = LETTER_TITLE } },
					text[] = { { .is = LETTER_TITLE },   { .text = { "\n\n", 2 } },
						   { .is = LETTER_TOKEN },   { .text = { "\n\n", 2 } },
						   { .is = LETTER_EXPIRES }, { .text = { "\n", 1 } } };
	const struct login_mail *design = &m->login->mail;
	const struct letter *given = m->kind == MAIL_RESET ? &design->reset_letter : &design->proof_letter;
	struct letter letter = *given;

	if (!letter.subject.count)
		letter.subject = (struct letter_text){ subject, 1 };
	if (!letter.text.count)
		letter.text = (struct letter_text){ text, 6 };
	m->head = fill(r, &letter.subject, account, m);
	m->text = fill(r, &letter.text, account, m);
}
