/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise_judge.h - compares the outputs of an elementwise function with its values. */
#pragma once

#include "array.h"

/* Compares with the stored values if the case has the stored arguments, else with the values of truth.h. */
void elementwise_judge(const kit_case *c, kit_verdict *v);
