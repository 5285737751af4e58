/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_faults.h - why a tensor cannot be read: texts that GGUF and safetensors files share. */
#pragma once

#define TERNARY_NO_WEIGHTS "the tensor has no weights: an extent is 0"
#define TERNARY_NO_AXES "the tensor has no axes; 1 or 2 are supported"
#define TERNARY_MORE_AXES                                                                          \
    "the tensor has more than 2 axes, rows and columns; each matrix must be a tensor of its own"
#define TERNARY_MORE_ELEMENTS "the tensor has more elements than 64 bits can count"
#define TERNARY_BEYOND_END                                                                         \
    "the tensor's data end after the end of the file, which is truncated or damaged"
#define TERNARY_NAMESAKE "another tensor of the file has this name"
#define TERNARY_WHOLE_NUMBERS "whole numbers of this type are not read; ternary codes are I8"
