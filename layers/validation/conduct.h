/* SPDX-License-Identifier: Apache-2.0 */
/* conduct - the state of the calling thread that a plugin must not change. */
#pragma once

#include <locale.h>
#include <sched.h>
#include <signal.h>

#include <collet/floating.h>

#include "contract.h"

typedef struct conduct {
    collet_floating floating;
    sigset_t mask;
    locale_t locale;          /* locale of the thread */
    char process_locale[128]; /* name of the process's locale, or its first 127 bytes */
    cpu_set_t processors;
} conduct;

conduct conduct_now(void);
/* Returns 1 if the state has changed, and writes to `text` how. Restores the state of the thread. */
int conduct_changed(const conduct *before, char text[CONTRACT_TEXT]);
