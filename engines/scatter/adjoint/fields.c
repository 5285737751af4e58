/* SPDX-License-Identifier: Apache-2.0 */
/* The adjoint of the fields: from the slices to the voxels of each material.
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include <math.h>

#include <collet/ops/fft.h>

#include "scatter/adjoint/planes.h"
#include "scatter/arrays.h"
#include "scatter/methods.h"

typedef struct job {
    const scatter_adjoint *a;
    const collet_scatter_material *view; /* values of the layers */
    scatter_part part;
    const collet_scatter_derivatives *to; /* of the whole morphology */
    const void *fields;                      /* cotangents: [fields, count, Y, X] */
    double share;                            /* 1 / number of layers whose mean is one layer of fields */
    double by_fraction;     /* scatter_adjoint.by_fraction: fields 0 and 1 add up to the fraction */
    int64_t voxels, before; /* voxels of these layers, and of the layers before them */
} job;

static double number(const void *array, int wide, int64_t i)
{
    return wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* Adds to a gradient, which may be NULL. */
static void add(const job *j, void *array, int64_t i, double value)
{
    if (array && j->view->dtype == COLLET_F64)
        ((double *)array)[i] += value;
    else if (array)
        ((float *)array)[i] += (float)value;
}

/* Takes the cotangents of fields 0 .. 6 of a voxel. */
static void take(const job *j, int64_t i, double b[SCATTER_FIELDS])
{
    for (int64_t f = 0; f < j->part.count; f++)
        b[f] = (f < 2 ? j->by_fraction : 0.0) +
               j->share * number(j->fields, scatter_is_wide(j->a->s), f * j->voxels + i);
}

/* fields: V - V S, V S, V S s s^T, with s = (cos psi sin theta, sin psi sin theta, cos theta) */
static void euler(const job *j, int64_t i, const double b[SCATTER_FIELDS])
{
    int wide = j->view->dtype == COLLET_F64;
    int64_t at = j->before + i;
    double volume = number(j->view->volume, wide, i);
    double alignment = number(j->view->alignment, wide, i);
    double product = 0.0, by_theta = 0.0, by_psi = 0.0;
    if (volume != 0.0 || alignment != 0.0) {
        double theta = number(j->view->theta, wide, i), psi = number(j->view->psi, wide, i);
        double st = sin(theta), ct = cos(theta), sp = sin(psi), cp = cos(psi);
        double x = cp * st, y = sp * st, z = ct;
        double by_x = 2 * b[2] * x + b[3] * y + b[4] * z, by_y = b[3] * x + 2 * b[5] * y + b[6] * z;
        double by_z = b[4] * x + b[6] * y;
        product = (by_x * x + by_y * y + by_z * z) / 2;
        by_theta = by_x * cp * ct + by_y * sp * ct - by_z * st;
        by_psi = by_y * x - by_x * y;
    }
    double by_aligned = b[1] - b[0] + product;
    add(j, j->to->volume, at, alignment != 0.0 ? b[0] + alignment * by_aligned : b[0]);
    add(j, j->to->alignment, at, volume != 0.0 ? volume * by_aligned : 0.0);
    if (volume * alignment != 0.0) {
        add(j, j->to->theta, at, volume * alignment * by_theta);
        add(j, j->to->psi, at, volume * alignment * by_psi);
    }
}

/* fields: the unaligned fraction, |s|^2, s s^T */
static void vectors(const job *j, int64_t i, const double b[SCATTER_FIELDS])
{
    int wide = j->view->dtype == COLLET_F64;
    double s[3];
    for (int a = 0; a < 3; a++)
        s[a] = number(j->view->direction, wide, 3 * i + a);
    const double by[3] = {2 * (b[1] + b[2]) * s[0] + b[3] * s[1] + b[4] * s[2],
                          b[3] * s[0] + 2 * (b[1] + b[5]) * s[1] + b[6] * s[2],
                          b[4] * s[0] + b[6] * s[1] + 2 * b[1] * s[2]};
    for (int a = 0; a < 3; a++)
        add(j, j->to->direction, 3 * (j->before + i) + a, by[a]);
    add(j, j->to->unaligned, j->before + i, b[0]);
}

static void run_voxels(void *argument, int64_t begin, int64_t end, int thread)
{
    const job *j = argument;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        double b[SCATTER_FIELDS];
        take(j, i, b);
        if (j->part.count == 1)
            add(j, j->to->volume, j->before + i, b[0]);
        else if (j->view->direction)
            vectors(j, i, b);
        else
            euler(j, i, b);
    }
}

/* Adds the gradients of some layers, from the cotangents of their fields. */
static collet_status add_voxels(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                                const void *fields)
{
    collet_scatter *s = a->s;
    const int64_t *n = s->options.shape;
    collet_scatter_material view;
    job j = {.a = a,
             .view = &view,
             .part = s->parts[m],
             .to = &a->out.materials[m],
             .fields = fields,
             .share = 1.0 / (double)s->thickness,
             .by_fraction = a->by_fraction[m],
             .voxels = count * n[1] * n[2],
             .before = first * n[1] * n[2]};
    collet_status status = scatter_view_layers(s, m, first, count, &view);
    if (status == COLLET_OK)
        scatter_parallel(a->threads, j.voxels, 1024, run_voxels, &j);
    return status;
}

/* Adds the gradients of layers from `first` on. With options.collapse one layer of fields is the mean of all
 * layers along z. */
static collet_status read_fields(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                                 collet_array *fields)
{
    collet_scatter *s = a->s;
    void *values;
    if (collet_array_acquire(s->context, fields, &values, COLLET_READ) != COLLET_OK)
        return scatter_failed(s, collet_last_status(s->context), "reading fields");
    collet_status status = COLLET_OK;
    for (int64_t z = 0; z < s->thickness && status == COLLET_OK; z++)
        status = add_voxels(a, m, first + z, count, values);
    collet_array_release(s->context, fields);
    return status;
}

static collet_status add_layers(scatter_adjoint *a, int64_t m, int64_t first, int64_t count)
{
    collet_scatter *s = a->s;
    const int64_t *n = s->options.shape;
    collet_array *planes = NULL, *fields = NULL;
    int64_t parts = s->parts[m].count;
    void *values;
    collet_status status = scatter_array(s, &planes, scatter_complex(s), 4,
                                         SCATTER_SHAPE(parts, count, n[1], n[2] / 2 + 1));
    if (status == COLLET_OK)
        status =
            scatter_array(s, &fields, s->options.dtype, 4, SCATTER_SHAPE(parts, count, n[1], n[2]));
    if (status == COLLET_OK &&
        collet_array_acquire(s->context, planes, &values, COLLET_WRITE) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "writing spectra");
    if (status == COLLET_OK) {
        scatter_adjoint_planes(a, m, first, count, values);
        collet_array_release(s->context, planes);
        if (a->no_memory)
            status = collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for phases");
    }
    if (status == COLLET_OK && collet_op_fft(s->context, fields, planes, 2, 1) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "the FFT");
    if (status == COLLET_OK)
        status = scatter_window(s, first, count, fields);
    if (status == COLLET_OK)
        status = read_fields(a, m, first, count, fields);
    collet_array_destroy(planes);
    collet_array_destroy(fields);
    return status == COLLET_OK ? scatter_step(s, "differentiating") : status;
}

collet_status scatter_adjoint_fields(scatter_adjoint *a)
{
    collet_scatter *s = a->s;
    int64_t layers = s->options.shape[0];
    collet_status status = COLLET_OK;
    for (int64_t first = 0; first < layers && status == COLLET_OK; first += s->layers) {
        int64_t count = layers - first < s->layers ? layers - first : s->layers;
        for (int64_t m = 0; m < s->options.n_materials && status == COLLET_OK; m++)
            status = add_layers(a, m, first, count);
    }
    return status;
}
