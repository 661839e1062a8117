"""What our own kinds of object share: what they hold, and beside it what is staged."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from .accounting import SeenStorages, device_bytes
from .base import PayloadT, StateObject, ViewT

Content = TypeVar("Content")


class Staged(NamedTuple, Generic[Content]):
    """What a commit adds to the content or, when it `replaces`, puts in its place."""

    content: Content
    replaces: bool


class Stageable(StateObject[PayloadT, ViewT], Generic[PayloadT, ViewT, Content]):
    """A kind with a content, and beside it what a commit will make of that.

    Where `_stages` is set, which a field that may be staged does, every write is staged. The
    content is then never changed in place, so that whoever kept a reference can go back to it.
    """

    _pending: Staged[Content] | None = None

    def commit(self, payload: PayloadT | None = None) -> None:
        """Write `payload` and leave what is staged; without one, write what is staged.

        Where writes are staged no payload gets past the others: all of it is committed. Raises as
        `append` does, and the object is then as it was.
        """
        self._require_open()
        before = self._pending
        try:
            if payload is not None:
                self.append(payload)
            if self._pending is not None and (payload is None or self._stages):
                self._settle()
                self._touched()
        except BaseException:
            self._pending = before
            raise

    @abstractmethod
    def append(self, payload: PayloadT) -> None:
        """Write one payload: at once or, where writes are staged, with the next commit."""

    def discard(self) -> None:
        """Drop what is staged; what is committed stays."""
        self._pending = None
        self._touched()

    def nbytes_by_device(self, seen: SeenStorages) -> dict[str, int]:
        """Bytes behind what is committed and what is staged, per device."""
        return device_bytes(self._contents(), seen)

    @property
    def _waiting(self) -> object:
        """What is staged, for the walk."""
        return None if self._pending is None else self._pending.content

    def _stage(self, content: Content, *, replaces: bool) -> None:
        self._pending = Staged(content, replaces)
        self._touched()

    @abstractmethod
    def _contents(self) -> tuple[object, object]:
        """What is committed, and what is staged, each as one value for the walk."""

    @abstractmethod
    def _settle(self) -> None:
        """Make what is staged the content; called when something is."""

    @abstractmethod
    def _stage_empty(self) -> None:
        """Stage the content of an empty object."""

    def _stage_instead(self, payloads: Iterable[PayloadT]) -> None:
        """Stage what an empty object seeded with `payloads` would hold, or raise and change nothing."""
        before = self._pending
        try:
            self._stage_empty()
            for payload in payloads:
                self.append(payload)
        except BaseException:
            self._pending = before
            raise

    @abstractmethod
    def _saved(self) -> tuple[Any, ...]:
        """Everything that a write may change, by reference."""

    @abstractmethod
    def _put_back(self, saved: tuple[Any, ...]) -> None:
        """Be as when `saved` was taken."""
