"""The only writers of voices and consents."""
