/* A request as DynamoDB's document, and the reply to that document.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_DOCUMENT_H
#define THORPE_REQUEST_DOCUMENT_H

#include "request/backend.h"

/* In the arena; its operation is request_operation(). Does not support expressions that only the legacy forms have. */
struct slice request_document(struct arena *a, const struct request *q);
/* The consumed capacity a document reports, of all tables together; 0 if it reports none. */
double reply_units(const struct json *body);
/* Both, with backend_call() in between. */
void request_by_document(struct backend *b, struct arena *a, const struct request *q, struct reply *reply);

#endif
