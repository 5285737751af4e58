/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_interrupt.c */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* A signal handler has no argument of ours: this is the one variable of the program. Atomic, not
 * only volatile, because the handler may run on any thread. */
static atomic_int noted;

static void note(int signal_number)
{
    /* SA_RESETHAND has just restored the default action of a second signal, which may be another
     * one.
     */
    if (atomic_exchange(&noted, signal_number) != 0)
        raise(signal_number);
}

/* Unlike SIG_IGN it is not passed on to other programs, and is known from what the parent did. */
static void return_error(int signal_number)
{
    (void)signal_number;
}

static void handle(int signal_number, void (*handler)(int), unsigned flags)
{
    struct sigaction action, before;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = (int)flags;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void tool_interrupt_install(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        handle(signals[i], note, SA_RESETHAND | SA_RESTART);
    signal(SIGXFSZ, SIG_IGN);
    handle(SIGPIPE, return_error, SA_RESTART);
}

void tool_interrupt_report(void)
{
    handle(SIGPIPE, SIG_DFL, 0);
}

int tool_interrupt_signal(void)
{
    return noted;
}
