/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a .t2 file as a network. */
#ifndef TERNARY_MODEL_H
#define TERNARY_MODEL_H

#include "session.h"
#include "ternary/formats/t2_file.h"

#include <collet/ternary.h>

typedef struct ternary_model {
    collet_t2_file file;
    collet_ternary_network *network;
    int64_t columns, rows; /* numbers that go in and come out */
} ternary_model;

/*
 * Maps the file, checks its data, and makes the network. Weights in t2 are computed with where they
 * are mapped, those of other formats are unpacked into memory; NOT_READY when a signal was noted
 * meanwhile. `activations` other than
 * TERNARY_ACTIVATIONS_UNSAID replace, with `threshold`, those of every layer.
 */
collet_status ternary_model_open(ternary_session *session, const char *path, uint32_t activations,
                                 float threshold, ternary_model *out, collet_error *err);
/* Of a zeroed one too. */
void ternary_model_close(ternary_model *model);

#endif
