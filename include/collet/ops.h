/* SPDX-License-Identifier: Apache-2.0 */
/* collet/ops.h - the typed calls of every family. */
#ifndef COLLET_OPS_H
#define COLLET_OPS_H

#include <collet/ops/array.h>
#include <collet/ops/fft.h>
#include <collet/ops/index.h>
#include <collet/ops/linalg.h>
#include <collet/ops/md.h>
#include <collet/ops/random.h>
#include <collet/ops/scatter.h>
#include <collet/ops/ternary.h>

#endif
