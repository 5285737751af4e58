/* SPDX-License-Identifier: Apache-2.0 */
/* NetCDF trajectories of the AMBER convention: the classic formats, restart files, units, truncated
 * and damaged files. */

#include "directory.h"
#include "trajectory/formats/units.h"

#define ATOMS 5
#define FRAMES 3
#define SCALE 20.455
#define VARIABLES 6
#define ANGLES 3

/* ---- Files ------------------------------------------------------------------------------- */

enum { RECORDS, FIXED, RESTART }; /* how frames are stored */

typedef struct form {
    int version; /* 1, 2 or 5 */
    int kind;
    int doubles; /* 1: vectors are in double precision */
    int counted; /* number of frames in the header, -1: streaming */
    int only_positions;
    const char *conventions;
    const char *unit;  /* of the positions */
    const char *angle; /* unit of cell_angles; "": the file has none */
} form;

static const form usual = {2, RECORDS, 0, FRAMES, 0, "AMBER", "angstrom", "degree"};

/* Dimensions of variables. The order of a variable's dimensions is FRAME, ATOM, SPATIAL. */
enum { FRAME, ATOM, SPATIAL, N_DIMENSIONS };
static const struct {
    const char *name, *unit;
    int axes; /* without frames */
    int scaled;
} variables[VARIABLES] = {
    {"time", "picosecond", 0, 0},
    {"coordinates", "angstrom", 2, 0},
    {"cell_lengths", "angstrom", 1, 0},
    {"cell_angles", "degree", 1, 0},
    {"velocities", "angstrom/picosecond", 2, 1},
    {"forces", "kilocalorie/mole/angstrom", 2, 0},
};

static void put_size(io_image *image, const form *f, int64_t value)
{
    if (f->version == 5)
        io_put_i32(image, (int32_t)(value >> 32));
    io_put_i32(image, (int32_t)value);
}

static void put_text(io_image *image, const form *f, const char *text)
{
    size_t n = strlen(text);

    put_size(image, f, (int64_t)n);
    io_put(image, text, n);
    io_put(image, "\0\0\0", (4 - n % 4) % 4);
}

static void put_attribute(io_image *image, const form *f, const char *name, const char *text)
{
    put_text(image, f, name);
    io_put_i32(image, 2);
    put_text(image, f, text);
}

static int width_of(const form *f, int variable)
{
    return f->doubles || variables[variable].axes == 1 ? 8 : 4;
}

static int bytes_of(const form *f, int variable)
{
    static const int numbers[] = {1, 3, 3 * ATOMS};

    return numbers[variables[variable].axes] * width_of(f, variable);
}

static int is_used(const form *f, int variable)
{
    return (!f->only_positions || variable == 1) && (variable != ANGLES || *f->angle);
}

static int record_bytes(const form *f)
{
    int bytes = 0;

    for (int i = 0; i < VARIABLES; i++)
        bytes += is_used(f, i) ? bytes_of(f, i) : 0;
    return bytes;
}

static void put_variable(io_image *image, const form *f, int i, int64_t begin)
{
    int frames = f->kind != RESTART, axes = variables[i].axes;

    put_text(image, f, variables[i].name);
    put_size(image, f, frames + axes);
    if (frames)
        put_size(image, f, FRAME);
    if (axes == 2)
        put_size(image, f, ATOM);
    if (axes >= 1)
        put_size(image, f, SPATIAL);
    io_put_i32(image, 12);
    put_size(image, f, 1 + variables[i].scaled);
    put_attribute(image, f, "units", i == 1 ? f->unit : i == ANGLES ? f->angle : variables[i].unit);
    if (variables[i].scaled) {
        put_text(image, f, "scale_factor");
        io_put_i32(image, 6);
        put_size(image, f, 1);
        io_put_f64(image, SCALE);
    }
    io_put_i32(image, width_of(f, i) == 8 ? 6 : 5);
    put_size(image, f, bytes_of(f, i));
    if (f->version > 1)
        io_put_i32(image, (int32_t)(begin >> 32));
    io_put_i32(image, (int32_t)begin);
}

static io_image head_with(const form *f, int64_t begin)
{
    static const char *const names[] = {"frame", "atom", "spatial"};
    const int64_t lengths[] = {f->kind == RECORDS ? 0 : FRAMES, ATOMS, 3};
    io_image image = {0};
    const char magic[] = {'C', 'D', 'F', (char)f->version};

    io_put(&image, magic, 4);
    if (f->version == 5)
        io_put_i32(&image, f->counted < 0 ? -1 : 0);
    io_put_i32(&image, f->counted);
    io_put_i32(&image, 10);
    put_size(&image, f, N_DIMENSIONS);
    for (int i = 0; i < N_DIMENSIONS; i++) {
        put_text(&image, f, names[i]);
        put_size(&image, f, lengths[i]);
    }
    io_put_i32(&image, 12);
    put_size(&image, f, 2);
    put_attribute(&image, f, "program", "made");
    put_attribute(&image, f, "Conventions", f->conventions);
    io_put_i32(&image, 11);
    put_size(&image, f, f->only_positions ? 1 : VARIABLES - !*f->angle);
    for (int i = 0; i < VARIABLES; i++) {
        if (!is_used(f, i))
            continue;
        put_variable(&image, f, i, begin);
        begin += (f->kind == FIXED ? FRAMES : 1) * bytes_of(f, i);
    }
    return image;
}

static size_t head_bytes(const form *f)
{
    io_image image = head_with(f, 0);

    free(image.data);
    return image.size;
}

/* Value k of a variable in a frame, as stored in the file. */
static double number(int variable, int frame, int k)
{
    static const double cell[] = {30, 40, 50, 90, 90, 90};

    if (variables[variable].axes == 1)
        return cell[3 * (variable == 3) + k];
    return variable * 1000 + frame * 100 + k * .25;
}

static void put_numbers(io_image *image, const form *f, int variable, int frame)
{
    int width = width_of(f, variable), n = bytes_of(f, variable) / width;

    for (int k = 0; k < n; k++)
        if (width == 8)
            io_put_f64(image, number(variable, frame, k));
        else
            io_put_f32(image, (float)number(variable, frame, k));
}

static io_image make(const form *f)
{
    io_image image = head_with(f, (int64_t)head_bytes(f));
    int frames = f->kind == RESTART ? 1 : FRAMES;

    for (int i = 0; f->kind != RECORDS && i < VARIABLES; i++)
        for (int frame = 0; frame < frames; frame++)
            put_numbers(&image, f, i, frame);
    for (int frame = 0; f->kind == RECORDS && frame < frames; frame++)
        for (int i = 0; i < VARIABLES; i++)
            if (is_used(f, i))
                put_numbers(&image, f, i, frame);
    return image;
}

static const char *save(const io_image *image, size_t size)
{
    return io_save(io_path(directory, "made.nc"), image->data, size);
}

/* ---- Reading ----------------------------------------------------------------------------- */

static void check_vectors(const trajectory_frames *frames, const void *array, int variable,
                          double factor, const int64_t *atoms)
{
    for (int64_t i = 0; array && i < frames->n_frames; i++)
        for (int64_t k = 0; k < 3 * frames->n_atoms; k++) {
            int64_t atom = atoms ? atoms[k / 3] : k / 3;
            double expected =
                number(variable, (int)frames->indices[i], (int)(3 * atom + k % 3)) * factor;
            double found = trajectory_frames_value(frames, array, 3 * i * frames->n_atoms + k);
            if (fabs(found - expected) >
                fabs(expected) * (frames->dtype == COLLET_F64 ? 1e-15 : 6e-8))
                fail_msg("variable %d, frame %lld, number %lld: %.17g, not %.17g", variable,
                         (long long)frames->indices[i], (long long)k, found, expected);
        }
}

static void check_frames(const form *f, const trajectory_frames *frames, const int64_t *atoms)
{
    static const double box[9] = {3, 0, 0, 0, 4, 0, 0, 0, 5};

    check_vectors(frames, frames->positions, 1, .1, atoms);
    check_vectors(frames, frames->velocities, 4, SCALE / 10, atoms);
    check_vectors(frames, frames->forces, 5, 41.84, atoms);
    for (int64_t i = 0; i < frames->n_frames; i++) {
        if (f->only_positions) {
            assert_true(isnan(frames->times[i]));
            continue;
        }
        assert_true(frames->times[i] == number(0, (int)frames->indices[i], 0));
        for (int k = 0; k < 9; k++)
            assert_true(fabs(frames->boxes[9 * i + k] - box[k]) < 1e-14);
    }
}

/* Reads to the end or an error; expects `n_frames` valid frames and a message with `message`. */
static void expect(const form *f, const io_image *image, size_t size, int64_t n_frames,
                   int truncated, const char *message)
{
    OWNED(trajectory_frames) *frames =
        io_expect_frames(save(image, size), FRAMES + 1, n_frames, truncated, message);
    check_frames(f, frames, NULL);
}

TEST(forms)
{
    static const int versions[] = {1, 2, 5};
    static const int64_t atoms[] = {1, 3, 4};

    for (int i = 0; i < 36; i++) {
        form f = usual;
        f.version = versions[i % 3];
        f.kind = i / 3 % 3;
        f.doubles = i / 9 % 2;
        f.counted = f.kind != RECORDS ? 0 : i / 18 ? -1 : FRAMES;
        f.conventions = f.kind == RESTART ? "AMBERRESTART" : "AMBER";
        OWNED(io_image) image = make(&f);
        expect(&f, &image, image.size, f.kind == RESTART ? 1 : FRAMES, 0, NULL);

        OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.nc"));
        const trajectory_reader_info *info = trajectory_reader_get_info(t);
        assert_string_equal(info->format, "nc");
        assert_int_equal(info->dtype, f.doubles ? COLLET_F64 : COLLET_F32);
        assert_true(info->has_times && info->has_velocities && info->has_forces);
        assert_int_equal(trajectory_reader_select(t, atoms, 3, NULL), COLLET_OK);
        assert_int_equal(trajectory_reader_slice(t, 0, -1, 2, NULL), COLLET_OK);
        OWNED(trajectory_frames) *frames = io_batch(t, 3, 1);
        io_read(t, frames, f.kind == RESTART ? 1 : 2);
        check_frames(&f, frames, atoms);
    }
}

/* The file has positions, but no times and boxes: the only record variable of a file is not padded. */
TEST(positions_alone)
{
    form f = usual;
    f.only_positions = 1;
    OWNED(io_image) image = make(&f);
    expect(&f, &image, image.size, FRAMES, 0, NULL);
    OWNED(trajectory_reader) *t = io_open(io_path(directory, "made.nc"));
    const trajectory_reader_info *info = trajectory_reader_get_info(t);
    assert_true(!info->has_times && !info->has_velocities && !info->has_forces);
}

TEST(units)
{
    static const struct {
        const char *text;
        trajectory_measure measure;
        double factor; /* 0: refused */
    } cases[] = {
        {"Angstrom", TRAJECTORY_LENGTH, .1},
        {"nanometers", TRAJECTORY_LENGTH, 1},
        {"nm ps-1", TRAJECTORY_VELOCITY, 1},
        {"angstrom/femtosecond", TRAJECTORY_VELOCITY, 100},
        {"Angstrom AKMA-1", TRAJECTORY_VELOCITY, 1 / .4888821},
        {"kJ mol-1 nm^-1", TRAJECTORY_FORCE, 1},
        {"kilocalorie/mole/angstrom", TRAJECTORY_FORCE, 41.84},
        {"eV / Angstrom", TRAJECTORY_FORCE, 964.8533212331},
        {"fs", TRAJECTORY_TIME, .001},
        {"", TRAJECTORY_TIME, 0},
        {"fs", TRAJECTORY_LENGTH, 0},
        {"nm ps", TRAJECTORY_VELOCITY, 0},
        {"nm ps-0", TRAJECTORY_LENGTH, 0},
        {"nm ps-", TRAJECTORY_VELOCITY, 0},
        {"furlong", TRAJECTORY_LENGTH, 0},
        {"nm/", TRAJECTORY_LENGTH, 0},
        {"nm2", TRAJECTORY_LENGTH, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double factor = 0;
        int known = trajectory_unit_parse(cases[i].text, cases[i].measure, &factor);
        if (known != (cases[i].factor > 0) ||
            fabs(factor - cases[i].factor) > 1e-15 * cases[i].factor)
            fail_msg("'%s': %d, %.17g", cases[i].text, known, factor);
    }
}

/* The angles in the files are in degrees. If the unit is radians, 90 is not a valid angle, and the
 * trajectory has no box. */
TEST(angles)
{
    static const struct {
        const char *unit, *message, *note;
        int has_box;
    } cases[] = {
        {"Degrees", NULL, NULL, 1},
        {"radian", NULL, NULL, 0},
        {"gon", "'cell_angles' has the unit 'gon'", NULL, 0},
        {"", NULL, "only one of cell_lengths and cell_angles", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        form f = usual;
        f.angle = cases[i].unit;
        io_image image = make(&f);
        trajectory_reader *t;
        collet_error err = {0};
        collet_status status = trajectory_reader_open(save(&image, image.size), NULL, &t, &err);
        free(image.data);
        assert_int_equal(status, cases[i].message ? COLLET_FORMAT : COLLET_OK);
        assert_contains(err.text, cases[i].message ? cases[i].message : "");
        if (status != COLLET_OK)
            continue;
        const char *note = trajectory_reader_get_info(t)->note;
        assert_contains(note ? note : "", cases[i].note ? cases[i].note : "");
        trajectory_frames *frames = io_batch(t, 1, 0);
        assert_int_equal(trajectory_reader_read(t, frames, NULL), COLLET_OK);
        const double *box = frames->boxes;
        assert_int_equal(box[0] == 3 && fabs(box[3]) < 1e-14 && fabs(box[4] - 4) < 1e-14,
                         cases[i].has_box);
        trajectory_frames_free(frames);
        trajectory_reader_close(t);
    }
}

/* ---- Malformed files --------------------------------------------------------------------- */

static void refuse(const io_image *image, size_t size, const char *message)
{
    io_refuse(save(image, size), message);
}

/* A file that ends after a complete frame is truncated if its header counts more frames. */
TEST(truncations)
{
    for (int version = 1; version <= 5; version += version == 1 ? 1 : 3) {
        form f = usual;
        f.version = version;
        OWNED(io_image) image = make(&f);
        size_t head = head_bytes(&f), frame = (size_t)record_bytes(&f);
        for (size_t cut = 4; cut < head; cut++)
            refuse(&image, cut, "inside frame 0");
        for (size_t cut = head; cut < image.size; cut++) {
            char text[100];
            size_t whole = (cut - head) / frame;
            snprintf(text, sizeof text, "the file ends at byte %zu inside frame %zu", cut, whole);
            expect(&f, &image, cut, (int64_t)whole, 1, text);
        }
    }
}

/* The header of a streamed file does not count the frames: the file has as many frames as it
 * holds. */
TEST(truncated_streams)
{
    form f = usual;
    f.counted = -1;
    OWNED(io_image) image = make(&f);
    size_t head = head_bytes(&f), frame = (size_t)record_bytes(&f);
    for (size_t cut = head + frame; cut <= image.size; cut++) {
        int whole = (cut - head) % frame == 0;
        expect(&f, &image, cut, (int64_t)((cut - head) / frame), !whole,
               whole ? NULL : "inside frame");
    }
}

TEST(wrong_counts)
{
    form f = usual;
    f.counted = 2;
    OWNED(io_image) image = make(&f);
    expect(&f, &image, image.size, 2, 0, "the file counts 2 frames, but more follow");
    expect(&f, &image, image.size - 1, 2, 0, NULL); /* padding */
    free(image.data);

    f.counted = 0;
    image = make(&f);
    refuse(&image, image.size, "the file counts no frames");
}

TEST(heads_that_are_refused)
{
    form f = usual;

    f.conventions = "CF-1.0";
    OWNED(io_image) image = make(&f);
    refuse(&image, image.size, "its attribute Conventions is 'CF-1.0'");
    free(image.data);
    f = usual;
    f.unit = "furlong";
    image = make(&f);
    refuse(&image, image.size, "'coordinates' has the unit 'furlong'");
    free(image.data);

    f = usual;
    image = make(&f);
    static const struct {
        size_t at; /* in the head */
        uint8_t byte;
        const char *message;
    } bytes[] = {
        {11, 9, "the NetCDF header is damaged before byte 16"}, /* tag of the dimensions */
        {15, 2, "the NetCDF header is damaged"},                /* their number */
        {16, 0x80, "inside frame 0"},                           /* length of a name */
        {59, 4, "is not the AMBER convention's (5 atoms)"},     /* spatial */
    };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        uint8_t before = image.data[bytes[i].at];
        image.data[bytes[i].at] = bytes[i].byte;
        refuse(&image, image.size, bytes[i].message);
        image.data[bytes[i].at] = before;
    }
    for (size_t i = 4; i < head_bytes(&f); i++) { /* no byte may crash the reader */
        uint8_t before = image.data[i];
        trajectory_reader *t;
        image.data[i] ^= 0xff;
        if (trajectory_reader_open(save(&image, image.size), NULL, &t, NULL) == COLLET_OK)
            trajectory_reader_close(t);
        image.data[i] = before;
    }
}

TEST_GROUP(make_directory, remove_directory)
