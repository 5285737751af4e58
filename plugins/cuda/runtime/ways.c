/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_ways.c */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/providers/libraries.h"

#define ALL(count) ((1u << (count)) - 1)
/* The libraries do not compute eigenvalues of general matrices. */
#define OPS (ALL(WAY_OPS) & ~(1u << WAY_EIG))

const ways_kind cuda_ways = {
    .backend = "cuda",
    .names = {"own", "library"},
    .range = {[WAY_LIBRARY] = {ALL(WAY_TYPES), OPS, OPS}},
    .types = ALL(WAY_TYPES),
    .forms = ALL(WAY_PAGE),
    .ops = OPS,
};

collet_status cuda_ways_open(collet_device *d, collet_error *err)
{
    char first[128] = "", own[128] = "";
    CUdevice id;
    d->ways = malloc(sizeof *d->ways);
    if (!d->ways)
        return d->base.host->fail(err, COLLET_NO_MEMORY,
                                  "cuda: out of memory while opening the device");
    int known = d->cu.DeviceGet(&id, 0) == CUDA_SUCCESS &&
                d->cu.DeviceGetName(first, sizeof first - 1, id) == CUDA_SUCCESS &&
                d->cu.DeviceGetName(own, sizeof own - 1, d->id) == CUDA_SUCCESS;
    ways_read(d->ways, d->base.host, &cuda_ways, known && !strcmp(first, own));
    return COLLET_OK;
}

int cuda_library_chosen(const collet_device *d, const cuda_choice *c)
{
    return ways_choose(d->ways, c->key, c->side, c->usual, NULL) == WAY_LIBRARY;
}

void cuda_explain_choice(text *out, const collet_device *d, const cuda_library_facts *facts,
                         const cuda_library *library, const cuda_choice *c, int possible, int ready)
{
    const collet_host *host = d->base.host;
    char found[400];
    if (ready) {
        cuda_library_describe(facts, library->handle, found, sizeof found);
        text_add(out, "%s %s; ", facts->title, found);
    } else {
        text_add(out, "own kernels; ");
    }
    if (!possible)
        text_add(out, "%s does not support the call", facts->title);
    else if (ready || !cuda_library_chosen(d, c))
        ways_explain(out, d->ways, c->key, c->side, c->usual);
    else if (cuda_library_off(host, facts))
        text_add(out, "%s is off by the setting %s", facts->title,
                 cuda_safe_mode(host) ? "cuda.safe_mode" : facts->setting);
    else if (!library->handle)
        text_add(out, "%s was not found", facts->title);
    else
        text_add(out, "%s declines the call", facts->title);
}
