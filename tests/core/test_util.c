/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that tests of public calls reach only in part: text, cgroup quotas, statuses, dtypes, settings, shapes,
 * records. */
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "common/support.h"
#include "util/json.h"
#include "util/text.h"
#include "settings/threads.h"
#include "util/setting.h"
#include "op/shape.h"
#include "op/table.h"
#include "plugins/record.h"

OWNS(cJSON, cJSON_Delete)

TEST(long_texts_are_cut_visibly)
{
    text_buffer t;
    text_clear(&t);
    for (int i = 0; i < 1000; i++)
        text_add(&t, "word ");
    assert_int_equal(strlen(t.bytes), COLLET_ERROR_TEXT - 1);
    assert_string_equal(t.bytes + strlen(t.bytes) - 3, "...");
    const int64_t shape[] = {2, 0, 5};
    text_clear(&t);
    text_add_shape(&t, 3, shape);
    text_add(&t, " and ");
    text_add_shape(&t, 0, NULL);
    assert_string_equal(t.bytes, "2 x 0 x 5 and ()");
}

TEST(distance_counts_edits)
{
    assert_int_equal(text_distance("openmp", "openmp"), 0);
    assert_int_equal(text_distance("opnemp", "openmp"), 1);
    assert_int_equal(text_distance("openm", "openmp"), 1);
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_int_equal(text_distance("", "abc"), 3);
    char longer[100];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_true(text_distance(longer, "a") > 1000);
    assert_true(text_distance("a", longer) > 1000);
    longer[64] = '\0';
    assert_true(text_distance(longer, longer + 1) > 1000);
    longer[63] = '\0';
    assert_int_equal(text_distance(longer, longer), 0);
}

/* A suggested name differs from the given name in few letters: at most a third of the name's length. */
TEST(only_near_names_are_suggested)
{
    const char *best = NULL;
    text_nearest("matmull", "md", &best);
    assert_null(best);
    text_nearest("matmull", "matvec", &best);
    assert_null(best);
    text_nearest("matmull", "mtmul", &best);
    text_nearest("matmull", "matmul", &best);
    text_nearest("matmull", "matmlul", &best);
    assert_string_equal(best, "matmul");
    best = NULL;
    text_nearest("abcdef", "abcxyz", &best);
    assert_null(best);
    text_nearest("abcdef", "abcdxy", &best);
    assert_non_null(best);
    best = NULL;
    text_nearest("foo", "log", &best);
    assert_null(best);
    text_nearest("lgo", "log", &best);
    assert_string_equal(best, "log");
}

/* A text that a message quotes is escaped, so that it cannot control a terminal or break JSON. The line
 * ends of the message itself are not escaped. */
TEST(messages_escape_what_they_quote)
{
    static const struct {
        const char *quoted, *shown;
    } cases[] = {
        {"plain", "plain"},
        {"\x7f", "\\x7f"},
        {"\033[2J\a\r\n\t\x7f", "\\x1b[2J\\x07\\x0d\\x0a\\x09\\x7f"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b", "\\xc2\\x9b"},
        {"\xff\x80\xbf\x80", "\\xff\\x80\\xbf\\x80"},
        {"\xc0\xaf\xc1\xbf", "\\xc0\\xaf\\xc1\\xbf"},
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"gpj.\xe2\x80\xaetxe", "gpj.\\xe2\\x80\\xaetxe"}, /* shown as "gpj.ext" */
        {"\xd8\x9c\xef\xbb\xbf", "\\xd8\\x9c\\xef\\xbb\\xbf"},
        {"\xe2\x80\x8a \xe2\x80\xaf \xe2\x81\xb0", "\xe2\x80\x8a \xe2\x80\xaf \xe2\x81\xb0"},
    };
    collet_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_fail(&err, COLLET_IO, "%s", cases[i].quoted);
        assert_string_equal(err.text, cases[i].shown);
    }
    collet_fail(&err, COLLET_IO, "a\n%s", "\033");
    assert_string_equal(err.text, "a\n\\x1b");
    char longest[2000];
    memset(longest, '\033', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    collet_fail(&err, COLLET_IO, "%s", longest);
    assert_int_equal(strlen(err.text), (sizeof err.text - 1) / 4 * 4);
}

static void write_group(const char *root, const char *group, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, group);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s%s/%s", root, group, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* The smallest quota of a group and its parents applies, rounded up; "max" means no quota. */
TEST(cgroup_quotas_bind)
{
    char root[] = "/tmp/collet-cgroup-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    write_group(root, "/a", "cpu.max", "350000 100000\n");
    write_group(root, "/a/b", "cpu.max", "max 100000\n");
    write_group(root, "/a/b/c", "cpu.max", "150000 100000\n");
    assert_int_equal(threads_cgroup_quota(root, "0::/a/b\n"), 4);
    assert_int_equal(threads_cgroup_quota(root, "0::/a/b/c\n"), 2);
    write_group(root, "/a/few", "cpu.max", "3 1\n");
    assert_int_equal(threads_cgroup_quota(root, "0::/a/few\n"), 3);
    write_group(root, "/a/few", "cpu.max", "100000 0\n");
    assert_int_equal(threads_cgroup_quota(root, "0::/a/few\n"), 4);
    assert_int_equal(threads_cgroup_quota(root, "0::/\n"), 0);
    assert_int_equal(threads_cgroup_quota(root, "garbage\n"), 0);
    write_group(root, "/cpu", "cpu.cfs_quota_us", "-1\n");
    write_group(root, "/cpu/x", "cpu.cfs_quota_us", "250000\n");
    write_group(root, "/cpu/x", "cpu.cfs_period_us", "100000\n");
    assert_int_equal(threads_cgroup_quota(root, "4:cpu,cpuacct:/x\n3:cpuset:/a\n"), 3);
    assert_int_equal(threads_cgroup_quota(root, "4:cpuacct,cpu:/x\n"), 3);
    assert_int_equal(threads_cgroup_quota(root, "3:cpuset:/x\n2:cpux:/x\n"), 0);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    assert_int_equal(threads_allowed(1), 1);
    assert_true(threads_allowed(0) >= 1);
    assert_int_equal(threads_within_quota(1), 1);
}

TEST(affinity_binds)
{
    cpu_set_t all, one;
    size_t cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(threads_allowed(0), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(every_status_and_dtype_has_a_text)
{
    for (collet_status s = 0; s < COLLET_STATUS_COUNT; s++) {
        assert_int_equal(strncmp(collet_status_name(s), "COLLET_", 7), 0);
        assert_true(strlen(collet_status_text(s)) > 3);
    }
    assert_string_equal(collet_status_name(-1), "unknown");
    assert_string_equal(collet_status_name(COLLET_STATUS_COUNT), "unknown");
    assert_string_equal(collet_dtype_name(COLLET_BF16), "bf16");
    assert_int_equal(collet_dtype_size(COLLET_C128), 16);
    assert_string_equal(collet_dtype_name(0), "none");
    assert_int_equal(collet_dtype_size(-3), 0);
    assert_int_equal(collet_dtype_size(COLLET_DTYPE_COUNT), 0);
    collet_error err;
    assert_int_equal(collet_fail(&err, COLLET_IO, "%s %d", "text", 7), COLLET_IO);
    assert_string_equal(err.text, "text 7");
    assert_int_equal(collet_fail(NULL, COLLET_IO, "x"), COLLET_IO);
}

TEST(versions_as_text_and_number_agree)
{
    char text[32];
    int number = collet_version_number();
    assert_int_equal(number, COLLET_VERSION_NUMBER);
    snprintf(text, sizeof text, "%d.%d.%d", number / 1000000, number / 1000 % 1000, number % 1000);
    assert_string_equal(text, collet_version());
}

static void json_refused(const char *text, size_t length, const char *reason)
{
    cJSON *root = NULL;
    collet_error err = {COLLET_OK, ""};
    assert_int_equal(json_parse(text, length, &root, NULL, &err), COLLET_FORMAT);
    if (root || !strstr(err.text, reason))
        fail_msg("%s, not %s", err.text, reason);
}

TEST(json_is_strict)
{
    static char many[8000];
    size_t length = 0;
    json_refused("{\0}", 3, "an invalid character outside of strings at byte 1");
    json_refused("\"\\u00", 5, "incomplete");
    json_refused("\"\\", 2, "a syntax error");
    json_refused("{\"a\":1,\"a\":2}", 13, "the key 'a' is a duplicate");
    for (int i = 0; i <= JSON_MAX_MEMBERS; i++)
        length +=
            (size_t)snprintf(many + length, sizeof many - length, "%c\"k%d\":1", i ? ',' : '{', i);
    many[length++] = '}';
    json_refused(many, length, "the key 'k512' is a duplicate or one of too many");
}

/* JSON numbers have a '.' in every locale. CMakeLists.txt runs this test again in a locale with
 * another decimal point. */
TEST(numbers_of_json_have_points)
{
    const char text[] = "[2.5,-0.125,1e-300]";
    OWNED(cJSON) *tree = json_read(text), *again = NULL;
    assert_non_null(tree);
    assert_true(cJSON_GetArrayItem(tree, 0)->valuedouble == 2.5);
    assert_true(cJSON_GetArrayItem(tree, 2)->valuedouble == 1e-300);
    char *printed = json_print(tree);
    assert_string_equal(printed, text);
    assert_int_equal(json_parse(text, sizeof text - 1, &again, NULL, NULL), COLLET_OK);
    assert_true(cJSON_Compare(tree, again, 1));
    cJSON_free(printed);
}

/* Values of settings: which texts each type accepts, the form in which the value is stored, and the errors. */

static const struct {
    const char *type, *values, *word;
    const char *value; /* NULL: refused */
    const char *text;  /* part of the error */
} cases[] = {
    {"boolean", "", "yes", "on", NULL},
    {"boolean", "", "1", "on", NULL},
    {"boolean", "", "false", "off", NULL},
    {"boolean", "", "of", NULL, "here: a.b must be on or off, not 'of'"},
    {"boolean", "", "", NULL, "a.b must be on or off, not ''"},
    {"boolean", "auto", "auto", "auto", NULL},
    {"boolean", "auto", "maybe", NULL, "a.b must be on or off or auto, not 'maybe'"},
    {"integer", "", "007", "7", NULL},
    {"integer", "", "2147483647", "2147483647", NULL},
    {"integer", "", "2147483648", NULL,
     "a.b must be a whole number from 0 to 2147483647, not '2147483648' (help)"},
    {"integer", "", "-1", NULL, "a whole number"},
    {"integer", "", "1K", NULL, "a whole number"},
    {"integer", "", "", NULL, "a whole number"},
    {"size", "", "65536", "65536", NULL},
    {"size", "", "1K", "1024", NULL},
    {"size", "", "16M", "16777216", NULL},
    {"size", "", "2G", "2147483648", NULL},
    {"size", "", "8589934591G", "9223372035781033984", NULL},
    {"size", "", "8589934592G", NULL, "bytes"},
    {"size", "", "9223372036854775808", NULL, "bytes"},
    {"size", "", "1k", NULL, "a number of bytes (also 64K, 16M, 2G), not '1k'"},
    {"size", "", "1GB", NULL, "bytes"},
    {"size", "", "1.5G", NULL, "bytes"},
    {"size", "", "G", NULL, "bytes"},
    {"size", "off", "off", "off", NULL},
    {"size", "off", "on", NULL, "2G) or off, not 'on'"},
    {"string", "", "any thing", "any thing", NULL},
    {"path", "off", "/a/path", "/a/path", NULL},
    {"choice", "red green blue", "green", "green", NULL},
    {"choice", "red green blue", "gree", NULL, "a.b must be red, green or blue, not 'gree'"},
    {"choice", "red green blue", "red green", NULL, "not 'red green'"},
    {"words", "f32 bf16 i8", "i8", "i8", NULL},
    {"words", "f32 bf16 i8", " i8 ,f32,\tbf16, ", "i8 f32 bf16", NULL},
    {"words", "f32 bf16 i8", "f32 bf", NULL, "a.b must be words of f32, bf16 or i8, not 'f32 bf'"},
    {"words", "f32 bf16 i8", ",", NULL, "words of"},
    {"probe", "", "x", NULL,
     "a.b must be left unset, because the backend's probe determines it, not 'x'"},
};

TEST(values)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setting s = {"a.b", "", cases[i].type, cases[i].values, "", "help"};
        collet_error err = {COLLET_OK, ""};
        FREED(char) *value = NULL;
        collet_status status = setting_parse(&s, cases[i].word, "here", &value, &err);
        if (status != (cases[i].value ? COLLET_OK : COLLET_INVALID) ||
            (cases[i].value ? strcmp(value, cases[i].value) : !strstr(err.text, cases[i].text)))
            fail_msg("%s '%s': status %d, '%s', '%s'", s.type, cases[i].word, status,
                     value ? value : "", err.text);
    }
}

TEST(types)
{
    assert_true(setting_type_valid(&(setting){.type = "size", .values = ""}));
    assert_true(setting_type_valid(&(setting){.type = "words", .values = "a"}));
    assert_false(setting_type_valid(&(setting){.type = "words", .values = ""}));
    assert_false(setting_type_valid(&(setting){.type = "choice", .values = ""}));
    assert_false(setting_type_valid(&(setting){.type = "number", .values = ""}));
}

/* Shapes of a call are compared with the patterns of an op. The patterns have axes of two letters. */

#define OPERANDS 3

/* The pattern of an op with two outputs and one input, such as a factorisation. */
static const char factors[] = "...,M,MN ...,MN,N : ...,M,N";

typedef struct shapes {
    int32_t ndim[OPERANDS];
    int64_t shape[OPERANDS][COLLET_MAX_DIMS];
} shapes;

static collet_status check(const shapes *s, collet_error *err)
{
    static const int64_t strides[COLLET_MAX_DIMS] = {0};
    op_scratch scratch[COLLET_MAX_OPERANDS];
    const op_source source = {.name = "factor", .shapes = factors, .sigs = "ff:f"};
    op o;
    op_shapes views = {0};
    assert_int_equal(COLLET_OK, op_parse(&o, &source, err));
    for (int i = 0; i < OPERANDS; i++)
        views.operand[i] = (struct op_view){s->ndim[i], s->shape[i], strides, COLLET_F32, NULL};
    return op_check_shapes(&o, &views, NULL, scratch, err);
}

TEST(the_shorter_side)
{
    static const shapes fitting[] = {
        {{2, 2, 2}, {{5, 3}, {3, 3}, {5, 3}}},       {{2, 2, 2}, {{3, 3}, {3, 5}, {3, 5}}},
        {{2, 2, 2}, {{4, 4}, {4, 4}, {4, 4}}},       {{2, 2, 2}, {{0, 0}, {0, 4}, {0, 4}}},
        {{2, 2, 2}, {{4, 0}, {0, 0}, {4, 0}}},       {{3, 3, 3}, {{7, 5, 3}, {7, 3, 3}, {7, 5, 3}}},
        {{3, 3, 2}, {{7, 3, 3}, {7, 3, 5}, {3, 5}}},
    };
    collet_error err;
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        assert_int_equal(COLLET_OK, check(&fitting[i], &err));
}

TEST(any_other_extent_is_named)
{
    static const struct {
        shapes s;
        const char *text;
    } wrong[] = {
        {{{2, 2, 2}, {{5, 5}, {3, 3}, {5, 3}}}, "output 0 is 5 x 5, input 0 is 5 x 3"},
        {{{2, 2, 2}, {{5, 3}, {5, 3}, {5, 3}}}, "output 1 is 5 x 3, input 0 is 5 x 3"},
        {{{2, 2, 2}, {{3, 5}, {3, 5}, {3, 5}}}, "output 0 is 3 x 5, input 0 is 3 x 5"},
        {{{2, 2, 2}, {{3, 2}, {3, 5}, {3, 5}}}, "output 0 is 3 x 2, input 0 is 3 x 5"},
        {{{2, 2, 2}, {{4, 3}, {3, 3}, {5, 3}}}, "output 0 is 4 x 3, input 0 is 5 x 3"},
    };
    collet_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(COLLET_SHAPE, check(&wrong[i].s, &err));
        assert_contains(err.text, wrong[i].text);
    }
}

/* Records: returned entries never move, even during concurrent appends. */

#define THREADS 4
#define EACH 2000

static void *append(void *argument)
{
    record_list *list = argument;
    for (int i = 0; i < EACH; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "%d", i);
        collet_plugin_record entry = {
            .accepted = i % 2, .path = "/p", .stage = "probe", .reason = reason, .milliseconds = i};
        if (record_add(list, &entry, NULL) != COLLET_OK)
            return argument;
        const collet_plugin_record *last = record_at(list, record_count(list) - 1);
        if (!last || strcmp(last->path, "/p") || last->accepted != (int)last->milliseconds % 2)
            return argument;
    }
    return NULL;
}

TEST(many_threads)
{
    record_list *list;
    pthread_t threads[THREADS];
    assert_int_equal(record_list_create(&list, NULL), COLLET_OK);
    assert_int_equal(record_add(list, &(collet_plugin_record){.path = "/first"}, NULL), COLLET_OK);
    const collet_plugin_record *first = record_at(list, 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, append, list), 0);
    for (int t = 0; t < THREADS; t++) {
        void *failed;
        assert_int_equal(pthread_join(threads[t], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(record_count(list), THREADS * EACH + 1);
    assert_ptr_equal(record_at(list, 0), first);
    assert_string_equal(first->path, "/first");
    assert_string_equal(first->code, "");
    int64_t sum = 0;
    for (size_t i = 1; i < record_count(list); i++)
        sum += (int64_t)record_at(list, i)->milliseconds;
    assert_int_equal(sum, (int64_t)THREADS * EACH * (EACH - 1) / 2);
    assert_null(record_at(list, record_count(list)));
    record_list_free(list);
    record_list_free(NULL);
}
