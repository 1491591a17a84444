/* What requests and replies say of themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "request/request.h"

bool request_is_transaction(const struct request_write *w)
{
	return w->together || w->count != 1 || w->token.n || w->actions[0].kind == WRITE_CHECK;
}

const char *request_operation(const struct request *q)
{
	static const char *const names[] = { "GetItem", "BatchGetItem", "Query", "TransactWriteItems", "GetRecords" };
	static const char *const writes[] = {
		[WRITE_PUT] = "PutItem", [WRITE_UPDATE] = "UpdateItem", [WRITE_DELETE] = "DeleteItem"
	};

	if (q->kind != REQUEST_WRITE || request_is_transaction(&q->write))
		return names[q->kind];
	return writes[q->write.actions[0].kind];
}

void reply_fail(struct reply *r, const struct error *e)
{
	*r = (struct reply){ .status = err_status(e->code),
			     .error = slice_str(err_wire_name(e->code)),
			     .message = e->message };
}

/* What the service refuses was not done, nor what never reached it (remote/remote.h: R3, R5); but the same token may
 * be at work still. */
bool reply_may_be_done(const struct reply *r)
{
	if (slice_is(r->error, "TransactionInProgressException"))
		return true;
	return r->status >= 500 && !slice_is(r->error, "ServiceUnavailable") &&
	       !slice_is(r->error, "CredentialsUnavailable");
}

/* ---- reasons of a cancellation ---- */

static const struct {
	enum err code;
	const char *name;
} reasons[] = {
	{ ERR_NONE, "None" },
	{ ERR_CONDITION_FAILED, "ConditionalCheckFailed" },
	{ ERR_COLLECTION_SIZE, "ItemCollectionSizeLimitExceeded" },
	{ ERR_TRANSACTION_CONFLICT, "TransactionConflict" },
	{ ERR_THROUGHPUT_EXCEEDED, "ProvisionedThroughputExceeded" },
	{ ERR_THROTTLING, "ThrottlingError" },
	{ ERR_VALIDATION, "ValidationError" }, /* the last: whatever else */
};
#define REASONS (sizeof(reasons) / sizeof(*reasons))

const char *reason_name(enum err code)
{
	size_t i = 0;

	while (i < REASONS - 1 && reasons[i].code != code)
		i++;
	return reasons[i].name;
}

enum err reason_of(struct slice name)
{
	size_t i = 0;

	while (i < REASONS - 1 && !slice_is(name, reasons[i].name))
		i++;
	return reasons[i].code;
}

struct slice reasons_message(struct arena *a, const struct reply_reason *list, size_t n)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "Transaction cancelled, please refer cancellation reasons for specific reasons [");
	for (size_t i = 0; i < n; i++) {
		buf_str(&b, i ? ", " : "");
		buf_str(&b, reason_name(list[i].error.code));
	}
	buf_byte(&b, ']');
	return buf_slice(&b);
}
