"""Parlance's speech engine: Qwen3-TTS models, a scheduler for three modules, and their server."""
