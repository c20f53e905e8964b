"""Corpora that are made, not recorded."""
