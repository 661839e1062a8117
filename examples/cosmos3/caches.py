"""Where a branch finds its cache: in a module of its own, in a session, or where all find theirs."""

import copy
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

import attrs
from session_state.manager import SessionStateManager
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

from .generate import Mode, Request, denoise
from .transformer import Transformer


@attrs.frozen
class Rank:
    """One process of the server: its copy of the weights, and its manager."""

    transformer: Transformer
    manager: SessionStateManager = attrs.field(factory=SessionStateManager)

    def generation(
        self, request_id: str, branches: tuple[str, ...]
    ) -> AbstractContextManager[Cosmos3Session]:
        """The session of a request, for as long as it is generated."""
        return self.manager.generation(
            Cosmos3Session,
            request_id,
            branches=branches,
            num_layers=len(self.transformer.layers),
        )


def start_ranks(transformer: Transformer, mode: Mode) -> list[Rank]:
    """The processes that a mode takes, with the weights of `transformer`."""
    return [Rank(copy.deepcopy(transformer)) for _ in mode.placement()]


def alone(transformer: Transformer, mode: Mode, request: Request) -> Iterator[Tensor]:
    """Denoise with a transformer for each branch, whose instance cache nobody else reads."""
    own = {branch: copy.deepcopy(transformer) for branch in mode.weights}
    yield from denoise(request, mode, lambda branch: nullcontext(own[branch]))


def lent(ranks: Sequence[Rank], mode: Mode, request: Request) -> Generator[Tensor, None, None]:
    """Denoise with each rank's transformer, lent the cache of each branch for its calls.

    The sessions end with the last step, or when the generator is closed.
    """
    with ExitStack() as generations:
        homes: dict[str, tuple[Cosmos3Session, Transformer]] = {}
        for rank, branches in zip(ranks, mode.placement(), strict=True):
            session = generations.enter_context(rank.generation(request.request_id, branches))
            homes |= dict.fromkeys(branches, (session, rank.transformer))

        @contextmanager
        def lend(branch: str) -> Iterator[Transformer]:
            session, transformer = homes[branch]
            with session.lend_transformer(transformer, branch=branch):
                yield transformer

        yield from denoise(request, mode, lend)


def unisolated(ranks: Sequence[Rank], mode: Mode, request: Request) -> Iterator[Tensor]:
    """Denoise with each rank's transformer as it is: its cache is that of whoever came first."""
    shared = {
        branch: rank.transformer
        for rank, branches in zip(ranks, mode.placement(), strict=True)
        for branch in branches
    }
    yield from denoise(request, mode, lambda branch: nullcontext(shared[branch]))
