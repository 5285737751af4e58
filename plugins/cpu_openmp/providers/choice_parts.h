/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice_parts.h - the choice for each library. For choice.c; see choice.h.
 *
 * _settle: how this process will open it. _find: in a probe, once: tries what there is to choose.
 * _found: what _find has found, as a JSON object, and the choices that follow. _opened: the same of
 * the library as this process has it open.
 */
#ifndef COLLET_OPENMP_CHOICE_PARTS_H
#define COLLET_OPENMP_CHOICE_PARTS_H

#include "choice.h"

#define CHOICE_OWN "own" /* what the library picks itself */

/* host->trial with the time limit of these trials. After a few that hung: UNAVAILABLE at once. */
collet_status choice_try(const collet_host *host, void (*body)(void *argument, void *result),
                         void *argument, void *result, uint64_t bytes, collet_error *err);

/* Whether the error is of a trial that there was no time for, which says nothing of the library. */
int choice_was_short(const collet_error *err);

/* Adds "word": "value" to the members of `choices`. */
void choice_add(text *choices, const char *word, const char *value);

/* choice_openblas.c */
void choice_openblas_settle(const collet_host *host, const isa_level *level);
void choice_openblas_find(const collet_host *host, const isa_level *level);
void choice_openblas_found(const collet_host *host, text *json, text *choices);
void choice_openblas_opened(text *json);
/* Of f32 products, found; 0: it is not used. */
double choice_openblas_gflops(void);

/* choice_onednn.c; _settle returns bits CHOICE_ONEDNN_*. */
uint32_t choice_onednn_settle(const collet_host *host, const isa_level *level);
void choice_onednn_find(const collet_host *host, const isa_level *level);
void choice_onednn_found(text *json, text *choices);
void choice_onednn_opened(text *json);

#endif
