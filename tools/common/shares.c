/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_several_devices.c */
#include "shares.h"

#include "json_add.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>

void tool_share_warn(const collet_device_share *share)
{
    fprintf(stderr, "%s: warning: the device %s failed; the other devices compute its part: %s\n",
            program_invocation_short_name, share->device, share->error);
}

void tool_share_print(const collet_device_share *share, const char *unit)
{
    printf("  %s: %lld %s", share->device, (long long)share->done, unit);
    if (share->seconds > 0)
        printf(", %.4g a second", (double)share->done / share->seconds);
    if (share->error)
        printf("; failed: %s", tool_shown(share->error));
    putchar('\n');
}

void tool_share_add(cJSON *list, const collet_device_share *share, const char *unit)
{
    cJSON *object = list ? json_append_object(list) : NULL;

    json_add_text(object, "device", share->device);
    json_add_number(object, unit, (double)share->done);
    json_add_number(object, "seconds", share->seconds);
    if (share->error)
        json_add_text(object, "error", share->error);
}

static double rate(const collet_device_share *share)
{
    return (double)share->done / (share->seconds > 1e-9 ? share->seconds : 1e-9);
}

void tool_shares_plan(const collet_device_share *shares, int64_t count, const char *unit,
                      cJSON *root)
{
    cJSON *list = root ? cJSON_AddArrayToObject(root, "measured") : NULL;
    double all = 0;

    for (int64_t i = 0; i < count; i++)
        all += rate(&shares[i]);
    for (int64_t i = 0; i < count; i++) {
        double part = rate(&shares[i]) / all;

        if (root) {
            tool_share_add(list, &shares[i], unit);
            json_add_number(cJSON_GetArrayItem(list, (int)i), "part", part);
        } else {
            printf("  %s: %.4g %s a second, about %.0f %% of them\n", shares[i].device,
                   rate(&shares[i]), unit, 100 * part);
        }
    }
}
