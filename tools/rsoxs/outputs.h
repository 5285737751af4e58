/* SPDX-License-Identifier: Apache-2.0 */
/* outputs.h - the files that a simulation writes or removes. */
#pragma once

#include "state.h"

/* INVALID if the run would replace or remove a file that it reads. */
collet_status rsoxs_check_outputs(const rsoxs_run *run, collet_error *err);
/* Removes the files that were made from a pattern that --force replaces, or from all patterns. */
void rsoxs_remove_companions(const char *directory, double energy);
/* Removes the pictures of I(q, E), because they no longer show the patterns. */
void rsoxs_remove_maps(const char *directory);
