"""Which Parlance this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

# A checkout runs without being installed.
NOT_INSTALLED = "source"


def version() -> str:
    try:
        return version_of("parlance")
    except PackageNotFoundError:
        return NOT_INSTALLED
