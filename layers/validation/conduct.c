/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "conduct.h"

#include <pthread.h>

conduct conduct_now(void)
{
    conduct c = {.floating = collet_floating_now(), .locale = uselocale((locale_t)0)};
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
    if (!collet_floating_equal(now.floating, before->floating)) {
        collet_floating_set(before->floating);
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
