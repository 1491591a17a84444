/* /faults: operators see and change the faults of DynamoDB's API while the server runs (fault/fault.h).
 *
 *     GET     the current faults, and how often each struck
 *     POST    a SPEC as the body; replaces the faults of the tables it names
 *     DELETE  removes all faults
 *
 * Each returns the faults in force afterwards. With keys, requests must be signed; without, they must come from this
 * machine. A server started without --fault returns 404.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_FAULTS_H
#define THORPE_HTTP_SERVE_FAULTS_H

struct exchange;

void faults_handle_show(struct exchange *ex, void *ctx);
void faults_handle_set(struct exchange *ex, void *ctx);
void faults_handle_clear(struct exchange *ex, void *ctx);

#endif
