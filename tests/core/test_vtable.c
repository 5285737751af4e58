/* SPDX-License-Identifier: Apache-2.0 */
/* Each violation of the contract in a plugin's table is refused with its own message. */
#include "common/test.h"
#include "plugins/vtable.h"

#define SIG_ADD COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32)

static collet_status run(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    return COLLET_REFUSED;
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    return COLLET_FAILED;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    return COLLET_FAILED;
}

static void device_close(collet_device *device)
{
}

/* A valid table to be corrupted; everything it points to is writable too. */
typedef struct sample {
    collet_plugin table;
    collet_kernel_row rows[4];
    collet_ops_definition ops[2];
    const char *names[4];
    manifest manifest;
} sample;

static int setup(void **state)
{
    sample *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->ops[0] = (collet_ops_definition){
        .name = "zoo.twice", .shapes = "... : ...", .sigs = "f:f d:d", .alias = 1};
    s->ops[1] = (collet_ops_definition){.name = "zoo.sum",
                                        .shapes = "out[F] : a[F,N] scale[N]?",
                                        .sigs = "d:ff d:dd",
                                        .params_size = 8};
    const collet_kernel_row rows[] = {
        COLLET_ROW(ADD, SIG_ADD, run, NULL),
        COLLET_ROW(ADD, COLLET_SIG(COLLET_F64, COLLET_F64, COLLET_F64), run, NULL),
        {.op = COLLET_OWN_OP(0), .sig = COLLET_SIG(COLLET_F32, COLLET_F32), .run = run},
        {.op = COLLET_OWN_OP(1),
         .sig = COLLET_SIG(COLLET_F64, COLLET_F32, COLLET_DTYPE_NONE),
         .params_size = 8,
         .run = run},
    };
    memcpy(s->rows, rows, sizeof rows);
    s->names[0] = "zoo.twice";
    s->names[1] = "add";
    s->names[2] = "zoo.sum";
    manifest_init(&s->manifest);
    s->manifest.name = "sample";
    s->manifest.abi = COLLET_ABI;
    s->manifest.kernels = s->names;
    s->manifest.kernel_count = 3;
    s->table.abi = COLLET_ABI;
    s->table.struct_size = sizeof s->table;
    s->table.kernel_count = 4;
    s->table.kernel_size = sizeof *s->rows;
    s->table.op_count = 2;
    s->table.op_size = sizeof *s->ops;
    s->table.name = "sample";
    s->table.version = "1";
    s->table.kernels = s->rows;
    s->table.ops = s->ops;
    s->table.capabilities = capabilities;
    s->table.device_open = device_open;
    s->table.device_close = device_close;
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void expect(const sample *s, const char *expected, const char *reason)
{
    refusal why = {.text = ""};
    collet_status status = vtable_verify(&s->table, &s->manifest, &why);
    if (strcmp(why.code, expected) || (status == COLLET_OK) != !strcmp(expected, "ok") ||
        !strstr(why.text, reason))
        fail_msg("%d %s: %s; expected %s: %s", status, why.code, why.text, expected, reason);
}

TEST_WITH(a_valid_table, setup, teardown)
{
    sample *s = *state;
    expect(s, "ok", "");
    s->table.kernel_count = s->table.op_count = 0;
    s->table.kernels = NULL;
    s->table.ops = NULL;
    s->manifest.kernel_count = 0;
    expect(s, "ok", "");
}

TEST_WITH(head, setup, teardown)
{
    sample *s = *state;
    s->table.abi = 3u << 16;
    expect(s, "vtable-abi", "3.0");
    s->table.abi = COLLET_ABI;
    s->table.struct_size = offsetof(collet_plugin, extension);
    expect(s, "vtable-short", "first version");
    s->table.struct_size = sizeof s->table + 64;
    expect(s, "ok", "");
    s->table.name = "another";
    expect(s, "vtable-name", "'another'");
    s->table.name = NULL;
    expect(s, "vtable-name", "NULL");
    s->table.name = "sample";
    s->table.version = NULL;
    expect(s, "vtable-name", "version");
}

TEST_WITH(slots, setup, teardown)
{
    sample *s = *state;
    s->table.device_open = NULL;
    expect(s, "vtable-slot", "device_open");
    s->table.device_open = device_open;
    expect(s, "ok", "");
}

TEST_WITH(reserved_fields, setup, teardown)
{
    sample *s = *state;
    s->table.flags = 1;
    expect(s, "vtable-reserved", "0x1");
    s->table.flags = 0;
    s->table.reserved = 7;
    expect(s, "vtable-reserved", "7");
}

static void expect_device(const sample *s, collet_device_properties of, const char *expected,
                          const char *reason)
{
    refusal why = {.text = ""};
    collet_status status = vtable_check_device(&s->table, &of, &why);
    if (strcmp(why.code, expected) || (status == COLLET_OK) != !strcmp(expected, "ok") ||
        !strstr(why.text, reason))
        fail_msg("%d %s: %s; expected %s: %s", status, why.code, why.text, expected, reason);
}

TEST_WITH(devices, setup, teardown)
{
    const collet_device_properties plain = {.memory = COLLET_MEMORY_HOST,
                                            .order = COLLET_ORDER_SYNCHRONOUS,
                                            .threads = COLLET_THREADS_ONE};
    collet_device_properties of = plain;
    expect_device(*state, of, "ok", "");
    of.memory = 0;
    expect_device(*state, of, "device-properties", "memory to 0");
    of.memory = COLLET_MEMORY_OWN;
    expect_device(*state, of, "device-slot", "buffer_alloc");
    of = plain;
    of.order = COLLET_ORDER_QUEUES;
    expect_device(*state, of, "device-slot", "queue_create");
    of.order = 3;
    expect_device(*state, of, "device-properties", "order to 3");
    of = plain;
    of.threads = 0;
    expect_device(*state, of, "device-properties", "threads to 0");
    of = plain;
    of.reserved = 1;
    expect_device(*state, of, "device-properties", "reserved to 1");
}

TEST_WITH(arrays, setup, teardown)
{
    sample *s = *state;
    s->table.kernels = NULL;
    expect(s, "vtable-arrays", "the address of the 4 kernel rows is NULL");
    s->table.kernels = s->rows;
    s->table.kernel_size = sizeof *s->rows - 8;
    expect(s, "vtable-arrays", "32 bytes");
    s->table.kernel_size = sizeof *s->rows + 4;
    expect(s, "vtable-arrays", "44 bytes");
    s->table.kernel_size = 8192;
    expect(s, "vtable-arrays", "8192 bytes");
    s->table.kernel_size = sizeof *s->rows;
    s->table.kernel_count = UINT32_MAX;
    expect(s, "vtable-arrays", "at most");
    s->table.kernel_count = 4;
    s->table.op_size = 8;
    expect(s, "vtable-arrays", "own ops");
}

/* Rows of a later minor version are longer. libcore steps through them by their own size. */
TEST_WITH(longer_rows, setup, teardown)
{
    sample *s = *state;
    struct {
        collet_kernel_row row;
        uint64_t appended;
    } rows[4];
    for (size_t i = 0; i < 4; i++) {
        rows[i].row = s->rows[i];
        rows[i].appended = UINT64_MAX;
    }
    s->table.kernels = &rows[0].row;
    s->table.kernel_size = sizeof *rows;
    expect(s, "ok", "");
    assert_ptr_equal(vtable_kernel(&s->table, 3), &rows[3].row);
    assert_ptr_equal(vtable_op(&s->table, 1), &s->ops[1]);
}

TEST_WITH(rows, setup, teardown)
{
    sample *s = *state;
    collet_kernel_row saved = s->rows[0];
    s->rows[0].run = NULL;
    expect(s, "vtable-run", "row 0 (add)");
    s->rows[0].op = 200;
    expect(s, "vtable-run", "row 0 (?)");
    s->rows[0] = saved;
    s->rows[0].op = 200;
    expect(s, "vtable-op", "op 200");
    s->rows[0].op = 100000;
    expect(s, "vtable-op", "op 100000");
    s->rows[0].op = COLLET_OWN_OP(2);
    expect(s, "vtable-op", "row 0");
    s->rows[0] = saved;
    s->rows[0].sig = COLLET_SIG(COLLET_F32, COLLET_F32);
    expect(s, "vtable-sig", "op add has no signature f:f-; it has ");
    s->rows[0].sig = COLLET_SIG(COLLET_F32, COLLET_F64, COLLET_F32, COLLET_F32);
    expect(s, "vtable-sig", "op add has no signature f:dff; it has ");
    s->rows[0].sig = COLLET_SIG(COLLET_F32, COLLET_F32, 31);
    expect(s, "vtable-sig", "op add has no signature f:f[31]; it has ");
    s->rows[0].sig = COLLET_SIG(COLLET_F32, 31, COLLET_F32);
    expect(s, "vtable-sig", "op add has no signature f:[31]f; it has ");
    s->rows[0].sig = UINT64_MAX;
    expect(s, "vtable-sig", "op add has no signature [31]:[31][31][31]");
    s->rows[0].sig = s->rows[1].sig;
    expect(s, "vtable-repeated", "two kernel rows for op add, signature ");
}

/* A row with unknown flags is left out; its op and signature are not checked. */
TEST_WITH(row_flags, setup, teardown)
{
    sample *s = *state;
    assert_true(vtable_row_usable(&s->rows[0]));
    s->rows[0].flags = 2;
    s->rows[0].sig = 0;
    assert_false(vtable_row_usable(&s->rows[0]));
    expect(s, "ok", "");
    s->rows[0].flags = 0;
    expect(s, "vtable-sig", "op add");
    s->rows[0].reserved = 1;
    assert_false(vtable_row_usable(&s->rows[0]));
    expect(s, "ok", "");
    s->rows[0].op = 200;
    expect(s, "ok", "");
}

TEST_WITH(row_params, setup, teardown)
{
    sample *s = *state;
    s->rows[0].params_size = 4;
    expect(s, "vtable-params", "params_size is 4; the parameters of op add have 0 bytes");
    s->table.abi = COLLET_ABI + 1;
    expect(s, "ok", "");
    s->rows[3].params_size = 12;
    expect(s, "vtable-params", "zoo.sum");
    s->rows[3].params_size = 0;
    expect(s, "vtable-params", "zoo.sum");
    s->rows[3].params_size = 4;
    expect(s, "ok", "");
}

TEST_WITH(own_ops, setup, teardown)
{
    sample *s = *state;
    static const char *const names[] = {"twice", "zoo.", ".twice", "zoo.a.b", "Zoo.twice", NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        s->ops[0].name = names[i];
        expect(s, "vtable-own-op", "vendor.op");
    }
    char longest[COLLET_MAX_NAME + 1] = "zoo.";
    memset(longest + 4, 'a', COLLET_MAX_NAME - 4);
    s->ops[0].name = longest;
    expect(s, "vtable-own-op", "vendor.op");
    s->ops[0].name = "zoo.sum";
    expect(s, "vtable-own-op", "two own ops");
    s->ops[0].name = "zoo.twice";
    s->ops[0].shapes = "@twice";
    expect(s, "vtable-own-op", "zoo.twice");
    s->ops[0].shapes = NULL;
    expect(s, "vtable-own-op", "zoo.twice");
    s->ops[0].shapes = "F F";
    expect(s, "vtable-own-op", "zoo.twice");
    static const char *const unbound[] = {"MN : M",      "N,MN : MK", "MN : M N?", "MN : M N|N,3",
                                          "MNK : M,N,K", "M,3N : M",  "MN : M,K",  "MN : N,K"};
    for (size_t i = 0; i < sizeof unbound / sizeof *unbound; i++) {
        s->ops[0].shapes = unbound[i];
        s->ops[0].sigs = strchr(unbound[i], '?') || strchr(unbound[i], '|') ? "f:ff" : "f:f";
        expect(s, "vtable-own-op", "zoo.twice");
    }
    s->ops[0].shapes = "MN,N : M"; /* N is bound by an output, M by the input */
    s->ops[0].sigs = "f:f";
    expect(s, "ok", "");
    static const char *const sigs[][2] = {{"f:ff", "have different numbers of operands"},
                                          {"ff:", "have different numbers of operands"},
                                          {"f:f:", "have different numbers of operands"},
                                          {"f:?", "is malformed at '?'"},
                                          {"f:ffffffffffff", "is malformed"},
                                          {" ", "there is no signature"},
                                          {NULL, "zoo.twice: sigs is NULL"}};
    s->ops[0].shapes = "... : ...";
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        s->ops[0].sigs = sigs[i][0];
        expect(s, "vtable-own-op", sigs[i][1]);
    }
    char many[4 * 25 + 1] = "";
    for (int i = 0; i < 25; i++)
        strcat(many, "f:f ");
    s->ops[0].sigs = many;
    expect(s, "vtable-own-op", "too many signatures");
    s->ops[0].sigs = "q:q f:f"; /* q: a type of a later version */
    expect(s, "ok", "");
    s->ops[0].sigs = "f:f";
    s->ops[0].params_size = 3;
    expect(s, "vtable-own-op", "zoo.twice");
    s->ops[0].params_size = 257;
    expect(s, "vtable-own-op", "zoo.twice");
}

/* An op with as many operands as a call can have. */
TEST_WITH(own_op_of_all_operands, setup, teardown)
{
    sample *s = *state;
    s->ops[0].shapes = "M : M M M M M M M M M M M";
    s->ops[0].sigs = "f:fffffffffff f:***********";
    for (uint32_t i = 0; i < COLLET_MAX_OPERANDS; i++)
        s->rows[2].sig |= COLLET_SIG_AT(i, COLLET_F32);
    expect(s, "ok", "");
    s->rows[2].sig ^= COLLET_SIG_AT(11, COLLET_F32 ^ COLLET_F64);
    expect(s, "ok", "");
    s->rows[2].sig |= COLLET_SIG_AT(11, 31);
    expect(s, "vtable-sig", "op zoo.twice has no signature f:ffffffffff[31]; it has ");
}

TEST_WITH(own_operand_names, setup, teardown)
{
    sample *s = *state;
    static const char *const malformed[] = {"out[F : a[F,N] b[N]?",
                                            "out[F] : out[F,N] b[N]?",
                                            "out]F] : a[F,N] b[N]?",
                                            "o-t[F] : a[F,N] b[N]?",
                                            "out[*] : a[F,N] b[N]?",
                                            "[F] : a[F,N] b[N]?",
                                            "a_name_of_twenty_four_ch[F] : a[F,N] b[N]?"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        s->ops[1].shapes = malformed[i];
        expect(s, "vtable-own-op", "zoo.sum");
    }
}

TEST_WITH(own_parameter_fields, setup, teardown)
{
    sample *s = *state;
    s->ops[1].shapes = "out[F] : a[F,N] scale[N]?";
    collet_ops_field fields[2] = {
        {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 4}};
    s->ops[1].fields = fields;
    s->ops[1].field_count = 1;
    s->ops[1].field_size = sizeof *fields;
    expect(s, "ok", "");
    const collet_ops_field
        good = fields[0],
        wrong[] = {
            {NULL, "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 4},
            {"power", NULL, NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 4},
            {"power", "what for", "a b", 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_CHOICE, COLLET_F32, 4, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_KINDS, COLLET_F32, 4, 4},
            {"power", "what for", NULL, 1, -1, COLLET_F32, 4, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, 99, 4, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 8},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 3},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 0},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 0, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 8, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, UINT32_MAX, 4},
            {"power", "what for", NULL, 1, COLLET_FIELD_SCALAR, COLLET_U8, 4, 4},
            {"scale", "an operand too", NULL, 1, COLLET_FIELD_NUMBER, COLLET_F32, 4, 4},
        };
    static const char *const reasons[] = {
        "zoo.sum: field '' of its parameters: name is NULL",
        "zoo.sum: field 'power' of its parameters: meaning is NULL",
        "a number has no choices, but there are 'a b'",
        "a choice cannot have the dtype",
        "its kind is 8; kinds are 0 to 7",
        "its kind is -1",
        "a number cannot have the dtype 99 (none)",
        "its 8 bytes from byte 4 on are outside of the parameter block of 8",
        "its size is 3 bytes; a number of this dtype has a multiple of 4",
        "its size is 0 bytes",
        "its offset is 0; it must be after struct_size and a multiple of 4",
        "its 4 bytes from byte 8 on are outside of the parameter block of 8",
        "its offset is 4294967295",
        "its size is 4 bytes; a scalar of this dtype has 24",
        "a field and an operand have the same name",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fields[0] = wrong[i];
        expect(s, "vtable-own-op", reasons[i]);
    }
    fields[0] = good;
    fields[0].kind = COLLET_FIELD_FLAG;
    fields[0].dtype = COLLET_U32;
    fields[0].default_value = 2;
    expect(s, "vtable-own-op", "its default 2 is not a value of a flag of u32");
    fields[0].kind = COLLET_FIELD_CHOICE;
    expect(s, "vtable-own-op", "a choice needs its values: choices is NULL");
    fields[0] = fields[1] = good;
    s->ops[1].field_count = 2;
    expect(s, "vtable-own-op", "two fields");
    s->ops[1].field_size = 8;
    expect(s, "vtable-own-op",
           "zoo.sum: it has 2 fields in an array of 8 bytes each; a field must have");
    s->ops[1].fields = NULL;
    expect(s, "vtable-own-op", "zoo.sum: it has 2 fields at NULL");
    s->ops[1].field_count = 33;
    expect(s, "vtable-own-op", "zoo.sum: field_count is 33; it must be at most 32");
}

/* Kind, dtype, size, alignment and default of a field must be consistent. */
TEST_WITH(own_field_kinds, setup, teardown)
{
    static const struct {
        const char *choices;
        double value;
        int32_t kind;
        collet_dtype dtype;
        uint32_t offset, size;
        int32_t sound;
    } cases[] = {
        {NULL, 0.5, COLLET_FIELD_NUMBER, COLLET_F32, 4, 4, 1},
        {NULL, 0.5, COLLET_FIELD_NUMBER, COLLET_I32, 4, 4, 0},
        {NULL, -3, COLLET_FIELD_NUMBER, COLLET_I32, 4, 4, 1},
        {NULL, -3, COLLET_FIELD_NUMBER, COLLET_U32, 4, 4, 0},
        {NULL, 256, COLLET_FIELD_NUMBER, COLLET_U8, 4, 4, 0},
        {NULL, 0, COLLET_FIELD_NUMBER, COLLET_C64, 8, 8, 0},
        {NULL, 0, COLLET_FIELD_NUMBER, COLLET_F64, 4, 8, 0},
        {NULL, 0, COLLET_FIELD_NUMBER, COLLET_F64, 8, 16, 1},
        {NULL, 1, COLLET_FIELD_FLAG, COLLET_U32, 4, 4, 1},
        {NULL, 2, COLLET_FIELD_FLAG, COLLET_U32, 4, 4, 0},
        {NULL, 1, COLLET_FIELD_FLAG, COLLET_F32, 4, 4, 0},
        {" a  b", 1, COLLET_FIELD_CHOICE, COLLET_U32, 4, 4, 1},
        {" a  b", 2, COLLET_FIELD_CHOICE, COLLET_U32, 4, 4, 0},
        {NULL, -1, COLLET_FIELD_AXES, COLLET_U32, 4, 4, 1},
        {NULL, -1, COLLET_FIELD_AXES, COLLET_I32, 4, 4, 0},
        {NULL, -1, COLLET_FIELD_AXES, COLLET_U32, 4, 8, 0},
        {NULL, 0, COLLET_FIELD_RANK, COLLET_U32, 4, 4, 1},
        {NULL, 0, COLLET_FIELD_RANK, COLLET_F32, 4, 4, 0},
        {NULL, -1, COLLET_FIELD_PERMUTATION, COLLET_I32, 4, 32, 1},
        {NULL, -1, COLLET_FIELD_PERMUTATION, COLLET_I32, 4, 16, 0},
        {NULL, -1, COLLET_FIELD_PERMUTATION, COLLET_U32, 4, 32, 0},
        {NULL, 0, COLLET_FIELD_SCALAR, COLLET_U8, 8, 24, 1},
        {NULL, 0, COLLET_FIELD_SCALAR, COLLET_F32, 8, 24, 0},
        {NULL, 0, COLLET_FIELD_SCALAR, COLLET_U8, 4, 24, 0},
        {NULL, 0, COLLET_FIELD_SCALAR, COLLET_U8, 8, 48, 0},
        {NULL, 0, COLLET_FIELD_POINTER, COLLET_U64, 8, 8, 0},
    };
    sample *s = *state;
    collet_ops_field field = {.name = "power", .meaning = "what for"};
    s->ops[1].params_size = 64;
    s->ops[1].fields = &field;
    s->ops[1].field_count = 1;
    s->ops[1].field_size = sizeof field;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        field.choices = cases[i].choices;
        field.default_value = cases[i].value;
        field.kind = cases[i].kind;
        field.dtype = cases[i].dtype;
        field.offset = cases[i].offset;
        field.size = cases[i].size;
        expect(s, cases[i].sound ? "ok" : "vtable-own-op", cases[i].sound ? "" : "power");
    }
}

TEST_WITH(kernels_differ, setup, teardown)
{
    sample *s = *state;
    s->manifest.kernel_count = 2;
    expect(s, "kernels-differ", "table has the kernel zoo.sum");
    s->manifest.kernel_count = 4;
    s->names[3] = "mul";
    expect(s, "kernels-differ", "names the kernel mul");
    s->names[3] = "nothing";
    expect(s, "kernels-differ", "names the kernel nothing");
    s->manifest.kernel_count = 1;
    expect(s, "kernels-differ", "table has the kernel add");
}

/* A plugin of a newer minor version may implement ops unknown to this core. */
TEST_WITH(newer_minor, setup, teardown)
{
    sample *s = *state;
    const collet_kernel_row row = s->rows[0];
    s->rows[1].op = 200;
    s->rows[1].sig = 31;
    s->names[3] = "op_of_the_future";
    s->manifest.kernel_count = 4;
    expect(s, "vtable-op", "op 200");
    s->table.abi = COLLET_ABI + 1;
    expect(s, "ok", "");
    s->rows[0] = s->rows[1];
    expect(s, "vtable-repeated", "two kernel rows for op 200 with one signature");
    s->rows[0] = row;
    s->rows[0].sig = 31;
    expect(s, "ok", "");
    s->rows[0] = row;
    s->rows[2].op = COLLET_OWN_OP(5);
    expect(s, "vtable-op", "row 2");
    s->rows[2].op = COLLET_OWN_OP(0);
    s->rows[1] = s->rows[0];
    s->rows[1].sig = COLLET_SIG(COLLET_F64, COLLET_F64, COLLET_F64);
    expect(s, "kernels-differ", "unknown");
}

/* ---- Layers ---------------------------------------------------------------------------------- */

#define DIFFERS(change)                                                                            \
    do {                                                                                           \
        sample over = *s;                                                                          \
        refusal why;                                                                               \
        over.table.kernels = over.rows;                                                            \
        over.table.ops = over.ops;                                                                 \
        assert_int_equal(vtable_verify_layer(&over.table, &s->table, &why), COLLET_OK);            \
        change;                                                                                    \
        assert_int_equal(vtable_verify_layer(&over.table, &s->table, &why), COLLET_FORMAT);        \
        assert_string_equal(why.code, "layer-differs");                                            \
    } while (0)

TEST_WITH(layer_over_another_table, setup, teardown)
{
    const sample *s = *state;
    DIFFERS(over.table.kernel_count--);
    DIFFERS(over.table.op_count--);
    DIFFERS(over.rows[0].op++);
    DIFFERS(over.rows[1].sig++);
    DIFFERS(over.rows[2].params_size++);
    DIFFERS(over.rows[3].flags++);
    DIFFERS(over.rows[3].reserved++);
    DIFFERS(over.ops[0].name = "zoo.thrice");
    DIFFERS(over.ops[0].shapes = "");
    DIFFERS(over.ops[0].sigs = "f:f");
    DIFFERS(over.ops[1].params_size++);
    DIFFERS(over.ops[1].alias++);
    DIFFERS(over.ops[1].field_count++);
}
