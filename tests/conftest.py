"""For all tests, before any of them imports gRPC."""

from __future__ import annotations

import os
from pathlib import Path

# Tests start processes from one that speaks gRPC. Its fork handlers would start threads in the
# child before that becomes another program, and take it down with them.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# Each HTTP client reads all authorities that it could trust, 25 ms of it, and no test speaks to any
# of them: this one has signed nothing.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "nobody.pem")
