/* SPDX-License-Identifier: Apache-2.0 */
/* Any .trr file is read or refused with a message. */
#include "fuzz_file.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    int fd = fuzz_make_file(data, size, "\0\0\x07\xc9", path);

    if (fd < 0)
        return 0;
    fuzz_read_trajectory(path);
    close(fd);
    return 0;
}
