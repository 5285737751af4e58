/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_index.c */
#include "places.h"

#include <stdlib.h>

void trajectory_places_free(trajectory_places *places)
{
    if (!places)
        return;
    if (!places->mapping) {
        free(places->parts);
        free(places->entries);
    }
    io_mapping_close(places->mapping);
    free(places);
}

int trajectory_places_computes(const trajectory_reader *file)
{
    return file->format->count && file->format->count(file) >= 0;
}

collet_status trajectory_places_go(trajectory_reader *file, const trajectory_places *places,
                                   const trajectory_places_part *part, int64_t index, int64_t seen,
                                   collet_error *err)
{
    const int64_t *entries, *entry;

    if (!part || part->entry < 0) {
        file->offset = file->format->locate(file, index);
        file->index = index;
        return COLLET_OK;
    }
    entries = places->entries + places->width * part->entry;
    entry = entries + places->width * index;
    if (places->width > 1 && entry[TRAJECTORY_ENTRY_CARRIER] >= seen) {
        trajectory_frame_head head = {.lacking = -1};
        const int64_t carrier = entry[TRAJECTORY_ENTRY_CARRIER];
        file->index = carrier;
        file->offset = entries[places->width * carrier + TRAJECTORY_ENTRY_OFFSET];
        file->line = entries[places->width * carrier + TRAJECTORY_ENTRY_LINE];
        collet_status status = file->format->head(file, &head, err);
        if (status != COLLET_OK)
            return status;
    }
    file->index = index;
    file->offset = entry[TRAJECTORY_ENTRY_OFFSET];
    file->line = places->width > 1 ? entry[TRAJECTORY_ENTRY_LINE] : 0;
    return COLLET_OK;
}
