"""The default model's GGUF with its quantised weights written out as float32.

So llama.cpp computes with the numbers that transformers has, not with quantised arithmetic.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np


def write_floats(source: Path, target: Path) -> None:
    """Copy all fields of a GGUF file; of tensors, the values."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, str(reader.fields["general.architecture"].contents()))
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        value = 0 if name == "general.file_type" else field.contents()  # 0: all float32
        writer.add_key_value(name, value, field.types[0], sub_type=inner)
    for tensor in reader.tensors:
        floats = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, floats.reshape(tensor.shape[::-1].tolist()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
