/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - which libraries compute products, and for which CPU they are configured.
 *
 * A library that is older than the processor may select kernels that are ten times too slow, and may run
 * an instruction that a virtual machine does not have. So tables of CPUID features set the core type of
 * OpenBLAS and the instruction set limit of oneDNN. When the probe requests the capabilities, the products
 * of the libraries are checked once. Wrong results are recorded in the "choices" of the capabilities, so
 * that later processes do not use the library. If a check crashes or hangs, the probe ends and is repeated
 * in safe mode, in which no library is opened. ways.h chooses which library computes a call.
 *
 * Settings of the user take precedence:
 *   cpu_openmp.openblas       a name or path of the library, or "off"
 *   cpu_openmp.openblas_core  a core type, as in OPENBLAS_CORETYPE, or "own": the library's choice
 *   cpu_openmp.onednn         a name or path of the library, or "off"
 *   cpu_openmp.onednn_isa     as in DNNL_MAX_CPU_ISA, or "own"
 *   cpu_openmp.safe_mode      "on": no library is opened; "off": no safe mode, even after a crash
 */
#pragma once

#include <collet/plugin.h>

#include "cpu_openmp/runtime/isa.h"
#include "shared/host/util/text.h"

/* Adds the members "blas" and "onednn" to the capabilities, and members to their "choices". The first call in a
 * process opens and checks the libraries; later calls add the same texts. Sets *types to the products
 * (ONEDNN_TYPE_*) that oneDNN computes correctly. Any thread may call it. */
void choice_describe(const collet_host *host, const isa_level *level, text *json, text *choices,
                     uint32_t *types);

/* Adds "word": "value" to the members of `choices`. */
void choice_add(text *choices, const char *word, const char *value);

/* Fixes how this process will open the libraries. Call it before any use of the libraries, on any thread. */
void choice_settle(const collet_host *host, const isa_level *level);
