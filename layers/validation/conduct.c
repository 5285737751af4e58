/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c, tests/conformance/test_broken.c */
#include "conduct.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

conduct conduct_now(void)
{
    conduct c = {.floating = collet_floating_now(), .locale = uselocale((locale_t)0)};
    const char *name = setlocale(LC_ALL, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &c.mask);
    snprintf(c.process_locale, sizeof c.process_locale, "%s", name ? name : "");
    (void)sched_getaffinity(0, sizeof c.processors, &c.processors);
    return c;
}

static int same_mask(const sigset_t *a, const sigset_t *b)
{
    for (int s = 1; s < NSIG; s++)
        if (sigismember(a, s) != sigismember(b, s))
            return 0;
    return 1;
}

int conduct_changed(const conduct *before, char text[CONTRACT_TEXT])
{
    conduct now = conduct_now();
    text[0] = '\0';
    if (!CPU_EQUAL(&now.processors, &before->processors)) {
        snprintf(text, CONTRACT_TEXT, "the thread's CPU affinity was changed");
        (void)sched_setaffinity(0, sizeof before->processors, &before->processors);
    }
    if (now.locale != before->locale) {
        snprintf(text, CONTRACT_TEXT, "the locale of the thread was changed");
        uselocale(before->locale);
    }
    if (strcmp(now.process_locale, before->process_locale) != 0)
        snprintf(text, CONTRACT_TEXT, "the locale was changed from '%s' to '%s'",
                 before->process_locale, now.process_locale);
    if (!same_mask(&now.mask, &before->mask)) {
        snprintf(text, CONTRACT_TEXT, "the signal mask was changed");
        pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
    }
    if (!collet_floating_equal(now.floating, before->floating)) {
        snprintf(text, CONTRACT_TEXT,
                 "the floating-point control word was changed: 0x%llx and 0x%llx, before 0x%llx "
                 "and 0x%llx (x87)",
                 (unsigned long long)now.floating.control, (unsigned long long)now.floating.legacy,
                 (unsigned long long)before->floating.control,
                 (unsigned long long)before->floating.legacy);
        collet_floating_set(before->floating);
    }
    return text[0] != '\0';
}
