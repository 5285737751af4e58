/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the device of cpu_scalar. Private to the plugin. */
#ifndef PLUGINS_CPU_SCALAR_DEVICE_H
#define PLUGINS_CPU_SCALAR_DEVICE_H

#include "shared/host/util/device.h"

struct collet_device {
    host_device base;
};

#endif
