/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the backends that were found, the preferred one first, and each refused plugin with the
 * reason. */
#include <collet/collet.h>
#include <stdio.h>
#include <string.h>

static void print_backends(const collet_runtime *runtime)
{
    static const char *const state[] = {"usable", "unavailable", "unproven"};
    collet_backend_info info = {.struct_size = sizeof info};
    collet_device_info device = {.struct_size = sizeof device};
    for (size_t i = 0; collet_backend_info_at(runtime, &info, i, NULL) == COLLET_OK; i++) {
        printf("%s %s: %s, %u device(s), %u kernels %s\n", info.name, info.version,
               state[info.state], info.device_count, info.kernel_count, info.reason);
        for (uint32_t k = 0; collet_device_info_at(runtime, &device, i, k, NULL) == COLLET_OK; k++)
            printf("  %s: %s, %u compute unit(s), %.1f GB\n", device.choice, device.name,
                   device.compute_units, (double)device.memory_bytes / 1e9);
    }
}

static void print_refusals(const collet_runtime *runtime)
{
    collet_plugin_record record = {.struct_size = sizeof record};
    for (size_t i = 0; collet_record_at(runtime, &record, i, NULL) == COLLET_OK; i++)
        if (!record.accepted && strcmp(record.stage, "search") != 0)
            printf("refused: %s (%s: %s)\n", record.path, record.stage, record.reason);
}

int main(void)
{
    collet_error err;
    collet_runtime *runtime;
    if (collet_runtime_create(&runtime, NULL, &err) != COLLET_OK)
        return fprintf(stderr, "backends: %s\n", err.text), 1;
    print_backends(runtime);
    print_refusals(runtime);
    collet_runtime_destroy(runtime);
    return 0;
}
