/* SPDX-License-Identifier: Apache-2.0 */
/*
 * end.h - the end of the process, before which the devices of all runtimes finish their work.
 *
 * exit() runs handlers in the order opposite to their registration. Drivers' libraries destroy their
 * objects in such handlers, while the drivers' threads may still compile or run what was enqueued. So
 * libcore registers its handler again after each library was loaded.
 *
 * fork() waits, a short time at most, for devices whose drivers work in threads of this process.
 */
#pragma once

#include "device/runtime.h"

/* Adds a runtime to the list of runtimes that end with the process; end_remove removes it. NO_MEMORY. */
collet_status end_add(collet_runtime *runtime, collet_error *err);
void end_remove(collet_runtime *runtime);
/* Called when a context first uses a device: exit() ends the device's work before it destroys the libraries that were
 * loaded before this call. */
void end_watch(void);
