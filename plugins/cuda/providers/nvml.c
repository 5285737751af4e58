/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_capabilities.c */
#include "nvml.h"

#include <dlfcn.h>
#include <string.h>

/* The part of NVML's ABI that is used; 0 is success. */
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;
typedef int (*nvml_plain)(void);
typedef int (*nvml_version)(char *version, unsigned length);
typedef int (*nvml_by_address)(const char *pci, void **device);
typedef int (*nvml_memory_info)(void *device, nvml_memory *memory);

static int find(const cuda_management *m, const char *name, void *function)
{
    void *symbol = dlsym(m->library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

void cuda_management_open(cuda_management *m)
{
    nvml_plain init;
    nvml_version version;
    memset(m, 0, sizeof *m);
    m->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!m->library)
        return;
    if (!find(m, "nvmlInit_v2", &init) || init() != 0) {
        m->library = NULL;
        return;
    }
    if (!find(m, "nvmlSystemGetDriverVersion", &version) ||
        version(m->driver, sizeof m->driver) != 0)
        *m->driver = '\0';
    m->driver[sizeof m->driver - 1] = '\0';
}

void cuda_management_close(cuda_management *m)
{
    nvml_plain shutdown;
    if (m->library && find(m, "nvmlShutdown", &shutdown))
        shutdown();
    m->library = NULL;
}

uint64_t cuda_management_free(const cuda_management *m, const char *pci)
{
    nvml_by_address by_address;
    nvml_memory_info memory_info;
    nvml_memory memory;
    void *device;
    if (!m->library || !*pci || !find(m, "nvmlDeviceGetHandleByPciBusId_v2", &by_address) ||
        !find(m, "nvmlDeviceGetMemoryInfo", &memory_info) || by_address(pci, &device) != 0 ||
        memory_info(device, &memory) != 0)
        return 0;
    return memory.free;
}
