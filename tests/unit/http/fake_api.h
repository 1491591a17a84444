/* An api for tests of the server: what it does is in the name of the operation.
 *
 *     Echo     answers with the body, at once, on the caller's thread
 *     Later    the same, from another thread
 *     Hold     the same, from another thread, but not before fake_api_release()
 *     Big      answers with 100 000 letters, at once
 *     Huge     answers with 8 000 000 letters, at once
 *     other    UnknownOperationException
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_FAKE_API_H
#define THORPE_TESTS_FAKE_API_H

#include "api/api.h"

struct api *fake_api_new(void);
void fake_api_free(struct api *api); /* waits for its thread */
void fake_api_release(struct api *api);
/* Waits until so many calls are held. */
void fake_api_await_held(struct api *api, int calls);

#endif
