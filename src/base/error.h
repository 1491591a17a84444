/* What went wrong, as DynamoDB names it.
 *
 * One list makes the enum, the wire name and the HTTP status. There are three kinds of error: the client's fault
 * (4xx), a failing disk or exhausted memory (500, may be retried), and our own bug (assert). A function that fails
 * returns false (warn_unused_result) and fills its struct error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_ERROR_H
#define THORPE_BASE_ERROR_H

#include "base/arena.h"

/*      enum suffix                wire name                              status  namespace
 * The namespace is the prefix before '#' in "__type". */
#define ERR_NS_DDB "com.amazonaws.dynamodb.v20120810#"
#define ERR_NS_AWS "com.amazon.coral.service#"
#define ERR_NS_VAL "com.amazon.coral.validate#"
#define ERROR_MAP(X)                                                                      \
	X(VALIDATION, "ValidationException", 400, ERR_NS_VAL)                             \
	X(SERIALIZATION, "SerializationException", 400, ERR_NS_AWS)                       \
	X(UNKNOWN_OPERATION, "UnknownOperationException", 400, ERR_NS_AWS)                \
	X(MISSING_AUTH_TOKEN, "MissingAuthenticationTokenException", 400, ERR_NS_AWS)     \
	X(INCOMPLETE_SIGNATURE, "IncompleteSignatureException", 400, ERR_NS_AWS)          \
	X(INVALID_SIGNATURE, "InvalidSignatureException", 400, ERR_NS_AWS)                \
	X(UNRECOGNIZED_CLIENT, "UnrecognizedClientException", 400, ERR_NS_AWS)            \
	X(ACCESS_DENIED, "AccessDeniedException", 400, ERR_NS_AWS)                        \
	X(NOT_FOUND, "ResourceNotFoundException", 400, ERR_NS_DDB)                        \
	X(TABLE_NOT_FOUND, "TableNotFoundException", 400, ERR_NS_DDB)                     \
	X(IN_USE, "ResourceInUseException", 400, ERR_NS_DDB)                              \
	X(LIMIT_EXCEEDED, "LimitExceededException", 400, ERR_NS_DDB)                      \
	X(CONDITION_FAILED, "ConditionalCheckFailedException", 400, ERR_NS_DDB)           \
	X(TRANSACTION_CANCELED, "TransactionCanceledException", 400, ERR_NS_DDB)          \
	X(TRANSACTION_CONFLICT, "TransactionConflictException", 400, ERR_NS_DDB)          \
	X(TRANSACTION_IN_PROGRESS, "TransactionInProgressException", 400, ERR_NS_DDB)     \
	X(IDEMPOTENT_MISMATCH, "IdempotentParameterMismatchException", 400, ERR_NS_DDB)   \
	X(COLLECTION_SIZE, "ItemCollectionSizeLimitExceededException", 400, ERR_NS_DDB)   \
	X(THROUGHPUT_EXCEEDED, "ProvisionedThroughputExceededException", 400, ERR_NS_DDB) \
	X(THROTTLING, "ThrottlingException", 400, ERR_NS_AWS)                             \
	X(TRIMMED_DATA, "TrimmedDataAccessException", 400, ERR_NS_DDB)                    \
	X(EXPIRED_ITERATOR, "ExpiredIteratorException", 400, ERR_NS_DDB)                  \
	X(TOO_LARGE, "RequestEntityTooLargeException", 413, ERR_NS_AWS)                   \
	X(INTERNAL, "InternalServerError", 500, ERR_NS_DDB)                               \
	X(UNAVAILABLE, "ServiceUnavailable", 503, ERR_NS_AWS)

enum err {
	ERR_NONE,
#define X(name, wire, status, ns) ERR_##name,
	ERROR_MAP(X)
#undef X
};

struct error {
	enum err code;
	struct slice message; /* in the request's arena, or a literal */
	/* Further members of the JSON error document, each starting with a comma
	 * (`,"CancellationReasons":[…]`, `,"Item":{…}`); empty when there are none. */
	struct slice members;
};

const char *err_wire_name(enum err code);
const char *err_namespace(enum err code);
int err_status(enum err code);

/* Fills *e and returns false: `return error_set(e, a, ERR_VALIDATION, "…", …);` */
bool error_set(struct error *e, struct arena *a, enum err code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#define MUST_CHECK __attribute__((warn_unused_result))

#endif
