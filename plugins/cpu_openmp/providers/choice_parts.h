/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice_parts.h - the choice for each library. For choice.c; see choice.h.
 *
 * _settle: how this process will open it. _check: opens and checks it; once a process. _describe:
 * the result of both, as a JSON object, and the choices that follow from it.
 */
#ifndef COLLET_OPENMP_CHOICE_PARTS_H
#define COLLET_OPENMP_CHOICE_PARTS_H

#include <collet/plugin.h>

#include "cpu_openmp/runtime/isa.h"
#include "shared/host/util/text.h"

#define CHOICE_OWN "own" /* what the library selects itself */

/* Whether "openblas" or "onednn" is not opened: 1, with the reason, when it is switched off, in
 * safe mode, and when the probe found it wrong. */
int choice_refused(const collet_host *host, const char *library, char *reason, uint64_t capacity);

/* Whether it is opened; logs that, with its name or else `usual`. */
int choice_may_open(const collet_host *host, const char *library, const char *usual);

/* Adds "word": "value" to the members of `choices`. */
void choice_add(text *choices, const char *word, const char *value);

/* Adds {"library": null, "reason": "..."}, and the choice "<library>_refused". */
void choice_add_refusal(text *json, text *choices, const char *library, const char *reason);

/* choice_openblas.c */
void choice_openblas_settle(const collet_host *host, const isa_level *level);
void choice_openblas_check(const collet_host *host);
void choice_openblas_describe(const collet_host *host, text *json, text *choices);

/* choice_onednn.c; _settle returns ONEDNN_TYPE_*. */
uint32_t choice_onednn_settle(const collet_host *host, const isa_level *level);
void choice_onednn_check(const collet_host *host);
void choice_onednn_describe(const collet_host *host, text *json, text *choices);

#endif
