/* SPDX-License-Identifier: Apache-2.0 */
/* A library that crashes when it is opened. */
#include <stdlib.h>

__attribute__((constructor)) static void crash(void)
{
    abort();
}
