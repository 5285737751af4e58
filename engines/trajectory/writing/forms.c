/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_forms.c */
#include "forms.h"

#include "hdf5.h"

#include <string.h>

static const trajectory_form forms[] = {
    {".npz", 0, 0, IO_SPOOL_OUTPUT, NULL, NULL},
    {".csv", 1, 0, IO_SPOOL_OUTPUT, NULL, trajectory_csv_write},
    {".xvg", 1, 0, IO_SPOOL_OUTPUT, NULL, trajectory_xvg_write},
    {".h5", 0, 1, IO_SPOOL_NAMED, trajectory_hdf5_check, trajectory_hdf5_write},
};

const trajectory_form *trajectory_form_of(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].suffix);
        if (length > n && strcmp(path + length - n, forms[i].suffix) == 0)
            return &forms[i];
    }
    return NULL;
}
