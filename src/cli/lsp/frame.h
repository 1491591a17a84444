/* Messages of the language server protocol in a stream of bytes: headers, an empty line, and a body.
 *
 *     Content-Length: 17\r\n
 *     \r\n
 *     {"jsonrpc":"2.0"}
 *
 * Bytes come in any pieces. A message is taken when all of it is there. After an error nothing more can be taken,
 * since nothing says where the next message begins.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_LSP_FRAME_H
#define THORPE_CLI_LSP_FRAME_H

#include "base/slice.h"

#define FRAME_BODY_MOST    (16u << 20) /* a design is at most 1 MiB; JSON may double it, and more */
#define FRAME_HEADERS_MOST 4096

struct frame {
	char *p; /* what has come and is not taken */
	size_t n, room;
};

enum frame_result { FRAME_MORE, FRAME_TAKEN, FRAME_WRONG };

void frame_init(struct frame *f);
void frame_release(struct frame *f);
/* Room for `n` more bytes, which frame_added() then counts. NULL: out of memory. */
char *frame_room(struct frame *f, size_t n);
void frame_added(struct frame *f, size_t n);
/* Takes one message: *body points into the frame until the next frame_drop(), which forgets `*size` bytes. FRAME_WRONG:
 * *why says what is wrong. */
enum frame_result frame_take(const struct frame *f, struct slice *body, size_t *size, const char **why);
void frame_drop(struct frame *f, size_t n);

#endif
