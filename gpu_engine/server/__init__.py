"""The engine's two processes: a front that talks gRPC and a core that owns the device."""
