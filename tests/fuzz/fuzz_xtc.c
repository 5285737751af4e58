/* SPDX-License-Identifier: Apache-2.0 */
/* Any .xtc file, of either variant, is read or refused with a message. */
#include "fuzz_file.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    int large = size >= 4 && data[3] == 0xe7;
    int fd = fuzz_make_file(data, size, large ? "\0\0\x07\xe7" : "\0\0\x07\xcb", path);

    if (fd < 0)
        return 0;
    fuzz_read_trajectory(path);
    close(fd);
    return 0;
}
