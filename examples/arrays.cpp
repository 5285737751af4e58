/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/collet.hpp>
#include <collet/ops/linalg.h>
#include <iostream>

int main(int argc, char **argv)
try {
    const collet::context cx(argc > 1 ? argv[1] : "auto");
    const collet::array p = collet::from(cx, {1.0, 4.0, 9.0}), a = collet::full(cx, {3}, 0.5);

    const collet::array r = 4 * p - sqrt(p) + a; // one pass, no temporary arrays
    std::cout << r << " " << COLLET_EVAL("4*p - a", p, a) << " " << sum(p * a).item<double>() << "\n";

    const collet::array m = collet::zeros<double>(cx, {2, 3});
    m[1].assign(p); // row 1 of m
    for (double &x : m[0].write<double>())
        x = 2;
    std::cout << m << "\n";

    const collet::array product = collet::empty(cx, {2, 2}, COLLET_F64), turned = m.transpose();
    cx.check(collet_op_matmul(cx.get(), product.get(), m.get(), turned.get()));
    std::cout << product << " by " << cx.backend() << "\n";
} catch (const collet::error &e) {
    std::cerr << collet_status_name(e.status) << ": " << e.what() << "\n";
    return 1;
}
