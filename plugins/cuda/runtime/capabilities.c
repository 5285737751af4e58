/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the devices, without creating a context.
 * Tests: tests/cuda/test_cuda_capabilities.c */
#include <stdio.h>

#include "shared/host/util/text.h"
#include "backend.h"
#include "cuda/providers/libraries.h"
#include "cuda/providers/nvml.h"

#define GROUP 256u
#define PER_ITEM 4u
/* Limit of the total size of a kernel's arguments, on any device and driver. */
#define ARGUMENT_BYTES 4096u

static int attribute(const cuda_driver *cu, CUdevice id, CUdevice_attribute what)
{
    int value = 0;
    return cu->DeviceGetAttribute(&value, what, id) == CUDA_SUCCESS && value > 0 ? value : 0;
}

static int capability_of(const cuda_driver *cu, CUdevice id)
{
    return 10 * attribute(cu, id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(cu, id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

void cuda_describe(collet_device *d)
{
    const cuda_driver *cu = &d->cu;
    size_t total = 0;
    d->base.traits = (jit_traits){
        .group = GROUP,
        .per_item = PER_ITEM,
        .units = (uint32_t)attribute(cu, d->id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .has_f64 = 1,
        .exact_f32 = 1,
        .local_bytes =
            (uint64_t)attribute(cu, d->id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .argument_bytes = ARGUMENT_BYTES,
    };
    d->capability = capability_of(cu, d->id);
    if (cu->DeviceTotalMem(&total, d->id) == CUDA_SUCCESS)
        d->base.total_memory = total;
}

/* ---- Capabilities ---------------------------------------------------------------------------- */

static void add_place(const cuda_driver *cu, CUdevice id, const char *pci, text *t)
{
    CUuuid uuid;
    if (cu->DeviceGetUuid(&uuid, id) == CUDA_SUCCESS)
        text_uuid(t, (const unsigned char *)uuid.bytes);
    if (*pci)
        text_string(t, "pci", pci);
}

static void pci_of(const cuda_driver *cu, CUdevice id, char pci[32])
{
    if (cu->DeviceGetPCIBusId(pci, 32, id) != CUDA_SUCCESS)
        *pci = '\0';
    pci[31] = '\0';
    for (char *c = pci; *c; c++)
        if (*c >= 'A' && *c <= 'F')
            *c = (char)(*c - 'A' + 'a');
}

static void add_device(const cuda_driver *cu, const cuda_compiler *rtc,
                       const cuda_management *management, CUdevice id, text *t)
{
    char name[128] = "", pci[32], version[32];
    size_t total = 0;
    int capability = capability_of(cu, id);
    if (cu->DeviceGetName(name, sizeof name - 1, id) != CUDA_SUCCESS || !*name)
        snprintf(name, sizeof name, "unnamed GPU");
    pci_of(cu, id, pci);
    text_add(t, "{\"name\": ");
    text_quote(t, name);
    text_string(t, "vendor", "NVIDIA");
    if (*management->driver)
        text_string(t, "driver_version", management->driver);
    snprintf(version, sizeof version, "%d.%d", cu->version / 1000, cu->version % 1000 / 10);
    text_string(t, "cuda_version", version);
    snprintf(version, sizeof version, "NVRTC %d.%d", rtc->major, rtc->minor);
    text_string(t, "runtime_version", version);
    text_string(t, "type", "gpu");
    text_add(t, ", \"memory_space\": \"own\", \"asynchronous\": true");
    snprintf(version, sizeof version, "%d.%d", capability / 10, capability % 10);
    text_string(t, "compute_capability", version);
    text_number(t, "compute_units",
                (uint64_t)attribute(cu, id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    text_number(t, "warp_size", (uint64_t)attribute(cu, id, CU_DEVICE_ATTRIBUTE_WARP_SIZE));
    text_number(t, "clock_mhz", (uint64_t)attribute(cu, id, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000);
    if (cu->DeviceTotalMem(&total, id) == CUDA_SUCCESS)
        text_number(t, "memory_total", total);
    text_number(t, "memory_free", cuda_management_free(management, pci));
    text_number(t, "cache_bytes", (uint64_t)attribute(cu, id, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    text_number(t, "local_memory",
                (uint64_t)attribute(cu, id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    /* f16 arithmetic needs compute capability 5.3. */
    text_add(t, ", \"f64\": true, \"f16\": %s", capability >= 53 ? "true" : "false");
    add_place(cu, id, pci, t);
    text_add(t, "}");
}

static void add_devices(const cuda_driver *cu, const cuda_compiler *rtc, int count, text *t)
{
    cuda_management management;
    CUdevice id;
    int added = 0;
    cuda_management_open(&management);
    for (int i = 0; i < count; i++) {
        if (cu->DeviceGet(&id, i) != CUDA_SUCCESS)
            continue;
        text_add(t, added++ ? ", " : "");
        add_device(cu, rtc, &management, id, t);
    }
    cuda_management_close(&management);
}

collet_status cuda_capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    cuda_driver cu;
    cuda_compiler rtc;
    collet_error why = {COLLET_OK, ""};
    int count = 0;
    text t = {json, capacity, 0};
    (void)err;
    if (cuda_driver_open(host, &cu, &why) == COLLET_OK &&
        cuda_compiler_open(host, cu.version, &rtc, &why) == COLLET_OK &&
        (cu.DeviceGetCount(&count) != CUDA_SUCCESS || count < 1)) {
        count = 0;
        host->fail(&why, COLLET_UNAVAILABLE, "the NVIDIA driver finds no GPU");
    }
    text_add(&t, "{\"jit\": true, \"parallel\": true, \"gpu\": true, \"device_count\": %d, ",
             count);
    if (!count) {
        text_add(&t, "\"reason\": ");
        text_quote(&t, why.text);
        text_add(&t, ", \"lasting\": %s, ", cu.absent ? "true" : "false");
    }
    if (count)
        cuda_libraries_describe(host, cu.version, &t);
    text_add(&t, "\"devices\": [");
    if (count)
        add_devices(&cu, &rtc, count, &t);
    text_add(&t, "]}");
    *needed = t.used + 1;
    return COLLET_OK;
}
