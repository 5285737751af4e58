/* SPDX-License-Identifier: Apache-2.0 */
#include "random.h"

#include "texts.h"
#include "view.h"

static const char *const texts[] = {device_text_functions, device_text_complex, device_text_random,
                                    NULL};
static const device_source source = {"random", texts};

static const char *options_of(const collet_kernel_call *call)
{
    int narrow = device_operand(call, 0)->dtype == COLLET_F32;
    if (call->op == COLLET_OP_NORMAL)
        return narrow ? "-DTO=f32 -DNORMAL=1" : "-DTO=f64 -DNORMAL=1";
    return narrow ? "-DTO=f32 -DNORMAL=0" : "-DTO=f64 -DNORMAL=0";
}

/* Groups of as many blocks as they have items, from the block of number `offset` on. */
static uint64_t groups_for(const device_traits *t, const collet_operand *out, uint64_t offset)
{
    uint64_t lanes = out->dtype == COLLET_F32 ? 4 : 2, count = (uint64_t)device_count(out);
    return count ? device_groups(t, device_ceiling(offset % lanes + count, lanes)) : 0;
}

collet_status device_random(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call)
{
    const collet_random_params *params = call->params;
    const device_traits *t = device_traits_of(device);
    const collet_operand *out = device_operand(call, 0);
    int adjacent = device_contiguous(out);
    device_launch l;
    device_view view;
    device_launch_begin(&l, &source, options_of(call), adjacent ? "adjacent" : "strided");
    device_pass_operand(&l, out);
    device_pass_u64(&l, params->seed);
    device_pass_u64(&l, params->offset);
    device_pass_i64(&l, device_count(out));
    if (!adjacent) {
        device_view_of(&view, t, call, 1);
        device_pass_block(&l, &view, sizeof view);
    }
    return device_enqueue(device, queue, &l, groups_for(t, out, params->offset), call->err);
}
