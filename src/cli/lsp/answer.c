/* The methods of the language server: one row each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lsp/answer.h"

#include "design/design.h"
#include "design/editor/editor.h"

struct call {
	struct lsp *l;
	struct arena *a;
	const struct json *params;
	struct buf out; /* the result of a request */
	lsp_send_fn *send;
};

/* ---- envelopes ---- */
static void open_message(struct buf *b, struct arena *a)
{
	buf_init(b, a);
	json_open(b, '{');
	json_member_word(b, "jsonrpc", "2.0");
}

static void close_message(struct buf *b, lsp_send_fn *send)
{
	json_close(b, '}');
	send(buf_slice(b));
}

static void write_id(struct buf *b, const struct json *id)
{
	json_name(b, "id");
	if (json_is(id, JSON_STRING))
		json_string(b, id->string);
	else if (json_is(id, JSON_INT))
		json_int(b, id->integer);
	else
		json_null(b);
}

void lsp_refuse(struct arena *a, const struct json *id, int code, const char *message, lsp_send_fn *send)
{
	struct buf b;

	open_message(&b, a);
	write_id(&b, id);
	json_member_open(&b, "error", '{');
	json_member_int(&b, "code", code);
	json_member_word(&b, "message", message);
	json_close(&b, '}');
	close_message(&b, send);
}

/* ---- places ---- */
static void write_position(struct buf *b, const char *name, struct position p)
{
	json_member_open(b, name, '{');
	json_member_int(b, "line", p.line);
	json_member_int(b, "character", p.character);
	json_close(b, '}');
}

static void write_range(struct buf *b, struct slice text, size_t from, size_t to)
{
	json_member_open(b, "range", '{');
	write_position(b, "start", position_of_byte(text, from));
	write_position(b, "end", position_of_byte(text, to));
	json_close(b, '}');
}

/* The document that the request is about, and the byte; NULL: it is not open. */
static struct document *place_of(struct call *c, size_t *at)
{
	const struct json *position = json_get(c->params, "position");
	struct document *x = documents_find(&c->l->documents, json_get_text(json_get(c->params, "textDocument"), "uri"));

	if (x && at)
		*at = position_to_byte(x->text, (struct position){ json_get_int(position, "line"),
								   json_get_int(position, "character") });
	return x;
}

/* ---- findings ---- */
/* A message may quote a text that was cut within a character. */
static struct slice valid(struct arena *a, struct slice s)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0, n; i < s.n; i += n ? n : 1) {
		n = source_character(slice_make(s.p + i, s.n - i));
		buf_put(&b, n ? slice_make(s.p + i, n) : SLICE("?"));
	}
	return b.n ? buf_slice(&b) : SLICE("");
}

static void write_finding(struct buf *b, const struct finding *f, struct slice text)
{
	static const int severities[] = { [SEVERITY_ERROR] = 1, [SEVERITY_WARNING] = 2, [SEVERITY_NOTE] = 3 };
	size_t from, to;

	place_to_bytes(text, f->place, &from, &to);
	json_open(b, '{');
	write_range(b, text, from, to);
	json_member_int(b, "severity", severities[f->severity]);
	json_member_word(b, "code", f->rule);
	json_member_word(b, "source", "thorpe");
	json_member_string(b, "message",
			   valid(b->arena,
				 arena_printf(b->arena, "%.*s%s%.*s%s%.*s", SLICE_ARG(f->message), f->why.n ? "\n" : "",
					      SLICE_ARG(f->why), f->repair.n ? "\n→ " : "", SLICE_ARG(f->repair))));
	json_close(b, '}');
}

static void write_findings(struct buf *b, struct arena *a, const struct document *x)
{
	struct source source = { x->uri, x->text };
	struct findings findings;
	const struct design *d;

	findings_init(&findings, a);
	d = design_load(a, source, NULL, NULL, &findings);
	if (d)
		design_check(d, &findings);
	for (size_t i = 0; i < findings.count; i++)
		write_finding(b, &findings.list[i], x->text);
}

static void publish(struct arena *a, const struct document *x, bool closed, lsp_send_fn *send)
{
	struct buf b;

	open_message(&b, a);
	json_member_word(&b, "method", "textDocument/publishDiagnostics");
	json_member_open(&b, "params", '{');
	json_member_string(&b, "uri", x->uri);
	if (!closed)
		json_member_int(&b, "version", x->version);
	json_member_open(&b, "diagnostics", '[');
	if (!closed)
		write_findings(&b, a, x);
	json_close(&b, ']');
	json_close(&b, '}');
	close_message(&b, send);
}

void lsp_publish(struct document *x, struct arena *a, lsp_send_fn *send)
{
	x->changed = false;
	publish(a, x, false, send);
}

/* ---- notifications ---- */
static void did_open(struct call *c)
{
	const struct json *x = json_get(c->params, "textDocument");

	if (json_is(json_get(x, "text"), JSON_STRING) && json_get_text(x, "uri").n)
		(void)documents_set(&c->l->documents, json_get_text(x, "uri"), json_get_text(x, "text"),
				    json_get_int(x, "version"));
}

/* The server asks for whole texts; the last one counts. */
static void did_change(struct call *c)
{
	const struct json *changes = json_get(c->params, "contentChanges"), *x = json_get(c->params, "textDocument");
	const struct json *last =
		json_is(changes, JSON_ARRAY) && changes->count ? &changes->items[changes->count - 1] : NULL;

	if (json_is(json_get(last, "text"), JSON_STRING) && !json_get(last, "range") &&
	    documents_find(&c->l->documents, json_get_text(x, "uri")))
		(void)documents_set(&c->l->documents, json_get_text(x, "uri"), json_get_text(last, "text"),
				    json_get_int(x, "version"));
}

static void did_close(struct call *c)
{
	struct document *x = place_of(c, NULL);

	if (!x)
		return;
	publish(c->a, x, true, c->send);
	documents_close(&c->l->documents, x);
}

static void exit_(struct call *c)
{
	c->l->ended_well = c->l->state == LSP_SHUT_DOWN;
	c->l->state = LSP_ENDED;
}

/* ---- requests ---- */
static void initialize(struct call *c)
{
	struct buf *b = &c->out;

	c->l->state = LSP_READY;
	json_open(b, '{');
	json_member_open(b, "capabilities", '{');
	json_member_word(b, "positionEncoding", "utf-16");
	json_member_open(b, "textDocumentSync", '{');
	json_member_bool(b, "openClose", true);
	json_member_int(b, "change", 1); /* whole texts */
	json_close(b, '}');
	json_member_bool(b, "hoverProvider", true);
	json_member_open(b, "completionProvider", '{');
	json_member_strings(b, "triggerCharacters",
			    (const struct slice[]){ SLICE(" "), SLICE("<"), SLICE("{"), SLICE(".") }, 4);
	json_close(b, '}');
	json_close(b, '}');
	json_member_open(b, "serverInfo", '{');
	json_member_word(b, "name", "thorpe");
	json_member_word(b, "version", THORPE_VERSION);
	json_close(b, '}');
	json_close(b, '}');
}

static void shutdown(struct call *c)
{
	c->l->state = LSP_SHUT_DOWN;
	json_null(&c->out);
}

static void write_word(struct buf *b, const struct editor_words *l, const struct editor_word *w, struct slice text,
		       size_t at)
{
	static const int kinds[] = { [EDITOR_WORD] = 14, [EDITOR_CHOICE] = 12, [EDITOR_NAME] = 6, [EDITOR_CALL] = 3 };

	json_open(b, '{');
	json_member_string(b, "label", w->name);
	json_member_int(b, "kind", kinds[w->kind]);
	if (w->what.n)
		json_member_string(b, "detail", w->what);
	json_member_open(b, "textEdit", '{');
	write_range(b, text, l->from, at);
	json_member_string(b, "newText",
			   l->are_keys && w->kind == EDITOR_WORD ? arena_printf(b->arena, "%.*s: ", SLICE_ARG(w->name))
								 : w->name);
	json_close(b, '}');
	json_close(b, '}');
}

static void completion(struct call *c)
{
	size_t at;
	const struct document *x = place_of(c, &at);
	struct editor_words l = { 0 };

	if (x)
		l = editor_words(c->a, x->text, at);
	json_open(&c->out, '[');
	for (size_t i = 0; i < l.count; i++)
		write_word(&c->out, &l, &l.list[i], x->text, at);
	json_close(&c->out, ']');
}

static void hover(struct call *c)
{
	size_t at, from, to;
	const struct document *x = place_of(c, &at);
	struct slice what = x ? editor_what(c->a, x->text, at, &from, &to) : SLICE("");

	if (!what.n) {
		json_null(&c->out);
		return;
	}
	json_open(&c->out, '{');
	json_member_open(&c->out, "contents", '{');
	json_member_word(&c->out, "kind", "plaintext");
	json_member_string(&c->out, "value",
			   arena_printf(c->a, "%.*s: %.*s", (int)(to - from), x->text.p + from, SLICE_ARG(what)));
	json_close(&c->out, '}');
	write_range(&c->out, x->text, from, to);
	json_close(&c->out, '}');
}

/* ---- dispatch ---- */
static const struct method {
	const char *name;
	bool is_request;
	void (*run)(struct call *c);
} methods[] = {
	{ "initialize", true, initialize },
	{ "shutdown", true, shutdown },
	{ "textDocument/completion", true, completion },
	{ "textDocument/hover", true, hover },
	{ "textDocument/didOpen", false, did_open },
	{ "textDocument/didChange", false, did_change },
	{ "textDocument/didClose", false, did_close },
	{ "exit", false, exit_ },
};

static const struct method *find(struct slice name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (slice_is(name, methods[i].name))
			return &methods[i];
	return NULL;
}

/* Why the method cannot be called now; 0: it can. */
static int refusal(const struct lsp *l, const struct method *m, bool is_request)
{
	if (!m || m->is_request != is_request)
		return LSP_NO_METHOD;
	if (m->run == exit_)
		return 0;
	if (l->state == LSP_NEW && m->run != initialize)
		return LSP_NOT_READY;
	return l->state == LSP_SHUT_DOWN || (l->state != LSP_NEW && m->run == initialize) ? LSP_NOT_REQUEST : 0;
}

static const char *sentence(int code)
{
	return code == LSP_NO_METHOD   ? "there is no such method"
	       : code == LSP_NOT_READY ? "expected 'initialize' first"
				       : "this cannot be asked now";
}

void lsp_message(struct lsp *l, struct arena *a, const struct json *m, lsp_send_fn *send)
{
	struct call c = { .l = l, .a = a, .params = json_get(m, "params"), .send = send };
	const struct json *id = json_get(m, "id");
	const struct method *method = find(json_get_text(m, "method"));
	struct buf b;
	int code;

	if (!json_is(m, JSON_OBJECT) || (!json_get(m, "method") && !json_get(m, "result") && !json_get(m, "error"))) {
		lsp_refuse(a, id, LSP_NOT_REQUEST, "expected a request or a notification", send);
		return;
	}
	if (!json_get(m, "method")) /* an answer to what this server never asks */
		return;
	code = refusal(l, method, id != NULL);
	if (code) {
		if (id)
			lsp_refuse(a, id, code, sentence(code), send);
		return;
	}
	buf_init(&c.out, a);
	method->run(&c);
	if (!id)
		return;
	open_message(&b, a);
	write_id(&b, id);
	json_name(&b, "result");
	buf_put(&b, buf_slice(&c.out));
	close_message(&b, send);
}
