/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c */
#include "levels.h"

#include <string.h>

#include "cpu_openmp/runtime/processor.h"

/* ---- The tables of the kernels ----------------------------------------------------------------- */

#if defined(__x86_64__)

/* COLLET_NATIVE_LEVEL: the only level of the build. */
#ifdef COLLET_NATIVE_LEVEL
#define COLLET_HAS_LEVEL(level) (COLLET_NATIVE_LEVEL == (level))
#else
#define COLLET_HAS_LEVEL(level) 1
#endif

/* With a sanitizer only the highest level of this machine is compiled; the tables of all levels point to it. */
#define AT_LEVEL(level, name) name##_##level
#ifdef COLLET_ONE_LEVEL
#define AT_ONE(level, name) AT_LEVEL(level, name)
#define AT(level, name) AT_ONE(COLLET_ONE_LEVEL, name)
#else
#define AT(level, name) AT_LEVEL(level, name)
#endif
#if defined(COLLET_ONE_LEVEL) && !defined(COLLET_BEYOND_V4)
#define BEYOND(level, name) AT(v4, name)
#else
#define BEYOND(level, name) AT_LEVEL(level, name)
#endif

#define DECLARE(type, name) extern const struct type AT(v2, name), AT(v3, name), AT(v4, name);
ISA_TABLES(DECLARE)
extern const struct narrow_kernels BEYOND(v4_vnni, narrow), BEYOND(v4_bf16, narrow);
extern const struct ternary_products BEYOND(v4_vnni, ternary), BEYOND(v4_counts, ternary);

#define V2(type, name) &AT(v2, name),
#define V3(type, name) &AT(v3, name),
#define V4(type, name) &AT(v4, name),
/* A build with COLLET_LEVELS=native has one level. */
static const isa_level levels[] = {
#if COLLET_HAS_LEVEL(2)
    {"x86-64-v2", 1, ISA_TABLES(V2)},
#endif
#if COLLET_HAS_LEVEL(3)
    {"x86-64-v3", 2, ISA_TABLES(V3)},
#endif
#if COLLET_HAS_LEVEL(4)
    {"x86-64-v4", 3, ISA_TABLES(V4)},
#endif
};

const struct narrow_kernels *levels_narrow(const isa_level *level)
{
#if COLLET_HAS_LEVEL(4)
    uint32_t features = processor_features(level);
    if (features & PROCESSOR_VNNI)
        return features & PROCESSOR_BF16 ? &BEYOND(v4_bf16, narrow) : &BEYOND(v4_vnni, narrow);
#endif
    return level->narrow;
}

const struct ternary_products *levels_ternary(const isa_level *level)
{
#if COLLET_HAS_LEVEL(4)
    uint32_t features = processor_features(level);
    if (features & PROCESSOR_VNNI)
        return features & PROCESSOR_COUNTS ? &BEYOND(v4_counts, ternary)
                                           : &BEYOND(v4_vnni, ternary);
#endif
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

/* The number of the level called `name`, with or without the "x86-64-" before it, whether or not the
 * build has it; 0: none. */
static int find_level(const char *name)
{
    static const char *const names[] = {
#if defined(__x86_64__)
        "x86-64-v2",
        "x86-64-v3",
        "x86-64-v4",
#elif defined(__aarch64__)
        "armv8",
#else
        "baseline",
#endif
    };
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        const char *tail = strrchr(names[i], '-');
        if (strcmp(name, names[i]) == 0 || (tail && strcmp(name, tail + 1) == 0))
            return i + 1;
    }
    return 0;
}

const isa_level *levels_select(const char *cap, const char **reason)
{
    int highest = isa_usable_levels();
    if (highest < 1) {
        *reason = "the processor lacks instructions of x86-64-v2 (SSE4.2, POPCNT)";
        return NULL;
    }
    if (cap && cap[0] && strcmp(cap, "auto") != 0) {
        int requested = find_level(cap);
        if (requested < 1) {
            *reason = "the setting isa is not a level of this build: x86-64 has x86-64-v2, "
                      "x86-64-v3 and x86-64-v4, aarch64 has armv8";
            return NULL;
        }
        if (requested < highest)
            highest = requested;
    }
    for (int i = LEVEL_COUNT - 1; i >= 0; i--)
        if (levels[i].number <= highest)
            return &levels[i];
    *reason = "this build has kernels for one level of x86-64, and the processor or the setting isa "
              "allows only lower ones: build with -DCOLLET_LEVELS=all";
    return NULL;
}
