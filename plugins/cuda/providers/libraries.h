/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.h - which libraries of the toolkit (library.h) are installed. */
#pragma once

#include <collet/plugin.h>

#include "library.h"
#include "shared/host/util/text.h"

/*
 * Adds `"libraries": {...}, ` to the capabilities: for each library its version and file, or the missing file and the
 * implementation that runs instead. Opening the libraries takes a second or two, so only a probe does it; otherwise
 * the settings are reported.
 */
void cuda_libraries_describe(const collet_host *host, int driver, text *json);

/* Writes an open library's version and file, or the function that it lacks. */
void cuda_library_describe(const cuda_library_facts *facts, void *handle, char *value, size_t size);
