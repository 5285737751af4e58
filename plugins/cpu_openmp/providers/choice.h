/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - which libraries serve, and what they are told of the processor.
 *
 * A library may take a processor that is newer than itself for an old one and be ten times too
 * slow, or run an instruction that a virtual machine does not have. So the probe tries each way in
 * a child of its own (collet_host.trial), computes what has a known result, and takes the fastest
 * that is right; the library's own way when it is nearly as fast. The outcome is among the choices
 * of the capabilities, by which every later process opens the library.
 *
 * Settings of the user come first; what they name is still tried:
 *   cpu_openmp.openblas       a name or path of the library, or "off"
 *   cpu_openmp.openblas_core  a core's name, or "own": its own pick; as OPENBLAS_CORETYPE
 *   cpu_openmp.onednn         a name or path of the library, or "off"
 *   cpu_openmp.onednn_isa     as DNNL_MAX_CPU_ISA, or "own"
 *   cpu_openmp.onednn_types   products that it computes: words of "f32 bf16 i8"
 *   cpu_openmp.trial_ms       time of one trial, of what `probe_timeout_ms` leaves (2500)
 * Where there was no probe, OpenBLAS is told by the processor's features alone and oneDNN is used
 * only for the types that are set.
 */
#ifndef COLLET_OPENMP_CHOICE_H
#define COLLET_OPENMP_CHOICE_H

#include <collet/plugin.h>

#include "cpu_openmp/runtime/isa.h"
#include "shared/host/util/text.h"

/* Products for which oneDNN is the better library. */
#define CHOICE_ONEDNN_F32 1u
#define CHOICE_ONEDNN_BF16 2u
#define CHOICE_ONEDNN_I8 4u

/* Adds the members "blas", "onednn" and "choices" to the capabilities, with what was tried. In a
 * probe the libraries are opened in its children alone; elsewhere they are opened here. The same
 * text each time. Any thread. */
void choice_describe(const collet_host *host, const isa_level *level, text *json);

/* Settles, for a process that is about to use them, how the libraries will be opened. Bits
 * CHOICE_ONEDNN_*. Any thread. */
uint32_t choice_settle(const collet_host *host, const isa_level *level);

#endif
