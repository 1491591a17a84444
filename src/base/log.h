/* One line to stderr per event. Thread safe.
 *
 *     text   2026-11-15T12:00:00.123Z info  message
 *     JSON   {"time":"2026-11-15T12:00:00.123Z","level":"info","message":"message","request":"…"}
 *
 * `request` is the x-amzn-RequestId of the reply to the request that the thread is busy with (log_set_request()); lines
 * of threads that serve several at once, or none, have no such member.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_LOG_H
#define THORPE_BASE_LOG_H

#include "base/slice.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

/* Lines below this are dropped. Set before threads start. */
void log_set_level(enum log_level least);
/* Set before threads start. */
void log_set_format(enum log_format format);
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What a person reads when the server starts: a bare line, or at level info when lines are JSON. */
void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The request this thread is busy with, whose id has to live until it is told otherwise; NULL: none. */
extern __thread const char *log_request_id; /* a word that C++ knows, too */
#define LOG_REQUEST_ID 52                   /* characters of an id */
static inline void log_set_request(const char *id)
{
	log_request_id = id;
}
/* Its id; empty: none. */
struct slice log_request(void);

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
