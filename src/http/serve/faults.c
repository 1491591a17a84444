/* /faults: shows and changes the faults. SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/faults.h"

#include "http/connection/audit_http.h"
#include "http/door/basic.h"
#include "http/connection/exchange.h"
#include "http/loop.h"
#include "json/json.h"

#define JSON     SLICE("application/json")
#define NO_STORE SLICE("Cache-Control: no-store\r\n")

static void refuse_change(struct exchange *ex, int status, struct slice why)
{
	struct buf b;

	buf_init(&b, &ex->arena);
	json_open(&b, '{');
	json_member_string(&b, "message", why);
	json_close(&b, '}');
	exchange_reply_with(ex, status, JSON, buf_slice(&b), NO_STORE);
}

/* If the server has keys, the dispatcher has checked the signature. */
static bool may_or_reply(struct exchange *ex)
{
	static const struct slice elsewhere =
		SLICE("Without --keys, only clients on the server's own machine may use this.");

	if (!api_takes_faults(ex->loop->api)) {
		refuse_change(ex, 404,
			      SLICE("This server was not started with --fault ('--fault none' starts without any)."));
		return false;
	}
	if (ex->loop->keys || basic_is_confidential(false, exchange_client(ex)))
		return true;
	audit_refused_request(ex, 403, elsewhere);
	refuse_change(ex, 403, elsewhere);
	return false;
}

static void set(struct exchange *ex, struct slice spec)
{
	struct slice out;

	bool ok = api_set_faults(ex->loop->api, &ex->arena, spec, &out);

	if (spec.n)
		audit_operator_request(ex, ok ? 200 : 400);
	if (ok)
		exchange_reply_with(ex, 200, JSON, out, NO_STORE);
	else
		refuse_change(ex, 400, out);
}

void faults_handle_show(struct exchange *ex, void *ctx)
{
	(void)ctx;
	if (may_or_reply(ex))
		set(ex, SLICE(""));
}

void faults_handle_set(struct exchange *ex, void *ctx)
{
	struct slice body;

	(void)ctx;
	if (!may_or_reply(ex))
		return;
	if (exchange_body(ex, &body) != BODY_OK)
		refuse_change(ex, 400, SLICE("The body cannot be decompressed."));
	else if (!body.n)
		refuse_change(
			ex, 400,
			SLICE("The body must be a list of faults, such as throttle=5%,table=orders,conflict=50%; or none."));
	else
		set(ex, body);
}

void faults_handle_clear(struct exchange *ex, void *ctx)
{
	(void)ctx;
	if (may_or_reply(ex))
		set(ex, SLICE("none"));
}
