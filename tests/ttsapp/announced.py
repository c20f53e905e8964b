"""Requests made up from an OpenAPI document, whose answers must be ones that it announces."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
FEW = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def answer(case: Case, base: str, headers: dict[str, str]) -> schemathesis.Response:
    """Fails where the document does not announce it."""
    response = case.call(base_url=base, headers=headers)
    case.validate_response(response, checks=CHECKS)
    return response
