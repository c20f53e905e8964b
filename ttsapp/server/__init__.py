"""The web server below the application: what one connection may send, and what it takes."""
