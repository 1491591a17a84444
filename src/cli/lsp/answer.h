/* What the server does with a message.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_LSP_ANSWER_H
#define THORPE_CLI_LSP_ANSWER_H

#include "cli/lsp/document.h"
#include "json/json.h"

/* JSON-RPC's, and the protocol's own */
#define LSP_NOT_JSON    (-32700)
#define LSP_NOT_REQUEST (-32600)
#define LSP_NO_METHOD   (-32601)
#define LSP_NOT_READY   (-32002)
#define LSP_CANCELLED   (-32800)
#define LSP_NO_MEMORY   (-32603)

enum lsp_state { LSP_NEW, LSP_READY, LSP_SHUT_DOWN, LSP_ENDED };

struct lsp {
	struct documents documents;
	enum lsp_state state;
	bool ended_well; /* `exit` came after `shutdown` */
};

/* Sends the body of a message. */
typedef void lsp_send_fn(struct slice body);

/* Does what a message asks, and sends what it answers. The arena is the message's. */
void lsp_message(struct lsp *l, struct arena *a, const struct json *m, lsp_send_fn *send);
/* The error for a request; `id` NULL: it is not known. */
void lsp_refuse(struct arena *a, const struct json *id, int code, const char *message, lsp_send_fn *send);
/* Sends the findings of a document. */
void lsp_publish(struct document *x, struct arena *a, lsp_send_fn *send);

#endif
