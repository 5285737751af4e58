/* SPDX-License-Identifier: Apache-2.0 */
/* One call on several backends in turn, so that all see the same load of the machine. */
#ifndef TOOLS_BENCH_OPS_TURNS_H
#define TOOLS_BENCH_OPS_TURNS_H

#include "common/sampler.h"
#include "measure.h"

#define BENCH_TURNS 8 /* rounds; each measures every backend */

typedef struct bench_turn {
    const char *choice;
    collet_status status;
    char error[COLLET_ERROR_TEXT]; /* of a status other than OK */
    tool_stats stats;
    double low, high;     /* of the medians of the rounds, seconds a call */
    double peak_device;   /* bytes that arrays had allocated on the device */
    double peak_resident; /* bytes of this process, libraries and other backends included */
    bench_calls calls;
    tool_sampler sampler;
} bench_turn;

/* Measures the layout's call on each turn's `choice` for about `seconds` each. The other members are
 * results; each has a status of its own. The status returned is for the arrays, with the text in
 * the context. */
collet_status bench_turns_measure(bench_session *session, const bench_layout *layout,
                                  bench_turn *turns, int32_t count, double seconds);

#endif
