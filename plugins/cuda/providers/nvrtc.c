/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_launch.c, tests/cuda/test_cuda_capabilities.c */
#include "nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

#define OPTIONS 32
#define ARCHITECTURES 64

/* ---- Opening --------------------------------------------------------------------------------- */

#define SYMBOL(type, name, symbol, parameters) CUDA_SYMBOL(cuda_compiler, name, symbol),
static const cuda_symbol symbols[] = {NVRTC_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static collet_status find_functions(const collet_host *host, cuda_compiler *rtc, const char *path,
                                    collet_error *err)
{
    const char *missing =
        cuda_symbols_find(symbols, sizeof symbols / sizeof *symbols, rtc->library, rtc);
    if (missing)
        return host->fail(err, COLLET_UNAVAILABLE, "%s has no %s: NVRTC 11.2 is needed", path,
                          missing);
    if (rtc->Version(&rtc->major, &rtc->minor) != NVRTC_SUCCESS)
        return host->fail(err, COLLET_UNAVAILABLE, "%s does not report its version", path);
    return COLLET_OK;
}

collet_status cuda_compiler_open(const collet_host *host, int driver, cuda_compiler *rtc,
                                 collet_error *err)
{
    const char *path = host->config(host, "cuda.nvrtc");
    memset(rtc, 0, sizeof *rtc);
    if (path) {
        rtc->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!rtc->library) {
            const char *why = dlerror();
            return host->fail(err, COLLET_UNAVAILABLE, "%s cannot be opened: no NVRTC (%s)", path,
                              why ? why : "");
        }
        return find_functions(host, rtc, path, err);
    }
    rtc->library = cuda_library_open("libnvrtc.so", driver);
    if (!rtc->library)
        return host->fail(err, COLLET_UNAVAILABLE,
                          "libnvrtc.so.%d not found: NVRTC, CUDA's compiler, is needed besides the "
                          "driver; install it or set cuda.nvrtc to its path",
                          driver >= 11000 ? driver / 1000 : CUDA_NEWEST_MAJOR);
    return find_functions(host, rtc, "libnvrtc.so", err);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

collet_status cuda_compiler_target(const collet_host *host, const cuda_compiler *rtc,
                                   int capability, char option[48], int *architecture,
                                   collet_error *err)
{
    int known[ARCHITECTURES], count = 0, best = 0;
    if (rtc->GetNumSupportedArchs(&count) != NVRTC_SUCCESS || count < 1 || count > ARCHITECTURES ||
        rtc->GetSupportedArchs(known) != NVRTC_SUCCESS)
        return host->fail(err, COLLET_REFUSED, "NVRTC does not report its target architectures");
    for (int i = 0; i < count; i++)
        if (known[i] <= capability && known[i] > best)
            best = known[i];
    if (!best)
        return host->fail(err, COLLET_REFUSED,
                          "NVRTC %d.%d does not compile for compute capability %d.%d: the device "
                          "is too old for it",
                          rtc->major, rtc->minor, capability / 10, capability % 10);
    *architecture = best;
    snprintf(option, 48, "--gpu-architecture=%s%d", best == capability ? "sm_" : "compute_", best);
    return COLLET_OK;
}

/* Splits `options`, which is overwritten, at its blanks. Returns the number of options; OPTIONS + 1 if there are more
 * than OPTIONS. */
static int split(char *options, const char *each[OPTIONS])
{
    char *rest = NULL;
    int count = 0;
    for (char *at = strtok_r(options, " ", &rest); at; at = strtok_r(NULL, " ", &rest)) {
        if (count == OPTIONS)
            return OPTIONS + 1;
        each[count++] = at;
    }
    return count;
}

static char *join(const char *const *texts, uint32_t count)
{
    size_t size = 1;
    for (uint32_t i = 0; i < count; i++)
        size += strlen(texts[i]);
    char *all = malloc(size), *at = all;
    for (uint32_t i = 0; i < count && all; i++)
        at = stpcpy(at, texts[i]);
    return all;
}

/* Fails with the beginning of the compiler's log, because the first error is there. */
static collet_status does_not_compile(const collet_host *host, const cuda_compiler *rtc,
                                      nvrtcProgram program, const char *name, const char *options,
                                      nvrtcResult error, collet_error *err)
{
    size_t bytes = 0;
    char *log = NULL;
    if (error == NVRTC_ERROR_OUT_OF_MEMORY)
        return host->fail(err, COLLET_NO_MEMORY, "%s.dev: out of memory for compilation", name);
    if (program && rtc->GetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes)
        log = calloc(1, bytes + 1);
    if (log && rtc->GetProgramLog(program, log) != NVRTC_SUCCESS)
        *log = '\0';
    host->fail(err, COLLET_REFUSED, "%s.dev: compilation failed (%s, %s): %.600s", name,
               rtc->GetErrorString(error), options, log ? log : "no log");
    free(log);
    return COLLET_REFUSED;
}

/* NVRTC ignores SIGXFSZ while it compiles, and afterwards sets the default action, whatever the action was before. A
 * Python program, which ignores SIGXFSZ, would then be killed by its next write beyond the limit of file sizes. So the
 * action is saved and restored. Several devices may compile at once: only the first compilation saves it. */
static struct {
    pthread_mutex_t lock;
    int compilations;
    struct sigaction action;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep_signal(void)
{
    pthread_mutex_lock(&kept.lock);
    if (!kept.compilations++)
        sigaction(SIGXFSZ, NULL, &kept.action);
    pthread_mutex_unlock(&kept.lock);
}

static void restore_signal(void)
{
    struct sigaction now;
    pthread_mutex_lock(&kept.lock);
    kept.compilations--;
    sigaction(SIGXFSZ, NULL, &now);
    /* If the program has set a handler during the compilation, keep it. */
    if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)
        sigaction(SIGXFSZ, &kept.action, NULL);
    pthread_mutex_unlock(&kept.lock);
}

static nvrtcResult get_code(const cuda_compiler *rtc, nvrtcProgram program, int is_ptx, void **code,
                            uint64_t *bytes)
{
    size_t size = 0;
    nvrtcResult error =
        is_ptx ? rtc->GetPTXSize(program, &size) : rtc->GetCUBINSize(program, &size);
    if (error != NVRTC_SUCCESS || !size)
        return error == NVRTC_SUCCESS ? NVRTC_ERROR_INTERNAL_ERROR : error;
    char *made = malloc(size);
    if (!made)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    error = is_ptx ? rtc->GetPTX(program, made) : rtc->GetCUBIN(program, made);
    if (error != NVRTC_SUCCESS) {
        free(made);
        return error;
    }
    *code = made;
    *bytes = size;
    return NVRTC_SUCCESS;
}

static nvrtcResult compile(const cuda_compiler *rtc, const char *name, const char *source,
                           int option_count, const char *const *options, int is_ptx,
                           nvrtcProgram *program, void **code, uint64_t *bytes)
{
    nvrtcResult error = rtc->CreateProgram(program, source, name, 0, NULL, NULL);
    if (error == NVRTC_SUCCESS) {
        keep_signal();
        error = rtc->CompileProgram(*program, option_count, options);
        restore_signal();
    }
    return error == NVRTC_SUCCESS ? get_code(rtc, *program, is_ptx, code, bytes) : error;
}

collet_status cuda_compile(const collet_host *host, const cuda_compiler *rtc, const char *name,
                           const char *const *texts, uint32_t count, const char *options,
                           void **code, uint64_t *bytes, collet_error *err)
{
    const char *each[OPTIONS];
    nvrtcProgram program = NULL;
    nvrtcResult error = NVRTC_ERROR_OUT_OF_MEMORY;
    collet_status status = COLLET_OK;
    char *copy = strdup(options), *source = join(texts, count);
    int option_count = copy ? split(copy, each) : 0;
    if (option_count > OPTIONS)
        status = host->fail(err, COLLET_REFUSED, "%s.dev: more than %d options", name, OPTIONS);
    else if (copy && source)
        error = compile(rtc, name, source, option_count, each, strstr(options, "=compute_") != NULL,
                        &program, code, bytes);
    if (status == COLLET_OK && error != NVRTC_SUCCESS)
        status = does_not_compile(host, rtc, program, name, options, error, err);
    if (program)
        rtc->DestroyProgram(&program);
    free(copy);
    free(source);
    return status;
}
