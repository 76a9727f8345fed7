"""OpenVINO GenAI as it is installed: bf16 where the processor has it, a KV cache of 8 bits, activations of 8 bits."""

import dataclasses

from . import openvino

openvino.EXACT.clear()
ENGINE = dataclasses.replace(openvino.ENGINE, title="OpenVINO GenAI, defaults")
