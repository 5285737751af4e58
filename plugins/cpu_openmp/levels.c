/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c */
#include "levels.h"

#include <string.h>

#include "cpu_openmp/runtime/processor.h"

/* ---- The tables of the kernels ----------------------------------------------------------------- */

#if defined(__x86_64__)

#define DECLARE(type, name) extern const struct type name##_v2, name##_v3, name##_v4;
ISA_TABLES(DECLARE)
extern const struct narrow_kernels narrow_v4_vnni, narrow_v4_bf16;
extern const struct ternary_products ternary_v4_vnni, ternary_v4_counts;

#define V2(type, name) &name##_v2,
#define V3(type, name) &name##_v3,
#define V4(type, name) &name##_v4,
static const isa_level levels[] = {
    {"x86-64-v2", 1, ISA_TABLES(V2)},
    {"x86-64-v3", 2, ISA_TABLES(V3)},
    {"x86-64-v4", 3, ISA_TABLES(V4)},
};

const struct narrow_kernels *levels_narrow(const isa_level *level)
{
    uint32_t features = processor_features(level);
    if (features & PROCESSOR_VNNI)
        return features & PROCESSOR_BF16 ? &narrow_v4_bf16 : &narrow_v4_vnni;
    return level->narrow;
}

const struct ternary_products *levels_ternary(const isa_level *level)
{
    uint32_t features = processor_features(level);
    if (features & PROCESSOR_VNNI)
        return features & PROCESSOR_COUNTS ? &ternary_v4_counts : &ternary_v4_vnni;
    return level->ternary;
}

#else

#define DECLARE(type, name) extern const struct type name##_baseline;
ISA_TABLES(DECLARE)

#define BASELINE(type, name) &name##_baseline,
static const isa_level levels[] = {
#if defined(__aarch64__)
    {"armv8", 1, ISA_TABLES(BASELINE)},
#else
    {"baseline", 1, ISA_TABLES(BASELINE)},
#endif
};

const struct narrow_kernels *levels_narrow(const isa_level *level)
{
    return level->narrow;
}

const struct ternary_products *levels_ternary(const isa_level *level)
{
    return level->ternary;
}

#endif

/* ---- The choice ---------------------------------------------------------------------------- */

#define LEVEL_COUNT ((int)(sizeof levels / sizeof levels[0]))

/* The index of the level called `name`, with or without the "x86-64-" before it; -1: none. */
static int find_level(const char *name)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const char *tail = strrchr(levels[i].name, '-');
        if (strcmp(name, levels[i].name) == 0 || (tail && strcmp(name, tail + 1) == 0))
            return i;
    }
    return -1;
}

const isa_level *levels_select(const char *cap, const char **reason)
{
    int best = isa_usable_levels() - 1;
    if (best < 0) {
        *reason = "the processor lacks instructions of x86-64-v2 (SSE4.2, POPCNT)";
        return NULL;
    }
    if (cap && cap[0] && strcmp(cap, "auto") != 0) {
        int requested = find_level(cap);
        if (requested < 0) {
            *reason = "the setting isa is not a level of this build: x86-64 has x86-64-v2, "
                      "x86-64-v3 and x86-64-v4, aarch64 has armv8";
            return NULL;
        }
        if (requested < best)
            best = requested;
    }
    return &levels[best];
}
