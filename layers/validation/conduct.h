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
    locale_t locale;         /* locale of the thread */
    uint64_t process_locale; /* hash of the name of the process's locale */
} conduct;

conduct conduct_now(void);
/* A text about the first difference, or NULL. Restores the floating-point control and the signal
 * mask. */
const char *conduct_changed(const conduct *before);

#endif
