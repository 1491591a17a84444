/* TransactionCanceledException and its reasons, in the order of the actions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/cancellation.h"
#include "api/reply.h"
#include "value/codec.h"

static void add_reason(struct buf *b, const struct reply_reason *r)
{
	buf_lit(b, "{\"Code\":\"");
	buf_str(b, reason_name(r->error.code));
	buf_lit(b, "\"");
	if (r->error.code != ERR_NONE) {
		reply_member(b, "Message");
		json_string(b, r->error.message);
		if (value_present(r->item)) {
			reply_member(b, "Item");
			item_to_json(b, r->item);
		}
	}
	buf_lit(b, "}");
}

bool cancellation_set(struct error *e, struct arena *a, const struct reply_reason *reasons, size_t n)
{
	struct buf members;

	buf_init(&members, a);
	buf_lit(&members, ",\"CancellationReasons\":[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_lit(&members, ",");
		add_reason(&members, &reasons[i]);
	}
	buf_lit(&members, "]");
	*e = (struct error){ .code = ERR_TRANSACTION_CANCELED, .message = reasons_message(a, reasons, n), .members = buf_slice(&members) };
	return false;
}
