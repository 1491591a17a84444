/* /media/<design>/<id>?…: uploads to and downloads from a directory of files (media/media.h).
 *
 * An address that the application has signed (app/file/file.h) is all the permission there is: no token, no key. An
 * upload goes to disk as it arrives and has exactly the type and length that were asked for. What is sent to a
 * browser never runs as a page of this server: only pictures, sound and films are shown in place, and everything
 * is in a sandbox.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_MEDIA_H
#define THORPE_HTTP_SERVE_MEDIA_H

#include "http/connection/route.h"
#include "http/serve/rest.h"

#define MEDIA_ROUTES 2

/* Fills the rows, which point to `r`. */
void media_routes(struct rest *r, struct http_route out[MEDIA_ROUTES]);

#endif
