/* Finds a request's signature, and what is missing from it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/door/sigv4.h"

bool sigv4_is_present(const struct http_request *r)
{
	return request_header(r, SLICE("authorization")).p ||
	       (r->query.n && request_query(r, SLICE("X-Amz-Algorithm")).p);
}

static const char *found_or_end(const char *p, char c, const char *end)
{
	const char *at = memchr(p, c, (size_t)(end - p));

	return at ? at : end;
}

/* "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…": words between spaces, commas */
static void parse_authorization(struct slice header, struct sigv4 *s)
{
	const struct {
		struct slice name;
		struct slice *value;
	} wanted[] = {
		{ SLICE("Credential="), &s->credential },
		{ SLICE("SignedHeaders="), &s->signed_headers },
		{ SLICE("Signature="), &s->signature },
	};
	const char *at = header.p, *end = header.p + header.n;

	while (at < end) {
		const char *stop = found_or_end(at, ' ', found_or_end(at, ',', end));
		struct slice word = slice_make(at, (size_t)(stop - at));

		if (at == header.p)
			s->algorithm = word;
		for (size_t n = 0; n < sizeof(wanted) / sizeof(wanted[0]); n++)
			if (slice_starts(word, wanted[n].name))
				*wanted[n].value = slice_make(word.p + wanted[n].name.n, word.n - wanted[n].name.n);
		at = stop + 1;
	}
}

static bool check_header_form(const struct http_request *r, struct slice header, struct sigv4 *s, struct error *e)
{
	struct buf missing;

	parse_authorization(header, s);
	s->date = request_header(r, SLICE("x-amz-date"));
	if (!s->date.p)
		s->date = request_header(r, SLICE("date"));
	if (s->credential.n && s->signature.n && s->signed_headers.n && s->date.p)
		return true;
	buf_init(&missing, r->arena);
	if (!s->credential.n)
		buf_lit(&missing, "Authorization header requires 'Credential' parameter. ");
	if (!s->signature.n)
		buf_lit(&missing, "Authorization header requires 'Signature' parameter. ");
	if (!s->signed_headers.n)
		buf_lit(&missing, "Authorization header requires 'SignedHeaders' parameter. ");
	if (!s->date.p)
		buf_lit(&missing, "Authorization header requires existence of either a 'X-Amz-Date' "
				  "or a 'Date' header. ");
	return error_set(e, r->arena, ERR_INCOMPLETE_SIGNATURE, "%.*sAuthorization=%.*s",
			 SLICE_ARG(buf_slice(&missing)), SLICE_ARG(header));
}

static bool check_query_form(const struct http_request *r, struct sigv4 *s, struct error *e)
{
	/* clang-format off */
	const struct {
		struct slice name;
		struct slice *value;
	} wanted[] = {
		{ SLICE("X-Amz-Algorithm"), &s->algorithm },
		{ SLICE("X-Amz-Credential"), &s->credential },
		{ SLICE("X-Amz-Signature"), &s->signature },
		{ SLICE("X-Amz-SignedHeaders"), &s->signed_headers },
		{ SLICE("X-Amz-Date"), &s->date },
	};
	/* clang-format on */
	struct buf missing;

	s->presigned = true;
	buf_init(&missing, r->arena);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		*wanted[i].value = request_query(r, wanted[i].name);
		if (!wanted[i].value->n)
			buf_printf(&missing, "AWS query-string parameters must include '%.*s'. ",
				   SLICE_ARG(wanted[i].name));
	}
	s->expires = request_query(r, SLICE("X-Amz-Expires"));
	if (!missing.n)
		return true;
	return error_set(e, r->arena, ERR_INCOMPLETE_SIGNATURE, "%.*sRe-examine the query-string parameters.",
			 SLICE_ARG(buf_slice(&missing)));
}

bool sigv4_parse(const struct http_request *r, struct sigv4 *s, struct error *e)
{
	struct slice header = request_header(r, SLICE("authorization"));
	bool in_query = r->query.n && request_query(r, SLICE("X-Amz-Algorithm")).p;

	*s = (struct sigv4){ 0 };
	if (header.p && in_query)
		return error_set(e, r->arena, ERR_INVALID_SIGNATURE,
				 "Found both 'X-Amz-Algorithm' as a query-string param and "
				 "'Authorization' as HTTP header.");
	if (in_query)
		return check_query_form(r, s, e);
	if (!slice_starts(header, SLICE("AWS4-")))
		return error_set(e, r->arena, ERR_MISSING_AUTH_TOKEN, "Request is missing Authentication Token");
	return check_header_form(r, header, s, e);
}
