/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any .t2 file is refused with a message, or its layers can be verified and read. Each input with a
 * header also runs with its size and checksum corrected, because random bytes would never have the
 * right checksum.
 */
#include "fuzz_file.h"

#include "ternary/formats/t2_format.h"

#include <stdlib.h>
#include <string.h>

static void correct(uint8_t *data, size_t size)
{
    t2_head head;
    size_t table = size > sizeof head ? (size - sizeof head) / sizeof(ternary_t2_layer) : 0;

    if (table == 0)
        return;
    memcpy(&head, data, sizeof head);
    memcpy(head.magic, T2_MAGIC, sizeof head.magic);
    head.size = size;
    if (head.layers <= table)
        head.checksum = t2_head_sum(&head, (const void *)(data + sizeof head));
    memcpy(data, &head, sizeof head);
}

static unsigned read_layer(const ternary_t2_file *file, uint32_t index)
{
    const ternary_t2_layer *layer = &file->layers[index];
    const uint8_t *weights = ternary_t2_weights(file, index);
    const float *scale = ternary_t2_scale(file, index), *bias = ternary_t2_bias(file, index);
    unsigned sum = weights[0] + weights[layer->weights_bytes - 1];
    size_t last = (size_t)layer->rows - 1;

    if (scale)
        sum += scale[last] > 0;
    if (bias)
        sum += bias[last] > 0;
    if (strlen(layer->name) >= TERNARY_T2_NAME)
        abort();
    return sum + (ternary_t2_verify(file, index, NULL, NULL, NULL) == COLLET_OK);
}

/* Keeps the compiler from removing the reads. */
static volatile unsigned seen;

static void read_file(void)
{
    collet_error err = {0};
    ternary_t2_file file;
    unsigned sum = 0;

    if (ternary_t2_open(FUZZ_PATH, &file, &err) != COLLET_OK) {
        if (file.mapping || file.layers || err.text[0] == '\0')
            abort();
    }
    for (uint32_t i = 0; i < file.count; i++)
        sum += read_layer(&file, i);
    seen = sum;
    ternary_t2_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);

    for (int corrected = 0; copy && corrected < 2; corrected++) {
        memcpy(copy, data, size);
        if (corrected)
            correct(copy, size);
        fuzz_file_begin(copy, size, corrected ? NULL : "\x89\x43\x4c\x54");
        read_file();
        fuzz_file_end();
    }
    free(copy);
    return 0;
}
