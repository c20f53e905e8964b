"""The engines as they are now: readings from two looks at their status, sent every second."""
