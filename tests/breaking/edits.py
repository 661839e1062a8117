"""For each kind of change edits of the base schema, and all kinds that they are."""

from collections.abc import Mapping

from attrs import frozen

from .sides import Edit


@frozen
class Case:
    """Edits of the base schema, the kinds they are, and the line of the first kind in the result."""

    edits: tuple[Edit, ...]
    kinds: frozenset[str]
    line: str | None


def _case(line: str | None, *edits: Edit, also: tuple[str, ...] = ()) -> Case:
    return Case(edits, frozenset(also), line)


_PICTURE = """\
  picture:
    placement: attr
    type: Tensor | None
    shape: [B, H]
    written: once
    reason: Assigned from each picture.
    revisit: Pictures come in pairs.
"""
_PICTURE_OBJECT = """\
  picture:
    placement: object
    kind: EncodeOnce
    type: Tensor
    shape: [B, H]
    manager_may: [release, rebuild]
    recompute: {from: [text], cost: 1, doc: One pass.}
    reason: REASON
    revisit: Pictures come in pairs.
"""
_COUNT = """\
  count:
    placement: attr
    type: int
    default: 0
    reason: Only the model counts.
"""
_CACHE = """\
  cache:
    placement: attr
    type: list[Tensor] | None
    entries: [{shape: [B, h], count: 2}]
    reason: Written slot by slot.
"""
_ENCODER = "  encoder: {lend: {feat_map: cache}, fresh: {index: [0]}}\n"
_SPARE = "  spare: 1\n"
_RULE = "    - {reset: roll, if: count > 3}\n"
_NEW_FIELD = (
    "  total: {placement: attr, type: int, default: 1, reason: A sum of the model's own.}\n"
)

CASES: Mapping[str, Case] = {
    "placement-flipped": _case(
        "    placement: object",
        (_PICTURE, _PICTURE_OBJECT.replace("REASON", "Rebuilt from the text under pressure.")),
        also=("reason-edited",),
    ),
    "stale-reason": _case(
        "    reason: assigned from  each picture",
        (_PICTURE, _PICTURE_OBJECT.replace("REASON", "assigned from  each picture")),
        also=("placement-flipped", "reason-edited"),
    ),
    "permission-added": _case(
        "    manager_may: [rebuild, release]",
        ("    manager_may: [rebuild]", "    manager_may: [rebuild, release]"),
    ),
    "permission-removed": _case(
        "    manager_may: [rebuild] # only",
        ("    manager_may: [release, rebuild]", "    manager_may: [rebuild] # only"),
    ),
    "field-removed": _case(
        "fields:",
        (_CACHE, ""),
        (_ENCODER, ""),
        also=("handoff-removed",),
    ),
    "field-renamed": _case(
        "    renamed_from: flag",
        ("  flag:\n", "  mark:\n    renamed_from: flag\n"),
        ("[flag, picture]", "[mark, picture]"),
    ),
    "field-added": _case(
        _NEW_FIELD.rstrip(),
        (_COUNT, _COUNT + _NEW_FIELD),
    ),
    "kind-changed": _case(
        "    kind: FrameRing",
        (
            "kind: LatentBuffer\n    type: Tensor\n    shape: [B, H]\n    ring: {size: window}",
            "kind: FrameRing\n    type: Tensor\n    shape: [B, 1]\n    ring: {size: window, along: 1}",
        ),
        also=("shape-changed", "ring-changed"),
    ),
    "type-changed": _case(
        "    type: int | None",
        ("    type: int\n    default: 0", "    type: int | None\n    default: 0"),
        ("if: count > 3", "if: count is not None and count > 3"),
        also=("reset-rule-changed",),
    ),
    "dtype-changed": _case(
        "    dtype: float16",
        (
            "    written: once\n    reason: Ass",
            "    dtype: float16\n    written: once\n    reason: Ass",
        ),
    ),
    "device-changed": _case(
        "    device: accelerator",
        ("    device: host", "    device: accelerator"),
        also=("total-grown",),
    ),
    "shape-changed": _case(
        "    shape: [B, h + 0]",
        ("    shape: [B, h]\n    written", "    shape: [B, h + 0]\n    written"),
    ),
    "ring-shrunk": _case("    ring: {size: 2}", ("ring: {size: window}", "ring: {size: 2}")),
    "ring-changed": _case(
        "    ring: {size: chunk}",
        ("ring: {size: window}", "ring: {size: chunk}"),
        also=("bytes-grown",),
    ),
    "growth-changed": _case(
        "    grows: {items: 1, every: 2}",
        ("grows: {items: 1, every: 1}", "grows: {items: 1, every: 2}"),
    ),
    "bytes-grown": _case(
        "    entries: [{shape: [B, h], count: 2}, {shape: [B, 2]}]",
        ("count: 2}]", "count: 2}, {shape: [B, 2]}]"),
        also=("shape-changed",),
    ),
    "total-grown": _case(
        "class: DemoSession",
        (
            _COUNT,
            _COUNT
            + "  more: {placement: attr, type: Tensor | None, shape: [H, H], reason: Large.}\n",
        ),
        also=("field-added",),
    ),
    "default-changed": _case("    default: 1", ("    default: 0", "    default: 1")),
    "written-changed": _case(
        "    written: in_place",
        ("written: once\n    reason: Ass", "written: in_place\n    reason: Ass"),
    ),
    "view-changed": _case("    view: {stack: 0}", ("view: {concat: 0}", "view: {stack: 0}")),
    "keys-changed": _case(
        "    per: [branch]",
        ("    per: [branch, layer]", "    per: [branch]"),
    ),
    "partner-changed": _case(
        "  text_kv:",
        ("    complete_with: tables\n", ""),
        ("    complete_with: text_kv\n", ""),
    ),
    "survivor-changed": _case("  flag:", ("    survives: [roll]\n", "")),
    "recompute-changed": _case(
        "    recompute: {from: [text], cost: layers + 1, doc: One pass over the text.}",
        ("cost: layers,", "cost: layers + 1,"),
    ),
    "invalidation-changed": _case("  code:", ("    invalidated_by: [picture]\n", "")),
    "model-removed": _case(None, ("model: Demo", "model: Other"), also=("model-added",)),
    "model-renamed": _case("model: Other", ("model: Demo", "model: Other")),
    "model-added": _case("model: Other", ("model: Demo", "model: Other"), also=("model-removed",)),
    "class-renamed": _case("class: Session2", ("class: DemoSession", "class: Session2")),
    "scope-changed": _case(
        "scope: generation",
        ("scope: session", "scope: generation"),
        ("closes_with: session", "closes_with: roll"),
        also=("lifetime-changed",),
    ),
    "param-removed": _case(
        "params:",
        ("  chunk: {type: int, default: 4, min: 1, max: 8, doc: Frames per chunk.}\n", ""),
    ),
    "param-required": _case(
        "  chunk: {type: int, min: 1, max: 8, doc: Frames per chunk.}",
        ("default: 4, ", ""),
    ),
    "param-type-changed": _case(
        "  chunk: {type: float, default: 4.0, doc: Frames per chunk.}",
        ("type: int, default: 4, min: 1, max: 8,", "type: float, default: 4.0,"),
        also=("param-default-changed", "param-widened"),
    ),
    "param-default-changed": _case(
        "  chunk: {type: int, default: 5, min: 1, max: 8, doc: Frames per chunk.}",
        ("default: 4,", "default: 5,"),
    ),
    "param-narrowed": _case(
        "  chunk: {type: int, default: 4, min: 1, max: 7, doc: Frames per chunk.}",
        ("max: 8,", "max: 7,"),
    ),
    "param-widened": _case(
        "  chunk: {type: int, default: 4, min: 1, doc: Frames per chunk.}",
        ("max: 8, ", ""),
    ),
    "param-added": _case(
        "  pace: {type: int, default: 1, doc: Steps per call.}",
        ("dims:\n", "  pace: {type: int, default: 1, doc: Steps per call.}\ndims:\n"),
    ),
    "dim-removed": _case("dims:", (_SPARE, "")),
    "dim-added": _case("  extra: 2", (_SPARE, f"{_SPARE}  extra: 2\n")),
    "config-changed": _case("  spare: 2", (_SPARE, "  spare: 2\n")),
    "axis-changed": _case("  branch: {names: [cond, other]}", ("[cond, uncond]", "[cond, other]")),
    "axis-extended": _case(
        "  branch: {names: [cond, uncond, third]}",
        ("[cond, uncond]", "[cond, uncond, third]"),
        also=("bytes-grown",),
    ),
    "reset-removed": _case(
        "resets:",
        ("  roll: The window rolled.\n", ""),
        ("    survives: [roll]\n", ""),
        (_RULE, ""),
        also=("reset-rule-changed",),
    ),
    "reset-added": _case(
        "  again: Once more.",
        ("  roll: The window rolled.\n", "  roll: The window rolled.\n  again: Once more.\n"),
    ),
    "reset-rule-changed": _case(
        "    - {reset: roll, if: count > 4}",
        ("count > 3", "count > 4"),
    ),
    "reset-argument-changed": _case(
        "  arguments: {steps_left: int, more: bool}",
        ("{steps_left: int}", "{steps_left: int, more: bool}"),
    ),
    "group-removed": _case(
        "class: DemoSession",
        ("groups:\n  stream: [flag, picture]\n", ""),
    ),
    "group-changed": _case("  stream: [flag, cache]", ("[flag, picture]", "[flag, cache]")),
    "group-added": _case(
        "  marks: [flag]",
        ("  stream: [flag, picture]\n", "  stream: [flag, picture]\n  marks: [flag]\n"),
    ),
    "handoff-removed": _case("handoff:", (_ENCODER, "")),
    "handoff-changed": _case(
        "  encoder: {lend: {features: cache}, fresh: {index: [0]}}",
        ("feat_map", "features"),
    ),
    "handoff-added": _case(
        "  decoder: {lend: {feat_map: cache}, fresh: {index: [0]}}",
        (_ENCODER, _ENCODER + _ENCODER.replace("encoder", "decoder")),
    ),
    "record-removed": _case(
        "records:",
        ("  Frame: {pixels: {type: Tensor, shape: [B, H], dtype: uint8}}\n", ""),
        (
            "    type: Frame | None\n",
            "    type: Tensor | None\n    shape: [B, H]\n    dtype: uint8\n",
        ),
        also=("type-changed", "shape-changed", "dtype-changed"),
    ),
    "record-added": _case(
        "  Size: {height: {type: int}}",
        ("records:\n", "records:\n  Size: {height: {type: int}}\n"),
        ("label: {type: str | None}", "label: {type: Size | None}"),
        also=("type-changed",),
    ),
    "member-removed": _case(
        "  Pose: {matrix: {type: Tensor, shape: [B, 4]}}",
        (", label: {type: str | None}}", "}"),
    ),
    "member-added": _case(
        "  Frame: {pixels: {type: Tensor, shape: [B, H], dtype: uint8}, number: {type: int}}",
        ("dtype: uint8}}\n", "dtype: uint8}, number: {type: int}}\n"),
    ),
    "lifetime-changed": _case(
        "  text: {owner: the request, reason: It is sent with each call., closes_with: roll}",
        ("closes_with: session", "closes_with: roll"),
    ),
    "elsewhere-changed": _case(
        "  pages: {owner: the pool, reason: The engine owns them.}",
        ("owner: the engine,", "owner: the pool,"),
    ),
    "reason-edited": _case(
        "    reason: Only the model ever counts.",
        ("Only the model counts.", "Only the model ever counts."),
    ),
    "notes-edited": _case(
        "    revisit: Never.",
        ("Pictures come in pairs.", "Never."),
    ),
}
