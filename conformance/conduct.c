/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a kernel preserves the state of the process.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#define FP_CONTROL "MXCSR"
#elif defined(__aarch64__)
#define FP_CONTROL "FPCR"
#else
#define FP_CONTROL "the floating-point control word"
#endif

#define RESTORE "; `run` must restore it before it returns"

static uint64_t fp_control(void)
{
    uint64_t word = 0;
#if defined(__x86_64__)
    word = _mm_getcsr() & ~0x3fu; /* the low six bits are sticky exception flags, not settings */
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
#endif
    return word;
}

static uint64_t x87_control(void)
{
    uint16_t word = 0;
#if defined(__x86_64__)
    __asm__ volatile("fnstcw %0" : "=m"(word));
#endif
    return word;
}

_Static_assert(sizeof(sigset_t) <= sizeof((kit_conduct){0}.signals), "a signal set fits");
_Static_assert(sizeof(cpu_set_t) <= sizeof((kit_conduct){0}.affinity), "an affinity mask fits");

void kit_conduct_take(kit_conduct *state, int output)
{
    struct stat file;
    sigset_t signals;
    cpu_set_t affinity;
    const char *locale = setlocale(LC_ALL, NULL);
    memset(state, 0, sizeof *state);
    fegetenv(&state->environment);
    state->fp_control = fp_control();
    state->x87_control = x87_control();
    state->rounding = fegetround();
    strncpy(state->locale, locale ? locale : "", sizeof state->locale - 1);
    state->thread_locale = uselocale((locale_t)0);
    memset(&signals, 0, sizeof signals);
    pthread_sigmask(SIG_SETMASK, NULL, &signals);
    memcpy(state->signals, &signals, sizeof signals);
    CPU_ZERO(&affinity);
    (void)sched_getaffinity(0, sizeof affinity, &affinity);
    memcpy(state->affinity, &affinity, sizeof affinity);
    if (output >= 0 && fstat(output, &file) == 0)
        state->printed = file.st_size;
}

void kit_conduct_check(const kit_conduct *before, int output, kit_verdict *v)
{
    kit_conduct now;
    kit_conduct_take(&now, output);
    if (now.fp_control != before->fp_control)
        kit_fail(v, "conduct: %s was 0x%llx before the call and is 0x%llx after it" RESTORE,
                 FP_CONTROL, (unsigned long long)before->fp_control,
                 (unsigned long long)now.fp_control);
    if (now.x87_control != before->x87_control)
        kit_fail(v, "conduct: the x87 control word was changed" RESTORE);
    if (now.rounding != before->rounding)
        kit_fail(v, "conduct: the rounding mode was changed" RESTORE);
    fesetenv(&before->environment);
    if (strcmp(now.locale, before->locale)) {
        kit_fail(v, "conduct: the locale was '%s' and is '%s'" RESTORE, before->locale, now.locale);
        setlocale(LC_ALL, before->locale);
    }
    if (now.thread_locale != before->thread_locale) {
        kit_fail(v, "conduct: the locale of the thread was changed" RESTORE);
        uselocale(before->thread_locale);
    }
    if (memcmp(now.signals, before->signals, sizeof now.signals)) {
        sigset_t signals;
        kit_fail(v, "conduct: the signal mask was changed" RESTORE);
        memcpy(&signals, before->signals, sizeof signals);
        pthread_sigmask(SIG_SETMASK, &signals, NULL);
    }
    if (memcmp(now.affinity, before->affinity, sizeof now.affinity)) {
        cpu_set_t affinity;
        kit_fail(v, "conduct: the thread's CPU affinity was changed" RESTORE);
        memcpy(&affinity, before->affinity, sizeof affinity);
        (void)sched_setaffinity(0, sizeof affinity, &affinity);
    }
    if (now.printed != before->printed)
        kit_fail(v, "conduct: %lld bytes were printed; use host->log instead",
                 (long long)(now.printed - before->printed));
}

int kit_thread_count(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    if (!tasks)
        return 0;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}
