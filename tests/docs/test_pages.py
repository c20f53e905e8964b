"""Pages that do not run still agree with the code: links, rows, options, containers."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_engine.__main__ import COMMANDS
from tests.docs.measured import BLOCK, README, rewritten
from tests.docs.pages import PAGES, ROOT, first_cells, links

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
DOCKERFILES = sorted((ROOT / "docker").glob("Dockerfile.*[a-z]"))
DOCKERFILES = [file for file in DOCKERFILES if not file.name.endswith(".dockerignore")]
SOURCES = "\n".join(
    file.read_text("utf-8")
    for folder in ("ttsapp", "gpu_engine", "billing")
    for file in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    missing = [link for link in links(page) if not (page.parent / link).exists()]
    assert missing == []


def test_every_page_is_reachable_from_the_readme() -> None:
    linked = set(links(ROOT / "README.md"))
    pages = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")}
    assert pages - linked == set()


def requirement_name(requirement: str) -> str:
    return re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0].lower()


def test_every_dependency_has_its_row() -> None:
    direct = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    rows = set(first_cells(ROOT / "docs" / "dependencies.md"))
    assert {requirement_name(each) for each in direct} - rows == set()


def test_every_dependency_is_pinned() -> None:
    direct = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = [line.partition("==")[0].lower().replace("_", "-") for line in lines]
    assert {requirement_name(each) for each in direct} - set(pinned) == set()
    assert len(pinned) == len(set(pinned))


def test_every_package_has_its_line() -> None:
    text = (ROOT / "docs" / "structures.md").read_text("utf-8")
    for parent in ("gpu_engine", "ttsapp"):
        for package in (ROOT / parent).glob("*/__init__.py"):
            name = package.parent.name
            assert f"{parent}/{name}" in text or f"`{name}`" in text, f"{parent}/{name}"


def test_every_make_target_in_the_pages_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)", page.read_text("utf-8")))
        assert named - targets == set(), page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_variable_in_the_pages_is_read(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"PARLANCE_[A-Z_]*[A-Z]", page.read_text("utf-8")))
    unknown = {name for name in named if f'"{name}"' not in SOURCES and name not in makefile}
    assert unknown == set()


def test_measured_figures_are_the_stored_ones() -> None:
    page = README.read_text("utf-8")
    assert BLOCK.search(page)
    assert rewritten(page) == page


# The place of the code among the arguments.
CODE_AT = {"ApiError": 1, "invalid": 2}
CODES_OF_PAGES = {
    *("signed_out", "forbidden", "unknown_tenant", "bad_request", "too_many_webhooks"),
    *("invitation_closed", "already_member", "last_owner"),
}


def test_every_public_error_code_is_in_the_table_for_callers() -> None:
    page = (ROOT / "docs" / "tenants.md").read_text("utf-8")
    raised = {code for file in (ROOT / "ttsapp").rglob("*.py") for code in codes_in(file)}
    assert len(raised) > 20
    listed = set(re.findall(r"`(\w+)`", page[page.index("## Errors") :]))
    assert raised - listed - CODES_OF_PAGES == set()


def codes_in(file: Path) -> set[str]:
    """Every error code that is written out in a call which makes an error."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            place = CODE_AT.get(node.func.id, len(node.args))
            code = node.args[place] if place < len(node.args) else None
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                found.add(code.value)
    return found


# Containers cannot be built here: every command, path, variable and port in them must exist.


def instructions(file: Path, word: str) -> list[str]:
    text = file.read_text("utf-8").replace("\\\n", " ")
    return [line.split(None, 1)[1] for line in text.splitlines() if line.startswith(f"{word} ")]


def commands() -> list[list[str]]:
    """Every command line of Dockerfiles and compose services of ours."""
    found = [json.loads(line) for file in DOCKERFILES for line in instructions(file, "CMD")]
    services = COMPOSE["services"].values()
    return found + [each["command"] for each in services if "command" in each and "build" in each]


def test_dockerfiles_copy_what_exists() -> None:
    for file in DOCKERFILES:
        sources = [path for line in instructions(file, "COPY") for path in line.split()[:-1]]
        assert [path for path in sources if not (ROOT / path).exists()] == []


def test_images_hold_every_package_that_is_installed() -> None:
    packages = [
        name.rstrip("*") for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    ]
    for file in DOCKERFILES:
        copied = {path for line in instructions(file, "COPY") for path in line.split()[:-1]}
        assert set(packages) <= copied


def test_compose_builds_what_exists() -> None:
    for service in COMPOSE["services"].values():
        if "build" in service:
            context = (ROOT / "docker" / service["build"]["context"]).resolve()
            assert context == ROOT
            assert (context / service["build"]["dockerfile"]) in DOCKERFILES


@pytest.mark.parametrize("command", commands(), ids=shlex.join)
def test_commands_exist_with_their_options(command: list[str]) -> None:
    program, words = command[:2], command[2:]
    if program == ["python", "manage.py"]:
        check_management_command(words)
    elif command[1:3] == ["-m", "gpu_engine"]:
        check_engine_command(command[3:])
    else:
        check_worker_command(command)


def check_management_command(words: list[str]) -> None:
    from django.core.management import get_commands, load_command_class

    application = get_commands()[words[0]]
    parser = load_command_class(str(application), words[0]).create_parser("manage.py", words[0])
    parser.parse_args(words[1:])


def check_engine_command(words: list[str]) -> None:
    import argparse
    from importlib import import_module

    parser = argparse.ArgumentParser(exit_on_error=False)
    import_module(COMMANDS[words[0]][0]).add_arguments(parser)
    parser.parse_args(words[1:])


def check_worker_command(command: list[str]) -> None:
    from ttsapp.launch.plan import Plan

    launched = Plan(Path("/data")).worker_command()
    assert command[1:] == launched[1:]


def test_compose_variables_are_read_by_the_code() -> None:
    for name in environment_names():
        if not name.startswith("POSTGRES_"):
            assert f'"{name}"' in SOURCES, name


def environment_names() -> set[str]:
    services: list[dict[str, Any]] = list(COMPOSE["services"].values())
    return {name for service in services for name in service.get("environment", {})}


def test_services_meet_at_the_same_ports() -> None:
    services = COMPOSE["services"]
    environment = services["web"]["environment"]
    port = environment["PARLANCE_ENGINE"].rpartition(":")[2]
    assert services["engine"]["command"][5] == f"0.0.0.0:{port}"
    assert services["web"]["ports"] == ["8000:8000"]
    assert '"--port", "8000"' in (ROOT / "docker" / "Dockerfile.web").read_text("utf-8")
    for url in (environment["DATABASE_URL"], environment["REDIS_URL"]):
        host = re.split(r"[@/:]", url.split("://")[1].rpartition("@")[2])[0]
        assert host in services
