/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces two functions of cpu_openmp, which then uses non-temporal stores for small arrays too, and assumes that the
 * processor does not have the instructions beyond x86-64-v4 that LACKS names. */
#include "cpu_openmp/runtime/cache.h"
#include "cpu_openmp/runtime/processor.h"

uint32_t __real_processor_features(const isa_level *level);
uint32_t __wrap_processor_features(const isa_level *level);
int64_t __wrap_cache_largest(void);

uint32_t __wrap_processor_features(const isa_level *level)
{
    return __real_processor_features(level) & ~(uint32_t)(LACKS);
}

int64_t __wrap_cache_largest(void)
{
    return 256;
}
