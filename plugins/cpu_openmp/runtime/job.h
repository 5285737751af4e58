/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - splits the items of a call into pieces, which threads take. Private to team.c.
 *
 * The pieces are grouped in parts, one for each useful thread. A thread begins with the part that has its own number:
 * the data of this part may be in the thread's caches and in its node's memory. Then it takes pieces of other parts.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define JOB_PARTS 64 /* the maximum number of parts of a job */
#define JOB_PIECES 8 /* the maximum number of pieces of a part */
#define JOB_LINE 64

/* The state of a part: the number of threads that may take pieces (all thread numbers below it may), the number of
 * pieces, and how many pieces have begun. The state is one word, so that a compare-and-swap cannot take a piece of a
 * later job. */
#define JOB_REST(threads, pieces, begun)                                                           \
    ((uint64_t)(threads) << 32 | (uint64_t)(pieces) << 16 | (begun))
#define JOB_THREADS(word) ((int32_t)((word) >> 32))
#define JOB_ALL(word) ((int32_t)((word) >> 16 & 0xffff))
#define JOB_BEGUN(word) ((int32_t)((word)&0xffff))

/* This bit of `done` is set while the caller sleeps on `done`. */
#define JOB_SLEEPS 0x80000000u

typedef struct job {
    /* These members do not change while a piece is left or running. */
    _Alignas(JOB_LINE) void (*body)(void *argument, int32_t thread, int64_t begin, int64_t end);
    void *argument;
    int64_t count;
    int32_t pieces;                           /* pieces of a part, 1 .. JOB_PIECES */
    _Atomic int32_t part_count, threads;      /* may be outdated for a thread that has no piece */
    _Atomic int32_t to_wake;                  /* workers still to be woken */
    _Atomic int32_t processor;                /* the caller's processor */
    _Alignas(JOB_LINE) _Atomic uint32_t done; /* number of finished pieces; a futex */
    struct {
        _Alignas(JOB_LINE) _Atomic uint64_t left;
    } parts[JOB_PARTS];
} job;

/* Offers the pieces of `parts` parts to threads 0..threads-1. Before the call, body, argument, count and pieces must be
 * set, and no piece of the job may be left or running. */
void job_begin(job *j, int32_t threads, int32_t parts);

/* The state of a part: a JOB_REST. */
static inline uint64_t job_rest(const job *j, int32_t part)
{
    return atomic_load_explicit(&j->parts[part].left, memory_order_relaxed);
}

/* Whether a part in the state `rest` has pieces that the thread may take. */
static inline bool job_is_open(uint64_t rest, int32_t thread)
{
    return JOB_BEGUN(rest) < JOB_ALL(rest) && thread < JOB_THREADS(rest);
}

/* Takes a piece of a part for the thread; returns the piece's number, or -1 if no piece is left. */
int32_t job_take(job *j, int32_t part, int32_t thread);
/* Runs a piece that the thread has taken. */
void job_run(const job *j, int32_t part, int32_t piece, int32_t thread);
/* Reports pieces as done; the last one wakes the caller. */
void job_report(job *j, uint32_t pieces);
/* The number of pieces that no thread has begun, from part `first` on; at most `most`. */
int32_t job_left(const job *j, int32_t first, int32_t most);

/* The order in which a thread looks for pieces: part `own`, then the other parts of its NUMA node (the `count` parts
 * from `first` on), then the parts of other nodes. */
typedef struct job_order {
    int32_t own, first, count, parts;
} job_order;

/* The order for thread `number`, whose node has the threads first..end-1. */
job_order job_order_of(const job *j, int32_t number, int32_t first, int32_t end);

/* The i-th part of the order. */
static inline int32_t job_part_at(const job_order *o, int32_t i)
{
    return (o->first + (i < o->count ? (o->own - o->first + i) % o->count : i)) % o->parts;
}
