"""Why a delivery did not arrive, in words for who set the webhook up."""

from __future__ import annotations

import http.client
import socket
import ssl

AGAIN = "The name of the address could not be looked up just now."
NO_NAME = "The name of the address is not known: check how it is spelled."
REFUSED = "Nothing listens there: the connection was refused."
CUT = "The other side closed the connection before it answered."
NOT_HTTP = "What answers there does not speak HTTP."
NOT_TLS = "What answers there does not speak TLS."


def said(error: OSError | http.client.HTTPException | ValueError) -> str:
    """Errors of the system have numbers in their text, and words that say nothing to a reader."""
    match error:
        case socket.gaierror():
            return AGAIN if error.errno == socket.EAI_AGAIN else NO_NAME
        case ssl.SSLCertVerificationError():
            return f"Its certificate is not to be trusted: {error.verify_message}."
        case ssl.SSLError():
            return NOT_TLS
        case ConnectionRefusedError():
            return REFUSED
        case TimeoutError():
            # Ours says how long; the system's says "timed out", or has a number.
            text = str(error)
            return f"There was {text if text.startswith('no answer') else 'no answer in time'}."
        # Also how a connection looks to the client of HTTP that ended without a word.
        case ConnectionError():
            return CUT
        case http.client.HTTPException():
            return NOT_HTTP
        case OSError() if error.strerror:
            return f"It cannot be reached: {error.strerror}."
    return str(error) or type(error).__name__
