/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for CLBlast on the system's OpenCL loader; it multiplies on the host. A macro selects a
 * fault: LACKS (a function), ANOTHER (calls another OpenCL loader), CRASHES (when it is opened).
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "opencl/abi.h"

OPENCL_FUNCTIONS(ABI_PROTOTYPE)

#ifdef ANOTHER
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                      cl_int *error)
{
    *error = CL_INVALID_CONTEXT;
    return NULL;
}
#endif

#ifdef CRASHES
__attribute__((constructor)) static void crash(void)
{
    abort();
}
#endif

/* Calls so far; every call from number `fails_from` on returns `status`. */
typedef struct fake_clblast {
    int calls, fails_from, status;
} fake_clblast;
fake_clblast fake = {0, 1000000, 0};

typedef struct operand {
    cl_mem memory;
    size_t first, leading, step, bytes;
    int transposed;
    void *data;
} operand;

static void *loader(const char *name)
{
    static void *library;
    library = library ? library : dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

static int fetch(operand *o, cl_command_queue queue)
{
    cl_int (*info)(cl_mem, cl_uint, size_t, void *, size_t *);
    __typeof__(&clEnqueueReadBuffer) get;
    *(void **)&info = loader("clGetMemObjectInfo");
    *(void **)&get = loader("clEnqueueReadBuffer");
    int error = info(o->memory, CL_MEM_SIZE, sizeof o->bytes, &o->bytes, NULL);
    o->data = malloc(o->bytes);
    return error || !o->data || get(queue, o->memory, CL_TRUE, 0, o->bytes, o->data, 0, NULL, NULL);
}

static size_t place(const operand *o, size_t matrix, size_t row, size_t column)
{
    size_t at = o->transposed ? column * o->leading + row : row * o->leading + column;
    return o->first + matrix * o->step + at;
}

static double load(const operand *o, int wide, size_t at)
{
    return wide ? ((double *)o->data)[at] : (double)((float *)o->data)[at];
}

static void store(const operand *o, int wide, size_t at, double x)
{
    if (wide)
        ((double *)o->data)[at] = x;
    else
        ((float *)o->data)[at] = (float)x;
}

static int multiply(int wide, size_t m, size_t n, size_t k, size_t count, double alpha, double beta,
                    operand c, operand a, operand b, cl_command_queue queue, cl_event *event)
{
    __typeof__(&clEnqueueWriteBuffer) put;
    *(void **)&put = loader("clEnqueueWriteBuffer");
    if (fake.calls++ >= fake.fails_from)
        return fake.status;
    int error = fetch(&a, queue) || fetch(&b, queue) || fetch(&c, queue);
    for (size_t i = 0; !error && i < count * m * n; i++) {
        size_t matrix = i / (m * n), row = i / n % m, column = i % n;
        double sum = 0.0;
        for (size_t l = 0; l < k; l++)
            sum += load(&a, wide, place(&a, matrix, row, l)) *
                   load(&b, wide, place(&b, matrix, l, column));
        size_t at = place(&c, matrix, row, column);
        store(&c, wide, at, alpha * sum + (beta != 0.0 ? beta * load(&c, wide, at) : 0.0));
    }
    error = error || put(queue, c.memory, CL_TRUE, 0, c.bytes, c.data, 0, NULL, event);
    free(a.data);
    free(b.data);
    free(c.data);
    return error;
}

#define GEMM(name, type, wide)                                                                     \
    int name(int layout, int a_as, int b_as, size_t m, size_t n, size_t k, type alpha, cl_mem a,   \
             size_t a_first, size_t a_leading, cl_mem b, size_t b_first, size_t b_leading,         \
             type beta, cl_mem c, size_t c_first, size_t c_leading, cl_command_queue *queue,       \
             cl_event *event)                                                                      \
    {                                                                                              \
        return layout != 101 ? -1                                                                  \
                             : multiply(wide, m, n, k, 1, (double)alpha, (double)beta,             \
                                        (operand){c, c_first, c_leading, 0, 0, 0, NULL},           \
                                        (operand){a, a_first, a_leading, 0, 0, a_as == 112, NULL}, \
                                        (operand){b, b_first, b_leading, 0, 0, b_as == 112, NULL}, \
                                        *queue, event);                                            \
    }
#define GEMM_BATCH(name, type, wide)                                                               \
    int name(int layout, int a_as, int b_as, size_t m, size_t n, size_t k, type alpha, cl_mem a,   \
             size_t a_first, size_t a_leading, size_t a_step, cl_mem b, size_t b_first,            \
             size_t b_leading, size_t b_step, type beta, cl_mem c, size_t c_first,                 \
             size_t c_leading, size_t c_step, size_t count, cl_command_queue *queue,               \
             cl_event *event)                                                                      \
    {                                                                                              \
        return layout != 101                                                                       \
                   ? -1                                                                            \
                   : multiply(wide, m, n, k, count, (double)alpha, (double)beta,                   \
                              (operand){c, c_first, c_leading, c_step, 0, 0, NULL},                \
                              (operand){a, a_first, a_leading, a_step, 0, a_as == 112, NULL},      \
                              (operand){b, b_first, b_leading, b_step, 0, b_as == 112, NULL},      \
                              *queue, event);                                                      \
    }

/* clang-format off */
int CLBlastSgemm(int, int, int, size_t, size_t, size_t, float, cl_mem, size_t, size_t, cl_mem,
                 size_t, size_t, float, cl_mem, size_t, size_t, cl_command_queue *, cl_event *);
int CLBlastDgemm(int, int, int, size_t, size_t, size_t, double, cl_mem, size_t, size_t, cl_mem,
                 size_t, size_t, double, cl_mem, size_t, size_t, cl_command_queue *, cl_event *);
int CLBlastSgemmStridedBatched(int, int, int, size_t, size_t, size_t, float, cl_mem, size_t, size_t,
                               size_t, cl_mem, size_t, size_t, size_t, float, cl_mem, size_t,
                               size_t, size_t, size_t, cl_command_queue *, cl_event *);
int CLBlastDgemmStridedBatched(int, int, int, size_t, size_t, size_t, double, cl_mem, size_t,
                               size_t, size_t, cl_mem, size_t, size_t, size_t, double, cl_mem,
                               size_t, size_t, size_t, size_t, cl_command_queue *, cl_event *);
/* clang-format on */

GEMM(CLBlastSgemm, float, 0)
GEMM(CLBlastDgemm, double, 1)
GEMM_BATCH(CLBlastSgemmStridedBatched, float, 0)
#ifndef LACKS
GEMM_BATCH(CLBlastDgemmStridedBatched, double, 1)
#endif
