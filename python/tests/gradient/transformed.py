# SPDX-License-Identifier: Apache-2.0
"""Programs of statistics, physics and learning that use vmap, jvp, jit and other transforms. Each takes a namespace
of arrays and an object with the transforms, and returns arrays."""

import numpy as np

generator = np.random.default_rng(17)


def normal(*shape):
    return generator.normal(size=shape)


X, LABELS, Y = normal(12, 3), (normal(12) > 0).astype(float), normal(12)
W, V = normal(3, 5) / 2, normal(5) / 2
POINTS, CENTERS = normal(20, 2), normal(3, 2)
TIMES = np.linspace(0.0, 1.0, 8)


def logistic_regression(xp, t):
    def loss(w):
        return xp.mean(xp.log1p(xp.exp(-(2 * LABELS - 1) * (X @ w))))

    step = t.jit(lambda w: w - 0.5 * t.grad(loss)(w))
    w = xp.asarray(np.zeros(3))
    for _ in range(20):
        w = step(w)
    return w, t.hessian(loss)(w)


def network(xp, t):
    def predict(p, x):
        return xp.tanh(x @ p["w"] + p["b"]) @ p["v"]

    def loss(p):
        return xp.mean((t.vmap(predict, (None, 0))(p, xp.asarray(X)) - Y)**2)

    p = {"w": xp.asarray(W), "b": xp.asarray(np.zeros(5)), "v": xp.asarray(V)}
    step = t.jit(t.value_and_grad(loss))
    for _ in range(5):
        value, g = step(p)
        p = {n: p[n] - 0.1 * g[n] for n in p}
    return value, p["w"], p["v"]


def gradients_of_each_sample(xp, t):
    def loss(w, x, y):
        return (xp.sum(xp.tanh(x @ w) * V) - y)**2

    return t.jit(t.vmap(t.grad(loss), (None, 0, 0)))(xp.asarray(W), xp.asarray(X), xp.asarray(Y))


def ode_fit(xp, t):
    """Lotka and Volterra's equations by Heun's method, fitted to one trajectory."""
    def slope(z, k):
        return xp.stack([k[0] * z[0] - k[1] * z[0] * z[1], k[1] * z[0] * z[1] - k[2] * z[1]])

    def trajectory(k):
        z, path = xp.asarray([1.0, 0.5]), []
        for _ in range(8):
            a = slope(z, k)
            z = z + 0.05 * (a + slope(z + 0.1 * a, k))
            path.append(z)
        return xp.stack(path)

    k = xp.asarray([1.1, 0.7, 0.9])
    target = trajectory(xp.asarray([1.0, 0.8, 1.0]))
    return t.jit(t.value_and_grad(lambda k: xp.sum((trajectory(k) - target)**2)))(k), t.jacfwd(trajectory)(k)


def gaussian_process(xp, t):
    def kernel(p, a, b):
        return p[0]**2 * xp.exp(-xp.sum((a - b)**2) / (2 * p[1]**2))

    def likelihood(p):
        x = xp.asarray(X)
        rows = t.vmap(lambda a: t.vmap(lambda b: kernel(p, a, b))(x))(x)
        k = rows + 0.1 * xp.eye(12)
        return 0.5 * Y @ xp.linalg.solve(k, xp.asarray(Y)) + 0.5 * xp.linalg.slogdet(k)[1]

    return t.jit(t.value_and_grad(likelihood))(xp.asarray([1.2, 0.8]))


def kalman_filter(xp, t):
    move = np.array([[1.0, 0.1], [0.0, 1.0]])

    def log_likelihood(q, path):
        mean, cov, total = xp.asarray([0.0, 0.0]), xp.eye(2), 0.0
        for i in range(8):
            mean, cov = move @ mean, move @ cov @ move.T + q * xp.eye(2)
            spread = cov[0, 0] + 0.3
            gain = cov[:, 0] / spread
            error = path[i] - mean[0]
            total = total - 0.5 * (error**2 / spread + xp.log(spread))
            mean, cov = mean + gain * error, cov - gain[:, None] * cov[None, 0, :]
        return total

    paths = xp.asarray(np.cumsum(np.sin(np.arange(24.0)).reshape(3, 8), axis=1))
    return t.jit(t.vmap(t.value_and_grad(log_likelihood), (None, 0)))(xp.asarray(0.2), paths)


def hamiltonian_monte_carlo(xp, t):
    """One trajectory of several chains, with given momenta and thresholds."""
    def energy(q):
        return 0.5 * xp.sum(q * q) + 0.1 * xp.sum(q**4)

    def step(q, p, u):
        start, q0 = energy(q) + 0.5 * xp.sum(p * p), q
        for _ in range(5):
            p = p - 0.05 * t.grad(energy)(q)
            q = q + 0.1 * p
            p = p - 0.05 * t.grad(energy)(q)
        change = start - energy(q) - 0.5 * xp.sum(p * p)
        return xp.where(xp.log(u) < change, q, q0)

    chains = [xp.asarray(np.sin(np.arange(12.0) * s).reshape(4, 3)) for s in (1.0, 2.0)]
    return t.jit(t.vmap(step))(*chains, xp.asarray([0.1, 0.5, 0.9, 0.999]))


def k_means(xp, t):
    def nearest(x, centers):
        return xp.argmin(t.vmap(lambda c: xp.sum((x - c)**2))(centers))

    centers, points = xp.asarray(CENTERS), xp.asarray(POINTS)
    for _ in range(3):
        labels = t.vmap(nearest, (0, None))(points, centers)

        def center(i):
            own = xp.where(labels == i, 1.0, 0.0)
            return own @ points / xp.maximum(xp.sum(own), 1.0)

        centers = t.vmap(center)(xp.asarray(np.arange(3)))
    return centers, labels


def pde_step(xp, t):
    """Diffusion on a ring: the sensitivity of the end to the conductivity."""
    start = np.exp(-np.linspace(-2, 2, 16)**2)

    def end(k):
        u = xp.asarray(start)
        for _ in range(6):
            u = u + k * (xp.roll(u, 1) - 2 * u + xp.roll(u, -1))
        return u

    return t.jit(lambda k: t.jvp(end, (k,), (xp.ones_like(k),)))(xp.asarray(0.2))


def fft_convolution(xp, t):
    def blurred(x, width):
        at = xp.asarray(np.minimum(np.arange(16.0), 16 - np.arange(16.0)))
        kernel = xp.exp(-(at / width)**2)
        return xp.real(xp.fft.ifft(xp.fft.fft(x) * xp.fft.fft(kernel / xp.sum(kernel))))

    rows = xp.asarray(np.sin(np.arange(48.0)).reshape(3, 16))
    widths = xp.asarray([0.5, 1.0, 2.0])
    return t.jit(t.vmap(blurred))(rows, widths), t.vmap(t.grad(lambda x, w: xp.sum(blurred(x, w)**2), 1))(rows, widths)


def newton(xp, t):
    """Newton's method from several starts."""
    def f(x):
        return xp.sum(xp.log(1 + x**2)) + 0.5 * xp.sum((x - 1)**2) + x[0] * x[1] / 4

    def step(x):
        return x - xp.linalg.solve(t.hessian(f)(x), t.grad(f)(x))

    x = xp.asarray(np.array([[0.5, 0.2], [1.0, -0.3], [0.1, 0.9]]))
    for _ in range(4):
        x = t.jit(t.vmap(step))(x)
    return x


def gauss_newton(xp, t):
    def residual(p):
        return p[0] * xp.exp(-p[1] * xp.asarray(TIMES)) - np.cos(TIMES)

    p = xp.asarray([1.0, 0.3])
    for _ in range(3):
        j = t.jacfwd(residual)(p)
        p = p - xp.linalg.solve(j.T @ j, j.T @ residual(p))
    return p


def attention(xp, t):
    def one(q, k, v):
        scores = q @ k.T / np.sqrt(3.0)
        weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        return weights / xp.sum(weights, axis=-1, keepdims=True) @ v

    heads = xp.asarray(np.cos(np.arange(48.0)).reshape(4, 4, 3))
    return t.jit(t.vmap(one))(heads, heads * 2, heads + 1)


def molecular_energy(xp, t):
    """Lennard-Jones forces of several frames."""
    def energy(x):
        d = x[:, None, :] - x[None, :, :]
        r2 = xp.sum(d * d, axis=-1) + xp.eye(5)
        return 0.5 * xp.sum((1 - xp.eye(5)) * (r2**-6 - 2 * r2**-3))

    frames = xp.asarray(3 * np.cos(np.arange(30.0) * 1.7).reshape(2, 5, 3))
    return t.jit(t.vmap(t.value_and_grad(energy)))(frames)


def power_iteration(xp, t):
    matrices = xp.asarray(np.stack([np.eye(3) + 0.1 * np.outer(r, r) for r in X[:4]]))

    def largest(m):
        x = xp.asarray([1.0, 1.0, 1.0])
        for _ in range(10):
            x = m @ x
            x = x / xp.sqrt(xp.sum(x * x))
        return x @ m @ x

    return t.jit(t.vmap(t.value_and_grad(largest)))(matrices)


def recurrent_network(xp, t):
    def last(w, row):
        h = xp.zeros(3)
        for i in range(4):
            h = xp.tanh(w @ h + row[i])
        return xp.sum(h)

    rows = xp.asarray(np.sin(np.arange(24.0)).reshape(6, 4))
    w = xp.asarray(np.cos(np.arange(9.0)).reshape(3, 3))
    return t.jit(t.grad(lambda w: xp.mean(t.vmap(last, (None, 0))(w, rows))))(w)


def mixture_of_gaussians(xp, t):
    def log_density(x, means):
        each = t.vmap(lambda m: -0.5 * xp.sum((x - m)**2))(means)
        top = xp.max(each)
        return top + xp.log(xp.sum(xp.exp(each - top)))

    return t.jit(t.value_and_grad(lambda m: -xp.mean(t.vmap(log_density, (0, None))(xp.asarray(POINTS), m))))(xp.asarray(CENTERS))


def implicit_step(xp, t):
    """Backward Euler of a stiff equation, by solving with the Jacobian."""
    def f(z):
        return xp.stack([-50 * z[0] + z[1], z[0] * z[1] - z[1]])

    def step(z):
        return z + xp.linalg.solve(xp.eye(2) - 0.1 * t.jacfwd(f)(z), 0.1 * f(z))

    return t.jit(t.vmap(step))(xp.asarray(np.array([[1.0, 0.5], [0.2, -1.0]])))


def image_filter(xp, t):
    """A convolution of an image by indices, with the gradient of its weights."""
    rows = np.arange(4)[:, None] + np.arange(3)

    def filtered(image, weights):
        patches = image[rows[:, None, :, None], rows[None, :, None, :]]
        return xp.sum(patches * weights, axis=(-2, -1))

    images = xp.asarray(np.sin(np.arange(72.0)).reshape(2, 6, 6))
    weights = xp.asarray(np.cos(np.arange(9.0)).reshape(3, 3))
    return t.jit(t.vmap(filtered, (0, None)))(images, weights), t.grad(
        lambda w: xp.sum(t.vmap(filtered, (0, None))(images, w)**2))(weights)


def table_of_embeddings(xp, t):
    """Rows of a table by indices: equal indices add their gradients."""
    words, table = xp.asarray(np.array([[0, 2, 2], [1, 0, 4]])), xp.asarray(np.sin(np.arange(15.0)).reshape(5, 3))

    def loss(table):
        return xp.mean(t.vmap(lambda w: xp.sum(xp.tanh(xp.sum(table[w], axis=0))))(words))

    return t.jit(t.value_and_grad(loss))(table)


PROGRAMS = [logistic_regression, network, gradients_of_each_sample, ode_fit, gaussian_process, kalman_filter,
            hamiltonian_monte_carlo, k_means, pde_step, fft_convolution, newton, gauss_newton, attention, molecular_energy,
            power_iteration, recurrent_network, mixture_of_gaussians, implicit_step, image_filter, table_of_embeddings]
