/* SPDX-License-Identifier: Apache-2.0 */
/* The structs and constants of the plugin interface match abi_2.def. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include <collet/collet.h>
#include <collet/extensions.h>

typedef struct pin {
    const char *what;
    long long is, pinned;
} pin;

#define SIZE(type, pinned) {"sizeof(" #type ")", (long long)sizeof(type), pinned},
#define FIELD(type, field, pinned)                                                                 \
    {"offset of " #type "." #field, (long long)offsetof(type, field), pinned},
#define VALUE(name, pinned) {#name, (long long)(name), pinned},

static const pin pins[] = {
#include "abi_2.def"
};

static void every_pin_holds(void **state)
{
    int moved = 0;
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        if (pins[i].is != pins[i].pinned) {
            print_error("%s is %lld, pinned at %lld\n", pins[i].what, pins[i].is, pins[i].pinned);
            moved++;
        }
    }
    assert_int_equal(moved, 0);
}

/* The id of each op; the size and the fields of each parameter block that ops.def lists. */
static void every_op_is_pinned(void **state)
{
    static const char *const required[] = {
#define COLLET_OP(NAME, ...) "COLLET_OP_" #NAME,
#define COLLET_PARAMS(type) "sizeof(" #type ")",
#define COLLET_FIELD(type, field, ...) "offset of " #type "." #field,
#include <collet/ops.def>
    };
    int missing = 0;
    (void)state;
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        size_t k = 0;
        while (k < sizeof pins / sizeof pins[0] && strcmp(pins[k].what, required[i]) != 0)
            k++;
        if (k == sizeof pins / sizeof pins[0]) {
            print_error("%s has no row in abi_2.def\n", required[i]);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

/* abi and struct_size are the first members of both tables in every version. */
static void tables_begin_alike(void **state)
{
    (void)state;
    assert_int_equal(offsetof(collet_host, abi), 0);
    assert_int_equal(offsetof(collet_host, struct_size), 4);
    assert_int_equal(offsetof(collet_plugin, abi), 0);
    assert_int_equal(offsetof(collet_plugin, struct_size), 4);
    assert_int_equal(COLLET_ABI, (uint32_t)COLLET_ABI_MAJOR << 16 | (uint32_t)COLLET_ABI_MINOR);
}

/* Operand k's dtype is stored in bits 5k to 5k+4, which hold every dtype. */
static void signatures_are_packed(void **state)
{
    (void)state;
    assert_int_equal(COLLET_SIG(COLLET_F64, COLLET_F32, COLLET_F32), 4 | 3 << 5 | 3 << 10);
    assert_true(COLLET_DTYPE_COUNT <= 1 << COLLET_SIG_BITS);
    assert_true(COLLET_MAX_OPERANDS * COLLET_SIG_BITS <= 64);
    assert_int_equal(COLLET_OWN_OP(2), 0x80000002u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pin_holds),
        cmocka_unit_test(every_op_is_pinned),
        cmocka_unit_test(tables_begin_alike),
        cmocka_unit_test(signatures_are_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
