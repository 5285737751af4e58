/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu-limits - measures the speed of the GPU and NVIDIA's libraries without Collet: the device's copy
 * rate, a bare cuLaunchKernel, cuBLAS and cuFFT. Also measures the host time of collet_op_add, to compare it with the
 * host time of the bare launch. Prints JSON. tools/dev/bundle/run.sh runs it.
 *
 *     gpu-limits [NAME=VALUE...]      NAME=VALUE: settings of the cuda backend
 */
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <collet/collet.h>
#include <collet/ops/array.h>

#include "cuda/providers/toolkit.h"
#include "cuda/providers/nvrtc.h"
#include "cuda/providers/driver.h"

#define SAMPLES 21
#define LAUNCHES 10000
#define LARGEST ((size_t)1 << 30)

static char **settings;

/* ---- A host for the files of the backend ----------------------------------------------------- */

static collet_status set_text(collet_error *err, collet_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return status;
}

static void log_message(const collet_host *host, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

static collet_status set_plain_text(collet_error *err, collet_status status, const char *text)
{
    return set_text(err, status, "%s", text);
}

static void log_plain(const collet_host *host, int32_t level, const char *text)
{
    log_message(host, level, "%s", text);
}

static const char *setting(const collet_host *host, const char *key)
{
    size_t length = strlen(key);
    for (char **s = settings; *s; s++)
        if (!strncmp(*s, key, length) && (*s)[length] == '=')
            return *s + length + 1;
    return strcmp(key, "cuda.library") ? NULL : "libcuda.so.1";
}

static const void *no_extension(const collet_host *of, const char *name)
{
    return NULL;
}

static const collet_host host = {.abi = COLLET_ABI,
                                 .struct_size = sizeof host,
                                 .fail = set_text,
                                 .log = log_message,
                                 .config = setting,
                                 .extension = no_extension,
                                 .fail_text = set_plain_text,
                                 .log_text = log_plain};

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct bench {
    cuda_driver cu;
    cuda_compiler rtc;
    cuda_blas blas;
    cuda_fourier fourier;
    CUstream stream;
    CUevent first, last;
    CUdeviceptr memory[3];
    size_t bytes; /* of each */
    CUresult error;
} bench;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The median device time of `work` in seconds; negative on failure. */
static double device_seconds(bench *b, int (*work)(bench *b, const void *argument),
                             const void *argument)
{
    double samples[SAMPLES];
    for (int i = -3; i < SAMPLES; i++) {
        float ms = 0.0f;
        if (b->cu.EventRecord(b->first, b->stream) || work(b, argument) ||
            b->cu.EventRecord(b->last, b->stream) || b->cu.EventSynchronize(b->last) ||
            b->cu.EventElapsedTime(&ms, b->first, b->last))
            return -1.0;
        if (i >= 0)
            samples[i] = (double)ms * 1e-3;
    }
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    return samples[SAMPLES / 2];
}

static int copy(bench *b, const void *argument)
{
    return b->cu.MemcpyDtoDAsync(b->memory[0], b->memory[1], b->bytes, b->stream) != CUDA_SUCCESS;
}

/* Prints the copy rate. Each byte counts twice, because it is read and written. */
static void print_copy(bench *b)
{
    double seconds = device_seconds(b, copy, NULL);
    printf("  \"copy\": {\"bytes\": %zu, \"gb_per_s\": %.1f},\n", 2 * b->bytes,
           seconds > 0 ? 2e-9 * (double)b->bytes / seconds : 0.0);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Host seconds per launch of an empty kernel. */
static double bare_launch(bench *b, int capability)
{
    static const char *const texts[] = {
        "extern \"C\" __global__ void __launch_bounds__(256) nothing(float *o, const float *a, "
        "const float *b, long long n) { } /* KERNEL(nothing) */"};
    char target[48];
    collet_error err;
    int architecture;
    void *code = NULL, *arguments[4];
    uint64_t bytes;
    CUmodule module;
    CUfunction kernel;
    long long n = 0;
    if (cuda_compiler_target(&host, &b->rtc, capability, target, &architecture, &err) ||
        cuda_compile(&host, &b->rtc, "nothing", texts, 1, target, &code, &bytes, &err) ||
        b->cu.ModuleLoadData(&module, code) || b->cu.ModuleGetFunction(&kernel, module, "nothing"))
        return -1.0;
    free(code);
    for (int i = 0; i < 3; i++)
        arguments[i] = &b->memory[i];
    arguments[3] = &n;
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double begin = seconds_now();
        for (int k = 0; k < LAUNCHES; k++)
            if (b->cu.LaunchKernel(kernel, 1, 1, 1, 256, 1, 1, 0, b->stream, arguments, NULL))
                return -1.0;
        if (b->cu.StreamSynchronize(b->stream))
            return -1.0;
        samples[i] = (seconds_now() - begin) / LAUNCHES;
    }
    b->cu.ModuleUnload(module);
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    return samples[SAMPLES / 2];
}

/* Host seconds per call of collet_op_add with one element. */
static double routed_call(collet_context *cx)
{
    const int64_t shape[] = {1};
    const float one = 1.0f;
    double samples[SAMPLES];
    collet_array *a = NULL, *out = NULL;
    if (collet_array_from(cx, &a, COLLET_F32, 1, shape, &one) ||
        collet_array_create(cx, &out, COLLET_F32, 1, shape) || collet_op_add(cx, out, a, a) ||
        collet_finish(cx))
        return -1.0;
    for (int i = 0; i < SAMPLES; i++) {
        double begin = seconds_now();
        for (int k = 0; k < LAUNCHES; k++)
            if (collet_op_add(cx, out, a, a))
                return -1.0;
        if (collet_finish(cx))
            return -1.0;
        samples[i] = (seconds_now() - begin) / LAUNCHES;
    }
    collet_array_destroy(a);
    collet_array_destroy(out);
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    return samples[SAMPLES / 2];
}

static int print_launch(bench *b, int capability)
{
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .settings = (const char *const *)settings,
                                      .backend = "cuda:0"};
    double bare = bare_launch(b, capability), routed = -1.0;
    if (collet_runtime_create(&rt, &options, &err) == COLLET_OK &&
        collet_context_create(rt, &cx, &err) == COLLET_OK)
        routed = routed_call(cx);
    if (routed < 0)
        (void)fprintf(stderr, "gpu-limits: %s\n", cx ? collet_last_error(cx) : err.text);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    printf("  \"launch\": {\"bare_us\": %.3f, \"routed_us\": %.3f},\n", 1e6 * bare, 1e6 * routed);
    return bare < 0 || routed < 0;
}

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

typedef struct gemm {
    const char *dtype;
    cudaDataType type;
    cublasComputeType_t compute;
    size_t size;
    /* Random numbers from 1 to 2: the bits in `exponent` are always set, the bits in `fraction` are
     * random. */
    uint64_t exponent, fraction;
    cublasHandle_t handle;
    int n;
} gemm;

static int multiply(bench *b, const void *argument)
{
    static const double one = 1.0, zero = 0.0;
    static const float one_f32 = 1.0f, zero_f32 = 0.0f;
    const gemm *g = argument;
    int wide = g->compute == CUBLAS_COMPUTE_64F;
    return (int)b->blas.GemmStridedBatchedEx(
        g->handle, CUBLAS_OP_N, CUBLAS_OP_N, g->n, g->n, g->n,
        wide ? (const void *)&one : (const void *)&one_f32, (const void *)(uintptr_t)b->memory[0],
        g->type, g->n, 0, (const void *)(uintptr_t)b->memory[1], g->type, g->n, 0,
        wide ? (const void *)&zero : (const void *)&zero_f32, (void *)(uintptr_t)b->memory[2],
        g->type, g->n, 0, 1, g->compute, CUBLAS_GEMM_DEFAULT);
}

/* Fills a matrix with random numbers, not zeros: a GPU needs less power for products of zeros, and
 * so computes them faster. */
static int fill(bench *b, const gemm *g)
{
    size_t bytes = (size_t)g->n * (size_t)g->n * g->size;
    unsigned char *values = malloc(bytes);
    uint64_t x = 88172645463325252u;
    if (!values)
        return 1;
    for (size_t at = 0; at < bytes; at += g->size) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t bits = g->exponent | (x & g->fraction);
        memcpy(values + at, &bits, g->size);
    }
    int failed = b->cu.MemcpyHtoDAsync(b->memory[0], values, bytes, b->stream) ||
                 b->cu.MemcpyHtoDAsync(b->memory[1], values, bytes, b->stream) ||
                 b->cu.StreamSynchronize(b->stream);
    free(values);
    return failed;
}

static void print_gemm(bench *b, int n)
{
    gemm all[] = {
        {"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 0x3f800000, 0x7fffff, NULL, n},
        {"f64", CUDA_R_64F, CUBLAS_COMPUTE_64F, 8, 0x3ff0000000000000, 0xfffffffffffff, NULL, n},
        {"f16", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 0x3c00, 0x3ff, NULL, n},
        {"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 0x3f80, 0x7f, NULL, n}};
    const char *separator = "";
    printf("  \"cublas\": [");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gemm *g = &all[i];
        if ((size_t)n * (size_t)n * g->size > b->bytes || fill(b, g) || b->blas.Create(&g->handle))
            continue;
        double seconds = b->blas.SetStream(g->handle, b->stream) == CUBLAS_STATUS_SUCCESS
                             ? device_seconds(b, multiply, g)
                             : -1.0;
        if (seconds > 0)
            printf("%s\n    {\"dtype\": \"%s\", \"n\": %d, \"gflop_per_s\": %.1f}", separator,
                   g->dtype, n, 2e-9 * (double)n * (double)n * (double)n / seconds);
        separator = seconds > 0 ? "," : separator;
        b->blas.Destroy(g->handle);
    }
    printf("],\n");
}

/* ---- cuFFT, called directly ------------------------------------------------------------------ */

typedef struct dft {
    long long n;
    cufftHandle plan;
} dft;

static int run_dft(bench *b, const void *argument)
{
    const dft *f = argument;
    return (int)b->fourier.XtExec(f->plan, (void *)(uintptr_t)b->memory[1],
                                  (void *)(uintptr_t)b->memory[0], CUFFT_FORWARD);
}

/* Seconds of a transform of n x n complex numbers along both axes. Uses the same memory as the matrix
 * products. */
static double dft_seconds(bench *b, dft *f, int wide)
{
    long long n[] = {f->n, f->n};
    size_t work = 0;
    cudaDataType type = wide ? CUDA_C_64F : CUDA_C_32F;
    if ((size_t)(n[0] * n[1]) * (wide ? 16 : 8) > b->bytes || b->fourier.Create(&f->plan))
        return -1.0;
    double seconds = -1.0;
    if (!b->fourier.SetAutoAllocation(f->plan, 0) &&
        !b->fourier.XtMakePlanMany(f->plan, 2, n, n, 1, n[0] * n[1], type, n, 1, n[0] * n[1], type,
                                   1, &work, type) &&
        work <= b->bytes && !b->fourier.SetStream(f->plan, b->stream) &&
        !b->fourier.SetWorkArea(f->plan, (void *)(uintptr_t)b->memory[2]))
        seconds = device_seconds(b, run_dft, f);
    b->fourier.Destroy(f->plan);
    return seconds;
}

static void print_dft(bench *b, int n)
{
    const char *separator = "";
    printf("  \"cufft\": [");
    for (int wide = 0; wide < 2; wide++) {
        dft f = {.n = n};
        double seconds = dft_seconds(b, &f, wide), points = (double)n * (double)n;
        if (seconds > 0)
            printf("%s\n    {\"dtype\": \"%s\", \"shape\": \"%dx%d\", \"gflop_per_s\": %.1f}",
                   separator, wide ? "c128" : "c64", n, n, 5e-9 * points * log2(points) / seconds);
        separator = seconds > 0 ? "," : separator;
    }
    printf("]\n");
}

/* ---- The program ------------------------------------------------------------------------------
 */

static int set_up(bench *b, CUdevice id)
{
    size_t available = 0, total = 0;
    CUcontext context;
    if (b->cu.DevicePrimaryCtxRetain(&context, id) || b->cu.CtxPushCurrent(context) ||
        b->cu.StreamCreate(&b->stream, CU_STREAM_NON_BLOCKING) ||
        b->cu.EventCreate(&b->first, CU_EVENT_DEFAULT) ||
        b->cu.EventCreate(&b->last, CU_EVENT_DEFAULT) || b->cu.MemGetInfo(&available, &total))
        return 1;
    b->bytes = available / 8 < LARGEST ? available / 8 / 256 * 256 : LARGEST;
    for (int i = 0; i < 3; i++)
        if (b->cu.MemAlloc(&b->memory[i], b->bytes))
            return 1;
    return 0;
}

static void tear_down(bench *b, CUdevice id)
{
    CUcontext context;
    for (int i = 0; i < 3; i++)
        if (b->memory[i])
            b->cu.MemFree(b->memory[i]);
    if (b->first)
        b->cu.EventDestroy(b->first);
    if (b->last)
        b->cu.EventDestroy(b->last);
    if (b->stream)
        b->cu.StreamDestroy(b->stream);
    b->cu.CtxPopCurrent(&context);
    b->cu.DevicePrimaryCtxRelease(id);
}

static int measure(bench *b)
{
    CUdevice id;
    char name[128] = "";
    int major = 0, minor = 0;
    if (b->cu.DeviceGet(&id, 0) || b->cu.DeviceGetName(name, sizeof name, id) ||
        b->cu.DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, id) ||
        b->cu.DeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, id) ||
        set_up(b, id)) {
        (void)fprintf(stderr, "gpu-limits: the GPU cannot be used\n");
        return 1;
    }
    printf("{\n  \"device\": \"%s\", \"compute_capability\": \"%d.%d\",\n", name, major, minor);
    print_copy(b);
    int failed = print_launch(b, 10 * major + minor);
    if (cuda_library_ready(&host, b->cu.version, &cuda_blas_facts, &b->blas.library))
        print_gemm(b, b->bytes == LARGEST ? 4096 : 128);
    else
        printf("  \"cublas\": null,\n");
    if (cuda_library_ready(&host, b->cu.version, &cuda_fourier_facts, &b->fourier.library))
        print_dft(b, b->bytes == LARGEST ? 4096 : 64);
    else
        printf("  \"cufft\": null\n");
    printf("}\n");
    tear_down(b, id);
    return failed;
}

int main(int argc, char **argv)
{
    static bench b = {.blas = {.library.lock = PTHREAD_MUTEX_INITIALIZER},
                      .fourier = {.library.lock = PTHREAD_MUTEX_INITIALIZER}};
    collet_error err = {COLLET_OK, ""};
    settings = argv + 1;
    if (cuda_driver_open(&host, &b.cu, &err) != COLLET_OK ||
        cuda_compiler_open(&host, b.cu.version, &b.rtc, &err) != COLLET_OK) {
        (void)fprintf(stderr, "gpu-limits: %s\n", err.text);
        return 77;
    }
    return measure(&b);
}
