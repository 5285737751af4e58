/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - which outputs are computed. */
#ifndef COLLET_EXTRACT_KEYS_H
#define COLLET_EXTRACT_KEYS_H

#include "compute/outputs.h"

#include <collet/collet.h>

/*
 * Chooses among the outputs by `keys` ("com,L_*"; NULL: all), given the fields `has` of the
 * trajectory (EXTRACT_VELOCITIES, EXTRACT_FORCES). left_out[i] is NULL for a chosen output, else
 * the reason, static text. *needs: the fields that chosen outputs need. COLLET_INVALID for a key
 * that does not exist, needs a field that the trajectory lacks, or when nothing is chosen.
 */
collet_status extract_keys_choose(const char *keys, uint32_t has,
                                  const char *left_out[EXTRACT_MAX_OUTPUTS], uint32_t *needs,
                                  collet_error *err);

#endif
