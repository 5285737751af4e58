/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - the backend's own kernels, OpenBLAS and oneDNN, among which shared/host/util/ways.h chooses. */
#ifndef PLUGINS_CPU_OPENMP_PROVIDERS_WAYS_H
#define PLUGINS_CPU_OPENMP_PROVIDERS_WAYS_H

#include "shared/host/util/ways.h"

enum { WAY_OPENBLAS = WAY_OWN + 1, WAY_ONEDNN, WAYS };

extern const ways_kind openmp_ways;

#endif
