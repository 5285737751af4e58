/* SPDX-License-Identifier: Apache-2.0 */
/* The second of two files with all headers: headers must not define anything twice. */
#include <collet/plugin.h>
#include <collet/collet.h>

int second(void);

int second(void)
{
    return COLLET_OK;
}
