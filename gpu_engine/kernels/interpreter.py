"""Triton's interpreter, for checks of the kernels where there is no GPU."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

MISSING = "Triton is not installed: make test-kernels installs it"


def is_installed() -> bool:
    return find_spec("triton") is not None


def interpret() -> None:
    """Before the first import of a kernel. Raises ImportError without Triton."""
    os.environ["TRITON_INTERPRET"] = "1"
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def patched(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        # Since numpy 2.4 an array of one element is no integer any more.
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    interpreter._patch_lang_tensor = patched
