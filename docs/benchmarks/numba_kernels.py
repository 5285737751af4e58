# SPDX-License-Identifier: Apache-2.0
"""The loops of others.py, compiled by numba."""
# pylint: disable=not-an-iterable

from numba import njit, prange
import numpy as np


@njit(parallel=True)
def exp(a, out):
    for i in prange(a.size):
        out[i] = np.exp(a[i])


@njit(parallel=True)
def add(a, b, out):
    for i in prange(a.size):
        out[i] = a[i] + b[i]


@njit(parallel=True, fastmath=True)
def sum_all(a):
    total = np.float32(0)
    for i in prange(a.size):
        total += a[i]
    return total


@njit(parallel=True)
def transpose(a, out):
    for i in prange(a.shape[1]):
        for j in range(a.shape[0]):
            out[i, j] = a[j, i]


@njit(parallel=True, fastmath=True)
def matvec(a, x, out):
    for i in prange(a.shape[0]):
        total = np.float32(0)
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        out[i] = total


@njit(parallel=True)
def normal(out):
    for i in prange(out.size):
        out[i] = np.random.standard_normal()


@njit(parallel=True, fastmath=True)
def com(positions, masses, out):
    for f in prange(positions.shape[0]):
        x, y, z, mass = 0.0, 0.0, 0.0, 0.0
        for i in range(masses.size):
            m = np.float64(masses[i])
            mass += m
            x += m * positions[f, i, 0]
            y += m * positions[f, i, 1]
            z += m * positions[f, i, 2]
        out[f, 0], out[f, 1], out[f, 2] = x / mass, y / mass, z / mass


@njit(fastmath=True, inline="always")
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@njit(parallel=True, fastmath=True)
def observables(positions, masses, velocities, forces, centers, inertia, angular, torque, kinetic):
    for f in prange(positions.shape[0]):
        x, y, z, px, py, pz, mass, energy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(masses.size):
            m = np.float64(masses[i])
            u, v, w = (np.float64(velocities[f, i, 0]), np.float64(velocities[f, i, 1]),
                       np.float64(velocities[f, i, 2]))
            mass += m
            x += m * positions[f, i, 0]
            y += m * positions[f, i, 1]
            z += m * positions[f, i, 2]
            px += m * u
            py += m * v
            pz += m * w
            energy += 0.5 * m * (u * u + v * v + w * w)
        x, y, z = x / mass, y / mass, z / mass
        xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        lx, ly, lz, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(masses.size):
            m = np.float64(masses[i])
            d = (positions[f, i, 0] - x, positions[f, i, 1] - y, positions[f, i, 2] - z)
            l = cross(d, (np.float64(velocities[f, i, 0]), np.float64(velocities[f, i, 1]),
                          np.float64(velocities[f, i, 2])))
            t = cross(d, (np.float64(forces[f, i, 0]), np.float64(forces[f, i, 1]),
                          np.float64(forces[f, i, 2])))
            xx += m * d[0] * d[0]
            yy += m * d[1] * d[1]
            zz += m * d[2] * d[2]
            xy += m * d[0] * d[1]
            xz += m * d[0] * d[2]
            yz += m * d[1] * d[2]
            lx, ly, lz = lx + m * l[0], ly + m * l[1], lz + m * l[2]
            tx, ty, tz = tx + t[0], ty + t[1], tz + t[2]
        centers[f, 0], centers[f, 1], centers[f, 2] = x, y, z
        inertia[f, 0, 0], inertia[f, 1, 1], inertia[f, 2, 2] = yy + zz, xx + zz, xx + yy
        inertia[f, 0, 1], inertia[f, 0, 2], inertia[f, 1, 2] = -xy, -xz, -yz
        inertia[f, 1, 0], inertia[f, 2, 0], inertia[f, 2, 1] = -xy, -xz, -yz
        angular[f, 0], angular[f, 1], angular[f, 2] = lx, ly, lz
        torque[f, 0], torque[f, 1], torque[f, 2] = tx, ty, tz
        omega = np.linalg.solve(inertia[f], angular[f])
        kinetic[f, 0] = energy
        kinetic[f, 1] = 0.5 * (px * px + py * py + pz * pz) / mass
        kinetic[f, 2] = 0.5 * (omega[0] * lx + omega[1] * ly + omega[2] * lz)
