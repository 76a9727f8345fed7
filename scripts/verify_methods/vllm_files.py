"""Loads both of vLLM's rejection samplers from its files, with stubs for the rest of vLLM, which needs much more than torch and Triton.
The files are those of an installed package (`pip install --no-deps vllm` will do), or what scripts/gpu/rivals.py unpacked."""
import functools
import importlib.abc
import importlib.util
import inspect
import sys
import types
from pathlib import Path

ENGINE_1 = "vllm.v1.sample.rejection_sampler"
MODEL_RUNNER = "vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils"
GUMBEL = "vllm.v1.worker.gpu.sample.gumbel"
# These modules are executed; everything else that they import is replaced by a stub.
MODULES = (ENGINE_1, MODEL_RUNNER, GUMBEL, "vllm.v1.worker.gpu.sample.watermark", "vllm.v1.watermarking.prfs.philox",
           "vllm.v1.watermarking.prfs.base")


def file_of(name):
    return Path(*name.split(".")).with_suffix(".py")


class StandIn(types.ModuleType):
    """A stub module: it has every name that is imported from it."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *_, **__: None})


def dispatched(kernel, warmup_inputs):
    """Replaces vLLM's decorator: a function that returns a launch's grid and further arguments becomes that launch."""
    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def launch(*arguments, **options):
            given = dict(signature.bind(*arguments, **options).arguments)
            grid, more = function(*arguments, **options)
            given.update(more)
            kernel[grid](**{name: given[name.removesuffix("_ptr")] for name in kernel.arg_names})
        return launch
    return decorate


def triton_utils():
    import triton
    import triton.language as tl
    import triton.language.extra.libdevice as tldevice
    if triton.knobs.runtime.interpret:
        tldevice = types.SimpleNamespace(log1p=log1p)  # this interpreter has no CUDA library
    return {"HAS_TRITON": True, "triton": triton, "tl": tl, "tldevice": tldevice}


def log1p(x):
    """ln(1 + x) to rounding (Goldberg 1991, "What every computer scientist should know about floating-point arithmetic", Theorem 4)."""
    import triton.language as tl
    rounded = 1.0 + x
    return tl.where(rounded == 1.0, x, x * tl.log(rounded) / tl.where(rounded == 1.0, 1.0, rounded - 1.0))


CONTENTS = {
    "vllm.triton_utils": triton_utils,
    "vllm.logger": lambda: {"init_logger": lambda _: None},
    "vllm.model_executor.warmup.jit_warmup_triton_helper": lambda: {"triton_kernel_dispatcher_with_warmup": dispatched},
}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "vllm":
            return None
        if name in MODULES:
            return importlib.util.spec_from_file_location(name, self.folder / file_of(name))
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        vars(module).update(CONTENTS.get(module.__name__, dict)())


def installed():
    """The folder of the package vllm; None if it is not installed."""
    spec = importlib.util.find_spec("vllm")
    return None if spec is None else Path(next(iter(spec.submodule_search_locations))).parent


def load(folder, *names):
    """Modules of MODULES, from the files under a folder. sys.modules stays as it was."""
    def ours(name):
        return name == "vllm" or name.startswith("vllm.")
    before = {name: module for name, module in sys.modules.items() if ours(name)}
    for name in before:
        del sys.modules[name]
    finder = Finder(Path(folder))
    sys.meta_path.insert(0, finder)
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if ours(name)]:
            del sys.modules[name]
        sys.modules.update(before)
