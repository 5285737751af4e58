/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - libraries of the toolkit that serve rows in the place of Collet's own kernels, each
 * opened at the first call that it can compute: the plugin links none of them and loads without.
 * Where one is missing, or says no to a call, the family's own kernels serve.
 */
#ifndef COLLET_CUDA_LIBRARY_H
#define COLLET_CUDA_LIBRARY_H

#include <pthread.h>
#include <stddef.h>

#include <collet/plugin.h>

typedef struct cuda_library {
    pthread_mutex_t lock;
    int tried;    /* opened, or found missing */
    void *handle; /* NULL: there is none */
} cuda_library;

/* A function of a library, and where in the library's struct its pointer stands. */
typedef struct cuda_symbol {
    const char *name;
    size_t place;
} cuda_symbol;

typedef struct cuda_library_facts {
    const char *name;    /* "libcufft.so" */
    const char *setting; /* "cuda.cufft": its path, or "off" */
    const char *version; /* its function cufftGetProperty(type, int *) */
    const char *instead; /* what happens without it, as a sentence's end */
    const cuda_symbol *symbols;
    size_t symbol_count;
} cuda_library_facts;

/* A row of a table of symbols for a list of functions (abi/abi.h) and the struct `owner` of their
 * pointers; library files define SYMBOL by it. */
#define CUDA_SYMBOL(owner, member, symbol)                                                         \
    {                                                                                              \
#symbol, offsetof(owner, member)                                                           \
    }

/* The newest major version of CUDA whose libraries are looked for. */
#define CUDA_NEWEST_MAJOR 13

/*
 * Opens a library of the toolkit, "libnvrtc.so", from the linker's path or where toolkits are
 * installed: of the driver's major version (`driver` as cuDriverGetVersion has it), else the newest
 * older one, else a newer one. NULL: not found.
 */
void *cuda_library_open(const char *name, int driver);

/* Writes the symbols that `handle` has to *target (NULL: nowhere). The name of the first that it
 * lacks, or NULL. */
const char *cuda_symbols_find(const cuda_symbol *symbols, size_t count, void *handle, void *target);

/*
 * 1 when the library is open: what its setting names, unless that is "off", else the one of the
 * driver's major version or an older one. Tried once; where it is missing that is logged. Any
 * thread. `library` begins the struct that the symbols are written to.
 */
int cuda_library_ready(const collet_host *host, int driver, const cuda_library_facts *facts,
                       cuda_library *library);

/* Why the libraries are left alone (host->config "cuda.safe_mode"); NULL: they are not. */
const char *cuda_safe_mode(const collet_host *host);

/* The parts of it: whether the setting, or safe mode, turns it off; the library, or NULL. */
int cuda_library_off(const collet_host *host, const cuda_library_facts *facts);
void *cuda_library_load(const collet_host *host, int driver, const cuda_library_facts *facts);

#endif
