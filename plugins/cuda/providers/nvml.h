/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - NVML (optional), which reports without a context how much memory is free and the
 * driver's version. */
#pragma once

#include <stdint.h>

typedef struct cuda_management {
    void *library; /* NULL: absent */
    char driver[80];
} cuda_management;

void cuda_management_open(cuda_management *m);
void cuda_management_close(cuda_management *m);

/* Bytes free on the device at a PCI address; 0: not known. */
uint64_t cuda_management_free(const cuda_management *m, const char *pci);
