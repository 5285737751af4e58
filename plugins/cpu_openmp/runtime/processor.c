/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c */
#include "processor.h"

#include "isa.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define ECX1_HYPERVISOR (1u << 31)
/* leaf 7: ecx, edx; its subleaf 1: eax */
#define ECX7_VNNI (1u << 11)
#define ECX7_VPOPCNTDQ (1u << 14)
#define EDX7_AMX (1u << 22 | 1u << 24 | 1u << 25) /* bf16 tile int8 */
#define EAX71_BF16 (1u << 5)
/* XCR0: the tile registers, which no level requires */
#define XCR0_AMX (3u << 17)

static int made_by_amd(void)
{
    uint32_t largest, name[3];
    if (!__get_cpuid(0, &largest, &name[0], &name[2], &name[1]))
        return 0;
    return !memcmp(name, "AuthenticAMD", 12) || !memcmp(name, "HygonGenuine", 12);
}

static int is_virtual(void)
{
    uint32_t a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & ECX1_HYPERVISOR;
}

/* Features beyond x86-64-v4. */
static uint32_t beyond_v4(void)
{
    uint32_t a = 0, b, c, d, sub = 0, features = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    if (a >= 1)
        __cpuid_count(7, 1, sub, b, a, a);
    features |= c & ECX7_VNNI ? PROCESSOR_VNNI : 0;
    features |= c & ECX7_VPOPCNTDQ ? PROCESSOR_COUNTS : 0;
    features |= sub & EAX71_BF16 ? PROCESSOR_BF16 : 0;
    if ((d & EDX7_AMX) == EDX7_AMX && (isa_saved_registers() & XCR0_AMX) == XCR0_AMX)
        features |= PROCESSOR_AMX;
    return features;
}

uint32_t processor_features(const isa_level *level)
{
    uint32_t features = PROCESSOR_V2;
    if (made_by_amd())
        features |= PROCESSOR_AMD;
    if (is_virtual())
        features |= PROCESSOR_VIRTUAL;
    if (strcmp(level->name, "x86-64-v3") == 0)
        features |= PROCESSOR_V3;
    if (strcmp(level->name, "x86-64-v4") == 0)
        features |= PROCESSOR_V3 | PROCESSOR_V4 | beyond_v4();
    return level->number == isa_usable_levels() ? features : features | PROCESSOR_CAPPED;
}

#else

uint32_t processor_features(const isa_level *level)
{
    (void)level;
    return 0;
}

#endif
