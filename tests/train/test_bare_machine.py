"""Training runs where only torch and a few common packages are installed, not what serves."""

import os
import subprocess
import sys

SERVING = {"django", "google", "grpc", "msgspec", "soxr", "sanotts", "uvicorn", "zmq"}
CODE = f"""
import importlib, pkgutil, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {SERVING!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import gpu_engine.train
for module in pkgutil.walk_packages(gpu_engine.train.__path__, "gpu_engine.train."):
    if module.name != "gpu_engine.train.evaluate":  # speaks with what serves
        importlib.import_module(module.name)
from gpu_engine.train.cli import main
main(["--help"])
"""


def test_every_module_is_imported_without_what_serves():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "follow" in done.stdout
