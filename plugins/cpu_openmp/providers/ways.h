/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - the implementations of this backend: its own kernels, OpenBLAS and oneDNN. shared/host/util/ways.h chooses
 * one for each call. */
#pragma once

#include "shared/host/util/ways.h"

enum { WAY_OPENBLAS = WAY_OWN + 1, WAY_ONEDNN, WAYS };

extern const ways_kind openmp_ways;
