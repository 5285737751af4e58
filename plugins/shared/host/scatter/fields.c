/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_euler, scatter_vector, scatter_polarization: voxels.
 * Tests: conformance/scatter/fields.c */
#include "scatter.h"

#include <math.h>

#include "numbers.h"

enum { FIELDS = 7 };

/* The first voxel of row z Y + y of an operand whose axes from `axis` on are Z, Y, X. */
static char *voxels(const collet_operand *o, int32_t axis, int64_t row)
{
    int64_t z = row / o->shape[axis + 1], y = row % o->shape[axis + 1];
    return cpu_at(o) + z * cpu_step(o, axis) + y * cpu_step(o, axis + 1);
}

static void set_fields(const collet_operand *out, int64_t row, int64_t x, double unaligned,
                       double aligned, const double product[5])
{
    char *at = voxels(out, 1, row) + x * cpu_last_step(out);
    int wide = is_wide(out);
    int64_t step = cpu_step(out, 0);
    set_real(at, wide, unaligned);
    set_real(at + step, wide, aligned);
    for (int i = 0; i < 5; i++)
        set_real(at + (2 + i) * step, wide, product[i]);
}

void cpu_scatter_euler(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0);
    int wide = is_wide(out);
    for (int64_t row = begin; row < end; row++) {
        for (int64_t x = 0; x < out->shape[3]; x++) {
            double in[4];
            for (uint32_t i = 0; i < 4; i++) {
                const collet_operand *o = operand_of(call, 1 + i);
                in[i] = real_at(voxels(o, 0, row) + x * cpu_last_step(o), wide);
            }
            double aligned = in[0] * in[1], s[3] = {0.0};
            if (aligned != 0.0) {
                s[0] = cos(in[3]) * sin(in[2]);
                s[1] = sin(in[3]) * sin(in[2]);
                s[2] = cos(in[2]);
            }
            const double product[5] = {aligned * s[0] * s[0], aligned * s[0] * s[1],
                                       aligned * s[0] * s[2], aligned * s[1] * s[1],
                                       aligned * s[1] * s[2]};
            set_fields(out, row, x, in[0] - aligned, aligned, product);
        }
    }
}

void cpu_scatter_vector(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *direction = operand_of(call, 1);
    const collet_operand *unaligned = operand_of(call, 2);
    int wide = is_wide(out);
    for (int64_t row = begin; row < end; row++) {
        for (int64_t x = 0; x < out->shape[3]; x++) {
            const char *at = voxels(direction, 0, row) + x * cpu_step(direction, 2);
            double s[3];
            for (int a = 0; a < 3; a++)
                s[a] = real_at(at + a * cpu_step(direction, 3), wide);
            const double product[5] = {s[0] * s[0], s[0] * s[1], s[0] * s[2], s[1] * s[1],
                                       s[1] * s[2]};
            set_fields(out, row, x,
                       real_at(voxels(unaligned, 0, row) + x * cpu_last_step(unaligned), wide),
                       s[0] * s[0] + s[1] * s[1] + s[2] * s[2], product);
        }
    }
}

/* p += (N^2 - 1) e of one material, whose fields begin at `at`. */
static void add_material(const char *at, int64_t step, int wide, const complex_number constant[3],
                         const double e[3], complex_number p[3])
{
    double f[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        f[i] = real_at(at + i * step, wide);
    double zz = f[1] - f[2] - f[5];
    const double along[3] = {f[2] * e[0] + f[3] * e[1] + f[4] * e[2],
                             f[3] * e[0] + f[5] * e[1] + f[6] * e[2],
                             f[4] * e[0] + f[6] * e[1] + zz * e[2]};
    complex_number all = add(scaled(constant[0], f[0]), scaled(constant[1], f[1]));
    for (int a = 0; a < 3; a++)
        p[a] = add(p[a], add(scaled(all, e[a]), scaled(constant[2], along[a])));
}

void cpu_scatter_polarization(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *fields = operand_of(call, 1);
    const collet_operand *constants = operand_of(call, 2), *frame = operand_of(call, 4);
    int wide = is_wide(fields);
    double e[3], turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    read_vector(operand_of(call, 3), 0, e);
    for (int a = 0; a < 3 && operand_present(frame); a++)
        read_vector(frame, a, turn[a]);
    for (int64_t item = begin; item < end; item++) {
        for (int64_t x = 0; x < out->shape[3]; x++) {
            complex_number p[3] = {{0.0, 0.0}};
            for (int64_t m = 0; m < fields->shape[0]; m++) {
                complex_number constant[3];
                for (int i = 0; i < 3; i++)
                    constant[i] = complex_at(cpu_at(constants) + m * cpu_step(constants, 0) +
                                                 i * cpu_step(constants, 1),
                                             is_wide(constants));
                add_material(voxels(fields, 2, item) + m * cpu_step(fields, 0) +
                                 x * cpu_last_step(fields),
                             cpu_step(fields, 1), wide, constant, e, p);
            }
            for (int a = 0; a < 3; a++) {
                complex_number q = add(add(scaled(p[0], turn[a][0]), scaled(p[1], turn[a][1])),
                                       scaled(p[2], turn[a][2]));
                set_complex(voxels(out, 1, item) + a * cpu_step(out, 0) + x * cpu_last_step(out),
                            wide, scaled(q, 0.25 / 3.14159265358979323846));
            }
        }
    }
}
