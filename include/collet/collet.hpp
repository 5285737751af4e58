/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * collet/collet.hpp - collet.h and expression.h for C++17: owners, exceptions, operators.
 *
 *     collet::context cx("auto");
 *     collet::array p = collet::from(cx, {1.0, 2.0, 3.0}), a = collet::full(cx, {3}, 0.5);
 *     collet::array r = 4 * p - sqrt(a);
 *     std::cout << r << COLLET_EVAL("4*p - a", p, a);
 *
 *   - Ownership: a runtime is moved, not copied. Copies of a context, an array, a span or an expression refer to the
 *     same object, which ends with the last copy. An array keeps its context; a span and an expr keep their arrays.
 *     An object that was moved from is empty; using it throws.
 *   - Threads: as in collet.h. The arrays and spans of a context are used by the thread that uses the context; array::in
 *     gives the same elements in another thread's context. Copies are counted as in std::shared_ptr: the last copy of
 *     an array may end on any thread, the last copy of a context only while no other thread uses the context.
 *   - Errors: where the C call fails, collet::error is thrown with its status and text. Destructors throw nothing. A
 *     call that throws leaves its arrays as they were.
 *   - Operators and elementwise functions compute nothing. They build an expr, which is computed in one pass when it
 *     becomes an array or is reduced, for example by sum. Numbers are weak as in expression.h: 2 * f32 is f32.
 */
#ifndef COLLET_COLLET_HPP
#define COLLET_COLLET_HPP
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>
#include <collet/expression.h>
#include <collet/ops/array.h>

namespace collet {
using extents = std::vector<std::int64_t>;
struct error : std::runtime_error {
    error(collet_status s, const std::string &text) : std::runtime_error(text), status(s) {}
    collet_status status;
};

namespace detail
{
template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T> constexpr bool is_number = (std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) || is_complex<T>;

inline void require(bool good, collet_status status, const char *text)
{
    if (!good)
        throw error(status, text);
}
/* Calls f(out, err), a C function, and returns the object that it creates. */
template <class T, class F> T *made(F f)
{
    collet_error err;
    T *out = nullptr;
    const collet_status status = f(&out, &err);
    return require(status == COLLET_OK, status, err.text), out;
}
} // namespace detail

/* The dtype of the elements T: bool, an integer, float, double, std::complex of these. */
template <class T> constexpr collet_dtype dtype_of()
{
    using U = std::remove_const_t<T>;
    static_assert(detail::is_number<U>, "arrays have no such elements");
    constexpr int place = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : sizeof(U) == 8 ? 3 : 4;
    constexpr collet_dtype none = COLLET_DTYPE_NONE, complex[] = {none, none, none, COLLET_C64, COLLET_C128},
                           real[] = {none, none, COLLET_F32, COLLET_F64},
                           is[] = {COLLET_I8, COLLET_I16, COLLET_I32, COLLET_I64},
                           us[] = {COLLET_U8, COLLET_U16, COLLET_U32, COLLET_U64};
    return detail::is_complex<U> ? complex[place] : std::is_floating_point_v<U> ? real[place]
           : std::is_same_v<U, bool> ? COLLET_BOOL : std::is_signed_v<U> ? is[place] : us[place];
}

/* A weak number: bool, i64, u64, f64 or c128. */
template <class T> collet_scalar scalar(T value)
{
    using Whole = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    using Real = std::conditional_t<std::is_integral_v<T>, Whole, double>;
    using Any = std::conditional_t<detail::is_complex<T>, std::complex<double>, Real>;
    const auto wide = static_cast<std::conditional_t<std::is_same_v<T, bool>, bool, Any>>(value);
    collet_scalar s{{}, dtype_of<decltype(wide)>(), 0};
    return std::memcpy(s.value.bytes, &wide, sizeof wide), s;
}

class runtime {
public:
    explicit runtime(const collet_runtime_options *options = nullptr)
        : handle_(detail::made<collet_runtime>([&](auto out, auto err) { return collet_runtime_create(out, options, err); }),
                  collet_runtime_destroy) {}
    collet_runtime *get() const noexcept { return handle_.get(); }
private:
    std::unique_ptr<collet_runtime, void (*)(collet_runtime *)> handle_;
};

class context {
public:
    context() = default; /* empty */
    /* `backend` as in collet_set_backend; nullptr: the choice of the runtime. */
    explicit context(const runtime &r, const char *backend = nullptr)
        : handle_(detail::made<collet_context>([&](auto out, auto err) { return collet_context_create(r.get(), out, err); }),
                  collet_context_destroy) { check(backend ? collet_set_backend(get(), backend) : COLLET_OK); }
    explicit context(const char *backend) : context(runtime(), backend) {} /* searches for plugins */
    collet_context *get() const
    { return handle_ ? handle_.get() : throw error(COLLET_INVALID, "the context is empty: moved from, or never made"); }
    /* Throws the error of collet_last_error: cx.check(collet_op_matmul(cx.get(), c.get(), a.get(), b.get())). */
    void check(collet_status status) const { detail::require(status == COLLET_OK, status, collet_last_error(get())); }
    std::string backend() const { return collet_last_backend(get()); } /* the last kernel's */
    void finish() const { check(collet_finish(get())); }
private:
    std::shared_ptr<collet_context> handle_;
};

class array;
class expr;

/* The elements in the host's memory, from collet_array_acquire until the last copy of the span ends. T is const for
 * reading. begin, end, data and [] need elements in C order without gaps; s(i, j) takes any strides. */
template <class T> class span {
public:
    explicit span(const array &a);
    T *data() const
    { return dense_ ? data_ : throw error(COLLET_INVALID, "the elements are not dense: use s(i, j), values() or a copy"); }
    T *begin() const { return data(); }
    T *end() const { return data() + size_; }
    T &operator[](std::int64_t i) const { return data()[i]; }
    template <class... I> T &operator()(I... index) const
    {
        detail::require(sizeof...(index) == strides_.size(), COLLET_INVALID, "s(i, j): an index for each axis");
        const std::int64_t at[] = {static_cast<std::int64_t>(index)..., 0};
        return data_[std::inner_product(strides_.begin(), strides_.end(), at, std::int64_t(0))];
    }
    std::int64_t size() const noexcept { return size_; }
private:
    std::shared_ptr<void> release_;
    T *data_ = nullptr;
    std::int64_t size_;
    extents strides_;
    bool dense_ = true;
};

class array {
public:
    array() = default;    /* empty */
    array(const expr &e); /* computes it */
    array(const context &cx, collet_array *made) : cx_(cx), handle_(made, collet_array_destroy) {}
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    collet_array *get() const
    { return handle_ ? handle_.get() : throw error(COLLET_INVALID, "the array is empty: moved from, or never made"); }
    const context &cx() const noexcept { return cx_; }
    array in(const context &cx) const { array a = *this; a.cx_ = cx; return a; }
    collet_dtype dtype() const { return collet_array_dtype(get()); }
    std::int64_t size() const { return collet_array_size(get()); }
    extents shape() const { return extents(collet_array_shape(get()), collet_array_shape(get()) + collet_array_ndim(get())); }
    void assign(const expr &e) const; /* writes into these elements; `=` makes the variable refer to another array */

    /* Views. a[i]: element i of the first axis; a negative i counts from the last element. */
    array operator[](std::int64_t i) const { return view(collet_array_select, 0, i); }
    array slice(int axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) const
    { return view(collet_array_slice, axis, start, count, step); }
    array reshape(const extents &s) const { return view(collet_array_reshape, int(s.size()), s.data()); }
    array transpose() const { return view(collet_array_permute, nullptr); }

    template <class T> span<const T> read() const { return span<const T>(*this); }
    template <class T> span<T> write() const { return span<T>(*this); }
    template <class T> std::vector<T> values() const; /* in C order, converted to T */
    template <class T> T item() const                 /* the only element */
    { return size() == 1 ? values<T>()[0] : throw error(COLLET_SHAPE, "item: the array must have one element"); }
private:
    template <class F, class... A> array view(F make, A... arguments) const
    {
        collet_array *made = nullptr;
        return cx_.check(make(cx_.get(), get(), &made, arguments...)), array(cx_, made);
    }
    context cx_;
    std::shared_ptr<collet_array> handle_;
};
/* The text of collet_array_text. */
inline std::ostream &operator<<(std::ostream &stream, const array &a)
{
    std::vector<char> text(1 << 16);
    a.cx().check(collet_array_text(a.cx().get(), a.get(), text.data(), text.size()));
    return stream << text.data();
}

namespace detail
{
using graph = std::shared_ptr<collet_expression>;

/* Evaluates; `outs` that are empty are made. */
inline void run(const context &cx, const graph &g, std::vector<array> &outs, const std::vector<collet_argument> &with)
{
    std::vector<collet_array *> raw;
    for (const array &a : outs)
        raw.push_back(a ? a.get() : nullptr);
    cx.check(collet_expression_evaluate(cx.get(), g.get(), raw.data(), with.data(), std::uint32_t(with.size())));
    for (std::size_t i = 0; i < raw.size(); i++)
        if (!outs[i])
            outs[i] = array(cx, raw[i]);
}
template <class F, class... A> array make(const context &cx, F f, A... arguments)
{
    collet_array *made = nullptr;
    return cx.check(f(cx.get(), &made, arguments...)), array(cx, made);
}
} // namespace detail

/* An array, a number, or a function of them, which is not computed yet. */
class expr {
public:
    expr(const array &a) : node_(std::make_shared<node>()) { a.get(), node_->leaf = a; }
    template <class T, class = std::enable_if_t<detail::is_number<T>>>
    expr(T number) : node_(std::make_shared<node>()) { node_->number = scalar(number); }
    /* An op of elementwise.def, or with COLLET_NO_OP the conversion to a dtype. */
    expr(std::uint32_t op, std::vector<expr> in, collet_dtype to = COLLET_DTYPE_NONE) : node_(std::make_shared<node>())
    {
        for (const expr &e : in)
            node_->depth = std::max(node_->depth, e.node_->depth + 1);
        detail::require(node_->depth <= COLLET_EXPRESSION_VALUES, COLLET_INVALID,
                        "the expression is too deep: make an array of a part of it");
        node_->op = op, node_->in = std::move(in), node_->number.dtype = to;
    }
    /* Computes it into `out`, which is made if it is empty; COLLET_OP_SUM, ... reduces it over `axes`, {}: all. */
    array compute(const array &out = {}, std::uint32_t reduce = COLLET_NO_OP, const std::vector<std::int32_t> &axes = {},
                  bool keepdims = false) const
    {
        builder b;
        std::vector<array> outs{out};
        collet_expression *e = b.graph.get();
        b.step([&](auto, auto err) { return collet_expression_output(e, b.known.at(b.add(*this)), err); });
        if (reduce != COLLET_NO_OP)
            b.step([&](auto, auto err) {
                return collet_expression_reduce(e, reduce, axes.empty() ? nullptr : axes.data(),
                                                int(axes.size()), keepdims, 0, err);
            });
        detail::require(!b.leaves.empty(), COLLET_INVALID, "the expression has no array");
        return detail::run(b.cx, b.graph, outs, b.leaves), outs[0];
    }
private:
    struct node {
        array leaf;             /* a node is this array, or */
        std::vector<expr> in;   /* `op` of these operands, or */
        collet_scalar number{}; /* this number; its dtype is also the dtype of a conversion */
        std::uint32_t op = COLLET_NO_OP;
        int depth = 0;
    };
    struct builder {
        detail::graph graph{detail::made<collet_expression>(collet_expression_create), collet_expression_destroy};
        context cx; /* the last array's */
        std::vector<collet_argument> leaves;
        std::unordered_map<const void *, std::uint32_t> known; /* values of nodes and arrays */
        template <class F> static void step(F f) { detail::made<void>(f); }
        const void *add(const expr &e) /* returns the key in `known` */
        {
            const node &n = *e.node_;
            const void *key = n.leaf ? static_cast<const void *>(n.leaf.get()) : &n;
            if (known.count(key))
                return key;
            std::uint32_t in[3] = {}, count = 0, value = 0;
            for (const expr &operand : n.in)
                in[count++] = known.at(add(operand));
            step([&](auto, auto err) {
                return n.leaf   ? collet_expression_input(graph.get(), &value, nullptr, COLLET_DTYPE_NONE, err)
                       : !count ? collet_expression_literal(graph.get(), &value, &n.number, err)
                       : !n.op  ? collet_expression_convert(graph.get(), &value, in[0], n.number.dtype, err)
                                : collet_expression_apply(graph.get(), &value, n.op, in, count, err);
            });
            if (n.leaf)
                cx = n.leaf.cx(), leaves.push_back({nullptr, n.leaf.get(), nullptr, {}, {}});
            return known[key] = value, key;
        }
    };
    std::shared_ptr<node> node_;
};

inline array::array(const expr &e) : array(e.compute()) {}
inline void array::assign(const expr &e) const { get(), e.compute(*this); }
template <class T> expr cast(const expr &e) { return expr(COLLET_NO_OP, {e}, dtype_of<T>()); }

/* add(a, b), sqrt(a), where(c, a, b), ...: the functions of elementwise.def; % is Python's, with the sign of b. */
#define COLLET_CPP_1(NAME, name) inline expr name(const expr &a) { return expr(COLLET_OP_##NAME, {a}); }
#define COLLET_CPP_2(NAME, name) inline expr name(const expr &a, const expr &b) { return expr(COLLET_OP_##NAME, {a, b}); }
#define COLLET_CPP_3(NAME, name) \
    inline expr name(const expr &a, const expr &b, const expr &c) { return expr(COLLET_OP_##NAME, {a, b, c}); }
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, ...) COLLET_CPP_##inputs(NAME, name)
#include <collet/ops/elementwise.def>
COLLET_CPP_1(NEG, operator-) COLLET_CPP_1(BITWISE_INVERT, operator~)
COLLET_CPP_2(ADD, operator+) COLLET_CPP_2(SUB, operator-) COLLET_CPP_2(MUL, operator*) COLLET_CPP_2(DIV, operator/)
COLLET_CPP_2(REMAINDER, operator%) COLLET_CPP_2(BITWISE_AND, operator&) COLLET_CPP_2(BITWISE_OR, operator|)
COLLET_CPP_2(BITWISE_XOR, operator^) COLLET_CPP_2(EQUAL, operator==) COLLET_CPP_2(NOT_EQUAL, operator!=)
COLLET_CPP_2(LESS, operator<) COLLET_CPP_2(LESS_EQUAL, operator<=)
COLLET_CPP_2(GREATER, operator>) COLLET_CPP_2(GREATER_EQUAL, operator>=)
#undef COLLET_ELEMENTWISE

/* Computed at once, in the pass that computes `e`. */
#define COLLET_CPP_REDUCTION(NAME, name) \
    inline array name(const expr &e, const std::vector<std::int32_t> &axes = {}, bool keepdims = false) \
    { return e.compute({}, COLLET_OP_##NAME, axes, keepdims); }
COLLET_CPP_REDUCTION(SUM, sum) COLLET_CPP_REDUCTION(PROD, prod) COLLET_CPP_REDUCTION(MEAN, mean)
COLLET_CPP_REDUCTION(MIN, min) COLLET_CPP_REDUCTION(MAX, max)
#undef COLLET_CPP_1
#undef COLLET_CPP_2
#undef COLLET_CPP_3
#undef COLLET_CPP_REDUCTION

/* A name in the text of an expression, and its value: an array or a number. */
struct argument {
    argument(std::string n, const array &a) : name(std::move(n)), value(a) {}
    template <class T, class = std::enable_if_t<detail::is_number<T>>>
    argument(std::string n, T v) : name(std::move(n)), number(scalar(v)) {}
    template <class... T> static std::vector<argument> list(std::string names, const T &...values) /* "p, a", p, a */
    {
        names.erase(std::remove(names.begin(), names.end(), ' '), names.end());
        const auto next = [&names] {
            const std::string s = names.substr(0, names.find(','));
            names.erase(0, s.size() + 1);
            return s.find_first_of("()[]<>{}.+-*/\"':&!~") == s.npos ? s : throw error(
                COLLET_INVALID, "COLLET_EVAL: '" + s + "' is not a name; eval(text, {{\"name\", value}}) takes values");
        };
        return {argument(next(), values)...}; /* from left to right */
    }
    std::string name;
    array value;
    collet_scalar number{};
};
/* An expression from a text (docs/expressions.md), parsed once and evaluated many times: f({{"p", p}, {"k", 2.5}}). */
class expression {
public:
    explicit expression(const std::string &text)
        : graph_(detail::made<collet_expression>([&](auto out, auto err) { return collet_expression_parse(out, text.c_str(), err); }),
                 collet_expression_destroy) {}
    /* All outputs, computed in the context of the last array of `with`. Arrays of `outs` that are not empty are
     * written; empty ones are created. */
    std::vector<array> outputs(const std::vector<argument> &with, std::vector<array> outs = {}) const
    {
        context cx;
        std::vector<collet_argument> raw;
        for (const argument &a : with) {
            raw.push_back({a.name.c_str(), a.value ? a.value.get() : nullptr, nullptr, a.number, {}});
            cx = a.value ? a.value.cx() : cx;
        }
        outs.resize(collet_expression_output_count(graph_.get()));
        return detail::run(cx, graph_, outs, raw), outs;
    }
    array operator()(const std::vector<argument> &with) const { return outputs(with).at(0); }
private:
    detail::graph graph_;
};
inline array eval(const std::string &text, const std::vector<argument> &with) { return expression(text)(with); }
/* COLLET_EVAL("4*p - a", p, a): eval with the names of the variables, in any order. */
#define COLLET_EVAL(text, ...) ::collet::eval(text, ::collet::argument::list(#__VA_ARGS__, __VA_ARGS__))

/* New arrays: `from` copies; the elements of `empty` are undefined; `wrap` uses the caller's memory, which must outlive
 * the array and be accessed only by spans (collet_array_wrap). */
inline array empty(const context &cx, const extents &shape, collet_dtype dtype)
{ return detail::make(cx, collet_array_create, dtype, int(shape.size()), shape.data()); }
template <class T> array full(const context &cx, const extents &shape, T value)
{
    const array a = empty(cx, shape, dtype_of<T>());
    const collet_scalar s = scalar(value);
    return cx.check(collet_op_fill(cx.get(), a.get(), &s)), a;
}
template <class T> array zeros(const context &cx, const extents &shape) { return full(cx, shape, T(0)); }
template <class T> array ones(const context &cx, const extents &shape) { return full(cx, shape, T(1)); }
template <class T> array from(const context &cx, const T *data, const extents &shape)
{ return detail::make(cx, collet_array_from, dtype_of<T>(), int(shape.size()), shape.data(), data); }
template <class T> array from(const context &cx, const std::vector<T> &v) { return from(cx, v.data(), {std::int64_t(v.size())}); }
template <class T> array from(const context &cx, std::initializer_list<T> v) { return from(cx, v.begin(), {std::int64_t(v.size())}); }
template <class T> array wrap(const context &cx, T *data, const extents &shape)
{
    return detail::make(cx, collet_array_wrap, dtype_of<T>(), int(shape.size()), shape.data(), nullptr,
                        static_cast<void *>(const_cast<std::remove_const_t<T> *>(data)),
                        std::is_const_v<T> ? COLLET_WRAP_READONLY : 0, nullptr, nullptr);
}
template <class T> std::vector<T> array::values() const
{
    const array a = dtype() == dtype_of<T>() ? *this : array(cast<T>(*this));
    std::vector<T> v(static_cast<std::size_t>(size()));
    return cx_.check(collet_array_read(cx_.get(), a.get(), v.data(), v.size() * sizeof(T))), v;
}
template <class T> span<T>::span(const array &a) : size_(a.size())
{
    void *address = nullptr;
    detail::require(a.dtype() == dtype_of<T>(), COLLET_DTYPE, "span: the array has elements of another type");
    a.cx().check(collet_array_acquire(a.cx().get(), a.get(), &address, std::is_const_v<T> ? COLLET_READ : COLLET_WRITE));
    release_.reset(address, [a](void *) { collet_array_release(a.cx().get(), a.get()); });
    data_ = static_cast<T *>(address);
    const std::int64_t *const shape = collet_array_shape(a.get()), *const strides = collet_array_strides(a.get());
    strides_.assign(strides, strides + collet_array_ndim(a.get()));
    std::int64_t stride = 1;
    for (std::size_t i = strides_.size(); i-- && size_; stride *= shape[i])
        dense_ = dense_ && strides_[i] == stride;
}
} // namespace collet
#endif
