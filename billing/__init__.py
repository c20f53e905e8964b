"""Metering: what was spoken, for whom, and what of it is charged."""
