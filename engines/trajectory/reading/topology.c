/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c */
#include "topology.h"

#include "io/signature.h"
#include "recognise.h"
#include "trajectory/formats/formats.h"

#include <stdlib.h>
#include <string.h>

/* A file named .gro that no format recognises is parsed as .gro, so that the error names the faulty line. */
static collet_status choose_format(io_source *source, const trajectory_format **format,
                                   collet_error *err)
{
    const uint8_t *bytes;
    size_t n;

    collet_status status = io_source_begin(source, &bytes, &n, err);
    if (status != COLLET_OK)
        return status;
    *format = trajectory_formats_find(TRAJECTORY_HOLDS_TOPOLOGY, source->path, bytes, n);
    if (!*format && io_signature_suffix(source->path, ".gro") &&
        !trajectory_formats_describe(source->path, bytes, n) && !memchr(bytes, 0, n))
        *format = &trajectory_gro_format;
    return *format
               ? COLLET_OK
               : trajectory_formats_refuse(TRAJECTORY_HOLDS_TOPOLOGY, source->path, bytes, n, err);
}

collet_status trajectory_topology_read(const char *path, const io_poll *poll,
                                       trajectory_topology **out, collet_error *err)
{
    const trajectory_format *format;
    io_source source;

    *out = NULL;
    collet_status status = io_source_open(&source, path, poll, err);
    if (status != COLLET_OK)
        return status;
    trajectory_topology *topology = calloc(1, sizeof *topology);
    if (!topology) {
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
        goto done;
    }
    status = choose_format(&source, &format, err);
    if (status == COLLET_OK)
        status = format->topology(&source, topology, err);
    if (status == COLLET_OK) {
        topology->format = format->name;
        *out = topology;
        topology = NULL;
    }
done:
    trajectory_topology_free(topology);
    io_source_close(&source);
    return status;
}
