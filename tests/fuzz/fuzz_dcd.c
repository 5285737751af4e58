/* SPDX-License-Identifier: Apache-2.0 */
/* Any .dcd file is read or refused with a message. */
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file_begin(data, size, NULL);
    fuzz_read_trajectory();
    fuzz_file_end();
    return 0;
}
