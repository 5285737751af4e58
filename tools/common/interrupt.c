/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* A signal handler has no argument of ours: this is the one variable of the program. Atomic, not
 * only volatile, because the handler may run on any thread. */
static atomic_int noted;

static void note(int signal_number)
{
    /* Of the second one, which may be another signal, SA_RESETHAND has just restored the default.
     */
    if (atomic_exchange(&noted, signal_number) != 0)
        raise(signal_number);
}

void tool_interrupt_install(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action, before;

        memset(&action, 0, sizeof action);
        action.sa_handler = note;
        action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
        sigemptyset(&action.sa_mask);
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

int tool_interrupt_signal(void)
{
    return noted;
}
