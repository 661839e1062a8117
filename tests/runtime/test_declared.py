"""What generated classes compute declared bytes with."""

import math
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from session_state.declared import DeclaredBytes, ceil_div, check_sizes, itemsize


def test_bytes_per_device_and_per_field() -> None:
    """The sum per device is the dict, the parts are `by_field`, of every term in its dtype."""
    declared = DeclaredBytes()
    declared.add("a", "cpu", "uint8", 1, 2)
    declared.add("b", "cuda:0", "bfloat16", 2)
    declared.add("b", "cpu", "int64", 1)
    by_field = {"a": {"cpu": 3}, "b": {"cuda:0": 4, "cpu": 8}}
    assert declared == {"cpu": 11, "cuda:0": 4}
    assert by_field == declared.by_field == pickle.loads(pickle.dumps(declared)).by_field


def test_negative_elements_name_their_field() -> None:
    """A formula that goes below zero is a mistake of the schema, and adds nothing."""
    declared = DeclaredBytes()
    with pytest.raises(ValueError, match="field 'b' declares -1 elements on cpu"):
        declared.add("b", "cpu", "uint8", 5, -1)
    assert declared == {}


@pytest.mark.parametrize(
    "name", ["bfloat16", "float32", "uint8", "bool", "complex64", "float8_e4m3fn", "uint16"]
)
def test_itemsize_is_what_a_tensor_takes(name: str) -> None:
    """For torch's names, what torch allocates."""
    assert torch.empty(1, dtype=getattr(torch, name)).untyped_storage().nbytes() == itemsize(name)


@pytest.mark.parametrize(("name", "nbytes"), [("float128", 16), ("complex128", 16), ("uint64", 8)])
def test_itemsize_knows_numpy_names(name: str, nbytes: int) -> None:
    """Also those that torch has no dtype for."""
    assert nbytes == itemsize(name)


def test_an_unknown_dtype_names_the_closest() -> None:
    """A typo is answered with what was meant."""
    with pytest.raises(ValueError, match="'bfloat61'; did you mean 'bfloat16'"):
        itemsize("bfloat61")
    with pytest.raises(ValueError, match="such as 'bfloat16'"):
        itemsize("???")


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ({"H": 0}, ValueError, "H must be at least 1, got 0"),
        ({"steps": -1}, ValueError, "steps must be at least 0, got -1"),
        ({"H": 1.5}, TypeError, "H must be an int, got 1.5"),
        ({"H": True}, TypeError, "H must be an int, got True"),
        ({"H": "3"}, TypeError, "H must be an int"),
    ],
)
def test_sizes_are_ints_of_one_or_more(sizes: Any, error: type[Exception], message: str) -> None:
    """Steps may be 0: nothing has grown yet."""
    check_sizes(steps=0, H=1, W=640)
    with pytest.raises(error, match=message):
        check_sizes(**sizes)


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_ceil_div_rounds_up(dividend: int, divisor: int) -> None:
    """As the mathematical ceiling does where floats are exact."""
    assert math.ceil(dividend / divisor) == ceil_div(dividend, divisor)
