/* SPDX-License-Identifier: Apache-2.0 */
/* Any safetensors file is refused with a message, or each of its tensors lies within the file or is reported
 * as faulty. */
#include "fuzz_file.h"

#include "ternary/formats/safetensors.h"

#include <stdlib.h>
#include <string.h>

/* Reads the name and the data of the tensor. */
static unsigned read_tensor(const ternary_safetensors *file, const ternary_safetensors_tensor *t)
{
    const uint8_t *data = io_mapping_data(file->mapping);
    int usable = !t->fault && !t->reason;
    unsigned sum = 0;

    for (uint64_t i = 0; t->name[i]; i++)
        sum += (uint8_t)t->name[i];
    for (uint64_t i = 0; usable && i < t->bytes && i < 100000; i++)
        sum += data[t->offset + i] + data[t->offset + t->bytes - 1 - i];
    if (t->ndim > TERNARY_SAFETENSORS_DIMS || (t->rows > 0) != usable ||
        (t->columns > 0) != usable || (usable && t->dtype == COLLET_U8 && !(t->scale > 0)))
        abort();
    return sum;
}

/* Keeps the compiler from removing the reads. */
static volatile unsigned seen;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    collet_error err = {0};
    ternary_safetensors file;
    const ternary_safetensors_tensor *found;

    fuzz_file_begin(data, size, NULL);
    if (ternary_safetensors_open(FUZZ_PATH, &file, &err) != COLLET_OK) {
        if (file.mapping || file.tensors || file.header || err.text[0] == '\0')
            abort();
    } else {
        for (uint64_t i = 0; i < file.count; i++)
            seen = read_tensor(&file, &file.tensors[i]);
        if (ternary_safetensors_find(&file, "w", &found, NULL) == COLLET_OK &&
            strcmp(found->name, "w") != 0)
            abort();
    }
    ternary_safetensors_close(&file);
    fuzz_file_end();
    return 0;
}
