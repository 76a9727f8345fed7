#!/usr/bin/env python3
"""Tests the shared library through ctypes: its exports, its version, its sizes and its errors.

usage: c_api.py LIBRARY VERSION NM PACKAGE [WITHOUT_EMULATOR]
A fifth argument means that the library has no emulator, and must refuse to emulate. If NM does not exist, the tools to read exports are missing.
Tensors are stubs with made-up addresses, so that nothing is launched even on a machine with a GPU.
"""
import ctypes
import subprocess
import sys
import unittest

library_path, version, nm, package = sys.argv[1:5]
HAS_EMULATOR = len(sys.argv) < 6
sys.path.insert(0, package)
from speclab_kernels import c_library as sk  # noqa: E402


class Tensor:
    """The parts of torch's tensor that c_library.py uses."""

    def __init__(self, index, shape, dtype="torch.float32", strides=None):
        self.address, self.shape, self.dtype = (index + 1) << 24, shape, dtype
        self.strides = strides or self.dense_strides()

    def dense_strides(self):
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * size)
        return tuple(strides)

    def data_ptr(self):
        return self.address

    def stride(self, dimension):
        return self.strides[dimension]

    def is_contiguous(self):
        return self.strides == self.dense_strides()


class Made(Tensor):
    """A stub tensor with these values."""

    def __init__(self, values, shape, dtype="torch.int32", c=ctypes.c_int32):
        super().__init__(0, shape, dtype)
        self.values = (c * len(values))(*values)

    def data_ptr(self):
        return ctypes.addressof(self.values)


def tensors(requests=8, gamma=4, vocab=1000, dtype="torch.bfloat16"):
    return {"target": Tensor(0, (requests, gamma + 1, vocab), dtype),
            "draft": Tensor(1, (requests, gamma, vocab), dtype),
            "drafted": Tensor(2, (requests, gamma), "torch.int32"),
            "accepted": Tensor(3, (requests,), "torch.int32"),
            "next": Tensor(4, (requests,), "torch.int32"),
            "uniforms": Tensor(5, (requests, gamma + 1), "torch.float64")}


class SharedLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = sk.Library(library_path)

    @unittest.skipIf(nm == "none", "there is no nm")
    def test_exports_nothing_but_its_functions(self):
        lines = subprocess.run([nm, "--dynamic", "--defined-only", library_path], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        self.assertEqual({line.split()[-1] for line in lines},
                         {"speclab_" + name for name in ("kernels_version", "last_error", "device_name",
                                                         "implementation_name", "verify", "verify_on_cpu",
                                                         "verify_tree", "verify_tree_on_cpu", "verify_tree_workspace_bytes",
                                                         "verify_workspace_bytes")})

    def test_version_is_the_projects_or_a_later_one(self):
        # The interface has a version of its own since it first grew.
        major, minor, patch = (int(part) for part in version.split("."))
        self.assertGreaterEqual(self.library.c.speclab_kernels_version(), max(major * 10000 + minor * 100 + patch, 200))

    def test_structure_is_the_headers(self):
        batch = sk.batch_of(**tensors())
        self.assertGreater(self.library.workspace_bytes(batch), 0)
        batch.struct_size = 215
        with self.assertRaisesRegex(sk.SpeclabError, "216 or more"):
            self.library.workspace_bytes(batch)

        class Newer(ctypes.Structure):
            _fields_ = [("known", sk.Batch), ("added", ctypes.c_void_p)]
        batch.struct_size = ctypes.sizeof(Newer)
        newer = Newer(batch, 1)
        with self.assertRaisesRegex(sk.SpeclabError, f"this library knows {ctypes.sizeof(sk.Batch)}:"):
            self.library.workspace_bytes(newer.known)

    def test_every_implementation_has_a_name_and_a_size(self):
        names = self.library.implementations()
        self.assertEqual(names[0], "fused")
        for number in range(len(names)):
            self.library.workspace_bytes(sk.batch_of(**tensors(), implementation=number))
        with self.assertRaisesRegex(sk.SpeclabError, f"implementation is {len(names)}"):
            self.library.workspace_bytes(sk.batch_of(**tensors(), implementation=len(names)))

    def test_mistakes_are_told(self):
        def refused(pattern, workspace=9 << 24, spare=0, **changes):
            batch = sk.batch_of(**{**tensors(), **changes})
            with self.assertRaisesRegex(sk.SpeclabError, pattern):
                self.library.launch(batch, workspace, self.library.workspace_bytes(batch) + spare, None)

        refused("workspace is null", workspace=None)
        refused("workspace_bytes is", spare=-1)
        refused("addresses, uniforms and seeds are null", uniforms=None)
        refused("accepted .* overlaps next", next=tensors()["accepted"])
        refused("target.request_stride is 4000",
                target=Tensor(0, (8, 5, 1000), "torch.bfloat16", (4000, 1000, 1)))
        refused("rule.lenience is 2", method="lenient", lenience=2.0)
        with self.assertRaisesRegex(sk.SpeclabError, "contiguous"):
            sk.batch_of(**{**tensors(), "target": Tensor(0, (8, 5, 1000), "torch.bfloat16", (5, 1, 40))})
        with self.assertRaisesRegex(sk.SpeclabError, "drafted is"):
            sk.batch_of(**{**tensors(), "drafted": Tensor(2, (8, 4), "torch.int64")})

    def test_every_field_is_where_the_header_has_it(self):
        def refused(pattern, change, **arguments):
            batch = sk.batch_of(**{**tensors(), **arguments})
            needed = self.library.workspace_bytes(batch)
            change(batch)
            with self.assertRaisesRegex(sk.SpeclabError, f"^{pattern}"):
                self.library.launch(batch, 9 << 24, needed, None)

        for field, name in (("requests", "requests"), ("gamma", "gamma"), ("vocab", "vocab"),
                            ("implementation", "implementation"), ("target_dtype", "target.dtype"),
                            ("draft_dtype", "draft.dtype"), ("method", "rule.method"), ("residual", "rule.residual")):
            refused(f"{name} is -5", lambda batch, field=field: setattr(batch, field, -5))
        refused("rule.lenience is 1.25", lambda batch: setattr(batch, "lenience", 1.25), method="lenient")
        for side in ("target", "draft"):
            for stride in ("request_stride", "row_stride"):
                refused(f"{side}.{stride} is 7", lambda batch: setattr(getattr(batch, side), stride, 7))
            for option in ("temperature", "cutoff", "log_sum_exp"):
                refused(f"{side}_options.{option} is 0xa000001:",
                        lambda batch: setattr(getattr(batch, side + "_options"), option, (10 << 24) + 1))
            refused(f"{side}.data is 0xa000001:", lambda batch: setattr(getattr(batch, side), "data", (10 << 24) + 1))
        for field in ("drafted", "lengths", "uniforms", "accepted", "next", "flags"):
            refused(f"{field} is 0xa000001:", lambda batch: setattr(batch, field, (10 << 24) + 1))
        refused("addresses is 0xa000001:", lambda batch: setattr(batch, "addresses", (10 << 24) + 1), uniforms=None)

    def test_decides_on_the_cpu(self):
        """There are two ids and equal rows: the drafted id is accepted whatever its uniform is, and the other uniform picks the next one. In the
        second request the draft is certain of an id without target probability."""
        infinity = float("inf")
        for emulate in (False, True)[:1 + HAS_EMULATOR]:
            made = {"target": Made([0, 0, 0, 0, -infinity, 5, 0, 0], (2, 2, 2), "torch.float32", ctypes.c_float),
                    "draft": Made([0, 0, 5, -infinity], (2, 1, 2), "torch.float32", ctypes.c_float),
                    "drafted": Made([1, 0], (2, 1), "torch.int32", ctypes.c_int32),
                    "uniforms": Made([0.999, 0.75, 0.001, 0.25], (2, 2), "torch.float64", ctypes.c_double),
                    **{name: Made([-7] * 2, (2,), "torch.int32", ctypes.c_int32) for name in ("accepted", "next", "counts", "flags")},
                    "tokens": Made([-7] * 4, (2, 2), "torch.int32", ctypes.c_int32)}
            self.library.on_cpu(sk.batch_of(**made), emulate)
            self.assertEqual(list(made["tokens"].values), [1, 1, 1, -1])
            self.assertEqual(list(made["counts"].values), [2, 1])
            self.assertEqual((list(made["accepted"].values), list(made["next"].values)), ([1, 0], [1, 1]))
        if not HAS_EMULATOR:
            with self.assertRaisesRegex(sk.SpeclabError, "this library has no emulator"):
                self.library.on_cpu(sk.batch_of(**made), True)
        made["target"].data_ptr = lambda: 0
        with self.assertRaisesRegex(sk.SpeclabError, "target.data is null"):
            self.library.on_cpu(sk.batch_of(**made))

    def test_decides_trees_on_the_cpu(self):
        """Children 0 and 1 of the context are chosen; the target is certain of token 1 there, and of 2 after the second child."""
        infinity = float("inf")
        for emulate in (False, True)[:1 + HAS_EMULATOR]:
            logits = [-infinity, 0, -infinity, 0, 0, 0, -infinity, -infinity, 0]
            made = {"target": Made(logits, (1, 3, 3), "torch.float32", ctypes.c_float), "draft": None, "drafted": Made([0, 1], (1, 2)),
                    "uniforms": Made([0.0, 0.999, 0.5], (1, 3), "torch.float64", ctypes.c_double), "tokens": Made([-7] * 3, (1, 3)),
                    **{name: Made([-7], (1,)) for name in ("accepted", "next", "counts", "flags")}}
            path, parents = Made([-7] * 2, (1, 2)), Made([-1, -1], (1, 2))
            tree = sk.TreeBatch(sk.batch_of(**made), parents=sk.view("parents", parents, (1, 2), "torch.int32"), path=path.data_ptr())
            self.library.tree_on_cpu(tree, emulate)
            self.assertEqual((list(path.values), list(made["tokens"].values)), ([1, -1], [1, 2, -1]))
            self.assertEqual([made[name].values[0] for name in ("accepted", "next", "counts", "flags")], [1, 2, 2, 0])
            parents.values[1] = 1
            self.library.tree_on_cpu(tree, emulate)
            self.assertEqual((made["next"].values[0], made["flags"].values[0]), (-2, 32))
        if not HAS_EMULATOR:
            with self.assertRaisesRegex(sk.SpeclabError, "this library has no emulator"):
                self.library.tree_on_cpu(tree, True)
        tree.struct_size = 88
        with self.assertRaisesRegex(sk.SpeclabError, "sizeof.speclab_tree_batch. is needed, 96 or more"):
            self.library.tree_on_cpu(tree)

    def test_a_good_batch_gets_as_far_as_the_device(self):
        if self.library.device_name() is not None:
            self.skipTest("there is a device, and the pointers are made up")
        batch = sk.batch_of(**tensors())
        with self.assertRaisesRegex(sk.SpeclabError, "CUDA"):
            self.library.launch(batch, 9 << 24, self.library.workspace_bytes(batch), None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
