/* Passwords: bcrypt, and where an account keeps its hash.
 * SPDX-License-Identifier: Apache-2.0 */
#include <crypt.h>
#include <openssl/crypto.h>

#include "app/auth/caller.h"
#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "app/entity/input.h"
#include "base/alloc.h"

#define COST              10
#define COST_MOST         16 /* a hash from elsewhere may ask for minutes of work */
#define HASH_LENGTH       60
#define DEFAULT_ATTRIBUTE "password_hash"

/* bcrypt of a C string; `salt` is a setting or a whole hash. The working memory is too large for a stack. */
static bool hash(const char *password, const char *salt, char out[HASH_LENGTH + 1])
{
	struct crypt_data *data = mem_zalloc(sizeof(*data));
	const char *made = data ? crypt_r(password, salt, data) : NULL;
	bool ok = made && strlen(made) == HASH_LENGTH;

	if (ok)
		memcpy(out, made, HASH_LENGTH + 1);
	if (data)
		OPENSSL_cleanse(data, sizeof(*data));
	mem_free(data);
	return ok;
}

bool caller_hash_password(struct run *r, struct slice password, struct value *out)
{
	char text[PASSWORD_MOST + 1] = "", salt[CRYPT_GENSALT_OUTPUT_SIZE], made[HASH_LENGTH + 1];
	bool ok;

	if (!input_password_fits(r, password))
		return false;
	memcpy(text, password.p, password.n);
	ok = crypt_gensalt_rn("$2b$", COST, NULL, 0, salt, sizeof(salt)) && hash(text, salt, made);
	OPENSSL_cleanse(text, sizeof(text));
	if (!ok)
		return run_fail(r, PROBLEM_INTERNAL, "the password could not be hashed");
	*out = value_make_s(r->arena, slice_make(made, HASH_LENGTH));
	return true;
}

/* $2a$10$ and 53 characters. */
static bool is_bcrypt(struct slice h)
{
	int cost;

	if (h.n != HASH_LENGTH || memcmp(h.p, "$2", 2) || !memchr("aby", h.p[2], 3) || h.p[3] != '$' || h.p[4] < '0' ||
	    h.p[4] > '9' || h.p[5] < '0' || h.p[5] > '9' || h.p[6] != '$')
		return false;
	cost = (h.p[4] - '0') * 10 + h.p[5] - '0';
	return cost >= 4 && cost <= COST_MOST && !memchr(h.p, 0, h.n);
}

bool caller_check_password(struct slice password, struct slice expected)
{
	char text[PASSWORD_MOST + 1] = "", known[HASH_LENGTH + 1] = "", made[HASH_LENGTH + 1];
	bool whole = password.n <= PASSWORD_MOST && (!password.n || !memchr(password.p, 0, password.n));
	bool equal;

	if (!is_bcrypt(expected))
		return false;
	memcpy(known, expected.p, HASH_LENGTH);
	if (whole && password.n)
		memcpy(text, password.p, password.n);
	/* Also for passwords that cannot be right, so that they take as long. */
	equal = hash(text, known, made) && CRYPTO_memcmp(made, known, HASH_LENGTH) == 0;
	OPENSSL_cleanse(text, sizeof(text));
	return equal && whole;
}

/* The hidden attribute of the entity that describes the item with this key, or the usual name. */
static struct slice secret_attribute(struct run *r, struct value key)
{
	const struct entity *e = entity_of(r, key);

	for (size_t i = 0; e && i < e->attribute_count; i++)
		if (e->attributes[i].hidden)
			return e->attributes[i].name;
	return SLICE(DEFAULT_ATTRIBUTE);
}

bool caller_secret_place(struct run *r, const struct entity *e, const struct row *full, struct value *key,
			 struct slice *attribute)
{
	struct scope s = { .run = r, .item = full };
	struct value_member *members;

	*key = VALUE_ABSENT;
	*attribute = e->login.password;
	if (e->login.password.n)
		return true;
	members = arena_array(r->arena, struct value_member, e->login.secret_count);
	for (size_t i = 0; i < e->login.secret_count; i++) {
		const struct key_rule *rule = &e->login.secret[i];

		members[i].name = rule->attribute;
		if (!scope_fill(&s, rule->template, true, &members[i].value))
			return false;
		if (!value_present(members[i].value))
			return run_fail(r, PROBLEM_INTERNAL, "the %.*s has no value for %.*s of its credentials",
					SLICE_ARG(e->name), SLICE_ARG(rule->attribute));
	}
	*key = dyn_key_of(r, value_make_map(r->arena, members, e->login.secret_count));
	*attribute = secret_attribute(r, *key);
	return true;
}
