/* TransactionCanceledException and its reasons, in the order of the actions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/cancellation.h"
#include "api/reply.h"
#include "value/codec.h"

static const char *reason_code(enum err code)
{
	switch (code) {
	case ERR_NONE:
		return "None";
	case ERR_CONDITION_FAILED:
		return "ConditionalCheckFailed";
	case ERR_COLLECTION_SIZE:
		return "ItemCollectionSizeLimitExceeded";
	case ERR_TRANSACTION_CONFLICT:
		return "TransactionConflict";
	case ERR_THROUGHPUT_EXCEEDED:
		return "ProvisionedThroughputExceeded";
	case ERR_THROTTLING:
		return "ThrottlingError";
	default:
		return "ValidationError";
	}
}

static void add_reason(struct buf *b, const struct cancellation_reason *r)
{
	json_open(b, '{');
	json_member_word(b, "Code", reason_code(r->error.code));
	if (r->error.code != ERR_NONE) {
		json_member_string(b, "Message", r->error.message);
		if (value_present(r->item)) {
			json_name(b, "Item");
			item_to_json(b, r->item);
		}
	}
	json_close(b, '}');
}

bool cancellation_set(struct error *e, struct arena *a, const struct cancellation_reason *reasons, size_t n)
{
	struct buf codes, members;

	buf_init(&codes, a);
	buf_init(&members, a);
	json_member_open(&members, "CancellationReasons", '[');
	for (size_t i = 0; i < n; i++) {
		buf_str(&codes, i ? ", " : "");
		buf_str(&codes, reason_code(reasons[i].error.code));
		add_reason(&members, &reasons[i]);
	}
	json_close(&members, ']');
	(void)!error_set(e, a, ERR_TRANSACTION_CANCELED,
			 "Transaction cancelled, please refer cancellation reasons for specific reasons [%.*s]",
			 SLICE_ARG(buf_slice(&codes)));
	e->members = buf_slice(&members);
	return false;
}
