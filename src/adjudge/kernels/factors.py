"""Factors of a sparse matrix: rows solved one by one against the factors of the other side.

The matrix has a value for each observed (row, column). With the columns' factors held, each row's
best factors are a ridge regression of its own values, so rows never wait for each other, and a
row's solution has the same bits whatever thread solves it. Nothing of size rows x columns exists.

A row with fewer values than the rank is solved through the values: (F F' + ridge I) a = values,
factors = F' a, a system as small as the row. Others solve (F' F + ridge I) factors = F' values.

Arguments that the kernels share:

offsets, column, value   the observed values, grouped by row
start, stop              the rows of this block
held                     (column, rank) factors of the other side
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_TILE = 64  # values of a row taken together, a multiple of 8
# Sums may be taken in another order than written, so that they run as vector instructions: the same
# order each time on one machine, perhaps not on another.
_SUMS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, error_model="numpy")
def _cholesky_solve(matrix, size, least, vector):
    """Solve a symmetric system in place by Cholesky: ``vector`` becomes the solution.

    Only the upper triangle of ``matrix`` is read, and its factor takes its place. ``least`` is the
    ridge in the diagonal: no pivot can be smaller, but for rounding.
    """
    for c in range(size):
        root = math.sqrt(max(matrix[c, c], least))
        inverse = 1.0 / root
        matrix[c, c] = root
        for a in range(c + 1, size):
            matrix[c, a] *= inverse
        vector[c] *= inverse
        known = vector[c]
        for a in range(c + 1, size):
            x = matrix[c, a]
            vector[a] -= x * known
            for b in range(a, size):
                matrix[a, b] -= x * matrix[c, b]
    for c in range(size - 1, -1, -1):
        left = vector[c]
        for a in range(c + 1, size):
            left -= matrix[c, a] * vector[a]
        vector[c] = left / matrix[c, c]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _add_products(tile, cells, rank, matrix):
    """Add F' F of ``cells`` rows of ``tile`` to the upper half of ``matrix``, eight at a time.

    Rows past ``cells``, up to a multiple of eight, must be zeros.
    """
    for q in range(0, cells, 8):
        f, g, h, i = tile[q], tile[q + 1], tile[q + 2], tile[q + 3]
        j, k, m, n = tile[q + 4], tile[q + 5], tile[q + 6], tile[q + 7]
        for a in range(rank):
            row = matrix[a]
            f0, g0, h0, i0, j0, k0, m0, n0 = f[a], g[a], h[a], i[a], j[a], k[a], m[a], n[a]
            for b in range(a, rank):
                row[b] += (f0 * f[b] + g0 * g[b] + h0 * h[b] + i0 * i[b]) + (
                    j0 * j[b] + k0 * k[b] + m0 * m[b] + n0 * n[b]
                )


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_long(begin, end, column, value, held, ridge, tile, matrix, out):
    """The factors of one row with many values, into ``out``."""
    rank = held.shape[1]
    for a in range(rank):
        out[a] = 0.0
        for b in range(a, rank):
            matrix[a, b] = 0.0
        matrix[a, a] = ridge
    for first in range(begin, end, _TILE):
        cells = min(_TILE, end - first)
        for q in range(cells):
            source = column[first + q]
            v = value[first + q]
            for a in range(rank):
                tile[q, a] = held[source, a]
                out[a] += v * held[source, a]
        tile[cells : cells + (-cells) % 8] = 0.0
        _add_products(tile, cells, rank, matrix)
    _cholesky_solve(matrix, rank, ridge, out)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _dot(one, other, rank):
    """The inner product of two rows of factors."""
    total = 0.0
    for a in range(rank):
        total += one[a] * other[a]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_short(begin, end, column, value, held, ridge, matrix, dual, out):
    """The factors of one row with no more values than the rank, into ``out``."""
    rank = held.shape[1]
    cells = end - begin
    for q in range(cells):
        one = held[column[begin + q]]
        dual[q] = value[begin + q]
        for p in range(q, cells):
            matrix[q, p] = _dot(one, held[column[begin + p]], rank)
        matrix[q, q] += ridge
    _cholesky_solve(matrix, cells, ridge, dual)
    out[:] = 0.0
    for q in range(cells):
        one = held[column[begin + q]]
        x = dual[q]
        for a in range(rank):
            out[a] += x * one[a]


@njit(cache=True, nogil=True, error_model="numpy")
def solve_rows(offsets, column, value, start, stop, held, ridge, out):
    """The best factors of each row under the ``held`` factors of the columns: half an iteration.

    A row without values gets zeros, where its ridge alone puts it.
    """
    rank = held.shape[1]
    matrix = np.empty((rank, rank))
    tall = np.empty((_TILE, rank))
    dual = np.empty(rank)
    for row in range(start, stop):
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            out[row, :] = 0.0
        elif end - begin <= rank:
            _solve_short(begin, end, column, value, held, ridge, matrix, dual, out[row])
        else:
            _solve_long(begin, end, column, value, held, ridge, tall, matrix, out[row])


@njit(cache=True, nogil=True, error_model="numpy")
def gradient_rows(offsets, column, value, start, stop, own, held, ridge, out):
    """The gradient of the objective in each row's factors."""
    rank = held.shape[1]
    for row in range(start, stop):
        for a in range(rank):
            out[row, a] = ridge * own[row, a]
        for m in range(offsets[row], offsets[row + 1]):
            source = column[m]
            left = value[m] - _dot(own[row], held[source], rank)
            for a in range(rank):
                out[row, a] -= left * held[source, a]


@njit(cache=True, nogil=True, error_model="numpy")
def along(offsets, column, value, start, stop, own, held, own_step, held_step, out):
    """How the squared error changes along a step: ``out`` gets a polynomial's five coefficients.

    With factors own + t own_step and held + t held_step, a difference is x - t y - t^2 z, and the
    sum of their squares a polynomial of fourth degree in t.
    """
    rank = held.shape[1]
    out[:] = 0.0
    for row in range(start, stop):
        for m in range(offsets[row], offsets[row + 1]):
            source = column[m]
            x, y, z = value[m], 0.0, 0.0
            for a in range(rank):
                u, v = own[row, a], held[source, a]
                du, dv = own_step[row, a], held_step[source, a]
                x -= u * v
                y += du * v + u * dv
                z += du * dv
            out[0] += x * x
            out[1] -= 2.0 * x * y
            out[2] += y * y - 2.0 * x * z
            out[3] += 2.0 * y * z
            out[4] += z * z


@njit(cache=True, nogil=True, error_model="numpy")
def predict_cells(offsets, column, start, stop, own, held, out):
    """The product of factors at each observed (row, column), into ``out`` (value,)."""
    rank = held.shape[1]
    for row in range(start, stop):
        for m in range(offsets[row], offsets[row + 1]):
            out[m] = _dot(own[row], held[column[m]], rank)


@njit(cache=True, nogil=True, error_model="numpy")
def _complete_row(own, across, centre, out):
    """The values of one row in every column; ``across`` is the columns' factors (rank, column)."""
    rank, columns = across.shape
    for j in range(columns):
        out[j] = centre
    for a in range(rank):
        x = own[a]
        for j in range(columns):
            out[j] += x * across[a, j]


@njit(cache=True, nogil=True, error_model="numpy")
def vote_rows(start, stop, own, across, centre, middles, close, truth_of, turned, weight, votes):
    """Votes of all columns on each row: the label nearest to the completed value, weighed.

    ``middles`` are the values between neighbouring labels, ascending; ``truth_of`` (2, label) the
    truth of each label, as given and reversed; ``turned`` says which of the two
    holds for a column. A value as ``close`` to the middle gives half a vote to either side, so that
    an entire vote counts double in ``votes`` (row, truth). Weights are integers, since their
    sums know no order.
    """
    columns = across.shape[1]
    completed = np.empty(columns)
    for row in range(start, stop):
        _complete_row(own[row], across, centre, completed)
        votes[row, :] = 0
        for j in range(columns):
            low, high = 0, 0
            for t in range(middles.size):
                low += completed[j] > middles[t] + close
                high += completed[j] >= middles[t] - close
            votes[row, truth_of[turned[j], low]] += weight[j]
            votes[row, truth_of[turned[j], high]] += weight[j]


@njit(cache=True, nogil=True, error_model="numpy")
def right_rows(rows, own, across, centre, middles, close, truth_of, known, right):
    """Count in ``right`` (column,) the half votes of each column that are the known truth.

    ``rows`` are the rows to look at, ``known`` (row,) their truth.
    """
    columns = across.shape[1]
    completed = np.empty(columns)
    for row in rows:
        _complete_row(own[row], across, centre, completed)
        for j in range(columns):
            low, high = 0, 0
            for t in range(middles.size):
                low += completed[j] > middles[t] + close
                high += completed[j] >= middles[t] - close
            right[j] += truth_of[low] == known[row]
            right[j] += truth_of[high] == known[row]


@njit(cache=True, nogil=True, error_model="numpy")
def middle_rows(rows, own, across, out):
    """The median over the columns of each row's completed values, from the centre."""
    completed = np.empty(across.shape[1])
    for at in range(rows.size):
        _complete_row(own[rows[at]], across, 0.0, completed)
        out[at] = np.median(completed)
