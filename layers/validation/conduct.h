/* SPDX-License-Identifier: Apache-2.0 */
/* conduct - the state of the calling thread that a plugin must not change. */
#ifndef LAYERS_VALIDATION_CONDUCT_H
#define LAYERS_VALIDATION_CONDUCT_H

#include <locale.h>
#include <signal.h>
#include <stdint.h>

#include <collet/floating.h>

typedef struct conduct {
    collet_floating floating;
    sigset_t mask;
    locale_t locale;         /* the thread's */
    uint64_t process_locale; /* hash of its name */
} conduct;

conduct conduct_now(void);
/* What differs, as text, or NULL; the floating-point control and the signal mask are put back. */
const char *conduct_changed(const conduct *before);

#endif
