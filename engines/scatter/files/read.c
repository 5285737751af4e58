/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a simulation, read in turn.
 * Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/files/warnings.h"

#include <stdlib.h>

#include <collet/floating.h>

collet_status collet_scatter_read(collet_scatter_input **out, const char *morphology,
                                  const char *configuration, collet_dtype dtype,
                                  collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    if (!out)
        return collet_fail(err, COLLET_INVALID, "out is NULL");
    *out = NULL;
    if (!configuration || (dtype != COLLET_F32 && dtype != COLLET_F64))
        return collet_fail(err, COLLET_INVALID, "%s",
                           !configuration ? "configuration is NULL" : "dtype must be f32 or f64");
    collet_scatter_input *in = calloc(1, sizeof *in);
    if (!in)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to read %s",
                           morphology ? morphology : configuration);
    in->options = (collet_scatter_options)COLLET_SCATTER_OPTIONS;
    in->options.dtype = dtype;
    in->options.grid = COLLET_SCATTER_CYRSOXS;
    collet_status status = scatter_read_configuration(in, configuration, err);
    if (status == COLLET_OK && morphology)
        status = scatter_read_morphology(in, morphology, err);
    if (status == COLLET_OK && morphology)
        status = scatter_read_constants(in, configuration, err);
    if (status == COLLET_OK && morphology)
        status = scatter_warn_of_constants(in, configuration, err);
    if (status != COLLET_OK) {
        collet_scatter_input_destroy(in);
        return status;
    }
    in->options.materials = in->materials;
    in->options.layers = morphology ? scatter_read_layers : NULL;
    in->options.layers_user = in;
    in->options.energies = in->energies;
    in->options.constants = in->constants;
    for (int a = 0; a < 3; a++)
        in->options.direction[a] = in->beams[0][a];
    *out = in;
    return COLLET_OK;
}
