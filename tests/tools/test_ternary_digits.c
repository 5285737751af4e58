/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the trained example on held-out digits. Every backend makes the same predictions. */

#include "directory.h"
#include "json_expect.h"
#include "ternary_runs.h"

#define DIGITS COLLET_TEST_DATA "/../../examples/digits/"
#define HELD_OUT 1000
#define CLASSES 10

/* The predicted class of each vector, and the reported accuracy. */
static void predict(const char *backend, const char *activations, int predictions[HELD_OUT],
                    double *accuracy)
{
    tool_result result = TERNARY(directory, "run", DIGITS "digits.t2", DIGITS "held_out.npy",
                                 "--labels", DIGITS "labels.npy", "-o", "y.npy", "--backend",
                                 backend, "--activations", activations, "--json");
    cJSON *report = parsed(&result, 0);
    OWNED(io_bytes) bytes = {0};

    assert_string_equal(text_of(report, "backend"), backend);
    assert_int_equal((int)number_of(report, "vectors"), HELD_OUT);
    *accuracy = number_of(report, "accuracy");
    cJSON_Delete(report);
    npy_array y = ternary_load(directory, "y.npy", &bytes);
    assert_int_equal(y.shape[0], HELD_OUT);
    assert_int_equal(y.shape[1], CLASSES);
    for (int i = 0; i < HELD_OUT; i++) {
        float row[CLASSES];
        memcpy(row, y.data + sizeof row * (size_t)i, sizeof row);
        predictions[i] = 0;
        for (int k = 1; k < CLASSES; k++)
            if (row[k] > row[predictions[i]])
                predictions[i] = k;
    }
}

/* The accuracy that `run` reports agrees with its output and the labels. */
TEST(test_accuracy)
{
    static int predictions[HELD_OUT];
    OWNED(io_bytes) bytes = io_load(DIGITS "labels.npy");
    npy_array labels = npy_parse(bytes.data, bytes.size);
    double accuracy;
    int right = 0;

    predict("cpu_scalar", "int8", predictions, &accuracy);
    for (int i = 0; i < HELD_OUT; i++)
        right += predictions[i] == (int8_t)labels.data[i];
    assert_true(accuracy == (double)right / HELD_OUT);
    assert_true(accuracy >= 0.95);
}

/* The shipped example takes 2 bits per weight, without padding. */
TEST(test_bits)
{
    tool_result result = TERNARY(directory, "info", DIGITS "digits.t2", "--json");
    OWNED(cJSON) *info = parsed(&result, 0);
    const cJSON *layers = member(info, "layers"), *memory = member(info, "memory");

    for (int i = 0; i < cJSON_GetArraySize(layers); i++) {
        const cJSON *layer = cJSON_GetArrayItem(layers, i);
        assert_true(number_of(layer, "bits_per_weight") == 2);
        assert_true(number_of(layer, "padding_bits_per_weight") == 0);
    }
    assert_true(number_of(memory, "packed") * 4 == number_of(memory, "weights"));
}

TEST(test_backends)
{
    static const char *const backends[] = {"cpu_openmp", "opencl", "cuda"};
    static const char *const activations[] = {"int8", "f32"};
    static int expected[HELD_OUT], predictions[HELD_OUT];
    double accuracy;

    for (size_t a = WATCHED; a < 2; a++) { /* test_accuracy runs int8 */
        predict("cpu_scalar", activations[a], expected, &accuracy);
        assert_true(accuracy >= 0.95);
        for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
            if (!ternary_backend(backends[i]))
                continue;
            predict(backends[i], activations[a], predictions, &accuracy);
            assert_memory_equal(predictions, expected, sizeof expected);
        }
    }
}

TEST_GROUP(make_directory, remove_directory)
