/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - libraries of the toolkit that replace Collet's own kernels for some ops. Each library is opened by the
 * first call that it can compute; the plugin links no library. If a library is missing or rejects a call, Collet's
 * kernels run.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include <collet/plugin.h>

typedef struct cuda_library {
    pthread_mutex_t lock;
    int tried;    /* whether opening was tried */
    void *handle; /* NULL: not usable */
} cuda_library;

/* A function of a library and the offset of its pointer in the library's struct. */
typedef struct cuda_symbol {
    const char *name;
    size_t place;
} cuda_symbol;

typedef struct cuda_library_facts {
    const char *title;   /* "cuFFT" */
    const char *name;    /* "libcufft.so" */
    const char *setting; /* "cuda.cufft": the library's path, or "off" */
    const char *version; /* name of a function like cufftGetProperty(type, int *) */
    const char *instead; /* the end of a message: the implementation that runs without the library */
    const cuda_symbol *symbols;
    size_t symbol_count;
} cuda_library_facts;

/* An element of a table of symbols; `owner` is the struct of the pointers. */
#define CUDA_SYMBOL(owner, member, symbol)                                                         \
    {                                                                                              \
#symbol, offsetof(owner, member)                                                           \
    }

/* The newest major version of CUDA whose libraries are tried. */
#define CUDA_NEWEST_MAJOR 13

/* Opens a library of the toolkit, such as "libnvrtc.so", from the linker's path or where toolkits are
 * installed. Tries the driver's major version (`driver` as cuDriverGetVersion returns it), then older
 * versions, the newest first, then newer versions. NULL: not found. */
void *cuda_library_open(const char *name, int driver);

/* Stores the addresses of the symbols in *target, unless that is NULL. Returns the name of the first missing symbol, or
 * NULL. */
const char *cuda_symbols_find(const cuda_symbol *symbols, size_t count, void *handle, void *target);

/* Returns 1 if the library is open. The first call tries to open the file that the library's setting names; if the
 * setting is empty, the library that cuda_library_open finds; if it is "off", none. A missing library is logged.
 * Any thread may call it. `library` is the first member of the struct that holds the symbols. */
int cuda_library_ready(const collet_host *host, int driver, const cuda_library_facts *facts,
                       cuda_library *library);

/* Why safe mode disables the libraries (setting cuda.safe_mode); NULL outside safe mode. */
const char *cuda_safe_mode(const collet_host *host);

/* Parts of cuda_library_ready: whether the setting or safe mode disables the library; its handle,
 * or NULL. */
int cuda_library_off(const collet_host *host, const cuda_library_facts *facts);
void *cuda_library_load(const collet_host *host, int driver, const cuda_library_facts *facts);
