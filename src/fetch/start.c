/* Starts libcurl once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fetch/start.h"
#include <curl/curl.h>
#include <pthread.h>

static void start(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

void fetch_start_curl(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}
