/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of choices of backends: equal texts have the same number. All functions need the GIL. */
#pragma once

#include "python.h"

/* The number of a text, 1 or more; 0 with an exception. */
uint32_t choices_number(const char *text);
/* The text of a number; it stays valid until the process ends. */
const char *choices_text(uint32_t number);
