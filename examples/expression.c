/* SPDX-License-Identifier: Apache-2.0 */
/* A pair potential with a cutoff, and its force. The potential is an expression that is parsed from a text, and the
 * force is its derivative. Each is computed in one pass. */
#include <collet/expression.h>
#include <stdio.h>

/* The Lennard-Jones potential plus q/r, for r < c. A row of the result is for one q, a column for
 * one r. */
static const char potential[] = "where(r < c, 4 * (r**-12 - r**-6) + q/r, 0)";

static collet_status evaluate(collet_context *cx, const char *text, double *energies,
                              double *forces, collet_error *err)
{
    static const double r[] = {1.0, 1.2, 2.0, 3.5}, q[] = {0.0, 0.5};
    collet_expression *energy = NULL, *slope = NULL;
    collet_array *distances = NULL, *charges = NULL, *out = NULL; /* out: becomes an array of 2 x 4 */
    uint32_t input;
    collet_status status = collet_expression_parse(&energy, text, err);
    if (status == COLLET_OK)
        status = collet_expression_find(energy, &input, "r", err);
    if (status == COLLET_OK)
        status = collet_expression_gradient(energy, &slope, 0, input, err);
    if (status != COLLET_OK)
        goto done;
    status = collet_array_from(cx, &distances, COLLET_F64, 1, (const int64_t[]){4}, r);
    if (status == COLLET_OK)
        status = collet_array_from(cx, &charges, COLLET_F64, 2, (const int64_t[]){2, 1}, q);
    const collet_argument with[] = {
        {.name = "q", .array = charges},
        {.name = "r", .array = distances},
        {.name = "c", .number = {.value.f64 = 3, .dtype = COLLET_F64}},
    };
    if (status == COLLET_OK)
        status = collet_expression_evaluate(cx, energy, &out, with, 3);
    if (status == COLLET_OK)
        status = collet_array_read(cx, out, energies, 8 * sizeof *energies);
    if (status == COLLET_OK)
        status = collet_expression_evaluate(cx, slope, &out, with, 3);
    if (status == COLLET_OK)
        status = collet_array_read(cx, out, forces, 8 * sizeof *forces);
    if (status != COLLET_OK)
        collet_fail(err, status, "%s", collet_last_error(cx));
done:
    collet_array_destroy(distances);
    collet_array_destroy(charges);
    collet_array_destroy(out);
    collet_expression_destroy(slope);
    collet_expression_destroy(energy);
    return status;
}

int main(int argc, char **argv)
{
    double energies[8], forces[8];
    collet_error err = {COLLET_OK, ""};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_status status = collet_runtime_create(&runtime, NULL, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK)
        status = evaluate(cx, argc > 1 ? argv[1] : potential, energies, forces, &err);
    if (status == COLLET_OK)
        for (int i = 0; i < 8; i++)
            printf("%.4f %.4f%s", energies[i], -forces[i], i % 4 == 3 ? "\n" : ", ");
    else
        fprintf(stderr, "expression: %s\n", err.text);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return status != COLLET_OK;
}
