"""For all tests, before any of them imports gRPC."""

from __future__ import annotations

import os

# Tests start processes from one that speaks gRPC. Its fork handlers would start threads in the
# child before that becomes another program, and take it down with them.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
