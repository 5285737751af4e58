/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_interrupt.c */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* The only global variable of a program, because a program cannot pass an argument to a signal handler. It is
 * atomic, not only volatile, because the handler may run on any thread. */
static atomic_int noted;

static void note(int signal_number)
{
    /* This is a second signal, perhaps of another kind. SA_RESETHAND has just restored its default action, so it ends
     * the process. */
    if (atomic_exchange(&noted, signal_number) != 0)
        raise(signal_number);
}

/* A handler that does nothing, so that the write returns an error. Other programs would inherit SIG_IGN,
 * and it could not be distinguished from a signal that the parent ignores. */
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
