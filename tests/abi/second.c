/* SPDX-License-Identifier: Apache-2.0 */
/* The second file that includes all headers. If a header defined something, linking both files would fail. */
#include <collet/plugin.h>
#include <collet/collet.h>

int second(void);

int second(void)
{
    return COLLET_OK;
}
