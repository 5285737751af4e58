/* SPDX-License-Identifier: Apache-2.0 */
/* bitnet_config.h - the config.json of a BitNet model, which defines the meaning of its weights' scales. */
#pragma once

#include <collet/collet.h>

typedef struct ternary_bitnet_config {
    /* From quantization_config.linear_class. 1: "bitlinear", the layer divides by weight_scale; 0: "autobitlinear", the
     * layer multiplies. 1 if linear_class is missing, because "bitlinear" is the default of Transformers. */
    int divides;
    const char *fault; /* why the scales are not known (static text); NULL: the scales are known */
    collet_status fault_status;
} ternary_bitnet_config;

/* Reads config.json in the folder of the file `path`. NO_MEMORY; other errors become a fault. */
collet_status ternary_bitnet_config_read(const char *path, ternary_bitnet_config *out,
                                         collet_error *err);
