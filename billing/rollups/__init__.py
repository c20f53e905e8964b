"""Sums of the usage events, by hour and by day."""
