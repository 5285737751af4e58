/* SPDX-License-Identifier: Apache-2.0 */
/* A library that registers the destructor of a static object as C++ does. The destructor ends the
 * process with the status 3. */
#include <unistd.h>

extern int __cxa_atexit(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle;

static int object;

static void destroy(void *which)
{
    if (which == &object)
        _exit(3);
}

int make_static(void);

int make_static(void)
{
    return __cxa_atexit(destroy, &object, &__dso_handle);
}
