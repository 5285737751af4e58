/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a runtime and of its plugins, and the records of plugins. */
#pragma once

#include "runtime.h"

/* The value of a key, and its source; NULL: not set. */
const char *setting_value(const collet_runtime *runtime, const char *key, const char **source);
