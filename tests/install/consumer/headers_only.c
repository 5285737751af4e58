/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/plugin.h>

_Static_assert(COLLET_ABI_MAJOR >= 1, "the plugin interface is found");
