/* /faults: operators look at the faults of DynamoDB's API, and change them, while the server runs (fault/fault.h).
 *
 *     GET     what holds, and how often each fault struck
 *     POST    a SPEC as the body; replaces what held for the tables it is about
 *     DELETE  no faults any more
 *
 * All of them answer what holds then. Where the server has keys these are signed; where it has none they come from this machine. A server that
 * was not started with --fault has none of this: 404.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_FAULTS_H
#define THORPE_HTTP_SERVE_FAULTS_H

struct exchange;

void faults_handle_show(struct exchange *ex, void *ctx);
void faults_handle_set(struct exchange *ex, void *ctx);
void faults_handle_clear(struct exchange *ex, void *ctx);

#endif
