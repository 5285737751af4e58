/* SPDX-License-Identifier: Apache-2.0 */
/* The list of backends. */
#pragma once

#include "backend.h"

/* Finds plugins and lists them as backends. */
collet_status registry_create(collet_runtime *runtime, collet_error *err);
void registry_destroy(collet_runtime *runtime);

backend *registry_find(const collet_runtime *runtime, const char *name);
/* The backend or layer to which the key "name.word" belongs, or NULL. */
const loader_plugin *registry_owner(const collet_runtime *runtime, const char *key);
/* The value of a backend's key in the choices of its probe and its calibration, or NULL. */
const char *registry_choice(const collet_runtime *runtime, const char *key);
