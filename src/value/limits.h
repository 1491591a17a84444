/* DynamoDB's limits, each once, with its source. Limits of expressions: expr/limits.h; of the server itself:
 * http/parse/http_limits.h.
 *
 * "Quotas" is AWS's page "Quotas in Amazon DynamoDB"; an operation's name means its page of the API reference. Sizes
 * are bytes as DynamoDB counts them (value/size.c), K and M are 1024 and 1024 * 1024.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_LIMITS_H
#define THORPE_VALUE_LIMITS_H

/* ---- items (Quotas: items, attributes, data types) ---- */
#define ITEM_BYTES_MAX           (400u << 10) /* names and values together */
#define HASH_KEY_BYTES_MAX       2048         /* of a partition key, all its attributes together */
#define RANGE_KEY_BYTES_MAX      1024         /* of a sort key, all its attributes together */
#define ATTRIBUTE_NAME_BYTES_MAX 65535        /* 64 KB; the stored form counts it in sixteen bits (value.h) */
#define VALUE_LEVELS_MAX         32           /* an attribute is level 1: a scalar may be inside 31 lists and maps */
#define COLLECTION_BYTES_MAX     (INT64_C(10) << 30) /* all items of a partition key, in tables with local indexes */

/* ---- one request ---- */
#define PAGE_BYTES_MAX          (1u << 20)  /* read by one Query or Scan */
#define BATCH_GETS_MAX          100         /* BatchGetItem: keys */
#define BATCH_GET_BYTES_MAX     (16u << 20) /* BatchGetItem: keys beyond it come back as UnprocessedKeys */
#define BATCH_WRITES_MAX        25          /* BatchWriteItem: puts and deletes */
#define TRANSACTION_ACTIONS_MAX 100         /* TransactWriteItems, TransactGetItems */
#define TRANSACTION_BYTES_MAX   (4u << 20)  /* of all items that one transaction touches */
#define STREAM_RECORDS_MAX      1000        /* GetRecords: records */
#define STREAM_BYTES_MAX        (1u << 20)  /* GetRecords: bytes */

/* ---- tables (Quotas: tables, secondary indexes, tags) ---- */
#define TABLE_NAME_LENGTH_MIN  3
#define TABLE_NAME_LENGTH_MAX  255 /* also for indexes */
#define KEY_HASH_MAX           4   /* attributes of a global index's partition key */
#define KEY_RANGE_MAX          4   /* attributes of a global index's sort key */
#define GLOBAL_INDEXES_MAX     20
#define LOCAL_INDEXES_MAX      5
#define INDEXES_MAX            (GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX)
#define NON_KEY_ATTRIBUTES_MAX 100 /* included by all indexes of a table together */
#define TABLE_TAGS_MAX         50
#define CAPACITY_UNITS_MAX     INT64_C(1000000000000) /* CreateTable: the largest number it accepts */

/* ---- reported, not enforced ---- */
#define ACCOUNT_UNITS_MAX 80000 /* DescribeLimits: the default quotas of an account */
#define TABLE_UNITS_MAX   40000

#endif
