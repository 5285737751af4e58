/* SPDX-License-Identifier: Apache-2.0 */
/* Any .ndx file is refused with a message, or has groups of existing atoms. */
#include "fuzz_file.h"

#include "trajectory/atoms/groups.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t members[4] = {0};
    trajectory_groups *groups;
    collet_error err;

    err.text[0] = '\0';
    fuzz_file_begin(data, size, NULL);
    if (trajectory_groups_read(FUZZ_PATH, sizeof members, &groups, &err) == COLLET_OK) {
        if (trajectory_groups_mark(groups, "*", 1, members) == 0)
            abort();
    } else if (groups || err.text[0] == '\0') {
        abort();
    }
    trajectory_groups_free(groups);
    fuzz_file_end();
    return 0;
}
