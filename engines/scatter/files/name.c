/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_results.c */
#include <collet/scatter.h>

#include <stdio.h>

#include "io/numerals.h"

#include <collet/floating.h>

void collet_scatter_file_name(char name[COLLET_SCATTER_NAME], double energy)
{
    COLLET_FLOATING_SCOPE;
    locale_t before = io_numerals_begin();
    snprintf(name, COLLET_SCATTER_NAME, "Energy_%.2f.h5", energy);
    io_numerals_end(before);
}
