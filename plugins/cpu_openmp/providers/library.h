/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - shared libraries that this plugin opens at run time and keeps for the life of the
 * process.
 *
 * Their functions are taken from the library's own handle, and the library itself is bound deep:
 * neither our calls nor the calls within it can meet functions of the same names that the host
 * program exports (cblas_sgemm, sgemm_...). Any thread.
 */
#ifndef COLLET_OPENMP_LIBRARY_H
#define COLLET_OPENMP_LIBRARY_H

#include <stdint.h>

/*
 * Opens the library of that name (as dlopen takes it) while its constructors, and nobody else for
 * longer than that, see `variables` ("NAME=value", then NULL; NULL: none) in the environment too.
 * Those that the environment has keep the value that they have there. The strings live as long as
 * the process. NULL when it cannot be opened.
 */
void *library_open(const char *name, const char *const *variables);

/* The library's handle when the process has it loaded already, else NULL. */
void *library_loaded(const char *name);

/* *function (a pointer to a function) becomes that of the library; 0 when there is none. */
int library_find(void *handle, const char *name, void *function);

/* The path of the file that *function, as library_find set it, lies in; "" when unknown. */
void library_path(void *function, char *path, uint64_t capacity);

#endif
