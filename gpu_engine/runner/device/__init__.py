"""The runner for a GPU: every step is a function of slot numbers on it, captured as a graph."""
