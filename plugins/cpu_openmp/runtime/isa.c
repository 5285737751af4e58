/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c */
#include "isa.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <stdio.h>
#endif

#if defined(__x86_64__)

/* cpuid leaf 1: sse3 .. popcnt; fma movbe osxsave avx f16c */
#define ECX1_V2 (1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23)
#define ECX1_V3 (1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29)
/* leaf 7 */
#define EBX7_V3 (1u << 3 | 1u << 5 | 1u << 8)                          /* bmi1 avx2 bmi2 */
#define EBX7_V4 (1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) /* avx512 f dq cd bw vl */
/* leaf 0x80000001 */
#define ECX81_V2 (1u << 0) /* lahf */
#define ECX81_V3 (1u << 5) /* lzcnt */
/* XCR0: the registers that the operating system saves */
#define XCR0_V3 0x06u /* xmm ymm */
#define XCR0_V4 0xe6u /* also k0-7, the upper halves of zmm0-15, and zmm16-31 */

static int has(uint32_t features, uint32_t requested)
{
    return (features & requested) == requested;
}

uint32_t isa_saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

int isa_usable_levels(void)
{
    uint32_t a, b, c1 = 0, d, b7 = 0, c7, c81 = 0;
    if (!__get_cpuid(1, &a, &b, &c1, &d) || !__get_cpuid(0x80000001u, &a, &b, &c81, &d))
        return 0;
    if (!has(c1, ECX1_V2) || !has(c81, ECX81_V2))
        return 0;
    if (!has(c1, ECX1_V3) || !has(c81, ECX81_V3) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d))
        return 1;
    uint32_t saved = isa_saved_registers();
    if (!has(b7, EBX7_V3) || !has(saved, XCR0_V3))
        return 1;
    return has(b7, EBX7_V4) && has(saved, XCR0_V4) ? 3 : 2;
}

static void read_processor_name(char name[64])
{
    uint32_t words[12];
    uint32_t a, b, c, d;
    name[0] = '\0';
    if (!__get_cpuid(0x80000000u, &a, &b, &c, &d) || a < 0x80000004u)
        return;
    for (uint32_t i = 0; i < 3; i++) {
        __cpuid(0x80000002u + i, words[4 * i], words[4 * i + 1], words[4 * i + 2],
                words[4 * i + 3]);
    }
    memcpy(name, words, sizeof words);
    name[sizeof words] = '\0';
}

#else

int isa_usable_levels(void)
{
    return 1;
}

static void read_processor_name(char name[64])
{
    char line[256];
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    while (!name[0] && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (value && strncmp(line, "model name", 10) == 0) {
            strncpy(name, value + 1, 63);
            name[63] = '\0';
        }
    }
    (void)fclose(file);
}

#endif

void isa_processor_name(char *name, uint64_t capacity)
{
    char raw[64];
    uint64_t used = 0;
    read_processor_name(raw);
    for (const char *c = raw; *c && used + 1 < capacity; c++) {
        int printable = *c >= ' ' && *c <= '~' && *c != '"' && *c != '\\';
        int blank = *c == ' ' && (used == 0 || name[used - 1] == ' ');
        if (printable && !blank)
            name[used++] = *c;
    }
    if (used > 0 && name[used - 1] == ' ')
        used--;
    name[used] = '\0';
}
