/* Files of items: asked for, uploaded, taken by an item, given up, removed.
 *
 * An attribute `file …` has the value {file: id, type, size, name}. The bytes are in a store (media/media.h); what is
 * known of a file besides is in the table beside the design's (db/beside.h):
 *
 *   PK                SK     holds                                      the file is
 *   FILES#NEW         id     of (Entity.attribute), owner, type, size   asked for, perhaps uploaded; no item has it
 *   FILE#<id>         -      of, owner, size, item (its key)            an item's
 *   FILES#GONE        id     owner, size, removed (ms)                  to be removed; has been, but may come again
 *   FILES#BY#<owner>  -      bytes                                      of all its files
 *
 * An id is a ULID, so it says since when the file is new.
 *
 * Invariants
 *   B1  A file has at most one of the first three records; each change of state is one transaction.
 *   B2  A file becomes an item's in the transaction that writes its id into the item: so it is no other item's and is not
 *       taken twice. It is the caller's who asked for it, of the attribute it was asked for, and uploaded.
 *   B3  Whatever takes the id out of the item (a write, a cascade, a processor, an SDK, its expiry), the stream tells,
 *       and the keeper follows: a file that its item no longer holds is gone. An id that is gone never comes back.
 *   B4  An item that moves takes its files along, in its own transaction.
 *   B5  A file that no item has taken in time is gone. Its time is over for writes before it is for the removal.
 *   B6  The record of what is gone is removed after its bytes, so a crash in between repeats the removal. It stays as long
 *       as the address for its upload is good: bytes that are sent there again are removed then, and count until then.
 *   B7  `bytes` is the sum of the sizes of the owner's files (small ones count as FILE_LEAST_BYTES): it moves in the
 *       transactions that make the first record and remove the last.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_FILE_FILE_H
#define THORPE_APP_FILE_FILE_H

#include "app/db/beside.h"
#include "media/media.h"

#define FILE_HOLD_S      3600 /* a file must be uploaded and taken within this time */
#define FILE_CALLER_MOST (INT64_C(1) << 30)
#define FILE_LEAST_BYTES 4096
#define FILE_URL_BASE    "/media/"
#define FILE_PUT_TYPE    "PUT"
#define FILE_GET_TYPE    "GET"

/* ---- asking for an upload ---- */
struct file_ask {
	const struct entity *entity;
	const struct attribute *attribute;
	struct slice type, name; /* in lower case; name empty: none */
	int64_t size;
};
struct file_slot {
	struct slice id, url;
	int64_t until_ms;
};
/* INVALID: it does not fit the attribute. TOO_MANY: the caller has too many files. */
bool file_open_slot(struct run *r, const struct file_ask *q, struct file_slot *out) MUST_CHECK;

/* ---- values ---- */
/* From a body: an id, or an object with one; *out is {file: id}. False: it is neither; no problem is set. */
struct json;
bool file_input(struct arena *a, const struct json *j, struct value *out) MUST_CHECK;
/* The id in such a value; empty: none. */
struct slice file_id(struct value v);
/* The address of the bytes for whoever may see the item; empty: none can be made now. */
struct slice file_url(struct run *r, struct value v);

/* ---- writing items ---- */
/* a file that an item takes */
struct file_claim {
	struct slice id;
	struct value value; /* as the item stores it */
	struct slice of, owner;
	int64_t size;
	bool used; /* in the current try */
};
struct file_claims {
	struct file_claim *list;
	size_t count, capacity;
};
/* Makes the stored form of what the caller gives as the attribute's value, whose old one is `was`, and notes which files
 * are new to it. INVALID: a file is not there, not the caller's, or does not fit. */
bool file_take(struct run *r, struct file_claims *c, const struct file_ask *of, struct value was,
	       struct value *v) MUST_CHECK;
/* Two writes for each claim: B2. `key`: the item's. */
#define FILE_CLAIM_WRITES 2
#define FILE_CLAIMS_MOST  40 /* of one write: they fit into a transaction, with room for what else is in it */
void file_claim_writes(struct run *r, const struct file_claim *c, struct value key,
		       struct dyn_write out[FILE_CLAIM_WRITES]);
/* B4 */
struct dyn_write file_move_write(struct run *r, const struct entity *e, const struct attribute *a, struct value file,
				 struct value key);

/* ---- afterwards ---- */
/* B3: what the item at `key` has lost between two images. */
bool file_follow(struct run *r, struct value key, struct value old_image, struct value new_image) MUST_CHECK;
/* B5, B6. Returns whether all went well; the rest is done the next time. */
bool file_sweep(struct run *r) MUST_CHECK;

/* ---- addresses of a directory's files ---- */
/* What an address allows, from its path (after FILE_URL_BASE and the design) and query. */
struct file_pass {
	struct slice id, type, name;
	int64_t size, until_s;
};
/* False: nobody has signed it, or its time is over. `verb`: FILE_GET_TYPE or FILE_PUT_TYPE. */
struct app;
bool file_pass_read(const struct app *app, struct arena *a, const char *verb, struct slice id, struct slice query,
		    struct file_pass *out) MUST_CHECK;
struct media *file_store(const struct app *app); /* NULL: none */
/* Content-Disposition: what may be shown is, under its name. */
struct slice file_disposition(struct arena *a, struct slice type, struct slice name);
/* Makes the key of addresses from the app's secret. */
bool file_make_key(struct app *app) MUST_CHECK;

#endif
