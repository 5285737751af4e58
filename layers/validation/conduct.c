/* SPDX-License-Identifier: Apache-2.0 */
#include "conduct.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

#define STICKY 0x3fu

static uint64_t control_get(void)
{
    return _mm_getcsr() & ~STICKY;
}

static void control_set(uint64_t control)
{
    _mm_setcsr((unsigned)control);
}

static uint64_t legacy_get(void)
{
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static void legacy_set(uint64_t legacy)
{
    uint16_t word = (uint16_t)legacy;
    __asm__ volatile("fldcw %0" : : "m"(word));
}
#else
static uint64_t control_get(void)
{
#if defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return 0;
#endif
}

static void control_set(uint64_t control)
{
#if defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    (void)control;
#endif
}

static uint64_t legacy_get(void)
{
    return 0;
}

static void legacy_set(uint64_t legacy)
{
    (void)legacy;
}
#endif

conduct conduct_now(void)
{
    conduct c = {
        .control = control_get(), .legacy = legacy_get(), .locale = uselocale((locale_t)0)};
    pthread_sigmask(SIG_BLOCK, NULL, &c.mask);
    c.process_locale = UINT64_C(0xcbf29ce484222325);
    for (const char *name = setlocale(LC_ALL, NULL); name && *name; name++)
        c.process_locale = (c.process_locale ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return c;
}

static int same_mask(const sigset_t *a, const sigset_t *b)
{
    for (int s = 1; s < NSIG; s++)
        if (sigismember(a, s) != sigismember(b, s))
            return 0;
    return 1;
}

const char *conduct_changed(const conduct *before)
{
    conduct now = conduct_now();
    if (now.control != before->control || now.legacy != before->legacy) {
        control_set(before->control);
        legacy_set(before->legacy);
        return "the floating-point control word was changed";
    }
    if (!same_mask(&now.mask, &before->mask)) {
        pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
        return "the signal mask was changed";
    }
    if (now.locale != before->locale || now.process_locale != before->process_locale)
        return "the locale was changed";
    return NULL;
}
