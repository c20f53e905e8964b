"""What a million characters costs on this installation's own machines."""
