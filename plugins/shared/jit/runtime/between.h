/* SPDX-License-Identifier: Apache-2.0 */
/* between.h - collet.copy/1: copies between two devices of one backend. */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_BETWEEN_H
#define PLUGINS_SHARED_JIT_RUNTIME_BETWEEN_H

#include <collet/extensions.h>

extern const collet_copy_extension jit_copy_extension;

#endif
