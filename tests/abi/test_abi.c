/* SPDX-License-Identifier: Apache-2.0 */
/* The structs that libcore and a compiled plugin share. If a size changes, raise COLLET_ABI or rebuild every plugin.
 * interface.c has the structs that libcore and programs share. */
#include <collet/collet.h>
#include <collet/extensions.h>

#include "common/test.h"

TEST(structs_have_their_sizes)
{
    static const struct {
        const char *name;
        size_t size, expected;
    } structs[] = {
#define SIZE(type, bytes) {#type, sizeof(type), bytes},
        /* clang-format off */
        SIZE(collet_operand, 40)
        SIZE(collet_kernel_call, 72)
        SIZE(collet_kernel_row, 40)
        SIZE(collet_ops_definition, 48)
        SIZE(collet_host, 64)
        SIZE(collet_device_properties, 24)
        SIZE(collet_plugin, 176)
        SIZE(collet_copy_extension, 16)
        SIZE(collet_explain_extension, 16)
        SIZE(collet_memory_extension, 24)
        SIZE(collet_native_extension, 48)
        SIZE(collet_pinned_extension, 24)
        SIZE(collet_timing_extension, 32)
        SIZE(collet_host_memory_extension, 16)
        SIZE(collet_trim_extension, 16)
        /* clang-format on */
    };
    int wrong = 0;
    if (sizeof(void *) != 8)
        skip();
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++) {
        if (structs[i].size != structs[i].expected) {
            print_error("%s has %zu bytes instead of %zu\n", structs[i].name, structs[i].size,
                        structs[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* No two ops share an id. No op has the id 0 or an id reserved for plugins' own ops. */
TEST(ids_are_unique)
{
    static const uint32_t ids[] = {
#define COLLET_OP(NAME, id, ...) id,
#include <collet/ops.def>

#include "common/test.h"
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_in_range(ids[i], 1, COLLET_OWN_OP(0) - 1);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(ids[i], ids[k]);
    }
}

/* abi and struct_size are the first members of both tables in every version. */
TEST(tables_begin_alike)
{
    assert_int_equal(offsetof(collet_host, abi), 0);
    assert_int_equal(offsetof(collet_host, struct_size), 4);
    assert_int_equal(offsetof(collet_plugin, abi), 0);
    assert_int_equal(offsetof(collet_plugin, struct_size), 4);
    assert_int_equal(COLLET_ABI, (uint32_t)COLLET_ABI_MAJOR << 16 | (uint32_t)COLLET_ABI_MINOR);
}

/* Operand k's dtype is stored in bits 5k to 5k+4, which hold every dtype. */
TEST(signatures_are_packed)
{
    assert_int_equal(COLLET_SIG(COLLET_F64, COLLET_F32, COLLET_F32), 4 | 3 << 5 | 3 << 10);
    assert_true(COLLET_DTYPE_COUNT <= 1 << COLLET_SIG_BITS);
    assert_true(COLLET_MAX_OPERANDS * COLLET_SIG_BITS <= 64);
    assert_int_equal(COLLET_OWN_OP(2), 0x80000002u);
}
