"""Parlance's speech engine: Qwen3-TTS models, a scheduler of three modules, and the server around them."""
