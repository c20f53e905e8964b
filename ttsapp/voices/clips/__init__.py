"""Recordings that people send: read in a process of its own, looked at, cut to what is used."""
