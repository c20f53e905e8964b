"""The management API: what the console does, for programs."""
