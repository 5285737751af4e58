/* SPDX-License-Identifier: Apache-2.0 */
#include "topology.h"

#include "formats.h"

#include <stdlib.h>
#include <string.h>

/* A text that no format recognises is read as one of the first text format, whose error names the
 * line. */
static collet_status choose_format(collet_source *source, const collet_trajectory_format **format,
                                   collet_error *err)
{
    const uint8_t *bytes;
    size_t n;

    collet_status status = collet_source_begin(source, &bytes, &n, err);
    if (status != COLLET_OK)
        return status;
    *format = collet_trajectory_formats_find(COLLET_HOLDS_TOPOLOGY, bytes, n);
    if (!*format && !collet_trajectory_formats_describe(bytes, n) && !memchr(bytes, 0, n))
        *format = collet_trajectory_formats_text();
    return *format ? COLLET_OK
                   : collet_trajectory_formats_refuse(COLLET_HOLDS_TOPOLOGY, source->path, bytes, n,
                                                      err);
}

collet_status collet_topology_read(const char *path, const collet_poll *poll, collet_topology **out,
                                   collet_error *err)
{
    const collet_trajectory_format *format;
    collet_source source;

    *out = NULL;
    collet_status status = collet_source_open(&source, path, err);
    if (status != COLLET_OK)
        return status;
    if (poll)
        source.poll = *poll;
    collet_topology *topology = calloc(1, sizeof *topology);
    if (!topology) {
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
        goto done;
    }
    status = choose_format(&source, &format, err);
    if (status == COLLET_OK)
        status = format->topology(&source, topology, err);
    if (status == COLLET_OK) {
        *out = topology;
        topology = NULL;
    }
done:
    collet_topology_free(topology);
    collet_source_close(&source);
    return status;
}

void collet_topology_free(collet_topology *topology)
{
    if (!topology)
        return;
    free(topology->title);
    free(topology->names);
    free(topology->residue_names);
    free(topology->residue_ids);
    free(topology);
}
