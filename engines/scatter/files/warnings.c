/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about suspicious files, the same for a simulation and for collet_scatter_check.
 * Tests: tests/tools/rsoxs/test_rsoxs_warnings.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/files/group.h"
#include "scatter/files/store.h"
#include "scatter/files/warnings.h"

#include <inttypes.h>
#include <math.h>

#define ENERGY_MIN 10 /* eV; smaller energies are probably in keV */
#define ENERGY_MAX 1e5
#define VOXEL_MIN 0.01 /* nm */
#define VOXEL_MAX 1000
#define ANGLE_MAX 12.6 /* radians; larger angles are probably in degrees */

/* ---- The configuration ------------------------------------------------------------------- */

collet_status scatter_warn_of_energies(collet_scatter_input *in, const char *path,
                                       collet_error *err)
{
    for (int64_t e = 0; e < in->options.n_energies; e++)
        if (in->energies[e] > 0.0 &&
            !(in->energies[e] >= ENERGY_MIN && in->energies[e] <= ENERGY_MAX))
            return scatter_warn(
                in, err, "%s: the energy %g eV is outside the X-ray range; energies must be in eV",
                path, in->energies[e]);
    return COLLET_OK;
}

static int is_vacuum(const collet_scatter_constants *c)
{
    return c->delta_parallel == 0.0 && c->beta_parallel == 0.0 && c->delta_perpendicular == 0.0 &&
           c->beta_perpendicular == 0.0;
}

collet_status scatter_warn_of_constants(collet_scatter_input *in, const char *path,
                                        collet_error *err)
{
    int64_t materials = in->options.n_materials;
    for (int64_t e = 0; e < in->options.n_energies; e++) {
        int64_t m = 0;
        while (m < materials && is_vacuum(&in->constants[e * materials + m]))
            m++;
        if (m == materials)
            return scatter_warn(
                in, err,
                "%s: at %g eV the optical constants of all materials are 0, so the pattern is 0",
                path, in->energies[e]);
    }
    return COLLET_OK;
}

/* ---- The morphology ---------------------------------------------------------------------- */

static int has_dataset(const scatter_reader *r, int64_t m, const char *what)
{
    char name[SCATTER_NAME_SIZE];
    scatter_name_dataset(name, r->file, r->in->vectors, m, what);
    return io_hdf5_has(r->file, name);
}

collet_status scatter_find_alignment(scatter_reader *r, int64_t m, int *has)
{
    *has = has_dataset(r, m, "S");
    if (*has || (!has_dataset(r, m, "Theta") && !has_dataset(r, m, "Psi")))
        return COLLET_OK;
    return scatter_warn(r->in, r->err,
                        "%s: material %" PRId64
                        " has angles, but no dataset S: it is treated as unaligned",
                        r->path, m + 1);
}

collet_status scatter_warn_of_file(scatter_reader *r)
{
    const collet_scatter_options *o = &r->in->options;
    collet_status status = COLLET_OK;
    if (o->voxel > 0.0 && (o->voxel < VOXEL_MIN || o->voxel > VOXEL_MAX))
        status =
            scatter_warn(r->in, r->err,
                         "%s: PhysSize, the edge of a voxel, is %g nm; usual values are 0.1 to 100",
                         r->path, o->voxel);
    if (status == COLLET_OK &&
        has_dataset(r, o->n_materials, r->in->vectors ? "alignment" : "Vfrac"))
        status =
            scatter_warn(r->in, r->err,
                         "%s: NumMaterial is %" PRId64 ", but the file also has material %" PRId64,
                         r->path, o->n_materials, o->n_materials + 1);
    return status;
}

void scatter_note_range(scatter_range *r, const collet_scatter_material *a, int64_t voxels)
{
    const void *fraction = a->volume ? a->volume : a->unaligned;
    for (int64_t i = 0; fraction && i < voxels; i++)
        r->volume += fabs(scatter_element(fraction, a->dtype, i));
    for (int64_t i = 0; a->direction && i < 3 * voxels; i++)
        r->volume += fabs(scatter_element(a->direction, a->dtype, i));
    for (int64_t i = 0; a->alignment && a->theta && a->psi && i < voxels; i++) {
        double theta = fabs(scatter_element(a->theta, a->dtype, i));
        double psi = fabs(scatter_element(a->psi, a->dtype, i));
        if (scatter_element(a->alignment, a->dtype, i) != 0.0 && isfinite(theta) && isfinite(psi))
            r->angle = fmax(r->angle, fmax(theta, psi));
    }
}

collet_status scatter_warn_of_voxels(collet_scatter_input *in, const char *path, int64_t m,
                                     const scatter_range *range, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (range->volume == 0.0)
        status = scatter_warn(in, err, "%s: no voxel contains material %" PRId64, path, m + 1);
    if (status == COLLET_OK && range->angle > ANGLE_MAX)
        status = scatter_warn(in, err,
                              "%s: material %" PRId64 " has angles of up to %g; angles must be in "
                              "radians",
                              path, m + 1, range->angle);
    return status;
}
