/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for NVRTC; see control.h. Its output is the name of the target or, if the variable
 * FAKE_NVRTC_CXX is set, code for the host (compiler.h).
 */
#include "compiler.h"
#include "control.h"
#include "cuda/providers/abi/nvrtc.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _nvrtcProgram {
    char *source, *image;
    size_t image_bytes;
    char cubin[32], ptx[32];
    char log[4096];
};

#define LOG "the compiler's message"

static const int architectures[] = {75, 80, 90};
NVRTC_FUNCTIONS(ABI_PROTOTYPE)
extern fake_nvrtc_control fake_nvrtc;
fake_nvrtc_control fake_nvrtc = {
    .major = 12, .minor = 4, .architectures = architectures, .architecture_count = 3};

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = fake_nvrtc.major;
    *minor = fake_nvrtc.minor;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    *count = fake_nvrtc.architecture_count;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *known)
{
    memcpy(known, fake_nvrtc.architectures, sizeof *known * (size_t)fake_nvrtc.architecture_count);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int header_count, const char *const *headers,
                               const char *const *include_names)
{
    /* The source must contain the prelude and a kernel. */
    if (header_count || !strstr(source, "__launch_bounds__") || !strstr(source, "KERNEL("))
        return NVRTC_ERROR_INVALID_INPUT;
    *program = calloc(1, sizeof **program);
    if (!*program)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    memcpy((*program)->log, LOG, sizeof LOG);
    (*program)->source = getenv("FAKE_NVRTC_CXX") ? strdup(source) : NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    free((*program)->source);
    free((*program)->image);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    static const char target[] = "--gpu-architecture=";
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    size_t used = 0;
    signal(SIGXFSZ, SIG_DFL); /* as NVRTC does */
    pthread_mutex_lock(&lock);
    fake_nvrtc.compiled++;
    *fake_nvrtc.options = '\0';
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(fake_nvrtc.options + used, sizeof fake_nvrtc.options - used,
                                 "%s%s", i ? " " : "", options[i]);
        if (strncmp(options[i], target, strlen(target)) != 0)
            continue;
        const char *architecture = options[i] + strlen(target);
        if (strncmp(architecture, "sm_", 3) == 0)
            (void)snprintf(program->cubin, sizeof program->cubin, "cubin %.8s", architecture + 3);
        else
            (void)snprintf(program->ptx, sizeof program->ptx, "ptx %.8s", architecture + 8);
    }
    pthread_mutex_unlock(&lock);
    if (program->source)
        program->image =
            fake_compile(program->source, count, options, &program->image_bytes, program->log);
    return fake_nvrtc.fails || (program->source && !program->image) ? NVRTC_ERROR_COMPILATION
                                                                    : NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    *bytes = strlen(program->log) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    memcpy(log, program->log, strlen(program->log) + 1);
    return NVRTC_SUCCESS;
}

static nvrtcResult size_of(const char *code, size_t *bytes)
{
    *bytes = *code ? strlen(code) + 1 : 0;
    return NVRTC_SUCCESS;
}

static nvrtcResult copy_out(const char *code, char *out)
{
    memcpy(out, code, strlen(code) + 1);
    if (fake_nvrtc.damaged)
        *out = '#';
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    if (!program->image)
        return size_of(program->cubin, bytes);
    *bytes = program->image_bytes;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *out)
{
    if (!program->image)
        return copy_out(program->cubin, out);
    memcpy(out, program->image, program->image_bytes);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
    return size_of(program->ptx, bytes);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *out)
{
    return copy_out(program->ptx, out);
}
