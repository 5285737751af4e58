/* SPDX-License-Identifier: Apache-2.0 */
/* Any .psf file is read as a topology, or refused with a message. */
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file_begin(data, size, "PSF\n");
    fuzz_read_topology();
    fuzz_file_end();
    return 0;
}
