/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_name.h - names of tensors, which files may choose freely, for messages and lists. */
#pragma once

#include <stdint.h>

#define TERNARY_TENSOR_NAME 256 /* bytes of a name with its NUL, cut to fit */

/* Returns `text`: the name, cut to fit; bytes for which io_utf8_character gives 0 become \xNN. */
const char *ternary_tensor_name(const char *name, uint64_t length, char text[TERNARY_TENSOR_NAME]);
