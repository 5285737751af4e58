/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - how tests control the stand-ins for the CUDA driver and its libraries. With them the
 * host code of plugins/cuda is tested without a GPU. Device memory is host memory. Launches are
 * recorded; kernels run only if the variable FAKE_NVRTC_CXX names a C++ compiler, which compiles
 * them for the host (compiler.h).
 *
 * Each library exports one of these structs, such as `fake_cuda`. Tests set the members under "Set
 * by the test"; the library counts in the other members. Only one thread at a time may use members
 * that are not atomic.
 */
#ifndef TESTS_FAKES_CUDA_CONTROL_H
#define TESTS_FAKES_CUDA_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_LAUNCHES 64

typedef struct fake_launch {
    char kernel[64];
    unsigned groups, items;
    void *first; /* the first argument's value */
} fake_launch;

typedef struct fake_cuda_control {
    /* ---- Set by the test; a number as comment: the value after reset; no number: 0 ---- */
    int devices;       /* 1 */
    int capability;    /* 90 */
    int version;       /* 12040 */
    size_t memory;     /* bytes of each device: 1 MiB, or FAKE_CUDA_MEMORY of the
                          environment */
    int apart;         /* GPUs have no peer access */
    int twins;         /* all GPUs have the same name */
    int busy;          /* streams and events complete only when waited for */
    const char *fails; /* name of the failing function, without cu; NULL: none */
    int fails_after;   /* number of its calls that succeed first */
    int fails_times;   /* number of its calls that then fail */
    int fails_with;    /* their CUresult */
    int faults;        /* number of the launch, from now, that breaks its context; 0: none */
    int faults_with;   /* its CUresult */
    /* ---- Counted ---- */
    _Atomic int contexts, allocations, host_allocations, streams, events, modules; /* alive */
    _Atomic int allocated, synchronized, waits; /* calls of MemAlloc, Stream- and EventSynchronize,
                                                   StreamWaitEvent */
    _Atomic int peer_copies;
    _Atomic int graphs;         /* alive, of both kinds */
    _Atomic int graph_launches; /* the launches of their kernels count in launch_count too */
    _Atomic int graph_updates;  /* nodes whose arguments were set anew */
    _Atomic int unordered; /* commands not ordered after earlier commands on the same memory: copies,
                              fills, writes, and launches (their first argument) */
    _Atomic int outside;   /* calls in the wrong context */
    _Atomic int launch_count;
    fake_launch launches[FAKE_LAUNCHES]; /* ring buffer: launch number % FAKE_LAUNCHES */
    void (*reset)(void);                 /* resets all but the counters of living objects */
    void *(*current)(void);              /* this thread's current context */
    /* ---- For the other stand-ins ---- */
    int (*holds)(const void *address, size_t bytes); /* whether the bytes are in one allocation of
                                                        the current context's device */
    int (*is_stream)(const void *stream);            /* whether it is an existing stream */
    void (*catch_up)(void *stream);                  /* completes the stream's delayed copies */
    void (*report)(const char *library, int calls, int wrong); /* at exit: appends a line to the
                                                                file in FAKE_CUDA_TALLY */
} fake_cuda_control;

typedef struct fake_nvrtc_control {
    int major, minor;         /* 12, 4 */
    const int *architectures; /* 75, 80, 90 */
    int architecture_count;
    int fails;          /* every compilation fails */
    int damaged;        /* the driver rejects the code */
    int compiled;       /* counted */
    char options[1024]; /* options of the last compilation, separated by spaces */
} fake_nvrtc_control;

typedef struct fake_cufft_control {
    int create_fails, plan_fails, exec_fails; /* status that these return */
    int plans;                                /* alive */
    int made, executed;
    int wrong; /* invalid calls, which could crash the real library */
} fake_cufft_control;

typedef struct fake_cusolver_control {
    int create_fails;         /* handles cannot be created */
    int fails;                /* status of every computing function */
    int handles;              /* alive, of any kind */
    int computed, of_complex; /* all calls; calls with complex numbers */
    int wrong;                /* invalid calls, which could crash the real library */
} fake_cusolver_control;

typedef struct fake_cublas_control {
    int fails;     /* status of every product; 1: also of cublasCreate */
    int handles;   /* alive */
    int products;  /* computed */
    int math_mode; /* the last mode that was set */
} fake_cublas_control;

#endif
