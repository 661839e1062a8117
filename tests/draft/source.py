"""State classes as text, drafted as a user drafts them."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from codegen.draft import drafted
from codegen.draft.schema import Draft

IMPORTS = """\
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Optional, Union

import attr
import attrs
import numpy as np
import torch
from torch import Tensor

"""


def draft_of(folder: Path, source: str, name: str = "State") -> Draft:
    """The draft of class `name` of a file that holds `source` behind the usual imports."""
    folder.joinpath("state.py").write_text(IMPORTS + dedent(source), "utf-8")
    return drafted(f"{folder / 'state.py'}:{name}")


def schema_of(folder: Path, source: str, name: str = "State") -> dict[str, Any]:
    """The drafted schema, as YAML reads it; a field in comments is not in it."""
    loaded: dict[str, Any] = yaml.safe_load(draft_of(folder, source, name).text)
    return loaded


def fields_of(folder: Path, source: str, name: str = "State") -> dict[str, dict[str, Any]]:
    """The drafted fields without what every one has, its placement and its reason."""
    fields = schema_of(folder, source, name)["fields"]
    return {
        name: {key: value for key, value in keys.items() if key not in ("placement", "reason")}
        for name, keys in fields.items()
    }
