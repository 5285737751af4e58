/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_openmp/runtime/device.h"

#include <string.h>

#include "shared/host/fft/shift.h"
#include "own.h"
#include "fftw.h"

static collet_status unknown(const collet_host *host, const char *key, const char *word,
                             const char *choices, collet_error *err)
{
    return host->fail(err, COLLET_UNAVAILABLE, "cpu_openmp: %s is %s, not '%s'", key, choices,
                      word);
}

collet_status openmp_fft_choose(const collet_host *host, int32_t *by, collet_error *err)
{
    const char *fft = host->config(host, "cpu_openmp.fft"), *reason = "";
    const char *plan = host->config(host, "cpu_openmp.fft_plan");
    int measured = plan && strcmp(plan, "measure") == 0;
    *by = FFT_BY_OWN;
    if (plan && !measured && strcmp(plan, "estimate") != 0)
        return unknown(host, "cpu_openmp.fft_plan", plan, "estimate or measure", err);
    if (!fft || strcmp(fft, "own") == 0)
        return COLLET_OK;
    if (strcmp(fft, "fftw") != 0)
        return unknown(host, "cpu_openmp.fft", fft, "own or fftw", err);
    if (!fftw_usable(&reason))
        return host->fail(err, COLLET_UNAVAILABLE, "cpu_openmp: cpu_openmp.fft = fftw: %s", reason);
    *by = measured ? FFT_BY_FFTW_MEASURED : FFT_BY_FFTW;
    return COLLET_OK;
}

void openmp_fft_describe(const collet_host *host, text *json)
{
    static const char *const names[] = {
        [FFT_BY_OWN] = "own",
        [FFT_BY_FFTW] = "FFTW, plans estimated",
        [FFT_BY_FFTW_MEASURED] = "FFTW, plans measured",
    };
    collet_error err;
    int32_t by;
    collet_status status = openmp_fft_choose(host, &by, &err);
    text_add(json, ", \"fft\": ");
    text_quote(json, status == COLLET_OK ? names[by] : err.text);
}

static int is_own(const collet_device *device, const collet_kernel_call *call)
{
    return device->fft == FFT_BY_OWN || !fftw_takes(call);
}

WORKSPACE(fft)
{
    return is_own(device, call) ? fft_own_workspace(device, call) : fftw_workspace(device, call);
}

KERNEL(fft)
{
    return is_own(device, call) ? fft_own_run(device, call) : fftw_run(device, call);
}

KERNEL(fftshift)
{
    return cpu_fft_shift(device, queue, call, openmp_copy);
}
