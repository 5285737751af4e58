/* SPDX-License-Identifier: Apache-2.0 */
/* collet.hpp on one backend: test_cpp BACKEND. Counts failed checks. */
#include <collet/collet.hpp>

#include <cmath>
#include <iostream>
#include <numeric>
#include <sstream>

using collet::array;
using doubles = std::vector<double>;

static int failures;

static void check(bool good, int line)
{
    if (!good)
        std::cerr << "test_cpp.cpp:" << line << " fails\n";
    failures += !good;
}
#define CHECK(good) check(good, __LINE__)

/* f throws collet::error with this status and this part of the text. */
template <class F> static void throws(F f, collet_status status, const char *part, int line)
{
    try {
        f();
        check(false, line);
    } catch (const collet::error &e) {
        const bool good = e.status == status && std::strstr(e.what(), part);
        if (!good)
            std::cerr << collet_status_name(e.status) << ": " << e.what() << "\n";
        check(good, line);
    }
}
#define THROWS(code, status, part) throws([&] { (void)(code); }, status, part, __LINE__)

static void expressions(const collet::context &cx)
{
    const array p = collet::from(cx, {1.0, 4.0, 9.0}), a = collet::full(cx, {3}, 0.5);
    const array f = collet::from(cx, std::vector<float>{1, 2, 3}), n = collet::from(cx, {7, -7, 3});
    const array r = 4 * p - sqrt(p) + (p < 5) * a;
    CHECK(r.values<double>() == (doubles{3.5, 14.5, 33}));
    CHECK(array(2 * f).dtype() == COLLET_F32 && array(2.5 * n).dtype() == COLLET_F64);
    CHECK(array(n % 4).values<int>() == (std::vector<int>{3, 1, 3}));
    CHECK(array(-p + a == 0).dtype() == COLLET_BOOL);
    CHECK(array(where(n > 0, 1, 0) & ~(n - n)).values<int>() == (std::vector<int>{1, 0, 1}));
    CHECK(array(collet::cast<std::int8_t>(f)).dtype() == COLLET_I8);
    CHECK(sum(p * p).item<double>() == 98 && max(f).item<int>() == 3);
    const array m = collet::from(cx, (doubles{1, 2, 3, 4}).data(), {2, 2});
    CHECK(sum(m + 1, {1}, true).shape() == (collet::extents{2, 1}));
    CHECK(sum(m, {0}).values<double>() == (doubles{4, 6}));
    const std::complex<double> i(0, 1);
    CHECK(array(p * i).values<std::complex<double>>()[1] == 4.0 * i);
    collet::expr square = collet::cast<double>(f);
    for (int k = 0; k < 40; k++) /* without shared subexpressions it would have 2^40 leaves */
        square = square + square;
    CHECK(array(square).values<double>()[0] == std::ldexp(1, 40));
    p.assign(p + 1); /* in place */
    CHECK(p.values<double>() == (doubles{2, 5, 10}));
    THROWS(array(p + m), COLLET_SHAPE, "does not broadcast");
    THROWS(array(collet::cast<std::uint8_t>(n) + 300), COLLET_DTYPE, "300");
    THROWS(array(collet::expr(1) + 2), COLLET_INVALID, "has no array");
    THROWS(f.assign(p), COLLET_DTYPE, "output 0 is f32; it must be f64");
    THROWS([&] { collet::expr e = p; for (;;) e = e + 1; }(), COLLET_INVALID, "too deep");
}

static void formulas(const collet::context &cx)
{
    const array a = collet::from(cx, {1.0, 2.0}), b = collet::from(cx, {5.0, 5.0});
    const double k = 2;
    CHECK(COLLET_EVAL("b - k*a", a, k, b).values<double>() == (doubles{3, 1}));
    CHECK(collet::eval("b - k*a", {{"a", a}, {"b", b}, {"k", 3}}).values<double>() == (doubles{2, -1}));
    const collet::expression both("a + b; a * b");
    const std::vector<array> outs = both.outputs({{"b", b}, {"a", a}}, {array(), a});
    CHECK(outs[0].values<double>() == (doubles{6, 7}) && outs[1].get() == a.get());
    CHECK(a.values<double>() == (doubles{5, 10}));
    THROWS(COLLET_EVAL("b - a", a), COLLET_INVALID, "no argument for input 0, b");
    THROWS(COLLET_EVAL("b - 1", a, b), COLLET_INVALID, "no input is named a");
    THROWS(COLLET_EVAL("b - 1", b + 1), COLLET_INVALID, "'b+1' is not a name");
    THROWS(collet::eval("a", {{"a", a}, {"a", b}}), COLLET_INVALID, "a is given twice");
    THROWS(collet::eval("k", {{"k", 1}}), COLLET_INVALID, "the context is empty");
    THROWS(collet::eval("a +", {{"a", a}}), COLLET_INVALID, "column 4");
}

static void memory(const collet::context &cx)
{
    float own[] = {1, 2, 3, 4, 5, 6};
    const array w = collet::wrap(cx, own, {2, 3}), turned = w.transpose();
    {
        const auto s = turned.read<float>();
        CHECK(s(2, 1) == 6 && s.size() == 6);
        THROWS(s.begin(), COLLET_INVALID, "not dense");
        THROWS(s(1), COLLET_INVALID, "an index for each axis");
        THROWS(w.assign(w + 1), COLLET_BUSY, "");
    }
    for (float &x : w.write<float>())
        x *= 2;
    const auto s = w.read<float>();
    CHECK(std::accumulate(s.begin(), s.end(), 0.0f) == 42 && own[5] == 12 && s[1] == 4);
    CHECK(w[-1].values<float>() == (std::vector<float>{8, 10, 12}));
    CHECK(w.slice(1, 0, 2, 2).values<float>() == (std::vector<float>{2, 6, 8, 12}));
    CHECK(w.reshape({3, 2})[2].values<float>() == (std::vector<float>{10, 12}));
    CHECK(turned[2].values<double>() == (doubles{6, 12}));
    THROWS(w.read<double>(), COLLET_DTYPE, "another type");
    THROWS(w.item<float>(), COLLET_SHAPE, "one element");
    THROWS(w[2], COLLET_SHAPE, "outside");
    std::ostringstream text;
    text << collet::zeros<std::int64_t>(cx, {2, 2}) << collet::ones<bool>(cx, {1});
    CHECK(text.str() == "[[0, 0],\n [0, 0]][True]");
    const float constant[] = {1, 2};
    CHECK(collet::wrap(cx, constant, {2}).read<float>().end()[-1] == 2);
    THROWS(collet::wrap(cx, constant, {2}).write<float>(), COLLET_INVALID, "");
}

static void owners(const char *backend)
{
    array kept, moved;
    {
        collet::runtime r;
        collet::context cx(r, backend), other(r, backend);
        moved = collet::ones<double>(cx, {2});
        kept = std::move(moved);
        const collet::runtime taken = std::move(r);
        CHECK(taken.get() && !r.get());
        CHECK(kept.in(other).cx().get() == other.get());
        const collet::context last = std::move(cx);
        THROWS(cx.get(), COLLET_INVALID, "the context is empty");
        THROWS(collet::context(r), COLLET_INVALID, "");
    }
    THROWS(moved.size(), COLLET_INVALID, "the array is empty");
    THROWS(moved + 1, COLLET_INVALID, "the array is empty");
    THROWS(collet::context("no_such"), COLLET_UNKNOWN_BACKEND, "no_such");
    const collet::expr later = kept + 1; /* keeps the array, its context and the runtime */
    kept = array();
    CHECK(array(later).values<double>() == (doubles{2, 2}));
}

int main(int, char **argv)
try {
    const collet::context cx(argv[1]);
    expressions(cx);
    CHECK(cx.backend() == argv[1]);
    formulas(cx);
    memory(cx);
    owners(argv[1]);
    cx.finish();
    return failures != 0;
} catch (const std::exception &e) {
    std::cerr << "test_cpp: " << e.what() << "\n";
    return 1;
}
