/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the device of cpu_scalar. Private to the plugin. */
#pragma once

#include "shared/host/util/device.h"

struct collet_device {
    host_device base;
};
