/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_explain.c */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include <collet/floating.h>

#include "call.h"
#include "device/open.h"
#include "device/rows.h"
#include "predict.h"
#include "util/numerals.h"

#define HOW_TEXT 1024 /* maximum bytes of the text of a device */

/* The caller's buffer for text. Text that does not fit is cut. */
typedef struct writer {
    char *at;
    size_t left; /* with the NUL */
} writer;

static void COLLET_PRINTF(2, 3) add(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(w->at, w->left, format, arguments);
    va_end(arguments);
    size_t used = n < 0 ? 0 : (size_t)n < w->left ? (size_t)n : w->left - 1;
    w->at += used;
    w->left -= used;
}

/* Whether the device would run the call, and the memory that it needs for the call; else f->err has the reason. */
static int accepts(frame *f, device *d, collet_kernel_call *call)
{
    f->err.text[0] = '\0';
    if (device_open(d, &f->err) != COLLET_OK)
        return 0;
    const collet_kernel_row *row = device_find_row(d, f->op->id, f->sig, f->mask);
    if (!row) {
        collet_fail(&f->err, COLLET_UNSUPPORTED, "it has no kernel %s%s", f->op->name,
                    device_find_row(d, f->op->id, 0, 0) ? " for these dtypes" : "");
        return 0;
    }
    return frame_accept(f, d, row, call) == COLLET_OK;
}

static void add_seconds(writer *w, const char *before, double seconds, const char *after)
{
    text_buffer t;
    text_clear(&t);
    if (seconds == 0)
        text_add(&t, "0");
    else if (seconds < 1e-6)
        text_add(&t, "%.1f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        text_add(&t, "%.2f us", 1e6 * seconds);
    else if (seconds < 1)
        text_add(&t, "%.3f ms", 1e3 * seconds);
    else
        text_add(&t, seconds < 1e6 ? "%.3f s" : "%.3g s", seconds);
    add(w, "%s%s%s", before, t.bytes, after);
}

/* Reports what the calibration predicts for the device. */
static void add_prediction(writer *w, const frame *f, const device *d)
{
    predicted parts;
    double all = calibration_of(d) ? predict_call(d, f->op, f->arrays, &parts) : NAN;
    if (isnan(all))
        return;
    add_seconds(w, "  Predicted from the calibration: ", all, "");
    add_seconds(w, ": kernel ", parts.kernel, "");
    add_seconds(w, ", inputs ", parts.operands, "");
    add_seconds(w, ", results ", parts.results, ".\n");
}

static void add_why(writer *w, const frame *f, uint32_t first, uint32_t tried)
{
    const selection *s = &f->cx->selection;
    int compared = s->automatic && s->count > 1 && f->cx->runtime->crossovers;
    int predicts = compared && predict_worth(f->cx->runtime, f->op, f->arrays) &&
                   predict_first(f->op, f->arrays, f->sig, f->mask, s) >= 0;
    if (tried >= s->count)
        add(w, "  Why: nothing of the choice '%s' can run the call, and fallback is on.\n",
            s->choice);
    else if (tried)
        add(w, "  Why: what comes before it cannot run the call.\n");
    else if (!s->automatic)
        add(w, "  Why: the choice of backend is '%s'.\n", s->choice);
    else if (predicts)
        add(w, "  Why: no other is predicted to be faster by a tenth.\n");
    else if (first > 0)
        add(w, "  Why: it has the only valid copy of an input.\n");
    else if (s->count == 1)
        add(w, "  Why: it is the only usable device.\n");
    else if (compared)
        add(w, "  Why: it is the first by priority, and no other was measured to be faster at this "
               "size.\n");
    else
        add(w, "  Why: it is the first by priority; not all backends are calibrated "
               "here (backend-bench calibrate).\n");
}

/* Reports which of its implementations of the op the device would use. */
static void add_how(writer *w, device *d, const collet_kernel_call *call)
{
    char how[HOW_TEXT] = "";
    if (d->extensions.explain) {
        locale_t before = numerals_begin();
        device_enter(d);
        d->extensions.explain->explain(d->handle, call, how, sizeof how);
        device_leave(d, COLLET_OK);
        numerals_end(before);
    }
    how[sizeof how - 1] = '\0';
    add(w, "  How: %s.\n", how[0] ? how : "by its one kernel for these dtypes");
    if (call->workspace_bytes)
        add(w, "  Scratch memory: %llu bytes.\n", (unsigned long long)call->workspace_bytes);
}

static void explain(frame *f, writer *w)
{
    const selection *s = &f->cx->selection;
    uint32_t first = call_preferred(f), served = 0;
    char remedy[256] = "";
    device *d;
    text_buffer operands;
    text_clear(&operands);
    frame_operands_text(&operands, f);
    if (f->empty) {
        add(w, "%s (%s): nothing is computed, because no output has an element.\n", f->op->name,
            operands.bytes);
        return;
    }
    add(w, "%s (%s)\n", f->op->name, operands.bytes);
    /* Like a call, this opens further backends only if none of the backends before them runs it. */
    for (uint32_t i = 0; (!served || i < s->total) && (d = call_device(f, first, i)); i++) {
        collet_kernel_call call;
        int runs = accepts(f, d, &call);
        if (!runs) {
            add(w, "%s would not run it: %s.\n", d->name, f->err.text);
        } else if (i && !served && !call_falls_back(f)) {
            add(w, "%s could run it, but the call is not passed on to it.\n", d->name);
        } else if (served++) {
            add(w, "%s could run it, too.\n", d->name);
            add_prediction(w, f, d);
        } else {
            add(w, "%s runs it.\n", d->name);
            add_why(w, f, first, i);
            add_prediction(w, f, d);
            add_how(w, d, &call);
        }
    }
    if (!served && !call_falls_back(f))
        call_remedy(f, remedy);
    if (!served)
        add(w, "No backend of the choice '%s' runs it%s.\n", s->choice, remedy);
}

collet_status collet_explain(collet_context *cx, uint32_t id, char *text, size_t capacity,
                             collet_array *const *outs, const collet_array *const *ins,
                             const void *params)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    if (program_scope.function && call_operands_fault(cx, id, outs, ins))
        return COLLET_INVALID;
    COLLET_FLOATING_SCOPE;
    frame f;
    collet_status status = frame_begin(&f, cx, id, outs, ins, params);
    if (status == COLLET_OK && (!text || !capacity))
        status = context_fail(cx, COLLET_INVALID, "collet_explain: there is no room for the text");
    if (status == COLLET_OK) {
        writer w = {text, capacity};
        explain(&f, &w);
    }
    frame_end(&f);
    return status;
}
