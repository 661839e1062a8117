"""The descriptors that generated classes declare their fields with."""

from .attr import Attr
from .base import Field
from .params import Param
from .stored import ObjectField, Stored, ViewField
from .value import ValueField

__all__ = ["Attr", "Field", "ObjectField", "Param", "Stored", "ValueField", "ViewField"]
