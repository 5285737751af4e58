/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for NVML that reports only the second GPU of the fake driver. */
#include <stdio.h>
#include <string.h>

int fake_nvml_open; /* calls of nvmlInit_v2 minus calls of nvmlShutdown */

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long total_free_used[3]);

int nvmlInit_v2(void)
{
    fake_nvml_open++;
    return 0;
}

int nvmlShutdown(void)
{
    fake_nvml_open--;
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    snprintf(version, length, "550.54");
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
    *device = &fake_nvml_open;
    return strcmp(pci, "0000:a1:00.0") ? 6 : 0;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long total_free_used[3])
{
    if (device != &fake_nvml_open)
        return 2;
    total_free_used[0] = 80000;
    total_free_used[1] = 23456;
    total_free_used[2] = 56544;
    return 0;
}
