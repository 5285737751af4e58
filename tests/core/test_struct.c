/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of older and newer programs, and reserved fields. */
#include "common/fixture.h"
#include "util/struct.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

static int set_up(void **state)
{
    open_shared(BOTH, NULL, "cpu_scalar");
    return 0;
}

/* The elements of an array had 8 bytes in the first version and have 16 bytes in a later version. Each
 * version can read and write the arrays of the other version. */
TEST(elements_of_versions)
{
    const uint64_t first[2] = {1, 2}, second[4] = {1, 0, 2, 0}, set[4] = {1, 0, 2, 3};
    uint64_t got[2] = {9, 9}, made[4] = {9, 9, 9, 9};
    collet_error err;
    assert_int_equal(struct_elements(first, 2, 8, 8, 16, "it", &err), COLLET_OK);
    assert_int_equal(struct_elements(second, 2, 16, 8, 8, "it", &err), COLLET_OK);
    assert_error(struct_elements(set, 2, 16, 8, 8, "it", &err), COLLET_INVALID, err,
                 "it: byte 8 of a struct is not 0");
    assert_int_equal(struct_elements(set, 2, 12, 8, 8, "it", &err), COLLET_INVALID);
    assert_int_equal(struct_elements(set, 2, 0, 8, 8, "it", &err), COLLET_INVALID);
    assert_int_equal(struct_elements(set, 2, 1 << 20, 8, 8, "it", &err), COLLET_INVALID);
    struct_element(got, 16, first, 8, 1);
    assert_true(got[0] == 2 && got[1] == 0);
    struct_element(got, 8, set, 16, 1);
    assert_true(got[0] == 2 && got[1] == 0);
    struct_element_out(made, 16, 1, first, 8);
    assert_true(made[1] == 9 && made[2] == 1 && made[3] == 0);
    struct_element_out(made, 8, 1, set, 16);
    assert_true(made[0] == 9 && made[1] == 1 && made[2] == 1);
}

TEST_WITH(older_and_newer_blocks, set_up, tear_down)
{
    struct {
        collet_reduce_params known;
        uint64_t more;
    } newer = {.known = {.struct_size = sizeof newer, .axes = 1}};
    collet_reduce_params older = {.struct_size = 8, .axes = 1, .keepdims = 1};
    const float sum[] = {10};
    OWNED(collet_array) *a = floats(cx, 4, 1), *scalar = NULL;
    const collet_array *ins[] = {a};
    assert_ok(cx, collet_array_create(cx, &scalar, COLLET_F32, 0, NULL));
    assert_ok(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &newer));
    assert_ok(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &older));
    assert_floats(cx, scalar, sum);
    ((char *)&newer.more)[7] = 1;
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &newer), COLLET_INVALID,
                  "sum: byte 23 of a struct is not 0");
    newer.known.struct_size = UINT32_MAX; /* not set */
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &newer), COLLET_INVALID);
    older.struct_size = 3;
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &older), COLLET_INVALID);
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, NULL), COLLET_INVALID);
    assert_status(cx, collet_call(cx, 77, &scalar, ins, NULL), COLLET_NOT_FOUND);
    assert_status(cx, collet_call(cx, 0x80000000u + 200, &scalar, ins, NULL), COLLET_NOT_FOUND);
}

/* In the parameters of every op, a word that no field describes must be 0. */
TEST_WITH(reserved_fields_are_zero, set_up, tear_down)
{
    int reserved = 0;
    for (size_t i = 0; i < collet_ops_count(rt); i++) {
        collet_ops_info info = {.struct_size = sizeof info};
        assert_int_equal(collet_ops_at(rt, &info, i, NULL), COLLET_OK);
        for (uint32_t word = 1; word < info.params_size / 4 && info.id < 0x80000000u; word++) {
            _Alignas(16) uint32_t params[64] = {info.params_size};
            collet_array_spec specs[COLLET_MAX_OPERANDS] = {{0}}, outs[COLLET_MAX_OPERANDS] = {{0}};
            collet_error err = {COLLET_OK, ""};
            int described = 0, address = 0;
            for (uint32_t k = 0; k < info.n_in; k++)
                specs[k].dtype = COLLET_F32;
            for (uint32_t k = 0; k < info.n_out; k++)
                outs[k].ndim = COLLET_INFER;
            for (uint32_t k = 0; k < info.field_count; k++) {
                const collet_ops_field *f = &info.fields[k];
                int scalar = f->kind == COLLET_FIELD_SCALAR;
                address |= f->kind == COLLET_FIELD_POINTER && 4 * word >= f->offset;
                described |=
                    4 * word >= f->offset && 4 * word < f->offset + f->size - 4u * (uint32_t)scalar;
            }
            if (address) /* all later fields are addresses too */
                break;
            params[word] = 1;
            (void)collet_ops_infer(rt, info.id, outs, specs, sizeof *specs, params, &err);
            assert_int_equal(strstr(err.text, "a reserved field") != NULL, !described);
            reserved += !described;
        }
    }
    assert_true(reserved > 8);
}

typedef struct newer_record {
    collet_plugin_record known;
    uint64_t more;
} newer_record;

/* Fields of a newer program's output struct that this library does not know are set to zero. A
 * newer program's input struct is refused if it uses an unknown field. */
TEST_WITH(structs_of_newer_programs, set_up, tear_down)
{
    newer_record record = {.known = {.struct_size = sizeof record}, .more = ~0ull};
    collet_error err;
    assert_int_equal(collet_record_at(rt, &record.known, 0, &err), COLLET_OK);
    assert_true(record.more == 0 && record.known.struct_size == sizeof record);
    union {
        collet_plugin_record known;
        char bytes[4096];
    } largest = {.known = {.struct_size = sizeof largest}};
    assert_int_equal(collet_record_at(rt, &largest.known, 0, &err), COLLET_OK);
    record.known.struct_size = 0;
    assert_error(collet_record_at(rt, &record.known, 0, &err), COLLET_INVALID, err,
                 "collet_plugin_record: struct_size is 0");
    assert_error(collet_record_at(rt, &record.known, 1u << 30, &err), COLLET_NOT_FOUND, err,
                 "records");
    collet_counters counters = {.struct_size = 0};
    assert_status(cx, collet_context_counters(cx, &counters), COLLET_INVALID);
    struct {
        collet_runtime_options known;
        void *more;
    } options = {.known = {.struct_size = sizeof options, .plugin_path = "/nowhere"}};
    collet_runtime *newer = NULL;
    assert_int_equal(collet_runtime_create(&newer, &options.known, &err), COLLET_OK);
    collet_runtime_destroy(newer);
    options.more = &options;
    assert_error(collet_runtime_create(&newer, &options.known, &err), COLLET_INVALID, err,
                 "of a struct is not 0");
    options.known.struct_size = sizeof options.known;
    options.known.reserved = 1;
    assert_error(collet_runtime_create(&newer, &options.known, &err), COLLET_INVALID, err,
                 "options->reserved is 1");
}
