/* SPDX-License-Identifier: Apache-2.0 */
/* between.h - collet.copy/1: copies between two devices of one backend. */
#pragma once

#include <collet/extensions.h>

extern const collet_copy_extension jit_copy_extension;
