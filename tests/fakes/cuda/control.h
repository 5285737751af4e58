/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - between the tests and the libraries that plugins/cuda takes for libcuda and NVRTC,
 * so that its host side is tested where there is no GPU. Device memory is the host's; a launch is
 * written down, and no kernel runs unless the variable FAKE_NVRTC_CXX names a C++ compiler, by
 * which kernels become code of the host (compiler.h).
 *
 * Both libraries export one of these structs, `fake_cuda` and `fake_nvrtc`. The library counts, the
 * test sets what stands under "Set by the test". One thread at a time, but for the counters.
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
    /* ---- Set by the test; fake_cuda_reset's values are the first ---- */
    int devices;       /* 1 */
    int capability;    /* 90 */
    int version;       /* 12040 */
    size_t memory;     /* bytes of each device: 1 MiB, or FAKE_CUDA_MEMORY of the
                          environment */
    int apart;         /* GPUs do not reach each other's memory */
    int busy;          /* streams and events are not done until they are waited for */
    const char *fails; /* the function of this name (NULL: none), without cu, */
    int fails_after;   /* after so many calls that do not fail, */
    int fails_times;   /* so many times, */
    int fails_with;    /* gives this CUresult */
    int faults;        /* the launch of this number from now on (0: none) breaks its context */
    int faults_with;   /* with this */
    /* ---- Counted ---- */
    _Atomic int contexts, allocations, host_allocations, streams, events, modules; /* alive */
    _Atomic int allocated, synchronized, waits; /* calls of MemAlloc, Stream- and EventSynchronize,
                                                   StreamWaitEvent */
    _Atomic int peer_copies;
    _Atomic int unordered; /* commands that nothing orders after others on the same memory: copies,
                              fills, writes, and launches as to their first argument */
    _Atomic int outside;   /* calls with another context than the object's */
    _Atomic int launch_count;
    fake_launch launches[FAKE_LAUNCHES]; /* the last ones, at launch number % FAKE_LAUNCHES */
    void (*reset)(void);                 /* everything as at first, but for what is alive */
    void *(*current)(void);              /* this thread's current context */
    /* ---- For the libraries beside it ---- */
    int (*holds)(const void *address, size_t bytes); /* all of it is one piece of the memory of the
                                                        current context's device */
    int (*is_stream)(const void *stream);            /* alive, and of the current context */
    void (*catch_up)(void *stream);                  /* its late writes are done */
    void (*tell)(const char *library, int calls, int wrong); /* at the end, a line in the file that
                                                                FAKE_CUDA_TALLY names */
} fake_cuda_control;

typedef struct fake_nvrtc_control {
    int major, minor;         /* 12, 4 */
    const int *architectures; /* 75, 80, 90 */
    int architecture_count;
    int fails;          /* nothing compiles */
    int damaged;        /* what comes out is not what the driver takes */
    int compiled;       /* counted */
    char options[1024]; /* of the last, apart by blanks */
} fake_nvrtc_control;

typedef struct fake_cufft_control {
    int create_fails, plan_fails, exec_fails; /* what these return */
    int plans;                                /* alive */
    int made, executed;
    int wrong; /* calls that the real one may crash of, or answer nonsense */
} fake_cufft_control;

typedef struct fake_cusolver_control {
    int create_fails; /* no handle is to be had */
    int fails;        /* what every function that computes returns */
    int handles;      /* alive, of any kind */
    int computed;
    int wrong; /* calls that the real one may crash of, or answer nonsense */
} fake_cusolver_control;

typedef struct fake_cublas_control {
    int fails;     /* what every product returns; cublasCreate, where it is 1 */
    int handles;   /* alive */
    int products;  /* computed */
    int math_mode; /* the last one */
} fake_cublas_control;

#endif
