/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/collet.h>
#include <collet/plugin.h>

int second(void);

int main(void)
{
    return collet_dtype_size(COLLET_F64) == 8 ? second() : 1;
}
