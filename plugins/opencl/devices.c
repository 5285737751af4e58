/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerates the devices and queries their properties.
 * Tests: tests/opencl/test_opencl_driver.c */
#include "opencl.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "shared/host/util/statics.h"
#include "shared/host/util/text.h"
#include "shared/host/util/threads.h"
#include "shared/jit/runtime/view.h"

#include "shared/jit/index/index_params.h"
#include "shared/jit/linalg/matmul_params.h"

#define PLATFORMS 16

/* Constants of extensions that the headers may not have. */
#define DEVICE_UUID_KHR 0x106A
#define DEVICE_PCI_BUS_INFO_KHR 0x410F
#define DEVICE_COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define DEVICE_COMPUTE_CAPABILITY_MINOR_NV 0x4001
#define DEVICE_GLOBAL_FREE_MEMORY_AMD 0x4039

typedef struct pci_bus_info {
    cl_uint domain, bus, device, function;
} pci_bus_info;

/* ---- Finding --------------------------------------------------------------------------------- */

static int is_pocl(const opencl_driver *cl, cl_platform_id platform)
{
    char name[64] = "";
    return !cl->GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) &&
           !strcmp(name, "Portable Computing Language");
}

#define POCL_FREE (UINT64_C(8) << 20) /* bytes that must be free in the file system of PoCL's cache */

/* Whether PoCL can start its threads. The first query for its devices starts a thread for each processor, and PoCL
 * aborts the process if that fails. */
static int can_start(void)
{
    static _Atomic int started;
    if (!started)
        started = threads_can_start((int)sysconf(_SC_NPROCESSORS_ONLN));
    return started;
}

/* The directory of PoCL's cache, which may not exist yet; 0: unknown. */
static int pocl_cache(char place[PATH_MAX])
{
    const char *own = getenv("POCL_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int n = own                 ? snprintf(place, PATH_MAX, "%s", own)
            : cache && cache[0] ? snprintf(place, PATH_MAX, "%s/pocl/kcache", cache)
            : home              ? snprintf(place, PATH_MAX, "%s/.cache/pocl/kcache", home)
                                : -1;
    return n > 0 && n < PATH_MAX;
}

/* The file system of a directory or, if it does not exist, of the nearest existing directory
 * above it. */
static int file_system_of(const char *place, struct statvfs *fs)
{
    char at[PATH_MAX];
    snprintf(at, sizeof at, "%s", place);
    for (char *slash; statvfs(at, fs); *slash = '\0')
        if (errno != ENOENT || !(slash = strrchr(at, '/')) || slash == at)
            return 0;
    return 1;
}

/* PoCL compiles kernels to files in its cache and opens these files as libraries. If a file cannot be written, its
 * LLVM ends the process. */
int opencl_cache_fails(const char *place, char reason[OPENCL_REASON])
{
    struct stat st;
    struct statvfs fs;
    *reason = '\0';
    if (!*place)
        return 0;
    if (!stat(place, &st) && !S_ISDIR(st.st_mode))
        snprintf(reason, OPENCL_REASON,
                 "PoCL keeps compiled kernels in %.300s, which is not a directory, and aborts: "
                 "remove it, or set POCL_CACHE_DIR to a directory elsewhere",
                 place);
    else if (file_system_of(place, &fs) && (fs.f_flag & ST_NOEXEC))
        snprintf(reason, OPENCL_REASON,
                 "PoCL loads compiled kernels from %.300s, whose file system is mounted noexec, "
                 "and aborts: set POCL_CACHE_DIR to a directory elsewhere",
                 place);
    else if (file_system_of(place, &fs) &&
             ((uint64_t)fs.f_bavail * fs.f_frsize < POCL_FREE || (fs.f_files && !fs.f_favail)))
        snprintf(reason, OPENCL_REASON,
                 "PoCL compiles kernels through files in %.300s, whose file system is full, and "
                 "aborts: free %u MiB there, or set POCL_CACHE_DIR to a directory elsewhere",
                 place, (unsigned)(POCL_FREE >> 20));
    return *reason != '\0';
}

/* Limit of file sizes that PoCL needs: it writes files of up to a few MiB, and its LLVM ends the process if it cannot.
 */
#define POCL_FILE (UINT64_C(64) << 20)

static int has_small_files(uint64_t *bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= POCL_FILE)
        return 0;
    *bytes = limit.rlim_cur;
    return 1;
}

/* Whether this process is a child of the process that used OpenCL first. Such a child lacks the
 * driver's threads and would wait for them forever. */
static int was_forked(void)
{
    static _Atomic long started;
    long none = 0, process = (long)getpid();
    return !atomic_compare_exchange_strong(&started, &none, process) && none != process;
}

/* Returns 1 and sets `reason` if PoCL would end the process; else 0. */
static int pocl_aborts(char reason[OPENCL_REASON])
{
    char place[PATH_MAX];
    uint64_t bytes;
    if (!can_start())
        snprintf(reason, OPENCL_REASON,
                 "the system starts no more threads, and PoCL would abort: "
                 "raise the limit (ulimit -u, pids.max of the cgroup)");
    else if (pocl_cache(place) && opencl_cache_fails(place, reason))
        return 1;
    else if (has_small_files(&bytes))
        snprintf(reason, OPENCL_REASON,
                 "PoCL compiles kernels through files and aborts at the limit on their size, %llu "
                 "bytes: raise it to %llu MiB (ulimit -f)",
                 (unsigned long long)bytes, (unsigned long long)(POCL_FILE >> 20));
    else
        return 0;
    return 1;
}

/* Returns the name of an environment variable that is set and makes ocl-icd or Khronos's loader look for drivers
 * elsewhere. Returns NULL if there is no such variable. */
static const char *redirected(void)
{
    static const char *const names[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES",
                                        "OPENCL_VENDOR_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return names[i];
    }
    return NULL;
}

uint32_t opencl_find_devices(const opencl_driver *cl, cl_device_id ids[OPENCL_DEVICES],
                             char reason[OPENCL_REASON])
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint platform_count = 0;
    uint32_t count = 0;
    int pocl = 0;
    char name[32];
    cl_int error = cl->GetPlatformIDs(PLATFORMS, platforms, &platform_count);
    if (error != CL_SUCCESS || !platform_count) {
        const char *elsewhere = redirected();
        if (elsewhere)
            snprintf(reason, OPENCL_REASON,
                     "the OpenCL loader finds no platform: it looks for drivers only where the "
                     "environment says, %s=%.200s: unset %s",
                     elsewhere, getenv(elsewhere), elsewhere);
        else
            snprintf(reason, OPENCL_REASON,
                     "the OpenCL loader finds no platform: no driver is installed (%s)",
                     error == CL_SUCCESS ? "none" : opencl_error_name(error, name));
        return 0;
    }
    platform_count = platform_count < PLATFORMS ? platform_count : PLATFORMS;
    for (cl_uint i = 0; i < platform_count && count < OPENCL_DEVICES; i++) {
        cl_uint found = 0;
        int this_is = is_pocl(cl, platforms[i]);
        if (this_is && pocl_aborts(reason))
            return 0;
        if (was_forked()) {
            snprintf(
                reason, OPENCL_REASON,
                "OpenCL does not work in a process that was forked by one which used it: start "
                "processes by spawn, not fork, or use OpenCL only in the child processes");
            return 0;
        }
        pocl |= this_is;
        error = cl->GetDeviceIDs(
            platforms[i], CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR,
            OPENCL_DEVICES - count, ids + count, &found);
        if (error == CL_SUCCESS)
            count += found < OPENCL_DEVICES - count ? found : OPENCL_DEVICES - count;
    }
    if (!count)
        snprintf(reason, OPENCL_REASON, "no device: the %u OpenCL platform%s report%s none%s",
                 (unsigned)platform_count, platform_count == 1 ? "" : "s",
                 platform_count == 1 ? "s" : "",
                 pocl ? "; PoCL has a device if it can write its cache: set POCL_CACHE_DIR to a "
                        "directory that it can write"
                      : "");
    return count;
}

/* The address of a function of the driver itself, not of the loader; it shows which library the driver is. */
static void *function_of_driver(const opencl_driver *cl, cl_platform_id platform)
{
    void *(*find)(cl_platform_id, const char *) = NULL;
    *(void **)(void *)&find = dlsym(cl->library, "clGetExtensionFunctionAddressForPlatform");
    return find ? find(platform, "clIcdGetPlatformIDsKHR") : NULL;
}

void opencl_describe_compiler(const opencl_driver *cl, cl_device_id id, char place[PATH_MAX])
{
    *place = '\0';
    static const char *const compiler[] = {"libLLVM", "libclang", NULL};
    cl_platform_id platform;
    if (cl->GetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) ||
        !is_pocl(cl, platform))
        return;
    (void)pocl_cache(place);
    void *function = function_of_driver(cl, platform);
    if (function)
        (void)statics_keep_needed(function, compiler);
}

/* ---- Queries -------------------------------------------------------------------------------- */

/* A string property, "" if the device does not report it. */
static void get_text(const opencl_driver *cl, cl_device_id id, cl_device_info what, char *value,
                     size_t size)
{
    size_t needed = 0;
    value[0] = '\0';
    if (cl->GetDeviceInfo(id, what, 0, NULL, &needed) != CL_SUCCESS || needed > size ||
        cl->GetDeviceInfo(id, what, needed, value, NULL) != CL_SUCCESS)
        value[0] = '\0';
    value[size - 1] = '\0';
}

static int get_info(const opencl_driver *cl, cl_device_id id, cl_device_info what, void *value,
                    size_t size)
{
    memset(value, 0, size);
    return cl->GetDeviceInfo(id, what, size, value, NULL) == CL_SUCCESS;
}

/* An integer property of 32 or 64 bits; 0 if the device does not report it. */
static uint64_t get_number(const opencl_driver *cl, cl_device_id id, cl_device_info what)
{
    union {
        cl_uint narrow;
        cl_ulong wide;
    } value;
    size_t size = 0;
    if (cl->GetDeviceInfo(id, what, sizeof value, &value, &size) != CL_SUCCESS)
        return 0;
    return size == sizeof value.narrow ? value.narrow : value.wide;
}

static int has_extension(const opencl_driver *cl, cl_device_id id, const char *name)
{
    char list[8192];
    size_t length = strlen(name);
    get_text(cl, id, CL_DEVICE_EXTENSIONS, list, sizeof list);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return 1;
    return 0;
}

static void platform_text(const opencl_driver *cl, cl_device_id id, cl_platform_info what,
                          char *value, size_t size)
{
    cl_platform_id platform;
    value[0] = '\0';
    if (!get_info(cl, id, CL_DEVICE_PLATFORM, &platform, sizeof platform) ||
        cl->GetPlatformInfo(platform, what, size, value, NULL) != CL_SUCCESS)
        value[0] = '\0';
    value[size - 1] = '\0';
}

/* ---- A device's traits ----------------------------------------------------------------------- */

static uint32_t is_processor(const opencl_driver *cl, cl_device_id id)
{
    return (get_number(cl, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

/* The largest power of two, up to 256, that the device supports as group size. Local memory must suffice for `update`
 * of update.dev, `move` of radix.dev and `short_rows` of sort.dev. Among the kernels that need more local memory
 * for larger groups and do not adapt to its size, these kernels need the most. */
static uint32_t group_size(const opencl_driver *cl, cl_device_id id)
{
    const uint32_t serial = is_processor(cl, id);
    size_t most = get_number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE), sizes[16];
    if (get_info(cl, id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes, sizeof sizes) && sizes[0] &&
        sizes[0] < most)
        most = sizes[0];
    uint64_t local = get_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE);
    uint32_t group = 256;
    while (group > 1 && (group > most || (local && (UPDATE_LOCAL(group) * sizeof(double) > local ||
                                                    RADIX_LOCAL(group) > local ||
                                                    SHORT_ROWS_LOCAL(group, serial) > local))))
        group /= 2;
    return group;
}

int opencl_is_single(const char *platform_version)
{
    const char *at = strstr(platform_version, "PoCL ");
    return at && strtol(at + strlen("PoCL "), NULL, 10) < 6;
}

void opencl_describe(collet_device *d)
{
    const opencl_driver *cl = &d->cl;
    char name[128], vendor[256], version[256], driver[256], platform[256];
    d->base.traits = (jit_traits){
        .group = group_size(cl, d->id),
        .per_item = 4,
        .units = (uint32_t)get_number(cl, d->id, CL_DEVICE_MAX_COMPUTE_UNITS),
        .has_f64 = get_number(cl, d->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
        .exact_f32 = (get_number(cl, d->id, CL_DEVICE_SINGLE_FP_CONFIG) &
                      CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0,
        .serial = is_processor(cl, d->id),
        .local_bytes = get_number(cl, d->id, CL_DEVICE_LOCAL_MEM_SIZE),
        .argument_bytes = get_number(cl, d->id, CL_DEVICE_MAX_PARAMETER_SIZE),
    };
    d->on_host = get_number(cl, d->id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    d->base.staging = d->on_host ? 0 : JIT_STAGING;
    d->base.total_memory = get_number(cl, d->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->base.in_host_memory = (int)is_processor(cl, d->id);
    get_text(cl, d->id, CL_DEVICE_NAME, name, sizeof name);
    get_text(cl, d->id, CL_DEVICE_VENDOR, vendor, sizeof vendor);
    get_text(cl, d->id, CL_DEVICE_VERSION, version, sizeof version);
    get_text(cl, d->id, CL_DRIVER_VERSION, driver, sizeof driver);
    platform_text(cl, d->id, CL_PLATFORM_VERSION, platform, sizeof platform);
    d->single = (uint32_t)opencl_is_single(platform);
    jit_options(d, d->base.traits.exact_f32 ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                            : "-cl-std=CL1.2");
    snprintf(d->base.identity, sizeof d->base.identity, "opencl 1\n%s\n%s\n%s\n%s\n%s", platform,
             name, vendor, version, driver);
}

int opencl_same_model(const opencl_driver *cl, cl_device_id a, cl_device_id b)
{
    char one[256], other[256];
    get_text(cl, a, CL_DEVICE_NAME, one, sizeof one);
    get_text(cl, b, CL_DEVICE_NAME, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* ---- Capabilities ---------------------------------------------------------------------------- */

static void add_location(const opencl_driver *cl, cl_device_id id, text *t)
{
    unsigned char uuid[16];
    pci_bus_info pci;
    if (has_extension(cl, id, "cl_khr_device_uuid") && get_info(cl, id, DEVICE_UUID_KHR, uuid, 16))
        text_uuid(t, uuid);
    if (has_extension(cl, id, "cl_khr_pci_bus_info") &&
        get_info(cl, id, DEVICE_PCI_BUS_INFO_KHR, &pci, sizeof pci))
        text_add(t, ", \"pci\": \"%04x:%02x:%02x.%x\"", pci.domain, pci.bus, pci.device,
                 pci.function);
}

static void add_vendor_facts(const opencl_driver *cl, cl_device_id id, text *t)
{
    if (has_extension(cl, id, "cl_nv_device_attribute_query"))
        text_add(t, ", \"compute_capability\": \"%u.%u\"",
                 (unsigned)get_number(cl, id, DEVICE_COMPUTE_CAPABILITY_MAJOR_NV),
                 (unsigned)get_number(cl, id, DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
    size_t free_kib[2];
    if (has_extension(cl, id, "cl_amd_device_attribute_query") &&
        get_info(cl, id, DEVICE_GLOBAL_FREE_MEMORY_AMD, free_kib, sizeof free_kib))
        text_number(t, "memory_free", (uint64_t)free_kib[0] << 10);
}

/* Adds which library multiplies matrices: CLBlast's file, or why it is not used. */
static void add_blas(const collet_host *host, const opencl_driver *cl, cl_device_id id, text *t)
{
    opencl_blas blas = {.usable = 0};
    opencl_blas_ready(host, cl, id, 0, &blas);
    text_string(t, "clblast", blas.text);
}

static void add_device(const collet_host *host, const opencl_driver *cl, cl_device_id id, text *t)
{
    static const struct {
        const char *name;
        cl_device_info what;
    } texts[] = {{"vendor", CL_DEVICE_VENDOR},
                 {"driver_version", CL_DRIVER_VERSION},
                 {"opencl_version", CL_DEVICE_VERSION},
                 {"opencl_c_version", CL_DEVICE_OPENCL_C_VERSION}};
    char value[256];
    cl_device_type type = get_number(cl, id, CL_DEVICE_TYPE);
    get_text(cl, id, CL_DEVICE_NAME, value, sizeof value);
    text_add(t, "{\"name\": ");
    text_quote(t, *value ? value : "unnamed device");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        get_text(cl, id, texts[i].what, value, sizeof value);
        text_string(t, texts[i].name, value);
    }
    platform_text(cl, id, CL_PLATFORM_NAME, value, sizeof value);
    text_string(t, "platform", value);
    platform_text(cl, id, CL_PLATFORM_VERSION, value, sizeof value);
    text_string(t, "runtime_version", value);
    text_string(t, "type",
                type & CL_DEVICE_TYPE_GPU   ? "gpu"
                : type & CL_DEVICE_TYPE_CPU ? "cpu"
                                            : "accelerator");
    text_add(t, ", \"memory_space\": \"own\", \"asynchronous\": true");
    text_number(t, "compute_units", get_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS));
    text_number(t, "clock_mhz", get_number(cl, id, CL_DEVICE_MAX_CLOCK_FREQUENCY));
    text_number(t, "memory_total", get_number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE));
    text_number(t, "memory_largest_buffer", get_number(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    text_number(t, "cache_bytes", get_number(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
    text_number(t, "local_memory", get_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE));
    text_add(t, ", \"f64\": %s, \"f16\": %s",
             get_number(cl, id, CL_DEVICE_DOUBLE_FP_CONFIG) ? "true" : "false",
             has_extension(cl, id, "cl_khr_fp16") ? "true" : "false");
    add_blas(host, cl, id, t);
    add_vendor_facts(cl, id, t);
    add_location(cl, id, t);
    text_add(t, "}");
}

collet_status opencl_capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    opencl_driver cl;
    cl_device_id ids[OPENCL_DEVICES];
    collet_error why = {COLLET_OK, ""};
    char reason[OPENCL_REASON] = "";
    uint32_t count = 0;
    int gpu = 0;
    text t = {json, capacity, 0};
    sigset_t before;
    (void)err;
    jit_signals_block(&before);
    if (opencl_driver_open(host, &cl, &why) == COLLET_OK)
        count = opencl_find_devices(&cl, ids, reason);
    jit_signals_restore(&before);
    for (uint32_t i = 0; i < count; i++)
        gpu = gpu || (get_number(&cl, ids[i], CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU);
    text_add(&t, "{\"jit\": true, \"parallel\": true, \"gpu\": %s, \"device_count\": %u, ",
             gpu ? "true" : "false", count);
    if (!count) {
        text_add(&t, "\"reason\": ");
        text_quote(&t, *reason ? reason : why.text);
        text_add(&t, ", ");
    }
    text_add(&t, "\"devices\": [");
    for (uint32_t i = 0; i < count; i++) {
        text_add(&t, i ? ", " : "");
        add_device(host, &cl, ids[i], &t);
    }
    text_add(&t, "]}");
    *needed = t.used + 1;
    return COLLET_OK;
}
