/* The database in this process, as a backend.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_LOCAL_H
#define THORPE_API_LOCAL_H

#include "api/api.h"
#include "request/database.h"

/* One thread at a time. NULL: out of memory. */
struct backend *backend_local_new(struct api *api);

struct database_local {
	struct database base;
	struct api *api;
};
void database_local_init(struct database_local *l, struct api *api); /* the api must outlive it */

#endif
