/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - which libraries compute products, and for which CPU they are configured.
 *
 * A library that is older than the processor may select kernels that are ten times too slow, and
 * may run an instruction that a virtual machine does not have. So the core type of OpenBLAS and
 * the instruction set limit of oneDNN are set by tables of CPUID's features. The capabilities check
 * the libraries' products once, as this process would use them. The capabilities' choices name what
 * is wrong, so that later processes do not use it. Which of them computes a call: ways.h. A crash or hang there ends the probe; it is
 * repeated in safe mode, in which no library is opened.
 *
 * Settings of the user come first:
 *   cpu_openmp.openblas       a name or path of the library, or "off"
 *   cpu_openmp.openblas_core  a core type, as OPENBLAS_CORETYPE, or "own": the library's choice
 *   cpu_openmp.onednn         a name or path of the library, or "off"
 *   cpu_openmp.onednn_isa     as DNNL_MAX_CPU_ISA, or "own"
 *   cpu_openmp.safe_mode      "on": no library is opened; "off": also not after a crash
 */
#ifndef PLUGINS_CPU_OPENMP_PROVIDERS_CHOICE_H
#define PLUGINS_CPU_OPENMP_PROVIDERS_CHOICE_H

#include <collet/plugin.h>

#include "cpu_openmp/runtime/isa.h"
#include "shared/host/util/text.h"

/* Adds the members "blas" and "onednn" to the capabilities, and members of their "choices". Opens the
 * libraries, and checks them at the first call in a process; *types: the products (ONEDNN_TYPE_*) that
 * oneDNN computes correctly. The same texts each time. Any thread. */
void choice_describe(const collet_host *host, const isa_level *level, text *json, text *choices,
                     uint32_t *types);

/* Adds "word": "value" to the members of `choices`. */
void choice_add(text *choices, const char *word, const char *value);

/* Fixes, for a process that is about to use them, how the libraries will be opened. Any thread. */
void choice_settle(const collet_host *host, const isa_level *level);

#endif
