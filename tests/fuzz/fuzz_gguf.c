/* SPDX-License-Identifier: Apache-2.0 */
/* Any GGUF file is refused with a message, or each of its tensors lies within the file or is
 * reported as faulty. */
#include "fuzz_file.h"

#include "ternary/formats/gguf.h"

#include <stdlib.h>
#include <string.h>

/* Reads the name and the data of the tensor. */
static unsigned read_tensor(const ternary_gguf *gguf, const ternary_gguf_tensor *t)
{
    const uint8_t *data = io_mapping_data(gguf->mapping);
    char name[TERNARY_TENSOR_NAME];
    unsigned sum = 0;

    for (uint64_t i = 0; i < t->name_length; i++)
        sum += (uint8_t)t->name[i];
    for (uint64_t i = 0; i < t->bytes && i < 100000; i++)
        sum += data[t->offset + i] + data[t->offset + t->bytes - 1 - i];
    if (t->ndim > TERNARY_GGUF_DIMS || (t->rows < 1) != (t->fault != NULL) ||
        (t->columns < 1) != (t->fault != NULL) || (t->fault && t->bytes > 0) ||
        strlen(ternary_gguf_name(t, name)) >= TERNARY_TENSOR_NAME)
        abort();
    return sum;
}

/* Keeps the compiler from removing the reads. */
static volatile unsigned seen;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    collet_error err = {0};
    ternary_gguf gguf;
    const ternary_gguf_tensor *found;

    fuzz_file_begin(data, size, "GGUF");
    if (ternary_gguf_open(FUZZ_PATH, &gguf, &err) != COLLET_OK) {
        if (gguf.mapping || gguf.tensors || err.text[0] == '\0')
            abort();
    } else {
        for (uint64_t i = 0; i < gguf.count; i++)
            seen = read_tensor(&gguf, &gguf.tensors[i]);
        if (ternary_gguf_find(&gguf, "w", &found, NULL) == COLLET_OK && found->name_length != 1)
            abort();
    }
    ternary_gguf_close(&gguf);
    fuzz_file_end();
    return 0;
}
