/* A request as DynamoDB's document, and the reply to that document.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_DOCUMENT_H
#define THORPE_REQUEST_DOCUMENT_H

#include "request/backend.h"

/* In the arena; its operation is request_operation(). Expressions that only the legacy forms can say are not for this. */
struct slice request_document(struct arena *a, const struct request *q);
/* What a document says that was consumed, of all tables together; 0 where it says nothing. */
double reply_units(const struct json *body);
/* Both, with backend_call() between them. */
void request_by_document(struct backend *b, struct arena *a, const struct request *q, struct reply *reply);

#endif
