"""The control plane: tenants, keys, voices and the APIs that speak."""
