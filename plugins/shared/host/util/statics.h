/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statics.h - static objects that a C++ library (oneDNN, LLVM) creates within its functions.
 *
 * Their destructors are registered at the first call of such a function. So exit() runs them before all
 * handlers that were registered earlier, while other threads may still create or use such objects.
 */
#pragma once

/* Makes exit() not destroy static objects that the library creates from now on, for any caller in the process.
 * Objects that were created while the library was loaded are destroyed. `handle` is from dlopen and must never
 * be closed. Returns 0 if the system does not allow this. Several threads may call both functions at the same time. */
int statics_keep(void *handle);
/* The same for the library that contains `address`, and for the libraries that it needs and whose file names begin with
 * one of `prefixes`, a list that ends with NULL. */
int statics_keep_needed(void *address, const char *const *prefixes);
