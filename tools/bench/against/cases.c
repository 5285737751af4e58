/* SPDX-License-Identifier: Apache-2.0 */
#include "against.h"

/* Products, decompositions and transforms of libraries, and ops bound by memory. */
static const against_case cases[] = {
    {"matmul", "f32", "256x256x256", NULL},
    {"matmul", "f32", "512x512x512", NULL},
    {"matmul", "f32", "1024x1024x1024", NULL},
    {"matmul", "f32", "2048x2048x2048", NULL},
    {"matmul", "f32", "4096x4096x4096", NULL},
    {"matmul", "f64", "256x256x256", NULL},
    {"matmul", "f64", "512x512x512", NULL},
    {"matmul", "f64", "1024x1024x1024", NULL},
    {"matmul", "f64", "2048x2048x2048", NULL},
    {"matmul", "f64", "4096x4096x4096", NULL},
    {"matmul", "f:bb", "1024x1024x1024", NULL},
    {"matmul", "f:bb", "2048x2048x2048", NULL},
    {"matmul", "i:aa", "1024x1024x1024", NULL},
    {"matmul", "i:aa", "2048x2048x2048", NULL},
    {"lu", "f64", "1000x1000", NULL},
    {"solve", "f64", "1000x1", NULL},
    {"solve", "f64", "1000x100", NULL},
    {"qr", "f64", "1000x1000", NULL},
    {"svd", "f64", "1000x1000", NULL},
    {"eigh", "f64", "1000", NULL},
    {"cholesky", "f64", "1000", NULL},
    {"eigh", "f64", "1000000x3", NULL},
    {"fft", "c64", "1048576", NULL},
    {"fft", "c128", "1048576", NULL},
    {"fft", "c64", "255255", NULL},
    {"fft", "c128", "255255", NULL},
    {"fft", "c64", "512x512", NULL},
    {"fft", "c128", "512x512", NULL},
    {"fft", "c64", "128x128x128", NULL},
    {"fft", "c128", "128x128x128", NULL},
    {"add", "f32", "64M", NULL},
    {"exp", "f32", "64M", NULL},
    {"log", "f32", "64M", NULL},
    {"sqrt", "f32", "64M", NULL},
    {"sum", "f32", "8192x8192", "0"},
    {"sum", "f32", "8192x8192", "1"},
    {"transpose", "f32", "8192x8192", NULL},
};

size_t against_case_count(void)
{
    return sizeof cases / sizeof *cases;
}

const against_case *against_case_at(size_t index)
{
    return &cases[index];
}
