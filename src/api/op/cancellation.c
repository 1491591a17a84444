/* TransactionCanceledException and its reasons, in the order of the actions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/cancellation.h"
#include "api/reply.h"
#include "value/codec.h"

static void add_reason(struct buf *b, const struct reply_reason *r)
{
	json_open(b, '{');
	json_member_word(b, "Code", reason_name(r->error.code));
	if (r->error.code != ERR_NONE) {
		json_member_string(b, "Message", r->error.message);
		if (value_present(r->item)) {
			json_name(b, "Item");
			item_to_json(b, r->item);
		}
	}
	json_close(b, '}');
}

bool cancellation_set(struct error *e, struct arena *a, const struct reply_reason *reasons, size_t n)
{
	struct buf members;

	buf_init(&members, a);
	json_member_open(&members, "CancellationReasons", '[');
	for (size_t i = 0; i < n; i++)
		add_reason(&members, &reasons[i]);
	json_close(&members, ']');
	*e = (struct error){ .code = ERR_TRANSACTION_CANCELED,
			     .message = reasons_message(a, reasons, n),
			     .members = buf_slice(&members) };
	return false;
}
