"""What a project is compared with: any ref of a real repository, or a folder; else what to do."""

import os
import subprocess
from pathlib import Path

import pytest

from ..codegen.project import SMALL, Project
from .repository import COUNTED, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two commits: `v1`, and one in which a default is another."""
    repository = Repository.at(tmp_path / "work")
    repository.git("tag", "-a", "v1", "-m", "The first")
    repository.schema.write_text(COUNTED)
    repository.commit("Count from one")
    return repository


def clone(repository: Repository, path: Path, *options: str) -> Repository:
    origin = f"file://{repository.root}"
    repository.git("clone", "-q", *options, origin, str(path))
    return Repository(path)


def test_any_ref_is_a_baseline(repository: Repository) -> None:
    """A tag, an ancestor, a branch of a branch, a short and a whole hash: the same commit."""
    repository.git("branch", "old/first", "v1")
    first = repository.git("rev-parse", "v1^{commit}")
    for ref in ("v1", "HEAD~1", "old/first", first, first[:9], "refs/tags/v1", "main@{1}"):
        done = repository.breaking(ref)
        assert (1, "") == (done.code, done.err), ref
        assert "error[default-changed] schemas/demo.yaml:8:53" in done.out
        assert f"1 breaking change against {ref}" in done.out


def test_nothing_changed_is_clean(repository: Repository) -> None:
    """The tip against itself has nothing to show, and ends with 0."""
    done = repository.breaking("main")
    assert 0 == done.code
    assert f"no breaking changes against main ({repository.git('rev-parse', 'HEAD')[:7]})\n" == (
        done.out
    )


def test_the_work_tree_is_what_is_compared(repository: Repository) -> None:
    """An edit that is not committed counts, and so does one that is not staged."""
    repository.schema.write_text(SMALL.replace("steps_done", "steps_made"))
    done = repository.breaking("v1")
    assert "error[field-renamed] schemas/demo.yaml:8:3" in done.out


def test_a_project_below_the_root_and_a_folder_below_the_project(tmp_path: Path) -> None:
    """Paths are of the repository, wherever the command runs."""
    Project.at(tmp_path / "work" / "models" / "world", demo=SMALL)
    repository = Repository(tmp_path / "work")
    repository.git("init", "-q", "-b", "main")
    repository.commit("A project inside")
    project = repository.root / "models" / "world"
    (project / "schemas" / "demo.yaml").write_text(COUNTED)
    done = repository.breaking("HEAD", cwd=project)
    assert (1, "") == (done.code, done.err)
    assert "schemas/demo.yaml:8:53" in done.out
    assert 1 == repository.breaking("HEAD", "--schemas", ".", cwd=project / "schemas").code


def test_a_schema_in_another_file_is_the_same_model(repository: Repository) -> None:
    """Renaming the file changes nothing that anybody would notice."""
    repository.git("mv", "schemas/demo.yaml", "schemas/a model.yaml")
    done = repository.breaking("HEAD")
    assert (0, "") == (done.code, done.err)


def test_a_schema_behind_a_link_is_read(repository: Repository) -> None:
    """What is a link in the commit is followed there, as it is on disk."""
    (repository.root / "shared.yaml").write_text(SMALL.replace("Demo", "Linked"))
    (repository.root / "schemas" / "linked.yaml").symlink_to("../shared.yaml")
    repository.commit("Link a schema")
    assert 0 == repository.breaking("HEAD").code
    (repository.root / "shared.yaml").write_text(COUNTED.replace("Demo", "Linked"))
    assert "linked.yaml:8:53" in repository.breaking("HEAD").out


def test_a_folder_of_schemas_that_moved_is_found_by_the_settings_of_then(
    repository: Repository,
) -> None:
    """The old settings say where the old schemas are."""
    (repository.root / "pyproject.toml").write_text("[tool.session-state]\nschemas = 'old/place'")
    (repository.root / "old").mkdir()
    repository.git("mv", "schemas", "old/place")
    repository.commit("Another place")
    repository.git("mv", "old/place", "schemas")
    (repository.root / "pyproject.toml").write_text("[tool.session-state]\nschemas = 'schemas'")
    done = repository.breaking("HEAD")
    assert (0, "") == (done.code, done.err)


def test_the_first_schemas_are_all_new(tmp_path: Path) -> None:
    """A ref without schemas has nothing to break, and that is said."""
    repository = Repository.at(tmp_path / "work")
    repository.git("mv", "schemas", "others")
    repository.commit("No schemas")
    Project.at(repository.root, demo=SMALL)
    done = repository.breaking("HEAD")
    assert 0 == done.code
    assert "note[model-added] schemas/demo.yaml:2:8" in done.out
    assert "has no schemas: every model is new" in done.err


def test_a_removed_schema_is_named_by_its_old_file(repository: Repository) -> None:
    """There is no line to point at any more."""
    (repository.root / "schemas" / "other.yaml").write_text(SMALL.replace("Demo", "Other"))
    repository.git("rm", "-q", "--cached", "schemas/demo.yaml")
    repository.schema.unlink()
    done = repository.breaking("HEAD")
    assert 1 == done.code
    assert "error[model-removed] schemas/demo.yaml\n  The model `Demo` is gone" in done.out


def test_a_folder_is_a_baseline(repository: Repository, tmp_path: Path) -> None:
    """A folder of schemas, or of a project with files of its own beside them; without git, too."""
    project = Project.at(tmp_path / "before", demo=SMALL)
    (project.root / ".pre-commit-config.yaml").write_text("repos: []")
    for folder in (project.root, project.root / "schemas"):
        for environment in ({}, {"PATH": "/nowhere"}):
            done = repository.breaking(str(folder), **environment)
            assert (1, "") == (done.code, done.err)
            assert "error[default-changed] schemas/demo.yaml:8:53" in done.out
    empty = tmp_path / "empty"
    empty.mkdir()
    done = repository.breaking(str(empty))
    assert (2, f"session-state: {empty}: holds no schema (no *.yaml file)\n") == (
        done.code,
        done.err,
    )


def test_a_folder_and_a_branch_of_one_name(repository: Repository) -> None:
    """It is asked which of the two is meant, and both can be said."""
    repository.git("branch", "before", "v1")
    Project.at(repository.root / "before", demo=COUNTED)
    done = repository.breaking("before")
    assert 2 == done.code
    assert "write `./before` for the folder, `refs/heads/before` for the branch" in done.err
    assert 0 == repository.breaking("./before").code
    assert 1 == repository.breaking("refs/heads/before").code


def test_without_git(repository: Repository) -> None:
    """A ref cannot be read; a folder can."""
    done = repository.breaking("main", PATH="/nowhere")
    assert (2, "") == (done.code, done.out)
    assert "there is no `git` to read a ref with" in done.err
    assert "`--against FOLDER`" in done.err


def test_outside_git(tmp_path: Path) -> None:
    """A project, or the schemas of one, that no repository holds."""
    project = Project.at(tmp_path / "alone", demo=SMALL)
    done = Repository(project.root).breaking("main")
    assert (2, "") == (done.code, done.out)
    assert done.err.startswith("session-state: schemas: is in no git repository")
    repository = Repository.at(tmp_path / "work")
    outside = repository.breaking("main", "--schemas", str(project.root / "schemas"))
    assert 2 == outside.code
    assert f"{project.root}/schemas: is in no git repository" in outside.err


def test_the_first_commit(tmp_path: Path) -> None:
    """Before the first commit, and before there is any."""
    repository = Repository.at(tmp_path / "work")
    done = repository.breaking("HEAD~1")
    assert (2, "") == (done.code, done.out)
    assert "'HEAD~1': `HEAD` has no such parent: its history starts there" in done.err
    Project.at(tmp_path / "fresh", demo=SMALL)
    fresh = Repository(tmp_path / "fresh")
    fresh.git("init", "-q")
    done = fresh.breaking("HEAD")
    assert 2 == done.code
    assert "the repository has no commit yet" in done.err


def test_a_file_is_no_baseline(repository: Repository) -> None:
    """The message names the folder, which is one."""
    done = repository.breaking("schemas/demo.yaml")
    assert (2, "") == (done.code, done.out)
    assert "'schemas/demo.yaml': is a file" in done.err
    assert "`--against schemas`" in done.err
    assert 0 == repository.breaking("schemas").code


def test_a_caret_in_front_of_a_ref_is_no_baseline(repository: Repository) -> None:
    """`^HEAD` leaves a commit out of a range, and stands for none."""
    done = repository.breaking("^HEAD")
    assert (2, "") == (done.code, done.out)
    assert "'^HEAD': git knows no such commit" in done.err


def test_a_repository_without_a_working_tree(repository: Repository, tmp_path: Path) -> None:
    """A project inside a bare repository is no part of any ref, so no model is called new."""
    bare = clone(repository, tmp_path / "bare.git", "--bare")
    Project.at(bare.root, demo=SMALL)
    done = bare.breaking("main")
    assert (2, "") == (done.code, done.out)
    assert "schemas: is in a repository without a working tree" in done.err


def test_an_unknown_ref(repository: Repository) -> None:
    """Neither ref nor folder; and never an option of git."""
    for ref in ("mian", "", "--output=x", "v1..main", "HEAD:schemas"):
        done = Project(repository.root).run("breaking", f"--against={ref}")
        assert (2, "") == (done.code, done.out), ref
        assert f"{ref!r}: git knows no such commit, and there is no such folder" in done.err
        assert "run `git fetch origin main`" in done.err
    assert not (repository.root / "x").exists()


def test_what_a_shallow_clone_is_told_to_run_works(repository: Repository, tmp_path: Path) -> None:
    """A checkout of CI has one commit of one branch; the hint brings what is missing."""
    repository.git("checkout", "-q", "-b", "topic")
    repository.schema.write_text(COUNTED.replace("default: 1", "default: 2"))
    repository.commit("Count from two")
    shallow = clone(repository, tmp_path / "one", "--depth", "1", "--branch", "topic")
    done = shallow.breaking("origin/main")
    assert (2, "") == (done.code, done.out)
    assert "in this shallow clone" in done.err
    assert "git fetch origin main" in done.err
    shallow.run_hint(done)
    assert 1 == shallow.breaking("origin/main").code
    parent = clone(repository, tmp_path / "two", "--depth", "1", "--branch", "topic")
    done = parent.breaking("HEAD~1")
    assert (2, "") == (done.code, done.out)
    assert "this clone is shallow and ends before it" in done.err
    parent.run_hint(done)
    assert 1 == parent.breaking("HEAD~1").code


def test_in_a_hook_and_in_a_second_work_tree(repository: Repository, tmp_path: Path) -> None:
    """What git sets for a hook does not lead the command to another folder."""
    hook = {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index"}
    assert 1 == repository.breaking("v1", **hook).code
    repository.git("worktree", "add", "-q", str(tmp_path / "second"), "v1")
    assert 1 == Repository(tmp_path / "second").breaking("main").code


def test_a_schema_of_then_that_does_not_load(repository: Repository) -> None:
    """Half a comparison would be a false all-clear: it says which file, and what to do."""
    repository.schema.write_text(SMALL.replace("placement:", "placment:"))
    repository.commit("A mistake")
    repository.schema.write_text(SMALL)
    done = repository.breaking("HEAD")
    assert (2, "") == (done.code, done.out)
    assert "schemas/demo.yaml:8 does not load there" in done.err
    assert "unknown-key: `placment` is not a key of a field." in done.err


def test_a_schema_of_now_that_does_not_load(repository: Repository) -> None:
    """Its findings come first, and nothing is compared."""
    repository.schema.write_text(SMALL.replace("placement:", "placment:"))
    done = repository.breaking("v1")
    assert (1, "") == (done.code, done.err)
    assert "error[unknown-key]" in done.out
    assert "breaking" not in done.out


def test_four_processes_whatever_the_number_of_schemas(
    repository: Repository, tmp_path: Path
) -> None:
    """Git is asked once for all files, not once for each."""
    for number in range(5):
        text = SMALL.replace("Demo", f"Demo{number}")
        (repository.root / "schemas" / f"demo{number}.yaml").write_text(text)
    repository.commit("Five more")
    git = subprocess.run(["which", "git"], capture_output=True, text=True, check=True)
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    log = tmp_path / "log"
    wrapper.write_text(f'#!/bin/sh\necho "$1" >> {log}\nexec {git.stdout.strip()} "$@"\n')
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{os.environ['PATH']}"
    assert 0 == repository.breaking("HEAD", PATH=path).code
    assert ["rev-parse", "rev-parse", "ls-tree", "cat-file"] == log.read_text().split()
