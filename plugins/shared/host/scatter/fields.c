/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_euler, scatter_vector, scatter_polarisation: voxels.
 * Tests: conformance/scatter/fields.c */
#include "scatter.h"

#include <math.h>

#include "numbers.h"

#define INLINE static inline __attribute__((always_inline))

enum { FIELDS = 7, BLOCK = 64 };

/* The first voxel of row z Y + y of an operand whose axes from `axis` on are Z, Y, X. */
static char *voxels(const collet_operand *o, int32_t axis, int64_t row)
{
    int64_t z = row / o->shape[axis + 1], y = row % o->shape[axis + 1];
    return cpu_at(o) + z * cpu_step(o, axis) + y * cpu_step(o, axis + 1);
}

/* Stores the fields of a voxel, from address `at` on. */
static void set_fields(char *at, int64_t step, int wide, double unaligned, double aligned,
                       const double product[5])
{
    set_real(at, wide, unaligned);
    set_real(at + step, wide, aligned);
    for (int i = 0; i < 5; i++)
        set_real(at + (2 + i) * step, wide, product[i]);
}

void cpu_scatter_euler(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t next = cpu_last_step(out), field = cpu_step(out, 0);
    int wide = is_wide(out);
    for (int64_t row = begin; row < end; row++) {
        char *to = voxels(out, 1, row);
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
            set_fields(to + x * next, field, wide, in[0] - aligned, aligned, product);
        }
    }
}

void cpu_scatter_vector(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *direction = operand_of(call, 1);
    const collet_operand *unaligned = operand_of(call, 2);
    int64_t next = cpu_last_step(out), field = cpu_step(out, 0);
    int64_t s_next = cpu_step(direction, 2), s_axis = cpu_step(direction, 3);
    int64_t u_next = cpu_last_step(unaligned), count = out->shape[3];
    int wide = is_wide(out);
    for (int64_t row = begin; row < end; row++) {
        char *to = voxels(out, 1, row);
        const char *from = voxels(direction, 0, row), *u = voxels(unaligned, 0, row);
        for (int64_t x = 0; x < count; x++, to += next, from += s_next, u += u_next) {
            double s[3];
            for (int a = 0; a < 3; a++)
                s[a] = real_at(from + a * s_axis, wide);
            const double product[5] = {s[0] * s[0], s[0] * s[1], s[0] * s[2], s[1] * s[1],
                                       s[1] * s[2]};
            set_fields(to, field, wide, real_at(u, wide), s[0] * s[0] + s[1] * s[1] + s[2] * s[2],
                       product);
        }
    }
}

/* One component of the polarisation of BLOCK voxels. */
typedef struct polarisation {
    double re[BLOCK], im[BLOCK];
} polarisation;

/* p += (N^2 - 1) e for one material in n voxels. Voxels are `next` bytes apart, the fields of a voxel `field` bytes. */
INLINE void add_material(const char *restrict at, int64_t next, int64_t field, int wide,
                         const complex_number constant[3], const double e[3], int64_t n,
                         polarisation *restrict p)
{
    const complex_number c[3] = {constant[0], constant[1], constant[2]};
    for (int64_t x = 0; x < n; x++, at += next) {
        double f[FIELDS];
        for (int i = 0; i < FIELDS; i++)
            f[i] = real_at(at + i * field, wide);
        double zz = f[1] - f[2] - f[5];
        const double along[3] = {f[2] * e[0] + f[3] * e[1] + f[4] * e[2],
                                 f[3] * e[0] + f[5] * e[1] + f[6] * e[2],
                                 f[4] * e[0] + f[6] * e[1] + zz * e[2]};
        complex_number all = add(scaled(c[0], f[0]), scaled(c[1], f[1]));
        for (int a = 0; a < 3; a++) {
            p[a].re[x] += all.re * e[a] + c[2].re * along[a];
            p[a].im[x] += all.im * e[a] + c[2].im * along[a];
        }
    }
}

/* Adds the polarisation of all materials in n voxels, from address `at` on. */
static void add_materials(const collet_kernel_call *call, const char *at, const double e[3],
                          int64_t n, polarisation p[3])
{
    const collet_operand *fields = operand_of(call, 1), *constants = operand_of(call, 2);
    int64_t next = cpu_last_step(fields), field = cpu_step(fields, 1);
    int wide = is_wide(fields);
    for (int64_t m = 0; m < fields->shape[0]; m++, at += cpu_step(fields, 0)) {
        complex_number constant[3];
        for (int i = 0; i < 3; i++)
            constant[i] = complex_at(cpu_at(constants) + m * cpu_step(constants, 0) +
                                         i * cpu_step(constants, 1),
                                     is_wide(constants));
        if (wide && next == sizeof(double))
            add_material(at, sizeof(double), field, 1, constant, e, n, p);
        else if (!wide && next == sizeof(float))
            add_material(at, sizeof(float), field, 0, constant, e, n, p);
        else
            add_material(at, next, field, wide, constant, e, n, p);
    }
}

void cpu_scatter_polarisation(const collet_kernel_call *call, int64_t begin, int64_t end)
{
    const collet_operand *out = operand_of(call, 0), *fields = operand_of(call, 1);
    const collet_operand *frame = operand_of(call, 4);
    int64_t next = cpu_last_step(out), axis = cpu_step(out, 0), count = out->shape[3];
    int wide = is_wide(out);
    double e[3], turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    read_vector(operand_of(call, 3), 0, e);
    for (int a = 0; a < 3 && operand_present(frame); a++)
        read_vector(frame, a, turn[a]);
    for (int64_t item = begin; item < end; item++) {
        const char *from = voxels(fields, 2, item);
        char *to = voxels(out, 1, item);
        for (int64_t first = 0; first < count; first += BLOCK) {
            int64_t n = count - first < BLOCK ? count - first : BLOCK;
            polarisation p[3] = {{{0.0}, {0.0}}};
            add_materials(call, from + first * cpu_last_step(fields), e, n, p);
            for (int64_t x = 0; x < n; x++, to += next) {
                for (int a = 0; a < 3; a++) {
                    complex_number q = {p[0].re[x] * turn[a][0] + p[1].re[x] * turn[a][1] +
                                            p[2].re[x] * turn[a][2],
                                        p[0].im[x] * turn[a][0] + p[1].im[x] * turn[a][1] +
                                            p[2].im[x] * turn[a][2]};
                    set_complex(to + a * axis, wide, scaled(q, 0.25 / 3.14159265358979323846));
                }
            }
        }
    }
}
