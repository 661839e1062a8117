"""What the schemas of a project are compared with: those of a git ref, or of a folder."""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
from attrs import frozen

from ..findings import Report
from ..load import load
from ..model import Schema
from ..outputs import SUFFIXES, schema_files
from ..paths import shown
from ..place import working_on
from ..settings import Settings, UsageError, find
from ..source import Source, decode, read
from .git import Commit, Folder, find_commit, folder_in_git, read_files, unknown_ref


@frozen
class Baseline:
    """The old side of a comparison, and what to call it."""

    name: str
    schemas: tuple[Schema, ...]


def read_baseline(against: str, settings: Settings, known: Iterable[Schema] = ()) -> Baseline:
    """The schemas that `against`, a git ref or a folder, has.

    A file with the text of a schema in `known` is not read again. No rule is run: what the rules
    of today find in the schemas of then is past mending.

    Raises:
        UsageError: there is no such ref or folder, or one of its schemas does not load.
    """
    is_folder = _is_folder(against, settings)
    name, sources = _of_folder(Path(against)) if is_folder else _of_ref(against, settings)
    return Baseline(name, tuple(_loaded(sources, name, {one.sha256: one for one in known})))


def _is_folder(against: str, settings: Settings) -> bool:
    """Whether a folder is meant.

    Raises:
        UsageError: a ref has the same name.
    """
    if not against or not Path(against).is_dir():
        return False
    if against.startswith((".", "/")):
        return True
    try:
        commit = find_commit(folder_in_git(settings.schemas), against)
    except UsageError:
        return True
    if commit is not None:
        raise UsageError(
            f"{against!r} is a folder and a git ref: write `./{against}` for the folder, "
            f"`refs/heads/{against}` for the branch"
        )
    return True


def _of_folder(path: Path) -> tuple[str, Iterator[Source]]:
    """The schemas of the project in a folder, or of the folder itself."""
    # A project has other YAML files of its own beside the folder of its schemas.
    project = _schemas_of(path)
    folder = project if project.is_dir() else path
    return shown(folder), (read(one, shown(one)) for one in schema_files(folder))


def _schemas_of(project: Path) -> Path:
    settings = find(project, None, None)
    return settings.schemas if settings.root == project else project / "schemas"


def _of_ref(ref: str, settings: Settings) -> tuple[str, Iterator[Source]]:
    """The schemas of a commit, in the folder of today or else in the folder of then."""
    folder = folder_in_git(settings.schemas)
    commit = find_commit(folder, ref)
    if commit is None and Path(ref).is_file():
        raise UsageError(
            f"{ref!r}: is a file, and schemas are compared by the folder; "
            f"compare with the one that it is in: `--against {shown(Path(ref).absolute().parent)}`"
        )
    if commit is None:
        raise unknown_ref(folder, ref)
    files = read_files(folder, commit, SUFFIXES)
    if not files:
        folder = _folder_of_then(settings, folder, commit)
        files = read_files(folder, commit, SUFFIXES)
    at = shown(settings.schemas)
    sources = (decode(content, f"{at}/{name}") for name, content in files.items())
    return str(commit), sources


def _folder_of_then(settings: Settings, folder: Folder, commit: Commit) -> Folder:
    """Where the settings of a commit have the schemas."""
    root = folder_in_git(settings.root)
    found = read_files(root, commit, [".toml"]).get("pyproject.toml", b"")
    try:
        setting = tomllib.loads(found.decode())["tool"]["session-state"]["schemas"]
    except (KeyError, TypeError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return folder
    if not isinstance(setting, str):
        return folder
    return attrs.evolve(root, prefix=f"{root.prefix}{Path(setting).as_posix()}/")


def _loaded(sources: Iterable[Source], name: str, known: dict[str, Schema]) -> Iterator[Schema]:
    report = Report()
    for source in sources:
        same = known.get(source.sha256)
        if same is not None:
            yield attrs.evolve(same, path=source.path)
            continue
        with working_on(f"schema {source.path} of {name}"):
            schema = load(source, report)
        if schema is not None:
            yield schema
    errors = report.findings
    if errors:
        first = errors[0]
        line = f":{first.span.line}" if first.span else ""
        raise UsageError(
            f"{name}: {first.path}{line} does not load there, so nothing can be compared with it "
            f"({first.code}: {first.message}) Mend it in a copy, and compare with that: "
            "`--against FOLDER`"
        )
