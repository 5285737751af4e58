/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces cpu_openmp's cache_largest: small arrays are written with non-temporal stores too. */
#include <stdint.h>

int64_t __wrap_cache_largest(void);
int64_t __wrap_cache_largest(void)
{
    return 256;
}
