/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.h - which libraries of the toolkit (library.h) are installed. */
#ifndef COLLET_CUDA_LIBRARIES_H
#define COLLET_CUDA_LIBRARIES_H

#include <collet/plugin.h>

#include "shared/host/util/text.h"

/*
 * Adds `"libraries": {...}, ` to the capabilities: of each library its version and file, or what is
 * missing and what happens instead. They are opened in a child of the probe, for that takes a
 * second or two; outside of a probe nothing is opened and only the settings are told.
 */
void cuda_libraries_describe(const collet_host *host, int driver, text *json);

#endif
