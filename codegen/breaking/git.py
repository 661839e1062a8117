"""The files of a folder as a git ref has them, in four processes and without a checkout."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ..paths import shown
from ..settings import UsageError

# A hook runs with these set for the repository that called it, as seen from another folder.
_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})


@frozen
class Folder:
    """A folder of a git repository; `prefix` is its path in there, empty or with a last slash."""

    path: Path
    prefix: str
    shallow: bool


@frozen
class Commit:
    """What a ref stands for."""

    ref: str
    sha: str

    def __str__(self) -> str:
        return self.ref if self.sha.startswith(self.ref) else f"{self.ref} ({self.sha[:7]})"


def folder_in_git(path: Path) -> Folder:
    """A folder as git sees it.

    Raises:
        UsageError: there is no git, or the folder is in no repository.
    """
    done = _git(
        path, "rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix"
    )
    if done.returncode:
        said = _words(done.stderr)
        if "not a git repository" in said:
            raise UsageError(
                f"{shown(path)}: is in no git repository, so no ref can be compared with; "
                "compare with a folder: `--against FOLDER`"
            )
        raise UsageError(f"{shown(path)}: git cannot read its repository ({said})")
    inside, shallow, prefix = os.fsdecode(done.stdout).removesuffix("\n").split("\n", 2)
    if inside != "true":
        raise UsageError(
            f"{shown(path)}: is in a repository without a working tree, so no ref has this folder; "
            "compare with a folder: `--against FOLDER`"
        )
    return Folder(path, prefix, shallow == "true")


def find_commit(folder: Folder, ref: str) -> Commit | None:
    """The commit that a ref stands for, or None where git knows none."""
    done = _git(folder.path, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    sha = os.fsdecode(done.stdout).strip()
    # `^HEAD` is a commit that is left out of a range, and has a caret before its hash.
    return None if done.returncode or not sha.isalnum() else Commit(ref, sha)


def unknown_ref(folder: Folder, ref: str) -> UsageError:
    """What is wrong with a ref that stands for no commit, and what to run."""
    if find_commit(folder, "HEAD") is None:
        return UsageError(f"{ref!r}: the repository has no commit yet; commit, then compare")
    base = ref.rstrip("~^0123456789")
    if base != ref and find_commit(folder, base) is not None:
        if folder.shallow:
            return UsageError(
                f"{ref!r}: this clone is shallow and ends before it; "
                "run `git fetch --unshallow`, then compare again"
            )
        return UsageError(f"{ref!r}: `{base}` has no such parent: its history starts there")
    remote, slash, branch = ref.partition("/")
    if slash and remote in _remotes(folder):
        # A shallow clone of one branch fetches no other into its own ref unless told where to.
        run = f"git fetch {remote} {branch}:refs/remotes/{ref}"
    elif folder.shallow:
        run = "git fetch --unshallow"
    else:
        run = "git fetch origin main"
    shallow = " in this shallow clone" if folder.shallow else ""
    return UsageError(
        f"{ref!r}: git knows no such commit{shallow}, and there is no such folder; "
        f"run `{run}`, or name a branch, a tag, a commit or a folder"
    )


def read_files(folder: Folder, commit: Commit, suffixes: Sequence[str]) -> Mapping[str, bytes]:
    """The files of the folder itself with these suffixes, by name, as the commit has them.

    Links are followed within the repository.

    Raises:
        UsageError: git cannot read them, or a link leads out of the repository.
    """
    names = [
        name
        for name in _listed(folder, commit)
        if Path(name).suffix in suffixes and "\n" not in name
    ]
    if not names:
        return {}
    asked = "".join(f"{commit.sha}:{folder.prefix}{name}\n" for name in names)
    done = _git(folder.path, "cat-file", "--batch", "--follow-symlinks", given=os.fsencode(asked))
    if done.returncode:
        raise UsageError(f"{commit}: git cannot read {shown(folder.path)} ({_words(done.stderr)})")
    contents: dict[str, bytes] = {}
    for name, (kind, content) in zip(names, _objects(done.stdout), strict=True):
        if kind != "blob":
            raise UsageError(f"{folder.prefix}{name} in {commit}: is not a file, or leads nowhere")
        contents[name] = content
    return contents


def _listed(folder: Folder, commit: Commit) -> Iterator[str]:
    """The names of what a folder holds, directories and submodules aside."""
    where = ["--", folder.prefix] if folder.prefix else []
    done = _git(folder.path, "ls-tree", "-z", "--full-tree", commit.sha, *where)
    if done.returncode:
        raise UsageError(f"{commit}: git cannot list {shown(folder.path)} ({_words(done.stderr)})")
    for line in os.fsdecode(done.stdout).split("\0"):
        about, _, path = line.partition("\t")
        if about.split(" ")[1:2] == ["blob"]:
            yield path.removeprefix(folder.prefix)


def _objects(answer: bytes) -> Iterator[tuple[str, bytes]]:
    """What `cat-file --batch` says of each object: its kind, and its content."""
    while answer:
        head, _, answer = answer.partition(b"\n")
        words = head.split(b" ")
        if words[-1] == b"missing":
            yield "missing", b""
            continue
        size = int(words[-1])
        yield words[-2].decode(), answer[:size]
        answer = answer[size + 1 :]


def _remotes(folder: Folder) -> list[str]:
    return os.fsdecode(_git(folder.path, "remote").stdout).split()


def _git(
    folder: Path, *arguments: str, given: bytes | None = None
) -> "subprocess.CompletedProcess[bytes]":
    environment = {key: value for key, value in os.environ.items() if key not in _OF_A_HOOK}
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env={**environment, "LC_ALL": "C"},
            input=given or b"",
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(
            "there is no `git` to read a ref with; install it, or compare with a folder: "
            "`--against FOLDER`"
        ) from None


def _words(said: bytes) -> str:
    lines = os.fsdecode(said).strip().splitlines()
    return lines[0] if lines else "it says nothing"
