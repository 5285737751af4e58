/* SPDX-License-Identifier: Apache-2.0 */
/* The other functions that a oneDNN has: each declines. Apart from onednn.c because the header
 * knows them by other types. */
static int decline(void)
{
    return 1;
}

#define DECLINES(name) extern __typeof__(decline) dnnl_##name __attribute__((alias("decline")))

DECLINES(engine_create);
DECLINES(stream_create);
DECLINES(stream_destroy);
DECLINES(stream_wait);
DECLINES(memory_desc_init_by_strides);
DECLINES(memory_desc_get_size);
DECLINES(memory_create);
DECLINES(memory_destroy);
DECLINES(memory_set_data_handle);
DECLINES(matmul_desc_init);
DECLINES(primitive_attr_create);
DECLINES(primitive_attr_destroy);
DECLINES(primitive_attr_set_scratchpad_mode);
DECLINES(primitive_desc_create);
DECLINES(primitive_desc_destroy);
DECLINES(primitive_desc_query_md);
DECLINES(primitive_create);
DECLINES(primitive_destroy);
DECLINES(primitive_execute);
DECLINES(gemm_s8s8s32);
