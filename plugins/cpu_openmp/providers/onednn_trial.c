/* SPDX-License-Identifier: Apache-2.0 */
#include "onednn_trial.h"

#include <stdio.h>

#include "trial.h"

typedef struct tried {
    onednn *library;
    onednn_plans *plans;
    int large; /* int8 products as large ones are made */
} tried;

static int product(void *context, trial_type type, const blas_matrix *c, const blas_matrix *a,
                   const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    const tried *t = context;
    onednn_use use;
    int fine;
    int32_t threads = onednn_enter(t->library, &use, 1);
    if (type == TRIAL_BF16)
        fine = onednn_product_planned(t->library, t->plans, threads, ONEDNN_BF16_F32, c, a, b, m, n,
                                      k);
    else if (type == TRIAL_I8 && !t->large)
        fine =
            onednn_product_planned(t->library, t->plans, threads, ONEDNN_I8_I32, c, a, b, m, n, k);
    else if (type == TRIAL_I8)
        fine = onednn_product_i8(t->library, c, a, b, m, n, k);
    else
        fine = onednn_product_f32(t->library, c, a, b, m, n, k);
    onednn_leave(t->library, &use);
    return fine;
}

void onednn_describe(onednn *o, onednn_trial_result *result)
{
    result->fine = 1;
    onednn_version(o, result->version, sizeof result->version);
    (void)snprintf(result->isa, sizeof result->isa, "%s", onednn_isa(o));
    onednn_path(o, result->path, sizeof result->path);
}

void onednn_trial(void *argument, void *result)
{
    static const trial_type types[ONEDNN_TYPES] = {TRIAL_F32, TRIAL_BF16, TRIAL_I8};
    const onednn_trial_case *what = argument;
    onednn_trial_result *found = result;
    const char *why = NULL;
    onednn_settle(&what->settings);
    tried t = {.library = onednn_open(&why), .plans = onednn_plans_create()};
    if (t.library) {
        onednn_describe(t.library, found);
        why = NULL;
        for (int i = 0; i < ONEDNN_TYPES; i++) {
            const char *wrong = trial_run(product, &t, types[i], what->threads, &found->gflops[i]);
            if (i == ONEDNN_I8 && !wrong) {
                t.large = 1;
                wrong = trial_run(product, &t, types[i], what->threads, &found->gflops[i]);
            }
            found->gflops[i] = wrong ? 0.0 : found->gflops[i];
            why = i == ONEDNN_F32 ? wrong : why;
        }
    }
    onednn_plans_free(t.plans);
    found->fine = !why;
    (void)snprintf(found->why, sizeof found->why, "%s", why ? why : "");
}
