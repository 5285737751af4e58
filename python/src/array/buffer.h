/* SPDX-License-Identifier: Apache-2.0 */
/* Python's buffer protocol: memoryview(x) and numpy.asarray(x) share the memory of an Array in the host's memory. */
#pragma once

#include "src/base/python.h"

extern const PyType_Slot buffer_slots[]; /* for array_add_type */
