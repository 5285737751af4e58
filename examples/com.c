/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The centre of mass of a water molecule that falls for three frames, on the backend named on the command line
 * ("auto" without a name). The coordinates stay in memory of the program: an array wraps them, and the program writes
 * to them only between acquire and release.
 */
#include <collet/collet.h>
#include <collet/ops/md.h>
#include <stdio.h>

enum { FRAMES = 3, ATOMS = 3 };

static collet_status set_frames(collet_context *cx, collet_array *positions)
{
    static const float molecule[ATOMS][3] = {{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}};
    void *address;
    collet_status status = collet_array_acquire(cx, positions, &address, COLLET_WRITE);
    if (status != COLLET_OK)
        return status;
    float(*frame)[ATOMS][3] = address;
    for (int f = 0; f < FRAMES; f++)
        for (int n = 0; n < ATOMS; n++)
            for (int k = 0; k < 3; k++)
                frame[f][n][k] = molecule[n][k] - (k == 2 ? (float)f : 0.0f);
    return collet_array_release(cx, positions);
}

static collet_status print_com(collet_context *cx, const char *backend)
{
    static float memory[FRAMES][ATOMS][3];
    const double mass[ATOMS] = {15.999, 1.008, 1.008};
    double centre[FRAMES][3];
    collet_array *positions = NULL, *masses = NULL, *com = NULL;
    collet_status status = collet_set_backend(cx, backend);
    if (status == COLLET_OK)
        status = collet_array_wrap(cx, &positions, COLLET_F32, 3, (int64_t[]){FRAMES, ATOMS, 3},
                                   NULL, memory, 0, NULL, NULL);
    if (status == COLLET_OK)
        status = collet_array_from(cx, &masses, COLLET_F64, 1, (int64_t[]){ATOMS}, mass);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &com, COLLET_F64, 2, (int64_t[]){FRAMES, 3});
    if (status == COLLET_OK)
        status = set_frames(cx, positions);
    if (status == COLLET_OK)
        status = collet_op_com(cx, com, positions, masses);
    if (status == COLLET_OK)
        status = collet_array_read(cx, com, centre, sizeof centre);
    for (int f = 0; f < FRAMES && status == COLLET_OK; f++)
        printf("frame %d: %.4f %.4f %.4f\n", f, centre[f][0], centre[f][1], centre[f][2]);
    collet_array_destroy(com);
    collet_array_destroy(masses);
    collet_array_destroy(positions);
    return status;
}

int main(int argc, char **argv)
{
    collet_error err = {0};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_status status = collet_runtime_create(&runtime, NULL, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK)
        status = print_com(cx, argc > 1 ? argv[1] : "auto");
    if (status != COLLET_OK)
        fprintf(stderr, "com: %s\n", cx ? collet_last_error(cx) : err.text);
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return status != COLLET_OK;
}
