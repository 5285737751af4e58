/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, modules and launches of the fake driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"
#include "groups.h"

/* The function's name in older drivers; the header defines a newer name. */
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *ms, CUevent first, CUevent last);

#define LATE 8

typedef struct late_copy {
    void *target;
    const void *source;
    size_t bytes;
} late_copy;

struct CUstream_st {
    struct CUstream_st *next;
    CUcontext context;
    int slot;                  /* index in `alive`; FAKE_STREAMS: its order is not checked */
    int count;                 /* number of commands */
    int seen[FAKE_STREAMS];    /* per stream: how many commands precede it */
    _Atomic int done;          /* all enqueued commands have completed */
    int late_count, late_done; /* delayed copies; how many of them are completed */
    late_copy late[LATE];
};

struct CUevent_st {
    CUcontext context;
    _Atomic int done;
    int timed;
    double at;
    int seen[FAKE_STREAMS];
    CUstream stream; /* the stream that recorded it last */
    int late;        /* delayed copies before it */
};

struct CUmod_st {
    struct CUmod_st *next;
    CUcontext context;
    struct function *functions;
    fake_library *host; /* NULL: its kernels do not run */
};

typedef struct function {
    struct function *next;
    char name[64];
    CUmodule module;
    fake_entry entry;
} function;

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* protects the variables below and launches */
static CUstream streams;
static CUmodule modules;
static CUstream alive[FAKE_STREAMS];
static int passed[FAKE_STREAMS]; /* per stream: commands that the host has waited for */

/* Reports a fault of the device. */
static CUresult report_fault(CUcontext context)
{
    if (context->pending != CUDA_SUCCESS)
        context->broken = context->pending;
    return context->broken;
}

/* Completes the stream's delayed copies up to number `count`. */
static void catch_up_to(CUstream s, int count)
{
    int n = count - s->late_done;
    if (n <= 0)
        return;
    for (int i = 0; i < n; i++)
        memcpy(s->late[i].target, s->late[i].source, s->late[i].bytes);
    s->late_count -= n;
    s->late_done += n;
    memmove(s->late, s->late + n, (size_t)s->late_count * sizeof *s->late);
}

static void catch_up(CUstream s)
{
    catch_up_to(s, s->late_done + s->late_count);
}

void fake_catch_up(void *stream)
{
    catch_up(stream);
}

int fake_is_stream(const void *stream)
{
    pthread_mutex_lock(&lock);
    CUstream s = streams;
    while (s && s != stream)
        s = s->next;
    int is = s && s->context == fake_current();
    pthread_mutex_unlock(&lock);
    return is;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int is_ordered_after(const struct CUstream_st *s, int slot, int command)
{
    return command <= s->seen[slot] || command <= passed[slot];
}

/* Checks the order of a command of `s` on a piece of memory, unless `s` has no slot (too many streams). */
static void use_piece(CUstream s, piece *p, int writes)
{
    if (s->slot == FAKE_STREAMS)
        return;
    pthread_mutex_lock(&lock);
    piece_uses *u = &p->uses;
    int ordered = !u->writer || is_ordered_after(s, u->writer - 1, u->written);
    for (int i = 0; i < FAKE_STREAMS && writes; i++)
        ordered = ordered && is_ordered_after(s, i, u->read[i]);
    fake_cuda.unordered += !ordered;
    int number = ++s->count;
    s->seen[s->slot] = number;
    if (writes) {
        memset(u, 0, sizeof *u);
        u->writer = s->slot + 1;
        u->written = number;
    } else {
        u->read[s->slot] = number;
    }
    pthread_mutex_unlock(&lock);
}

static void note_host_wait(const int seen[FAKE_STREAMS])
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FAKE_STREAMS; i++)
        passed[i] = passed[i] > seen[i] ? passed[i] : seen[i];
    pthread_mutex_unlock(&lock);
}

static void take_slot(CUstream s)
{
    pthread_mutex_lock(&lock);
    while (s->slot < FAKE_STREAMS && alive[s->slot])
        s->slot++;
    if (s->slot < FAKE_STREAMS) {
        alive[s->slot] = s;
        /* The slot's previous stream has completed; the numbers of commands continue from it. */
        s->count = s->seen[s->slot] = passed[s->slot];
    }
    pthread_mutex_unlock(&lock);
}

static void leave_slot(CUstream s)
{
    pthread_mutex_lock(&lock);
    if (s->slot < FAKE_STREAMS) {
        alive[s->slot] = NULL;
        passed[s->slot] = s->count;
    }
    pthread_mutex_unlock(&lock);
}

/* Checks a command that uses `bytes` bytes of device memory of `context`. */
static CUresult touch(const char *name, CUstream s, CUcontext context, CUdeviceptr address,
                      size_t bytes, int writes)
{
    ENTER(name, s->context);
    piece *p = fake_piece_at((void *)(uintptr_t)address, bytes);
    if (!p || p->context != context)
        return CUDA_ERROR_INVALID_VALUE;
    use_piece(s, p, writes);
    s->done = !fake_cuda.busy;
    return CUDA_SUCCESS;
}

static CUresult command(const char *name, CUstream s, CUdeviceptr address, size_t bytes, int writes)
{
    return touch(name, s, s->context, address, bytes, writes);
}

/* ---- Streams and copies ---------------------------------------------------------------------- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    ENTER("StreamCreate", NULL);
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = fake_current();
    (*stream)->done = 1;
    pthread_mutex_lock(&lock);
    (*stream)->next = streams;
    streams = *stream;
    pthread_mutex_unlock(&lock);
    take_slot(*stream);
    fake_cuda.streams++;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
    fake_cuda.outside += s->context != fake_current();
    fake_cuda.streams--;
    pthread_mutex_lock(&lock);
    CUstream *at = &streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pthread_mutex_unlock(&lock);
    leave_slot(s);
    free(s);
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream s)
{
    ENTER("StreamQuery", s->context);
    if (!s->done)
        return CUDA_ERROR_NOT_READY;
    catch_up(s);
    note_host_wait(s->seen);
    return report_fault(s->context);
}

CUresult cuStreamSynchronize(CUstream s)
{
    ENTER("StreamSynchronize", s->context);
    fake_cuda.synchronized++;
    catch_up(s);
    s->done = 1;
    note_host_wait(s->seen);
    return report_fault(s->context);
}

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    ENTER("StreamWaitEvent", s->context);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FAKE_STREAMS; i++)
        s->seen[i] = s->seen[i] > e->seen[i] ? s->seen[i] : e->seen[i];
    pthread_mutex_unlock(&lock);
    s->done = s->done && (e->done || !fake_cuda.busy);
    fake_cuda.waits++;
    return CUDA_SUCCESS;
}

/* Copies at once, after all delayed copies; if the host memory is page-locked, the copy is
 * delayed. */
static void transfer(CUstream s, void *target, const void *source, size_t bytes, const void *host)
{
    int late = fake_piece_at(host, bytes) != NULL;
    if (!late || s->late_count == LATE)
        catch_up(s);
    if (late)
        s->late[s->late_count++] = (late_copy){target, source, bytes};
    else
        memcpy(target, source, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream s)
{
    CUresult error = command("MemcpyHtoDAsync", s, target, bytes, 1);
    if (error == CUDA_SUCCESS)
        transfer(s, (void *)(uintptr_t)target, source, bytes, source);
    return error;
}

CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream s)
{
    CUresult error = command("MemcpyDtoHAsync", s, source, bytes, 0);
    if (error == CUDA_SUCCESS)
        transfer(s, target, (const void *)(uintptr_t)source, bytes, target);
    return error;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream s)
{
    CUresult error = command("MemcpyDtoDAsync", s, source, bytes, 0);
    if (error == CUDA_SUCCESS)
        error = command("MemcpyDtoDAsync", s, target, bytes, 1);
    if (error != CUDA_SUCCESS)
        return error;
    catch_up(s);
    memcpy((void *)(uintptr_t)target, (void *)(uintptr_t)source, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
                           size_t bytes, CUstream s)
{
    if (s->context != to || !(to->reaches >> from->device & 1))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult error = touch("MemcpyPeerAsync", s, from, source, bytes, 0);
    if (error == CUDA_SUCCESS)
        error = touch("MemcpyPeerAsync", s, to, target, bytes, 1);
    if (error != CUDA_SUCCESS)
        return error;
    catch_up(s);
    memcpy((void *)(uintptr_t)target, (void *)(uintptr_t)source, bytes);
    fake_cuda.peer_copies++;
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream s)
{
    CUresult error = command("MemsetD8Async", s, target, count, 1);
    catch_up(s);
    if (error == CUDA_SUCCESS)
        memset((void *)(uintptr_t)target, value, count);
    return error;
}

/* ---- Events ---------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    ENTER("EventCreate", NULL);
    *event = calloc(1, sizeof **event);
    (*event)->context = fake_current();
    (*event)->done = 1;
    (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    fake_cuda.events++;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent e)
{
    fake_cuda.outside += e->context != fake_current();
    fake_cuda.events--;
    free(e);
    return CUDA_SUCCESS;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

CUresult cuEventRecord(CUevent e, CUstream s)
{
    ENTER("EventRecord", s->context);
    e->done = !fake_cuda.busy;
    pthread_mutex_lock(&lock);
    e->at = now_ms();
    memcpy(e->seen, s->seen, sizeof e->seen);
    e->stream = s;
    e->late = s->late_done + s->late_count;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static void event_passed(CUevent e)
{
    if (e->stream)
        catch_up_to(e->stream, e->late);
    note_host_wait(e->seen);
}

CUresult cuEventQuery(CUevent e)
{
    ENTER("EventQuery", e->context);
    if (!e->done && fake_cuda.busy)
        return CUDA_ERROR_NOT_READY;
    event_passed(e);
    return report_fault(e->context);
}

CUresult cuEventSynchronize(CUevent e)
{
    ENTER("EventSynchronize", e->context);
    fake_cuda.synchronized++;
    e->done = 1;
    event_passed(e);
    return report_fault(e->context);
}

CUresult cuEventElapsedTime(float *ms, CUevent first, CUevent last)
{
    ENTER("EventElapsedTime", first->context);
    if (!first->done || !last->done)
        return CUDA_ERROR_NOT_READY;
    *ms = (float)(last->at - first->at);
    return first->timed && last->timed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Modules and launches -------------------------------------------------------------------- */

/* Accepts the fake compiler's "cubin 90" and "ptx 90", host code, and the output of NVRTC. */
static CUresult check_image(const char *image)
{
    char kind[8] = "";
    int architecture = 0;
    if (memcmp(image, "\177ELF", 4) == 0 || memcmp(image, "host ", 5) == 0 ||
        strncmp(image, "//\n// Generated by NVIDIA", 25) == 0)
        return CUDA_SUCCESS;
    if (sscanf(image, "%7s %d", kind, &architecture) != 2 ||
        (strcmp(kind, "cubin") != 0 && strcmp(kind, "ptx") != 0))
        return CUDA_ERROR_INVALID_IMAGE;
    if (strcmp(kind, "cubin") == 0 ? architecture != fake_cuda.capability
                                   : architecture > fake_cuda.capability)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ENTER("ModuleLoadData", NULL);
    CUresult error = check_image(image);
    if (error != CUDA_SUCCESS)
        return error;
    fake_library *host = memcmp(image, "host ", 5) == 0 ? fake_library_load(image) : NULL;
    if (!host && memcmp(image, "host ", 5) == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *module = calloc(1, sizeof **module);
    (*module)->host = host;
    (*module)->context = fake_current();
    pthread_mutex_lock(&lock);
    (*module)->next = modules;
    modules = *module;
    pthread_mutex_unlock(&lock);
    fake_cuda.modules++;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    fake_cuda.outside += module->context != fake_current();
    pthread_mutex_lock(&lock);
    CUmodule *at = &modules;
    while (*at != module)
        at = &(*at)->next;
    *at = module->next;
    pthread_mutex_unlock(&lock);
    while (module->functions) {
        function *f = module->functions;
        module->functions = f->next;
        free(f);
    }
    fake_cuda.modules--;
    free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *handle, CUmodule module, const char *name)
{
    ENTER("ModuleGetFunction", module->context);
    fake_entry entry = module->host ? fake_library_entry(module->host, name) : NULL;
    if (module->host && !entry)
        return CUDA_ERROR_NOT_FOUND;
    function *f = calloc(1, sizeof *f);
    f->entry = entry;
    (void)snprintf(f->name, sizeof f->name, "%s", name);
    f->module = module;
    f->next = module->functions;
    module->functions = f;
    *handle = (CUfunction)(void *)f;
    return CUDA_SUCCESS;
}

int fake_function_sizes(CUfunction handle, unsigned sizes[64])
{
    const function *f = (const function *)(const void *)handle;
    sizes[0] = sizeof(void *); /* of a kernel that does not run only the first argument is read */
    return f->entry ? fake_library_sizes(f->module->host, f->name, sizes) : 1;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned x, unsigned y, unsigned z, unsigned items,
                        unsigned items_y, unsigned items_z, unsigned shared, CUstream s,
                        void **arguments, void **extra)
{
    const function *f = (const function *)(const void *)handle;
    ENTER("LaunchKernel", s->context);
    if (!x || y != 1 || z != 1 || items_y != 1 || items_z != 1 || extra)
        return CUDA_ERROR_INVALID_VALUE;
    fake_cuda.outside += f->module->context != s->context;
    void *first;
    memcpy(&first, arguments[0], sizeof first);
    piece *output = fake_piece_at(first, 1);
    if (output)
        use_piece(s, output, 1);
    pthread_mutex_lock(&lock);
    int number = fake_cuda.launch_count++;
    fake_launch *l = &fake_cuda.launches[number % FAKE_LAUNCHES];
    (void)snprintf(l->kernel, sizeof l->kernel, "%s", f->name);
    l->groups = x;
    l->items = items;
    l->first = first;
    s->done = !fake_cuda.busy;
    catch_up(s);
    if (f->entry && !fake_groups_run(f->module->host, f->entry, x, items, arguments))
        s->context->pending = CUDA_ERROR_LAUNCH_FAILED;
    if (fake_cuda.faults && --fake_cuda.faults == 0)
        s->context->pending = (CUresult)fake_cuda.faults_with;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}
