/* SPDX-License-Identifier: Apache-2.0 */
/* The second of two files with all headers: nothing in a header may be defined twice. */
#include <collet/plugin.h>
#include <collet/collet.h>

int second(void);

int second(void)
{
    return COLLET_OK;
}
