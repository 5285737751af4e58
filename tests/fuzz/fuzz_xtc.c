/* SPDX-License-Identifier: Apache-2.0 */
/* Any .xtc file, of either variant, is read or refused with a message. */
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int large = size >= 4 && data[3] == 0xe7;

    fuzz_file_begin(data, size, large ? "\0\0\x07\xe7" : "\0\0\x07\xcb");
    fuzz_read_trajectory();
    fuzz_file_end();
    return 0;
}
