/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: the fields read from a plugin's file, and every invalid content. */
#include <sys/mman.h>

#include <collet/collet.h>
#include <collet/plugin.h>

#include "common/test.h"
#include "common/elf_image.h"
#include "plugins/manifest.h"

#define HEAD "{\"name\":\"one\",\"version\":\"2.3\",\"abi\":[2,0],\"priority\":-5,"
#define FEATURES "\"features\":{\"jit\":true,\"parallel\":false,\"gpu\":true}"
#define SETTING(key, type) "{\"key\":\"" key "\",\"type\":\"" type "\",\"help\":\"h\"}"
#define SETTINGS(list) HEAD FEATURES ",\"kernels\":[],\"settings\":[" list "]}"
#define EIGHT "1,1,1,1,1,1,1,1,"
#define GOOD HEAD FEATURES ",\"kernels\":[\"add\",\"vendor.op\"]}"

static elf_image image; /* too large for the stack */
static int refusals, damages;

static collet_status read_bytes(const void *bytes, size_t count, manifest *m, const char **code,
                                collet_error *err)
{
    int fd = memfd_create("plugin", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), count);
    refusal why = {.text = ""};
    collet_status status = manifest_read(fd, m, &why);
    close(fd);
    *code = why.code;
    if (err)
        memcpy(err->text, why.text, sizeof err->text);
    return status;
}

static void expect(collet_status expected, const char *wanted_code, const char *reason)
{
    manifest m;
    const char *code = "";
    collet_error err = {.text = ""};
    collet_status status = read_bytes(image.bytes, image.size, &m, &code, &err);
    if (status != expected || strcmp(code, wanted_code) || !strstr(err.text, reason))
        fail_msg("status %d, %s: %s; expected %d, %s: %s", status, code, err.text, expected,
                 wanted_code, reason);
    manifest_clear(&m);
    assert_string_equal(m.name, "");
    refusals += expected != COLLET_OK;
}

static void make(const char *json)
{
    elf_image_start(&image, 4);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_MANIFEST, json, strlen(json));
}

static void expect_json(const char *json, const char *code, const char *reason)
{
    make(json);
    expect(!strncmp(code, "abi-", 4) ? COLLET_ABI_MISMATCH : COLLET_FORMAT, code, reason);
}

/* ---- Valid manifests --------------------------------------------------------------------- */

static void check_good(size_t alignment)
{
    manifest m;
    const char *code;
    collet_error err = {.text = ""};
    static const unsigned char id[] = {0x01, 0xab, 0xff};
    elf_image_start(&image, alignment);
    elf_image_note(&image, "stranger", 1, "hello", 5);
    elf_image_note(&image, "GNU", 3, id, sizeof id);
    elf_image_note(&image, COLLET_NOTE_OWNER, 77, "later", 5);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_MANIFEST, GOOD "\n\0\0", sizeof GOOD + 2);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_SANITIZER, COLLET_SANITIZER,
                   sizeof COLLET_SANITIZER - 1);
    if (read_bytes(image.bytes, image.size, &m, &code, &err) != COLLET_OK)
        fail_msg("%s: %s", code, err.text);
    assert_string_equal(code, "ok");
    assert_string_equal(m.name, "one");
    assert_string_equal(m.version, "2.3");
    assert_string_equal(m.description, "");
    assert_int_equal(m.abi, 2u << 16);
    assert_int_equal(m.priority, -5);
    assert_true(m.jit == 1 && m.parallel == 0 && m.gpu == 1);
    assert_int_equal(m.kernel_count, 2);
    assert_string_equal(m.kernels[1], "vendor.op");
    assert_int_equal(m.depends_count, 0);
    assert_string_equal(m.sanitizer, COLLET_SANITIZER);
    assert_string_equal(m.build_id, "01abff");
    manifest_clear(&m);
}

TEST(good)
{
    check_good(4);
    check_good(8);
}

TEST(optional_members)
{
    manifest m;
    const char *code;
    make(HEAD FEATURES ",\"description\":\"what \\u00e9\",\"from_the_future\":[{\"a\":{}}],"
                       "\"depends\":[\"A_VARIABLE\",\"PREFIX_*\",\"/a/path\"],\"kernels\":[]}");
    assert_int_equal(read_bytes(image.bytes, image.size, &m, &code, NULL), COLLET_OK);
    assert_string_equal(m.description, "what \xc3\xa9");
    assert_int_equal(m.kernel_count, 0);
    assert_int_equal(m.depends_count, 3);
    assert_string_equal(m.depends[2], "/a/path");
    assert_string_equal(m.sanitizer, "none");
    manifest_clear(&m);
    manifest_clear(&m);
}

/* The manifest of a layer needs none of the members of a backend's manifest. */
TEST(layers)
{
    manifest m;
    const char *code;
    make("{\"name\":\"one\",\"version\":\"2.3\",\"abi\":[2,0],\"layer\":true}");
    assert_int_equal(read_bytes(image.bytes, image.size, &m, &code, NULL), COLLET_OK);
    assert_int_equal(m.layer, 1);
    manifest_clear(&m);
    expect_json("{\"name\":\"one\",\"version\":\"2.3\",\"abi\":[2,0],\"layer\":false}",
                "manifest-content", "\"priority\"");
    expect_json("{\"name\":\"one\",\"version\":\"2.3\",\"abi\":[2,0],\"layer\":1}",
                "manifest-content", "\"layer\" must be true or false");
}

TEST(settings)
{
    manifest m;
    const char *code;
    make(SETTINGS(SETTING("one.a", "path") "," SETTING("one.b", "size\",\"default\":\"4096")));
    assert_int_equal(read_bytes(image.bytes, image.size, &m, &code, NULL), COLLET_OK);
    assert_int_equal(m.setting_count, 2);
    assert_string_equal(manifest_setting(&m, "one.a")->type, "path");
    assert_string_equal(manifest_setting(&m, "one.a")->fallback, "");
    assert_string_equal(manifest_setting(&m, "one.b")->fallback, "4096");
    assert_string_equal(manifest_setting(&m, "one.b")->help, "h");
    assert_null(manifest_setting(&m, "one.c"));
    manifest_clear(&m);
    expect_json(HEAD FEATURES ",\"named_devices\":1,\"kernels\":[]}", "manifest-content",
                "\"named_devices\" must be true or false");
}

/* A refused manifest still reports its name. */
TEST(versions)
{
    manifest m;
    const char *code;
    make("{\"name\":\"one\",\"abi\":[3,0]}");
    assert_int_equal(read_bytes(image.bytes, image.size, &m, &code, NULL), COLLET_ABI_MISMATCH);
    assert_string_equal(m.name, "one");
    manifest_clear(&m);
    expect_json("{\"name\":\"one\",\"abi\":[3,0]}", "abi-too-new", "needs plugin interface 3.0, ");
    expect_json("{\"name\":\"one\",\"abi\":[2,5]}", "abi-too-new",
                "needs plugin interface 2.5, but this libcore has 2.0: update libcore");
    expect_json("{\"name\":\"one\",\"abi\":[1,0]}", "abi-too-old",
                "built for plugin interface 1.0, ");
}

/* ---- JSON -------------------------------------------------------------------------------- */

static const struct {
    const char *json, *code, *reason;
} refused[] = {
    {"", "manifest-syntax", ""},
    {"nothing", "manifest-syntax", ""},
    {"\xef\xbb\xbf{}", "manifest-syntax", "byte 0"},
    {GOOD " //", "manifest-trailing", "follows"},
    {GOOD GOOD, "manifest-trailing", "follows"},
    {"{\"a\":1,\"b\":[{\"c\":1,\"c\":2}]}", "manifest-duplicate-key", "'c'"},
    {"{\"a\":\"\\u0000\"}", "manifest-syntax", "u0000"},
    {"{\"a\":\"\\u00g0\"}", "manifest-syntax", "incomplete"},
    {"{\"a\":\"\n\"}", "manifest-syntax", "control"},
    {"{\"a\":\f1}", "manifest-syntax", "outside"},
    {"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", "manifest-syntax", "levels"},
    {"[]", "manifest-content", "object"},
    {"{}", "manifest-content", "\"name\""},
    {"{\"name\":7}", "manifest-content", "\"name\""},
    {"{\"name\":\"\"}", "manifest-content", "\"name\""},
    {"{\"name\":\"No\"}", "manifest-content", "\"name\""},
    {"{\"name\":\"auto\"}", "manifest-content", "not auto"},
    {"{\"name\":\"../x\"}", "manifest-content", "\"name\""},
    {"{\"name\":\"a\"}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[1]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[1,0.5]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[1,-1]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[1,1e999]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[2,0]}", "manifest-content", "\"version\""},
    {"{\"name\":\"a\",\"abi\":[2,0],\"version\":\"\"}", "manifest-content", "\"version\""},
    {"{\"name\":\"a\",\"abi\":[2,0],\"version\":\"\\u001b[2J\"}", "manifest-content",
     "\"version\""},
    {"{\"name\":\"a\",\"abi\":[2,0],\"version\":\"1\"}", "manifest-content", "\"priority\""},
    {"{\"name\":\"a\",\"abi\":[2,0],\"version\":\"1\",\"priority\":1e9}", "manifest-content",
     "\"priority\""},
    {HEAD "\"kernels\":[]}", "manifest-content", "\"features\""},
    {HEAD "\"features\":{\"jit\":1,\"parallel\":false,\"gpu\":false},\"kernels\":[]}",
     "manifest-content", "\"features\""},
    {HEAD FEATURES "}", "manifest-content", "\"kernels\""},
    {HEAD FEATURES ",\"kernels\":{}}", "manifest-content", "\"kernels\""},
    {HEAD FEATURES ",\"kernels\":[\"add\",1]}", "manifest-content", "\"kernels\""},
    {HEAD FEATURES ",\"kernels\":[\"\"]}", "manifest-content", "\"kernels\""},
    {HEAD FEATURES ",\"kernels\":[\"add\",\"mul\",\"add\"]}", "manifest-content", "'add' twice"},
    {HEAD FEATURES ",\"description\":1,\"kernels\":[]}", "manifest-content", "\"description\""},
    {HEAD FEATURES ",\"depends\":[\"A=B\"],\"kernels\":[]}", "manifest-content", "\"depends\""},
    {HEAD FEATURES ",\"depends\":[\"\"],\"kernels\":[]}", "manifest-content", "\"depends\""},
    {HEAD FEATURES ",\"depends\":[\"A\",\"A\"],\"kernels\":[]}", "manifest-content", "'A' twice"},
    {HEAD FEATURES ",\"layer\":1,\"kernels\":[]}", "manifest-content", "\"layer\""},
    {HEAD FEATURES ",\"description\":\"\\u007f\",\"kernels\":[]}", "manifest-content",
     "\"description\""},
    {HEAD "\"features\":[],\"kernels\":[]}", "manifest-content", "\"features\""},
    {"{\"name\":\"a\",\"abi\":1}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[1,0,0]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[65536,0]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[1,65536]}", "manifest-content", "\"abi\""},
    {"{\"name\":\"a\",\"abi\":[\"1\",0]}", "manifest-content", "\"abi\""},
    {SETTINGS("1"), "manifest-content", "must be one.word"},
    {HEAD FEATURES ",\"kernels\":[],\"settings\":{}}", "manifest-content", "\"settings\""},
    {SETTINGS(SETTING("two.a", "size")), "manifest-content", "must be one.word"},
    {SETTINGS(SETTING("onea", "size")), "manifest-content", "must be one.word"},
    {SETTINGS(SETTING("one.", "size")), "manifest-content", "must be one.word"},
    {SETTINGS(SETTING("one.a", "size") "," SETTING("one.a", "path")), "manifest-content",
     "'one.a' twice"},
    {SETTINGS(SETTING("one.a", "number")), "manifest-content", "\"type\" of one.a"},
    {SETTINGS(SETTING("one.a", "choice")), "manifest-content", "\"type\" of one.a"},
    {SETTINGS("{\"key\":\"one.a\",\"help\":\"h\"}"), "manifest-content", "\"type\" of one.a"},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"size\"}"), "manifest-content", "\"help\" of one.a"},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"size\",\"help\":\"h\",\"default\":5}"),
     "manifest-content", "\"help\" of one.a"},
    {SETTINGS(EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT "1"), "manifest-content",
     "at most 64"},
    {SETTINGS(SETTING("one.a", "size\",\"default\":\"x")), "manifest-content",
     "one.a must be a number of bytes"},
    {SETTINGS(SETTING("one.a", "size\",\"default\":\"4K")), "manifest-content",
     "the default of one.a must be written 4096"},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"size\",\"help\":\"h\",\"default\":4}"),
     "manifest-content", "\"default\""},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"size\",\"help\":\"\"}"), "manifest-content",
     "\"help\" of one.a"},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"size\",\"help\":\"\\u0007\"}"), "manifest-content",
     "\"help\" of one.a"},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"choice\",\"values\":1,\"help\":\"h\"}"),
     "manifest-content", "\"values\", \"default\""},
    {SETTINGS("{\"key\":\"one.a\",\"type\":\"path\",\"default\":\"\\u007f\",\"help\":\"h\"}"),
     "manifest-content", "\"values\", \"default\""},
    {SETTINGS("{\"type\":\"size\",\"help\":\"h\"}"), "manifest-content", "must be one.word"},
    {SETTINGS("1,2"), "manifest-content", "must be one.word"},
};

TEST(bad_json)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_json(refused[i].json, refused[i].code, refused[i].reason);
}

TEST(names)
{
    char longest[COLLET_MAX_NAME + 1];
    memset(longest, 'a', sizeof longest);
    longest[COLLET_MAX_NAME] = '\0';
    assert_false(manifest_name_valid(longest));
    longest[COLLET_MAX_NAME - 1] = '\0';
    assert_true(manifest_name_valid(longest));
    assert_true(manifest_name_valid("cpu_2"));
    assert_false(manifest_name_valid("") || manifest_name_valid("a-b") ||
                 manifest_name_valid("a.b"));
}

TEST(sizes)
{
    FREED(char) *large = malloc(MANIFEST_MAX_BYTES + 2);
    assert_non_null(large);
    memset(large, ' ', MANIFEST_MAX_BYTES + 1);
    memcpy(large, GOOD, sizeof GOOD - 1);
    large[MANIFEST_MAX_BYTES] = '\0';
    make(large);
    expect(COLLET_OK, "ok", "");
    large[MANIFEST_MAX_BYTES] = ' ';
    large[MANIFEST_MAX_BYTES + 1] = '\0';
    expect_json(large, "manifest-too-large", "65537");
}

/* Inserts a text of `length` letters, or (list) a list of `length` texts, in `format`. */
static void expect_long(const char *format, int length, int list, const char *code,
                        const char *reason)
{
    static char text[4096], json[8192];
    char *at = text;
    for (int i = 0; i < length; i++)
        at += list ? sprintf(at, "%s\"v%d\"", i ? "," : "", i) : sprintf(at, "a");
    snprintf(json, sizeof json, format, text);
    make(json);
    expect(strcmp(code, "ok") ? COLLET_FORMAT : COLLET_OK, code, reason);
}

TEST(lengths)
{
    static const struct {
        const char *format;
        int most, list;
        const char *reason;
    } cases[] = {
        {HEAD FEATURES ",\"description\":\"%s\",\"kernels\":[]}", 1024, 0, "\"description\""},
        {HEAD FEATURES ",\"depends\":[\"%s\"],\"kernels\":[]}", 255, 0, "\"depends\""},
        {HEAD FEATURES ",\"depends\":[%s],\"kernels\":[]}", MANIFEST_MAX_DEPENDS, 1, "\"depends\""},
        {SETTINGS("{\"key\":\"one.a\",\"type\":\"path\",\"help\":\"%s\"}"), 1024, 0, "\"help\""},
        {SETTINGS("{\"key\":\"one.a\",\"type\":\"path\",\"help\":\"h\",\"default\":\"%s\"}"), 1024,
         0, "\"default\""},
        {"{\"name\":\"one\",\"version\":\"%s\",\"abi\":[2,0],\"priority\":0," FEATURES
         ",\"kernels\":[]}",
         COLLET_MAX_NAME - 1, 0, "\"version\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_long(cases[i].format, cases[i].most, cases[i].list, "ok", "");
        expect_long(cases[i].format, cases[i].most + 1, cases[i].list, "manifest-content",
                    cases[i].reason);
    }
}

/* A note of the owner GNU is used as the build-id only if its type is build-id and its length is usual. */
TEST(build_ids)
{
    static const unsigned char id[80] = {0xab, 0x01};
    static const struct {
        const char *owner;
        uint32_t type, bytes;
        const char *text;
    } cases[] = {{"GNU", 3, 2, "ab01"}, {"GNU", 1, 2, ""}, {"gnu", 3, 2, ""}, {"GNU", 3, 80, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        manifest m;
        const char *code;
        make(GOOD);
        elf_image_note(&image, cases[i].owner, cases[i].type, id, cases[i].bytes);
        assert_int_equal(read_bytes(image.bytes, image.size, &m, &code, NULL), COLLET_OK);
        assert_string_equal(m.build_id, cases[i].text);
        manifest_clear(&m);
    }
}

TEST(notes)
{
    elf_image_start(&image, 4);
    expect(COLLET_FORMAT, "no-manifest", "not a plugin");
    elf_image_note(&image, "colleT", COLLET_NOTE_MANIFEST, GOOD, sizeof GOOD - 1);
    expect(COLLET_FORMAT, "no-manifest", "not a plugin");
    make(GOOD);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_MANIFEST, GOOD, sizeof GOOD - 1);
    expect(COLLET_FORMAT, "manifest-repeated", "more than one");
    make(GOOD);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_SANITIZER, "memory", 6);
    expect(COLLET_FORMAT, "sanitizer-mismatch", "memory");
    make(GOOD);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_SANITIZER, "", 0);
    expect(COLLET_FORMAT, "malformed-elf", "sanitizer");
    make(GOOD);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_SANITIZER, "no word", 7);
    expect(COLLET_FORMAT, "malformed-elf", "sanitizer");
    make(GOOD);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_SANITIZER,
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 70);
    expect(COLLET_FORMAT, "malformed-elf", "sanitizer");
}

/* ---- ELF --------------------------------------------------------------------------------- */

TEST(segments)
{
    make(GOOD);
    elf_image_segment(&image, 1)->p_offset = UINT64_MAX - 8;
    expect(COLLET_FORMAT, "truncated", "segment 1");
    make(GOOD);
    elf_image_segment(&image, 0)->p_filesz++;
    expect(COLLET_FORMAT, "truncated", "segment 0");
    make(GOOD);
    elf_image_header(&image)->e_phnum = 0;
    expect(COLLET_FORMAT, "malformed-elf", "0 program headers");
    make(GOOD);
    elf_image_header(&image)->e_phnum = PN_XNUM;
    expect(COLLET_FORMAT, "malformed-elf", "65535");
    make(GOOD);
    elf_image_header(&image)->e_phentsize = 8;
    expect(COLLET_FORMAT, "malformed-elf", "8 bytes");
    make(GOOD);
    elf_image_header(&image)->e_phoff = UINT64_MAX - 16;
    expect(COLLET_FORMAT, "truncated", "program headers");
}

static Elf64_Nhdr *first_note(void)
{
    return (Elf64_Nhdr *)(void *)(image.bytes + elf_image_segment(&image, 1)->p_offset);
}

TEST(note_sizes)
{
    make(GOOD);
    first_note()->n_descsz = UINT32_MAX;
    expect(COLLET_FORMAT, "malformed-elf", "runs over");
    make(GOOD);
    first_note()->n_namesz = UINT32_MAX;
    expect(COLLET_FORMAT, "malformed-elf", "runs over");
    make(GOOD);
    first_note()->n_namesz = UINT32_MAX;
    first_note()->n_descsz = UINT32_MAX;
    expect(COLLET_FORMAT, "malformed-elf", "runs over");
    make(GOOD);
    first_note()->n_namesz = 0;
    expect(COLLET_FORMAT, "no-manifest", "");
    make(GOOD);
    elf_image_segment(&image, 1)->p_filesz -= 1;
    expect(COLLET_FORMAT, "malformed-elf", "runs over");
}

/* Segments may overlap, so a small file can have gigabytes of notes. */
TEST(many_note_segments)
{
    enum { SEGMENTS = 512 };
    static const char content[2048];
    elf_image_start(&image, 8);
    elf_image_note(&image, "stranger", 1, content, sizeof content);
    elf_image_pad(&image);
    Elf64_Phdr note = *elf_image_segment(&image, 1);
    elf_image_header(&image)->e_phoff = image.size;
    elf_image_header(&image)->e_phnum = SEGMENTS;
    for (int i = 0; i < SEGMENTS; i++, image.size += sizeof note)
        memcpy(image.bytes + image.size, &note, sizeof note);
    expect(COLLET_FORMAT, "malformed-elf", "more than 1048576 bytes of notes");
}

/* Every truncated file is refused; no changed byte causes invalid accesses (sanitizers check). */
TEST(damage)
{
    manifest m;
    const char *code;
    make(GOOD);
    for (size_t count = 0; count < image.size; count++) {
        assert_int_not_equal(read_bytes(image.bytes, count, &m, &code, NULL), COLLET_OK);
        assert_string_equal(code, count == 0 ? "empty" : count < 4 ? "not-elf" : "truncated");
        manifest_clear(&m);
        damages++;
    }
    for (size_t i = 0; i < image.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            image.bytes[i] ^= (unsigned char)(1 << bit);
            read_bytes(image.bytes, image.size, &m, &code, NULL);
            manifest_clear(&m);
            image.bytes[i] ^= (unsigned char)(1 << bit);
            damages++;
        }
}

int main(void)
{
    int failed = test_run();
    print_message("%d files refused, %d cut or with a changed bit\n", refusals, damages);
    return failed;
}
