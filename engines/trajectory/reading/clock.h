/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - times of frames whose files store them in single precision.
 *
 * The distance of numbers of single precision is 0.008 ps near 100 ns, and 0.06 ps near 1 us. If frames are 0.1 ps
 * apart, derivatives with respect to such times would have errors of some percent. A clock is a line, time = origin_ps
 * + (n - origin) interval. n is the step of the simulation or, if steps do not give the times, the number of the frame.
 * The line must give each stored time within its rounding. If no line fits, times remain as stored.
 *
 * Among the lines that fit, the line with the shortest decimal interval is chosen, if such a short number is unlikely
 * to be in the range by chance; else the middle line is chosen.
 */
#pragma once

#include <stdint.h>

enum { TRAJECTORY_CLOCK_STORED, TRAJECTORY_CLOCK_STEPS, TRAJECTORY_CLOCK_FRAMES };

/* Zeros: TRAJECTORY_CLOCK_STORED. Part of the index file. */
typedef struct trajectory_clock {
    int64_t by;      /* TRAJECTORY_CLOCK_ */
    int64_t origin;  /* the step, or the number of the frame, at time origin_ps */
    double origin_ps;
    double interval; /* the clock's interval is interval / scale ps; */
    double scale;    /* scale is a power of ten */
} trajectory_clock;

/* A frame of a file. */
typedef struct trajectory_tick {
    int64_t frame; /* number in the trajectory */
    int64_t step;  /* step without overflow, by trajectory_clock_step; -1: not in the file */
    double time;   /* ps, as stored */
    double rounding; /* half the distance of stored numbers near this time, ps; 0: the format rounds less */
} trajectory_tick;

/* The clock of n frames of one or several files, in order. */
trajectory_clock trajectory_clock_fit(const trajectory_tick *ticks, int64_t n);

/* The time of a frame in ps; `step` is the step in the file, which may have overflowed. */
double trajectory_clock_time(const trajectory_clock *clock, int64_t frame, int64_t step,
                             double stored);

/* Returns the step without the overflow of its 32 bits. `before` is the step without overflow of the frame before. */
int64_t trajectory_clock_step(int64_t step, int64_t before);
