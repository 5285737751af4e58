/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statics.h - static objects that a library in C++ (oneDNN, LLVM) makes within its functions.
 *
 * Their destructors are registered at the first call of such a function, so exit() runs them before
 * all handlers that were registered earlier: while other threads use the objects, or make them.
 */
#ifndef PLUGINS_SHARED_HOST_UTIL_STATICS_H
#define PLUGINS_SHARED_HOST_UTIL_STATICS_H

/*
 * From now on exit() does not destroy static objects that the library (a handle of dlopen, which is
 * never closed) makes, for any caller in the process. Objects made while it was loaded are
 * destroyed. 0: the system does not allow this.
 */
int statics_keep(void *handle);
/* The same for the library that contains `address` and for the libraries that it names as needed,
 * where their file's name begins with one of `prefixes`, a list that ends with NULL. */
int statics_keep_needed(void *address, const char *const *prefixes);

#endif
