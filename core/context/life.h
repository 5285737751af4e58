/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a runtime: created from its settings, destroyed when its last user releases it. */
#pragma once

#include "device/runtime.h"

void runtime_retain(collet_runtime *runtime);
void runtime_release(collet_runtime *runtime);
