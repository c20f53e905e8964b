"""The installation's own pages, one module each."""
