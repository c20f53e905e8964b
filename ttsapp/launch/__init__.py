"""Starts, watches and stops the product on one machine. Knows neither Django nor torch."""
