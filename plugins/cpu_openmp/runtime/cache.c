/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/other_machine.c */
#include "cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes of cache number `index` in Linux's list of the caches of core 0; 0: there is none. */
static int64_t cache_size(int index)
{
    char path[64], line[32] = "", *end;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    (void)fclose(file);
    int64_t size = strtol(line, &end, 10);
    return size << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

/* sysconf is only the fallback, because on some processors it returns the sum over all sockets. */
int64_t cache_largest(void)
{
    int64_t largest = 0;
    for (int i = 0; i < 8; i++) {
        int64_t size = cache_size(i);
        if (size > largest)
            largest = size;
    }
    if (largest > 0)
        return largest;
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes <= 0)
        bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? bytes : 8 << 20;
}
