/* One client's connection: bytes in, exchanges in order, bytes out.
 *
 * The state says what the reading side waits for; only conn_move() changes it:
 *
 *     HANDSHAKE ──► IDLE ◄──► HEAD ──► BODY          a request is being read
 *                    ▲  └──► WAITING ◄──┘            all read, replies are due
 *                    └──────────┘
 *                       WAITING ──► STREAMING        an open-ended reply (sse.h); input is ignored
 *     any of them ──► LINGERING ──► CLOSING          the last reply is out; reading on so that it
 *     any of them ─────────────────► CLOSING         arrives; memory goes in the close callback
 *
 * Invariants
 *   C1  Replies leave in the order of their requests: only the head of the list is ever sent.
 *   C2  At most limits.pipelined replies wait to be sent; then reading stops.
 *   C3  No exchange follows one that is `last`.
 *   C4  A connection's memory is freed after the loop's turn (on_closed()), never within a callback.
 *   C5  A request starts after the one before it is done: POST is not a safe method, and a read pipelined after a
 *       write must see it (RFC 9112, 9.3.2).
 *   C6  A stream is the last reply of its connection: there is no exchange besides, and input is not parsed.
 *   C7  A connection beyond limits.connections, or beyond those of one address, is on the reserve: it gets one reply,
 *       to a request that admit.h lets pass. The request must arrive soon; when the reserve is full, the oldest
 *       connection is closed. So clients that hold idle connections do not keep health checks and operators out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_CONNECTION_H
#define THORPE_HTTP_CONNECTION_CONNECTION_H

#include <uv.h>

#include "http/connection/exchange.h"
#include "http/connection/pace.h"
#include "http/connection/sse.h"
#include "http/connection/tls.h"

struct loop_socket;

enum conn_state {
	CONN_HANDSHAKE,
	CONN_IDLE,
	CONN_HEAD,
	CONN_BODY,
	CONN_WAITING,
	CONN_STREAMING,
	CONN_LINGERING,
	CONN_CLOSING,
};

struct conn {
	uv_tcp_t tcp;
	struct loop *loop;
	struct conn *prev, *next; /* in the loop's list */
	struct conn *turn_next;   /* in the list of those with completed exchanges */
	bool turn_due;
	enum conn_state state;
	uint64_t since;             /* when it entered this state, or was last in use */
	struct tls *tls;            /* NULL: plain */
	struct address_entry *from; /* where it is counted; NULL: nowhere */
	bool on_reserve;            /* C7 */
	uint64_t opened;
	struct conn *reserve_prev, *reserve_next;

	/* reading */
	struct request_parser parser;
	struct exchange *reading; /* the newest in the list, while it is READING */
	uint64_t reading_since;
	struct pace pace; /* of the body being read */
	char *held;       /* input that has to wait (C2); drawn from the loop's budget */
	size_t held_n;
	bool is_reading; /* libuv delivers input */
	bool eof;        /* the client has closed its side */
	bool deaf;       /* the client sent an invalid request: further input is ignored */

	/* in flight */
	struct exchange *first, *last;
	size_t in_flight, in_flight_bytes; /* without `reading` */

	struct sse *stream; /* C6; NULL: none */

	/* writing */
	bool writing; /* a uv_write() is under way */
	bool ending;  /* the last reply has been sent */
	uv_write_t write;
	uv_shutdown_t shutdown;
	char *cipher;         /* TLS: what `write` sends */
	uint64_t write_since; /* of the last progress */
	size_t write_left;
};

/* Takes over the socket; closes it on failure (out of memory). */
void conn_open(struct loop *l, const struct loop_socket *s);
/* Sends ready replies, parses held input, and moves to the state that follows. */
void conn_turn(struct conn *c);
/* Drops it if it has been slow for too long. */
void conn_tick(struct conn *c, uint64_t now);
/* The loop drains: closes at once if nothing is under way. */
void conn_drain(struct conn *c);
void conn_close(struct conn *c);
/* Adds to the bytes that the exchange, in flight, holds. */
void conn_add_weight(struct conn *c, struct exchange *ex, size_t n);

/* ---- between connection.c and connection_write.c ---- */
void conn_flush(struct conn *c);
bool conn_send_cipher(struct conn *c); /* false: closed */
/* The oldest exchange has been sent, and continues as a stream. */
void conn_take_stream(struct conn *c);
/* Takes the oldest exchange off the list and frees it (E1). */
void conn_drop_first(struct conn *c);

#endif
