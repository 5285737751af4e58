/* SPDX-License-Identifier: Apache-2.0 */
/* A product from C++17 with handles in unique_ptr; includes both headers. */
#include <collet/collet.h>
#include <collet/ops/linalg.h>
#include <collet/plugin.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace
{
struct Free {
    void operator()(collet_runtime *runtime) const
    {
        collet_runtime_destroy(runtime);
    }
    void operator()(collet_context *context) const
    {
        collet_context_destroy(context);
    }
    void operator()(collet_array *array) const
    {
        collet_array_destroy(array);
    }
};
using Runtime = std::unique_ptr<collet_runtime, Free>;
using Context = std::unique_ptr<collet_context, Free>;
using Array = std::unique_ptr<collet_array, Free>;

void check(const Context &cx, collet_status status)
{
    if (status != COLLET_OK)
        throw std::runtime_error(collet_last_error(cx.get()));
}

Context context(const Runtime &runtime)
{
    collet_error err;
    collet_context *cx = nullptr;
    if (collet_context_create(runtime.get(), &cx, &err) != COLLET_OK)
        throw std::runtime_error(err.text);
    return Context(cx);
}

Runtime runtime()
{
    collet_error err;
    collet_runtime *made = nullptr;
    if (collet_runtime_create(&made, nullptr, &err) != COLLET_OK)
        throw std::runtime_error(err.text);
    return Runtime(made);
}

Array matrix(const Context &cx, const std::array<float, 4> &values)
{
    const std::array<std::int64_t, 2> shape{2, 2};
    collet_array *made = nullptr;
    check(cx, collet_array_from(cx.get(), &made, COLLET_F32, 2, shape.data(), values.data()));
    return Array(made);
}
} // namespace

int main()
try {
    const Runtime rt = runtime();
    const Context cx = context(rt);
    const Array a = matrix(cx, {1, 2, 3, 4}), b = matrix(cx, {0, 1, 1, 0}), c = matrix(cx, {});
    std::array<float, 4> product{};
    check(cx, collet_op_matmul(cx.get(), c.get(), a.get(), b.get()));
    check(cx, collet_array_read(cx.get(), c.get(), product.data(), sizeof product));
    std::printf("%g %g %g %g by %s\n", product[0], product[1], product[2], product[3],
                collet_last_backend(cx.get()));
    return product == std::array<float, 4>{2, 1, 4, 3} ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "program: %s\n", error.what());
    return 1;
}
