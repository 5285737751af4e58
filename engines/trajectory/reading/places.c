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

const trajectory_clock *trajectory_places_clock(const trajectory_places *places, int64_t index)
{
    int64_t low = 0, high = places->n_parts - 1;

    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (places->parts[middle].first > index)
            high = middle - 1;
        else
            low = middle;
    }
    return &places->parts[low].clock;
}

int trajectory_places_computes(const trajectory_reader *file)
{
    return file->format->count && file->format->count(file) >= 0;
}

/* Sets the position of a reader. Fails if the position is impossible: an index file may belong to another file in spite
 * of its hash. */
static collet_status set(trajectory_reader *file, int64_t offset, int64_t index, collet_error *err)
{
    if (offset < 0 || offset >= file->source.size)
        return collet_fail(err, COLLET_IO, "%s: the file was changed while it was read; run again",
                           file->source.path);
    file->offset = offset;
    file->index = index;
    return COLLET_OK;
}

static collet_status compute(trajectory_reader *file, int64_t index, collet_error *err)
{
    int fits = trajectory_places_computes(file) && index < file->format->count(file);

    return set(file, fits ? file->format->locate(file, index) : -1, index, err);
}

static const int64_t *entry_of(const trajectory_places *places, const trajectory_places_part *part,
                               int64_t index)
{
    return places->entries + places->width * (part->entry + index);
}

static collet_status enter(trajectory_reader *file, const trajectory_places *places,
                           const int64_t *entry, int64_t index, collet_error *err)
{
    file->line = places->width > 1 ? entry[TRAJECTORY_ENTRY_LINE] : 0;
    return set(file, entry[TRAJECTORY_ENTRY_OFFSET], index, err);
}

collet_status trajectory_places_check(const trajectory_reader *file,
                                      const trajectory_places *places,
                                      const trajectory_places_part *part, int64_t index,
                                      int64_t offset, collet_error *err)
{
    if (part->entry < 0 || index >= part->n_frames || part->first + index >= places->n_frames)
        return COLLET_OK;
    const int64_t *entry = entry_of(places, part, index);
    if (entry[TRAJECTORY_ENTRY_OFFSET] == offset)
        return COLLET_OK;
    return collet_fail(err, COLLET_FORMAT,
                       "%s: the index of its frames is wrong: frame %lld begins at byte %lld, not "
                       "%lld; remove the file frames-*.index and run again",
                       file->source.path, (long long)index, (long long)offset,
                       (long long)entry[TRAJECTORY_ENTRY_OFFSET]);
}

collet_status trajectory_places_go(trajectory_reader *file, const trajectory_places *places,
                                   const trajectory_places_part *part, int64_t index, int64_t seen,
                                   collet_error *err)
{
    trajectory_frame_head head = {.lacking = -1};
    const int64_t *entry;

    if (!part || part->entry < 0)
        return compute(file, index, err);
    entry = entry_of(places, part, index);
    const int64_t carrier = places->width > 1 ? entry[TRAJECTORY_ENTRY_CARRIER] : -1;
    if (carrier >= seen && carrier >= 0 && carrier < index) {
        collet_status status = enter(file, places, entry_of(places, part, carrier), carrier, err);
        if (status == COLLET_OK)
            status = file->format->head(file, &head, err);
        if (status == COLLET_OK && !head.carries)
            status = collet_fail(err, COLLET_FORMAT,
                                 "%s: the index of its frames is wrong: frame %lld has no data for "
                                 "later frames; remove the file frames-*.index and run again",
                                 file->source.path, (long long)carrier);
        if (status != COLLET_OK)
            return status;
    }
    return enter(file, places, entry, index, err);
}
