/* Makes calls of unsafe functions fail to compile. The build includes this before every C file.
 *
 * The headers that declare these functions come first, or their declarations would not compile either.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_BANNED_H
#define THORPE_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANNED(name) sorry_##name##_is_a_banned_function

#undef strcpy
#define strcpy(to, from) BANNED(strcpy) /* arena_copy(), memcpy() */
#undef strcat
#define strcat(to, from) BANNED(strcat) /* struct buf */
#undef strncpy
#define strncpy(to, from, n) BANNED(strncpy)
#undef strncat
#define strncat(to, from, n) BANNED(strncat)
#undef sprintf
#define sprintf(...) BANNED(sprintf) /* arena_printf(), snprintf() */
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef gets
#define gets(to) BANNED(gets)
#undef strtok
#define strtok(s, delim) BANNED(strtok) /* keeps state between threads */
#undef atoi
#define atoi(s) BANNED(atoi) /* cannot report an error: strtol() */
#undef atol
#define atol(s) BANNED(atol)
#undef atoll
#define atoll(s) BANNED(atoll)

#endif
