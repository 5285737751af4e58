/* SPDX-License-Identifier: Apache-2.0 */
/* Any index file is refused, or a reader uses it to find frames, or the reader reports that the
 * index belongs to another file. */
#include "fuzz_file.h"

#include "trajectory/reading/index_file.h"
#include "trajectory/reading/reader.h"

#include <stdlib.h>
#include <string.h>

#define MOST 4096
#define IDENTITY 1

/* Two frames of one atom, an .xyz file. */
static const char frames[] = "1\nt= 1\nC 1.000 2.000 3.000\n1\nt= 2\nC 1.000 2.000 3.000\n";

/* Reads frame `index` of a file by the positions in `places`, which it frees. */
static void read_frame(trajectory_places *places, int64_t index)
{
    trajectory_reader *reader;
    trajectory_frames *batch;
    collet_error err = {0};

    fuzz_file_begin((const uint8_t *)frames, sizeof frames - 1, NULL);
    if (trajectory_reader_open(FUZZ_PATH, NULL, &reader, &err) != COLLET_OK ||
        trajectory_reader_slice(reader, index, -1, 1, NULL) != COLLET_OK ||
        trajectory_frames_create(1, 2, COLLET_F64, 0, 0, &batch, NULL) != COLLET_OK)
        abort();
    reader->places = places;
    if (trajectory_reader_read(reader, batch, &err) != COLLET_OK && err.text[0] == '\0')
        abort();
    trajectory_frames_free(batch);
    trajectory_reader_close(reader);
    fuzz_file_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t bytes[MOST / 8];
    trajectory_index_head *head = (void *)bytes;

    for (int sealed = 0; sealed < 2; sealed++)
        for (int64_t index = 1; index < 3; index++) {
            size_t n = size < MOST ? size : MOST;
            memcpy(bytes, data, n);
            if (sealed && n >= sizeof *head) {
                head->identity = IDENTITY;
                trajectory_index_seal(bytes, n);
            }
            fuzz_file_begin((const uint8_t *)bytes, n, NULL);
            trajectory_places *places = trajectory_index_load(FUZZ_PATH, IDENTITY, 1);
            if (places)
                read_frame(places, index);
            else
                fuzz_file_end();
        }
    return 0;
}
