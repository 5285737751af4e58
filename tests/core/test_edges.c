/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and edge cases of callers, plugins and settings: rare but valid input is accepted, invalid
 * input is reported. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fixture.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

static int set_up(void **state)
{
    (void)state;
    open_shared(BOTH, NULL, "cpu_scalar");
    return 0;
}

static void an_absent_operand_of_an_elementwise_op(void **state)
{
    (void)state;
    uint32_t plus = 0;
    const int64_t two[] = {2, 2};
    assert_ok(cx, collet_set_backend(cx, "remote"));
    assert_int_equal(collet_op_find(rt, "remote.plus", &plus, NULL), COLLET_OK);
    collet_array *flat = floats(cx, 4, 1), *a = NULL, *t = NULL, *c = NULL;
    assert_ok(cx, collet_array_reshape(cx, &a, flat, 2, two));
    assert_ok(cx, collet_array_permute(cx, &t, a, NULL));
    assert_ok(cx, collet_array_create(cx, &c, COLLET_F32, 2, two));
    const collet_array *one[] = {t, NULL}, *both[] = {t, a};
    assert_ok(cx, collet_call(cx, plus, &c, one, NULL));
    const float transposed[] = {1, 3, 2, 4}, sums[] = {2, 5, 5, 8};
    assert_floats(cx, c, transposed);
    assert_ok(cx, collet_call(cx, plus, &c, both, NULL));
    assert_floats(cx, c, sums);
    collet_array *nothing[] = {NULL};
    assert_status(cx, collet_call(cx, plus, nothing, both, NULL), COLLET_INVALID);
    collet_array_free(flat);
    collet_array_free(a);
    collet_array_free(t);
    collet_array_free(c);
}

static void sums_of_odd_axes(void **state)
{
    (void)state;
    const int32_t far[] = {-1, 77}, zero[] = {0};
    collet_array *a = floats(cx, 4, 1), *c = empty_floats(cx, 1);
    assert_status(cx, collet_sum(cx, c, NULL, far, 2, 0), COLLET_INVALID);
    assert_status(cx, collet_sum(cx, c, a, far, 2, 0), COLLET_INVALID);
    assert_status(cx, collet_sum(cx, c, a, NULL, 1, 1), COLLET_INVALID);
    assert_status(cx, collet_sum(cx, c, a, zero, -1, 1), COLLET_INVALID);
    assert_ok(cx, collet_sum(cx, c, a, zero, 1, 1));
    collet_array_free(a);
    collet_array_free(c);
}

/* Columns of one table do not overlap, although their byte ranges do. */
static void columns_of_a_table_do_not_overlap(void **state)
{
    (void)state;
    const int64_t table_shape[] = {4, 6};
    double zeros[24] = {0}, vectors[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1}, z[] = {0, 0, 1},
           got[24];
    const int64_t vector_shape[] = {4, 3}, three = 3;
    collet_array *table = NULL, *left, *right, *shifted, *v = NULL, *axis = NULL;
    assert_ok(cx, collet_array_from(cx, &table, COLLET_F64, 2, table_shape, zeros));
    assert_ok(cx, collet_array_from(cx, &v, COLLET_F64, 2, vector_shape, vectors));
    assert_ok(cx, collet_array_from(cx, &axis, COLLET_F64, 1, &three, z));
    assert_ok(cx, collet_array_slice(cx, &left, table, 1, 0, 3, 1));
    assert_ok(cx, collet_array_slice(cx, &right, table, 1, 5, 3, -1));
    assert_ok(cx, collet_array_slice(cx, &shifted, table, 1, 2, 3, 1));
    assert_ok(cx, collet_decompose(cx, left, right, v, axis));
    assert_ok(cx, collet_array_read(cx, table, got, sizeof got));
    const double row[] = {0, 0, 3, 0, 2, 1};
    assert_memory_equal(got, row, sizeof row);
    assert_status(cx, collet_decompose(cx, left, shifted, v, axis), COLLET_INVALID);
    assert_text_has(cx, " (output 1) overlap");
    assert_ok(cx, collet_add(cx, right, right, left));
    assert_int_equal(counters_of(cx).temporaries, 0);
    assert_ok(cx, collet_add(cx, shifted, shifted, left));
    assert_int_equal(counters_of(cx).temporaries, 1);
    /* Two rows are enough. */
    collet_array *rows, *these, *those;
    assert_ok(cx, collet_array_slice(cx, &rows, table, 0, 0, 2, 1));
    assert_ok(cx, collet_array_slice(cx, &these, rows, 1, 0, 3, 1));
    assert_ok(cx, collet_array_slice(cx, &those, rows, 1, 3, 3, 1));
    assert_ok(cx, collet_add(cx, these, these, those));
    assert_int_equal(counters_of(cx).temporaries, 1);
    collet_array_free(rows);
    collet_array_free(these);
    collet_array_free(those);
    collet_array_free(table);
    collet_array_free(left);
    collet_array_free(right);
    collet_array_free(shifted);
    collet_array_free(v);
    collet_array_free(axis);
}

static void memory_of_one_space(void **state)
{
    (void)state;
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, "host", &stats));
    assert_true(stats.total > 0);
    assert_ok(cx, collet_memory(cx, "remote:1", &stats));
    assert_int_equal(stats.total, 0);
    assert_status(cx, collet_memory(cx, "auto", &stats), COLLET_INVALID);
    assert_status(cx, collet_memory(cx, "remote:0,remote:1", &stats), COLLET_INVALID);
    assert_text_has(cx, "neither \"host\" nor one device");
    stats.struct_size = 0;
    assert_status(cx, collet_memory(cx, "host", &stats), COLLET_INVALID);
}

/* One backend claims all 63 devices: it gets 16, and the next one works. */
static void devices_are_left(void **state)
{
    static const char *const settings[] = {"remote.devices=63", "probe=off", "backend=remote",
                                           NULL};
    (void)state;
    collet_runtime *crowded = runtime_with(BOTH, settings);
    collet_context *own = context_of(crowded);
    assert_ok(own, collet_set_backend(own, "cpu_scalar"));
    assert_ok(own, collet_set_backend(own, "remote:15"));
    assert_status(own, collet_set_backend(own, "remote:16"), COLLET_UNAVAILABLE);
    assert_ok(own, collet_set_backend(own, "auto"));
    collet_context_destroy(own);
    collet_runtime_destroy(crowded);
}

/* The probe passes the backend's settings to its plugin. */
static void settings_reach_the_probe(void **state)
{
    static const char *const settings[] = {"remote.devices=9", "remote.devices=3", NULL};
    (void)state;
    collet_runtime *three = runtime_with(REMOTE_PLUGIN, settings);
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(three, 0, &info, NULL), COLLET_OK);
    assert_int_equal(info.state, COLLET_BACKEND_USABLE);
    assert_int_equal(info.device_count, 3);
    collet_runtime_destroy(three);
}

/* A path with a leading '+' is prepended to the path of lower-priority sources. */
static void a_path_is_added_in_front(void **state)
{
    (void)state;
    setenv("COLLET_PLUGIN_PATH", SCALAR_PLUGIN, 1);
    collet_runtime *both = runtime_with("+" REMOTE_PLUGIN, NULL);
    unsetenv("COLLET_PLUGIN_PATH");
    assert_int_equal(collet_backend_count(both), 2);
    for (size_t i = 0; i < collet_setting_count(both); i++) {
        collet_setting s = {.struct_size = sizeof s};
        assert_int_equal(collet_setting_at(both, i, &s, NULL), COLLET_OK);
        if (!strcmp(s.key, "plugin_path"))
            assert_string_equal(s.value, REMOTE_PLUGIN ":" SCALAR_PLUGIN);
    }
    collet_runtime_destroy(both);
}

static void assert_threads(const collet_runtime_options *options, const char *value,
                           const char *source)
{
    collet_runtime *threads = NULL;
    assert_int_equal(collet_runtime_create(&threads, options, NULL), COLLET_OK);
    for (size_t i = 0; i < collet_setting_count(threads); i++) {
        collet_setting s = {.struct_size = sizeof s};
        assert_int_equal(collet_setting_at(threads, i, &s, NULL), COLLET_OK);
        if (strcmp(s.key, "num_threads") != 0)
            continue;
        assert_string_equal(s.value, value);
        assert_string_equal(s.source, source);
    }
    collet_runtime_destroy(threads);
}

/* Every other source overrides a program's defaults; invalid defaults are refused. */
static void a_program_has_defaults(void **state)
{
    static const char *const three[] = {"num_threads=3", NULL}, *const five[] = {"num_threads=5",
                                                                                 NULL};
    static const char *const wrong[] = {"num_thread=3", NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = SCALAR_PLUGIN, .defaults = three};
    collet_runtime *none = NULL;
    collet_error err;
    (void)state;
    assert_threads(&options, "3", "default");
    setenv("COLLET_NUM_THREADS", "4", 1);
    assert_threads(&options, "4", "environment");
    options.settings = five;
    assert_threads(&options, "5", "program");
    unsetenv("COLLET_NUM_THREADS");
    options.defaults = wrong;
    assert_int_equal(collet_runtime_create(&none, &options, &err), COLLET_INVALID);
    assert_non_null(strstr(err.text, "defaults of the program"));
}

static void keep_text(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_WARNING)
        snprintf(user, COLLET_ERROR_TEXT, "%s", text);
}

/* The reason is the machine, where nothing else is. */
static void more_threads_than_processors(void **state)
{
    static const char *const many[] = {"num_threads=1000000", NULL};
    char text[COLLET_ERROR_TEXT] = "", reason[128];
    collet_runtime *most = NULL;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = SCALAR_PLUGIN,
                                      .settings = many,
                                      .log = keep_text,
                                      .log_user = text};
    cpu_set_t first, own;
    long machine = sysconf(_SC_NPROCESSORS_ONLN);
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    if (CPU_COUNT(&own) < machine || machine < 2)
        skip();
    assert_int_equal(collet_runtime_create(&most, &options, NULL), COLLET_OK);
    collet_runtime_destroy(most);
    snprintf(reason, sizeof reason,
             "is 1000000, but this machine has %ld processors: %ld threads are", machine, machine);
    assert_non_null(strstr(text, reason));
    CPU_ZERO(&first);
    CPU_SET((size_t)sched_getcpu(), &first);
    assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
    assert_int_equal(collet_runtime_create(&most, &options, NULL), COLLET_OK);
    collet_runtime_destroy(most);
    assert_int_equal(sched_setaffinity(0, sizeof own, &own), 0);
    snprintf(reason, sizeof reason, "affinity of this thread allows 1 of %ld (", machine);
    assert_non_null(strstr(text, reason));
}

/* Extreme strides are refused before any arithmetic on them. */
static void strides_wider_than_any_memory(void **state)
{
    (void)state;
    int8_t byte = 0;
    collet_array *a = NULL;
    const int64_t two_two[] = {2, 2}, two = 2, one = 1;
    const int64_t wide[] = {INT64_MAX / 2 + 1, INT64_MIN / 2}, lowest = INT64_MIN, up = INT64_MAX;
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_I8, 2, two_two, wide, &byte, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_I8, 1, &two, &lowest, &byte, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_status(cx, collet_array_wrap(cx, &a, COLLET_I8, 1, &two, &up, &byte, 0, NULL, NULL),
                  COLLET_OVERFLOW);
    assert_ok(cx, collet_array_wrap(cx, &a, COLLET_I8, 1, &one, &lowest, &byte, 0, NULL, NULL));
    collet_array_free(a);
}

/* An empty wrapped array (NULL data) counts as a present operand. */
static void empty_wrapped_arrays_are_operands(void **state)
{
    (void)state;
    const int64_t none = 0;
    const float zero[] = {0};
    collet_array *a = NULL, *c = empty_floats(cx, 1);
    assert_ok(cx, collet_array_wrap(cx, &a, COLLET_F32, 1, &none, NULL, NULL, 0, NULL, NULL));
    assert_ok(cx, collet_sum(cx, c, a, NULL, 0, 1));
    assert_floats(cx, c, zero);
    assert_ok(cx, collet_array_write(cx, a, NULL, 0));
    collet_array_free(a);
    collet_array_free(c);
}

static void older_and_newer_blocks(void **state)
{
    (void)state;
    struct {
        collet_reduce_params known;
        uint64_t more;
    } newer = {.known = {.struct_size = sizeof newer, .axes = 1}};
    collet_reduce_params older = {.struct_size = 8, .axes = 1, .keepdims = 1};
    const float sum[] = {10};
    collet_array *a = floats(cx, 4, 1), *scalar = NULL;
    const collet_array *ins[] = {a};
    assert_ok(cx, collet_array_create(cx, &scalar, COLLET_F32, 0, NULL));
    assert_ok(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &newer));
    assert_ok(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &older));
    assert_floats(cx, scalar, sum);
    ((char *)&newer.more)[7] = 1;
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &newer), COLLET_INVALID);
    assert_text_has(cx, "sum: byte 23 of a struct is set");
    newer.known.struct_size = UINT32_MAX; /* not set */
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &newer), COLLET_INVALID);
    older.struct_size = 3;
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, &older), COLLET_INVALID);
    assert_status(cx, collet_call(cx, COLLET_OP_SUM, &scalar, ins, NULL), COLLET_INVALID);
    assert_status(cx, collet_call(cx, 77, &scalar, ins, NULL), COLLET_NOT_FOUND);
    assert_status(cx, collet_call(cx, 0x80000000u + 200, &scalar, ins, NULL), COLLET_NOT_FOUND);
    collet_array_free(a);
    collet_array_free(scalar);
}

/* Every op with parameters: a word that no field describes must be 0. */
static void reserved_fields_are_zero(void **state)
{
    (void)state;
    int reserved = 0;
    for (size_t i = 0; i < collet_op_count(rt); i++) {
        collet_op_info info = {.struct_size = sizeof info};
        assert_int_equal(collet_op_at(rt, i, &info, NULL), COLLET_OK);
        for (uint32_t word = 1; word < info.params_size / 4 && info.id < 0x80000000u; word++) {
            _Alignas(16) uint32_t params[64] = {info.params_size};
            collet_array_spec specs[COLLET_MAX_OPERANDS] = {{0}}, outs[COLLET_MAX_OPERANDS] = {{0}};
            collet_error err = {COLLET_OK, ""};
            int described = 0;
            for (uint32_t k = 0; k < info.n_in; k++)
                specs[k].dtype = COLLET_F32;
            for (uint32_t k = 0; k < info.n_out; k++)
                outs[k].ndim = COLLET_INFER;
            for (uint32_t k = 0; k < info.field_count; k++) {
                const collet_op_field *f = &info.fields[k];
                int scalar = f->kind == COLLET_FIELD_SCALAR;
                described |=
                    4 * word >= f->offset && 4 * word < f->offset + f->size - 4u * (uint32_t)scalar;
            }
            params[word] = 1;
            (void)collet_op_infer(rt, info.id, specs, params, outs, &err);
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

/* Outputs of a newer program are zeros where this library has nothing; an input of a newer program
 * that asks for something unknown is refused. */
static void structs_of_newer_programs(void **state)
{
    (void)state;
    newer_record record = {.known = {.struct_size = sizeof record}, .more = ~0ull};
    collet_error err;
    assert_int_equal(collet_record_at(rt, 0, &record.known, &err), COLLET_OK);
    assert_true(record.more == 0 && record.known.struct_size == sizeof record);
    union {
        collet_plugin_record known;
        char bytes[4096];
    } largest = {.known = {.struct_size = sizeof largest}};
    assert_int_equal(collet_record_at(rt, 0, &largest.known, &err), COLLET_OK);
    record.known.struct_size = 0;
    assert_int_equal(collet_record_at(rt, 0, &record.known, &err), COLLET_INVALID);
    assert_non_null(strstr(err.text, "collet_plugin_record: struct_size is 0"));
    assert_int_equal(collet_record_at(rt, 1u << 30, &record.known, &err), COLLET_NOT_FOUND);
    assert_non_null(strstr(err.text, "records"));
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
    assert_int_equal(collet_runtime_create(&newer, &options.known, &err), COLLET_INVALID);
    assert_non_null(strstr(err.text, "of a struct is set"));
    options.known.struct_size = sizeof options.known;
    options.known.reserved = 1;
    assert_int_equal(collet_runtime_create(&newer, &options.known, &err), COLLET_INVALID);
    assert_non_null(strstr(err.text, "options->reserved is 1"));
}

static void fills_convert_as_copies_do(void **state)
{
    (void)state;
    const int64_t one = 1;
    int64_t big = 0;
    uint8_t small = 7;
    collet_c64 complex = {9, 9};
    collet_array *a = NULL, *b = NULL, *c = NULL;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_I64, 1, &one));
    assert_ok(cx, collet_array_create(cx, &b, COLLET_U8, 1, &one));
    assert_ok(cx, collet_array_create(cx, &c, COLLET_C64, 1, &one));
    collet_scalar value = {.dtype = COLLET_I64, .value.i64 = INT64_MAX - 1};
    assert_ok(cx, collet_fill(cx, a, &value));
    assert_ok(cx, collet_array_read(cx, a, &big, sizeof big));
    assert_true(big == INT64_MAX - 1);
    value = (collet_scalar){.dtype = COLLET_F64, .value.f64 = __builtin_nan("")};
    assert_ok(cx, collet_fill(cx, b, &value));
    assert_ok(cx, collet_array_read(cx, b, &small, 1));
    assert_int_equal(small, 0);
    value = (collet_scalar){.dtype = COLLET_I32, .value.i32 = -3};
    assert_ok(cx, collet_fill(cx, c, &value));
    assert_ok(cx, collet_array_read(cx, c, &complex, sizeof complex));
    assert_true(complex.re == -3.0f && complex.im == 0.0f);
    value = (collet_scalar){.dtype = COLLET_C64, .value.c64 = {1, 2}};
    assert_status(cx, collet_fill(cx, a, &value), COLLET_DTYPE);
    value.dtype = 99;
    assert_status(cx, collet_fill(cx, a, &value), COLLET_DTYPE);
    assert_status(cx, collet_fill(cx, a, NULL), COLLET_INVALID);
    assert_text_has(cx, "fill: the value is NULL");
    assert_status(cx, collet_axpy(cx, a, NULL, a, a), COLLET_INVALID);
    assert_text_has(cx, "axpy: alpha is NULL");
    collet_array_free(a);
    collet_array_free(b);
    collet_array_free(c);
}

/* The inverse of a shift differs from it where a length is odd. */
static void shifts_and_axes(void **state)
{
    (void)state;
    static const float shifted[] = {4, 5, 1, 2, 3}, back[] = {3, 4, 5, 1, 2};
    static const int32_t last = -1, first = 0;
    world w = open_world(SCALAR_PLUGIN, NULL, NULL);
    collet_array *a = floats(w.cx, 5, 1), *c = empty_floats(w.cx, 5), *row = NULL;
    assert_ok(w.cx, collet_fftshift(w.cx, c, a, NULL, 0, 0));
    assert_floats(w.cx, c, shifted);
    assert_ok(w.cx, collet_fftshift(w.cx, c, a, &last, 1, 1));
    assert_floats(w.cx, c, back);
    const int64_t shape[] = {1, 5};
    assert_ok(w.cx, collet_array_reshape(w.cx, &row, a, 2, shape));
    collet_array *out = NULL;
    assert_ok(w.cx, collet_array_reshape(w.cx, &out, c, 2, shape));
    assert_ok(w.cx, collet_fftshift(w.cx, out, row, &last, 1, 0));
    assert_floats(w.cx, c, shifted);
    assert_ok(w.cx, collet_fftshift(w.cx, out, row, &first, 1, 1));
    static const float same[] = {1, 2, 3, 4, 5};
    assert_floats(w.cx, c, same);
    static const int32_t axes[] = {0, 4, -1};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        assert_status(w.cx, collet_fft(w.cx, out, row, axes[i], 0), COLLET_INVALID);
        assert_text_has(w.cx, "over the last 1, 2 or 3 axes, not");
    }
    collet_array_free(row);
    collet_array_free(out);
    collet_array_free(a);
    collet_array_free(c);
    close_world(w);
}

static void kernels_are_looked_up_by_real_dtypes(void **state)
{
    (void)state;
    const collet_dtype valid[] = {COLLET_F32, COLLET_F32, COLLET_F32},
                       wrong[] = {COLLET_F32, 999, 3},
                       mixed[] = {COLLET_F32, COLLET_F64, COLLET_DTYPE_NONE},
                       any[] = {COLLET_DTYPE_NONE, COLLET_DTYPE_NONE, COLLET_F32};
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, valid, 3), 1);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, wrong, 3), 0);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, valid, 2), 1);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, mixed, 3), 0);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, any, 3), 1);
    assert_int_equal(collet_backend_has_kernel(rt, "remote:", COLLET_OP_ADD, valid, 3), 0);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", 99, valid, 3), 0);
    assert_int_equal(collet_backend_has_kernel(rt, "nobody", COLLET_OP_ADD, valid, 3), 0);
}

static void peaks_can_be_reset(void **state)
{
    (void)state;
    static const char *const spaces[] = {"host", "remote:0"};
    assert_ok(cx, collet_set_backend(cx, "remote:0"));
    collet_array *small = floats(cx, 4, 0), *large = floats(cx, 64, 0);
    assert_ok(cx, collet_add(cx, small, small, small));
    assert_ok(cx, collet_add(cx, large, large, large));
    assert_ok(cx, collet_finish(cx));
    collet_array_free(large);
    for (int i = 0; i < 2; i++) {
        collet_memory_stats stats = {.struct_size = sizeof stats};
        assert_ok(cx, collet_memory(cx, spaces[i], &stats));
        assert_true(stats.current == 16 && stats.peak == 16 + 256);
        assert_ok(cx, collet_memory_reset_peak(cx, spaces[i]));
        assert_ok(cx, collet_memory(cx, spaces[i], &stats));
        assert_true(stats.current == 16 && stats.peak == 16);
    }
    assert_status(cx, collet_memory_reset_peak(cx, "auto"), COLLET_INVALID);
    assert_text_has(cx, "collet_memory_reset_peak: 'auto' is neither");
    assert_status(cx, collet_memory_reset_peak(cx, NULL), COLLET_INVALID);
    collet_array_free(small);
}

static void devices_have_properties(void **state)
{
    (void)state;
    collet_error err;
    size_t b = 0;
    collet_backend_info backend = {.struct_size = sizeof backend};
    while (collet_backend_info_at(rt, b, &backend, &err) == COLLET_OK &&
           strcmp(backend.name, "remote") != 0)
        b++;
    collet_device_info d = {.struct_size = sizeof d};
    assert_int_equal(collet_device_info_at(rt, b, 0, &d, &err), COLLET_OK);
    assert_string_equal(d.choice, "remote:0");
    assert_string_equal(d.name, "remote 0");
    assert_string_equal(d.vendor, "nobody");
    assert_string_equal(d.driver, "7");
    assert_true(d.kind == COLLET_DEVICE_OTHER && d.memory == COLLET_MEMORY_OWN);
    assert_int_equal(d.execution, COLLET_EXECUTION_ASYNCHRONOUS);
    assert_true(d.memory_bytes == 1ull << 53 && d.largest_array == 3 && d.compute_units == 4);
    assert_true(d.cache_bytes == 0 && d.clock_mhz == 0); /* these make no sense */
    assert_int_equal(collet_device_info_at(rt, b, 1, &d, &err), COLLET_OK);
    assert_string_equal(d.vendor, "");
    assert_true(d.memory_bytes == 0 && d.compute_units == 0 && d.kind == COLLET_DEVICE_GPU);
    assert_true(d.memory == COLLET_MEMORY_UNKNOWN && d.execution == COLLET_EXECUTION_UNKNOWN);
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_set_backend(cx, "remote:1"));
    collet_array *a = floats(cx, 4, 0);
    assert_ok(cx, collet_add(cx, a, a, a)); /* opens it */
    assert_ok(cx, collet_memory(cx, "remote:1", &stats));
    assert_int_equal(collet_device_info_at(rt, b, 1, &d, &err), COLLET_OK);
    assert_true(d.memory == COLLET_MEMORY_OWN && d.execution == COLLET_EXECUTION_ASYNCHRONOUS);
    assert_int_equal(collet_device_info_at(rt, b, 2, &d, &err), COLLET_NOT_FOUND);
    assert_non_null(strstr(err.text, "devices: index 2"));
    assert_int_equal(collet_device_info_at(rt, 99, 0, &d, &err), COLLET_NOT_FOUND);
    collet_array_free(a);
}

static void processors_have_properties(void **state)
{
    (void)state;
    collet_runtime *own = runtime_with(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL);
    for (size_t b = 0; b < 2; b++) {
        collet_device_info d = {.struct_size = sizeof d};
        collet_error err;
        assert_int_equal(collet_device_info_at(own, b, 0, &d, &err), COLLET_OK);
        assert_true(d.kind == COLLET_DEVICE_CPU && d.memory == COLLET_MEMORY_HOST);
        assert_int_equal(d.execution, COLLET_EXECUTION_SYNCHRONOUS);
        assert_true(d.compute_units >= 1 && d.memory_bytes > 1 << 20);
    }
    collet_runtime_destroy(own);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_absent_operand_of_an_elementwise_op),
        TEST(sums_of_odd_axes),
        TEST(columns_of_a_table_do_not_overlap),
        TEST(memory_of_one_space),
        TEST(devices_are_left),
        TEST(settings_reach_the_probe),
        TEST(a_path_is_added_in_front),
        TEST(a_program_has_defaults),
        TEST(more_threads_than_processors),
        TEST(strides_wider_than_any_memory),
        TEST(empty_wrapped_arrays_are_operands),
        TEST(older_and_newer_blocks),
        TEST(reserved_fields_are_zero),
        TEST(structs_of_newer_programs),
        TEST(fills_convert_as_copies_do),
        TEST(shifts_and_axes),
        TEST(kernels_are_looked_up_by_real_dtypes),
        TEST(peaks_can_be_reset),
        TEST(devices_have_properties),
        TEST(processors_have_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
