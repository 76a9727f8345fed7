"""Compares the two functions of lapack_pair.c with NumPy, on random matrices of fixed seeds. usage: lapack_pair.py LIBRARY"""
import ctypes
import sys

import numpy


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


library = ctypes.CDLL(sys.argv[1])
random = numpy.random.default_rng(1)
for size in (1, 2, 7, 60):
    for transposed in (False, True):
        matrix = numpy.asfortranarray(random.normal(size=(size, size)))
        solution = numpy.asfortranarray(random.normal(size=(size, 3)))
        expected = numpy.linalg.solve(matrix.T if transposed else matrix, solution)
        n, three, pivots, info = ctypes.c_int(size), ctypes.c_int(3), (ctypes.c_int * size)(), ctypes.c_int(-1)
        at = ctypes.byref
        library.dgetrf_(at(n), at(n), pointer(matrix), at(n), pivots, at(info))
        assert info.value == 0
        library.dgetrs_(b"T" if transposed else b"N", at(n), at(three), pointer(matrix), at(n), pivots, pointer(solution), at(n), at(info))
        numpy.testing.assert_allclose(solution, expected, rtol=1e-9, atol=1e-9)
singular = numpy.zeros((2, 2), order="F")
library.dgetrf_(at(ctypes.c_int(2)), at(ctypes.c_int(2)), pointer(singular), at(ctypes.c_int(2)), (ctypes.c_int * 2)(), at(info))
assert info.value == 1
