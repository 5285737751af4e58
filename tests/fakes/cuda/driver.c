/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for libcuda.so.1; see control.h. Commands run when they are enqueued, except copies from
 * and to page-locked memory, which run when the host waits for the stream.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define DEVICES 8
#define DEPTH 16

static struct CUctx_st contexts[DEVICES];
static _Thread_local CUcontext stack[DEPTH];
static _Thread_local int depth;
static piece *pieces;

static void reset(void);
static void *current(void)
{
    return depth ? stack[depth - 1] : NULL;
}
static int holds(const void *address, size_t bytes);
static void report(const char *library, int calls, int wrong);
fake_cuda_control fake_cuda = {.reset = reset,
                               .current = current,
                               .holds = holds,
                               .is_stream = fake_is_stream,
                               .catch_up = fake_catch_up,
                               .report = report};

CUcontext fake_current(void)
{
    return current();
}

static void report(const char *library, int calls, int wrong)
{
    const char *path = getenv("FAKE_CUDA_TALLY");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    (void)fprintf(file, "%s %d calls, %d wrong\n", library, calls, wrong);
    (void)fclose(file);
}

__attribute__((constructor)) static void reset(void)
{
    for (int i = 0; i < DEVICES; i++) {
        contexts[i].device = i;
        contexts[i].broken = contexts[i].pending = CUDA_SUCCESS;
    }
    fake_cuda.devices = 1;
    const char *capability = getenv("FAKE_CUDA_CAPABILITY");
    fake_cuda.capability = capability ? atoi(capability) : 90;
    fake_cuda.version = 12040;
    const char *memory = getenv("FAKE_CUDA_MEMORY");
    fake_cuda.memory = memory ? strtoull(memory, NULL, 10) : (size_t)1 << 20;
    fake_cuda.busy = fake_cuda.faults = fake_cuda.apart = fake_cuda.twins = 0;
    fake_cuda.peer_copies = fake_cuda.unordered = 0;
    fake_cuda.graph_launches = fake_cuda.graph_updates = 0;
    fake_cuda.fails = NULL;
    fake_cuda.allocated = fake_cuda.synchronized = fake_cuda.waits = fake_cuda.outside = 0;
    fake_cuda.launch_count = 0;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

CUresult fake_injected(const char *name)
{
    if (!fake_cuda.fails || strcmp(fake_cuda.fails, name) != 0)
        return CUDA_SUCCESS;
    if (fake_cuda.fails_after-- > 0)
        return CUDA_SUCCESS;
    if (fake_cuda.fails_times-- <= 0)
        return CUDA_SUCCESS;
    return (CUresult)fake_cuda.fails_with;
}

CUresult fake_enter(const char *name, CUcontext context)
{
    CUcontext now = current();
    if (!now || (context && now != context)) {
        fake_cuda.outside++;
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (now->broken != CUDA_SUCCESS)
        return now->broken;
    return fake_injected(name);
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    switch ((int)error) {
#define NAME(x)                                                                                    \
    case x:                                                                                        \
        *name = #x;                                                                                \
        return CUDA_SUCCESS
        NAME(CUDA_SUCCESS);
        NAME(CUDA_ERROR_INVALID_VALUE);
        NAME(CUDA_ERROR_OUT_OF_MEMORY);
        NAME(CUDA_ERROR_NO_DEVICE);
        NAME(CUDA_ERROR_INVALID_IMAGE);
        NAME(CUDA_ERROR_INVALID_CONTEXT);
        NAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
        NAME(CUDA_ERROR_ECC_UNCORRECTABLE);
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS);
        NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        NAME(CUDA_ERROR_LAUNCH_FAILED);
        NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
#undef NAME
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuGetErrorString(CUresult error, const char **message)
{
    *message = "the driver's message";
    return CUDA_SUCCESS;
}

/* ---- Devices --------------------------------------------------------------------------------- */

CUresult cuInit(unsigned flags)
{
    TRY("Init");
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = fake_cuda.version;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    TRY("DeviceGetCount");
    *count = fake_cuda.devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *id, int i)
{
    if (i < 0 || i >= fake_cuda.devices)
        return CUDA_ERROR_INVALID_VALUE;
    *id = i;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice id)
{
    (void)snprintf(name, (size_t)size, "Fake GPU %d", fake_cuda.twins ? 0 : id);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute what, CUdevice id)
{
    switch ((int)what) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = fake_cuda.capability / 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = fake_cuda.capability % 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1980000;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = 60 << 20;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = 48 << 10;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice id)
{
    *bytes = fake_cuda.memory;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice id)
{
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(16 * id + i);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice id)
{
    (void)snprintf(text, (size_t)size, "0000:%02X:00.0", 0xa0 + id);
    return CUDA_SUCCESS;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice id)
{
    TRY("DevicePrimaryCtxRetain");
    contexts[id].retained++;
    fake_cuda.contexts++;
    *context = &contexts[id];
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice id)
{
    if (--contexts[id].retained == 0)
        contexts[id].reaches = 0;
    fake_cuda.contexts--;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    TRY("CtxPushCurrent");
    if (depth == DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice id, CUdevice other)
{
    *can = id != other && !fake_cuda.apart;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext other, unsigned flags)
{
    ENTER("CtxEnablePeerAccess", NULL);
    CUcontext own = current();
    unsigned bit = 1u << other->device;
    if (flags || own == other || fake_cuda.apart)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_fetch_or(&own->reaches, bit) & bit)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    return CUDA_SUCCESS;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

piece *fake_piece_at(const void *address, size_t bytes)
{
    const char *at = address;
    pthread_mutex_lock(&memory_lock);
    piece *p = pieces;
    while (p && (at < (const char *)(p + 1) || at + bytes > (const char *)(p + 1) + p->bytes))
        p = p->next;
    pthread_mutex_unlock(&memory_lock);
    return p;
}

static int holds(const void *address, size_t bytes)
{
    const piece *p = fake_piece_at(address, bytes);
    return p && p->context && p->context == current();
}

static void *piece_new(CUcontext context, size_t bytes)
{
    piece *p = aligned_alloc(64, sizeof *p + (bytes + 63) / 64 * 64);
    if (!p)
        return NULL;
    p->context = context;
    p->bytes = bytes;
    memset(&p->uses, 0, sizeof p->uses);
    pthread_mutex_lock(&memory_lock);
    p->next = pieces;
    pieces = p;
    pthread_mutex_unlock(&memory_lock);
    memset(p + 1, 0xee, bytes);
    return p + 1;
}

static CUresult piece_free(void *address)
{
    pthread_mutex_lock(&memory_lock);
    piece **at = &pieces, *p;
    while (*at && (void *)(*at + 1) != address)
        at = &(*at)->next;
    p = *at;
    if (p) {
        *at = p->next;
        if (p->context)
            p->context->used -= p->bytes;
    }
    pthread_mutex_unlock(&memory_lock);
    if (p)
        memset(p + 1, 0xdd, p->bytes);
    free(p);
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    ENTER("MemGetInfo", NULL);
    *total = fake_cuda.memory;
    pthread_mutex_lock(&memory_lock);
    *available = fake_cuda.memory - ((CUcontext)current())->used;
    pthread_mutex_unlock(&memory_lock);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    ENTER("MemAlloc", NULL);
    CUcontext context = current();
    fake_cuda.allocated++;
    pthread_mutex_lock(&memory_lock);
    int fits = bytes <= fake_cuda.memory - context->used;
    context->used += fits ? bytes : 0;
    pthread_mutex_unlock(&memory_lock);
    if (!fits)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = (CUdeviceptr)(uintptr_t)piece_new(context, bytes);
    fake_cuda.allocations++;
    return CUDA_SUCCESS;
}

/* This function also works in a broken context, so that tests can count leaks. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    piece *p = fake_piece_at((void *)(uintptr_t)address, 1);
    if (!p || p->context != current()) {
        fake_cuda.outside++;
        return CUDA_ERROR_INVALID_VALUE;
    }
    fake_cuda.allocations--;
    return piece_free((void *)(uintptr_t)address);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    ENTER("MemHostAlloc", NULL);
    *address = piece_new(NULL, bytes);
    if (!*address)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake_cuda.host_allocations++;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *address)
{
    fake_cuda.host_allocations--;
    return piece_free(address);
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *what, void **values,
                                CUdeviceptr address)
{
    const piece *p = fake_piece_at((void *)(uintptr_t)address, 1);
    if (count != 1 || *what != CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        return CUDA_ERROR_INVALID_VALUE;
    *(unsigned *)values[0] = !p ? 0 : p->context ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
}
