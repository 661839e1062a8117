"""The option that rewrites what golden tests expect."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="expect what the tools say now"
    )
