/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - names with wildcards. */
#pragma once

#include <stddef.h>

/* 1 if the pattern of `length` bytes matches the whole name: * stands for any characters, ? for
 * one. */
int trajectory_pattern_matches(const char *pattern, size_t length, const char *name);
