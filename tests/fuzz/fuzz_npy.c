/* SPDX-License-Identifier: Apache-2.0 */
/* Any .npy file is refused with a message, or all its rows are readable. */
#include "fuzz_file.h"

#include "io/npy_read.h"

#include <stdlib.h>

static void read_rows(const io_npy *npy, size_t size)
{
    size_t row = (size_t)npy->row_elements * collet_dtype_size(npy->dtype);

    /* A row is not larger than the file, unless there are no rows. */
    if (npy->rows < 0 || (npy->rows > 0 && row > size))
        abort();
    uint8_t *out = malloc(npy->rows > 0 ? row + 1 : 1);
    for (int64_t i = 0; out && row > 0 && i < npy->rows; i++)
        io_npy_rows(npy, i, 1, out);
    io_npy_passed(npy, 0, npy->rows);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    collet_error err = {0};
    io_npy npy;

    fuzz_file_begin(data, size, "\x93NUM");
    if (io_npy_open(FUZZ_PATH, &npy, &err) == COLLET_OK)
        read_rows(&npy, size);
    else if (npy.mapping || err.text[0] == '\0')
        abort();
    io_npy_close(&npy);
    fuzz_file_end();
    return 0;
}
