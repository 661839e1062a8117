"""Every kind of change: one row each. An error is breaking, a note is not."""

from itertools import chain

from ..findings import Severity
from . import bounds, fields, models, records
from .change import Compare, Kind, each_described, each_field, each_model
from .fields import changed
from .pairs import Kept


def _breaking(code: str, purpose: str, compare: Compare) -> Kind:
    return Kind(code, Severity.ERROR, purpose, compare)


def _noted(code: str, purpose: str, compare: Compare) -> Kind:
    return Kind(code, Severity.NOTE, purpose, compare)


def _all(*compares: Compare) -> Compare:
    """One comparison that finds what any of several finds."""
    return lambda comparison: chain.from_iterable(one(comparison) for one in compares)


def _unflipped(kept: Kept) -> bool:
    return not kept.flipped


def _alike(kept: Kept) -> bool:
    return kept.alike


KINDS: tuple[Kind, ...] = (
    _breaking(
        "placement-flipped",
        "What the manager may act on is decided by placement, and by nothing else.",
        each_field(fields.flipped_placements),
    ),
    _breaking(
        "stale-reason",
        "A reason that was given for one placement is none for the other.",
        each_field(fields.stale_reasons),
    ),
    _breaking(
        "permission-added",
        "The manager does what it may; model code must expect that from now on.",
        each_field(fields.added_permissions),
    ),
    _breaking(
        "permission-removed",
        "Whoever asks the manager for it gets ManagerMayNot.",
        each_field(fields.removed_permissions),
    ),
    _breaking(
        "field-removed",
        "Reading or assigning it raises AttributeError.",
        fields.removed_fields,
    ),
    _breaking(
        "field-renamed",
        "The old name raises AttributeError.",
        each_field(fields.renamed_fields),
    ),
    _noted("field-added", "Nobody depends on it yet.", fields.added_fields),
    _breaking(
        "kind-changed",
        "Another kind of object has other methods and other reads.",
        each_field(changed("kind", "kind", fields.kind_of, _unflipped)),
    ),
    _breaking(
        "type-changed",
        "Readers were written for the values of the old type.",
        each_described(fields.changed_types),
    ),
    _breaking(
        "dtype-changed",
        "Kernels and bytes depend on the dtype.",
        each_described(fields.changed_dtypes),
    ),
    _breaking(
        "device-changed",
        "Bytes move to a memory that others count on.",
        each_field(changed("device", "device", fields.device_of)),
    ),
    _breaking(
        "shape-changed",
        "Readers were written for the old shape.",
        each_described(bounds.changed_shapes),
    ),
    _breaking(
        "ring-shrunk",
        "What readers still look back at is dropped.",
        each_field(bounds.shrunk_rings),
    ),
    _breaking(
        "ring-changed",
        "Readers of the whole ring get more than they did, or something else.",
        each_field(bounds.changed_rings),
    ),
    _breaking(
        "growth-changed",
        "What a session holds after a while is another amount.",
        each_field(changed("grows", "growth", fields.growth_of, _unflipped)),
    ),
    _breaking(
        "bytes-grown",
        "A deployment sized for the old bytes runs out of memory.",
        bounds.grown_bytes,
    ),
    _breaking(
        "total-grown",
        "Many small additions fill a device as one large one does.",
        bounds.grown_totals,
    ),
    _breaking(
        "default-changed",
        "What nobody assigned reads as something else.",
        each_field(changed("default", "default", fields.default_of, _alike)),
    ),
    _breaking(
        "written-changed",
        "An assignment raises where it did not, or replaces what was fixed.",
        each_field(changed("written", "way of writing", fields.written_of, _alike)),
    ),
    _breaking(
        "view-changed",
        "The field reads as another value.",
        each_field(changed("view", "view", fields.view_of, _unflipped)),
    ),
    _breaking(
        "keys-changed",
        "A family is written and read under other keys.",
        each_field(changed("per", "keys", fields.axes_of)),
    ),
    _breaking(
        "partner-changed",
        "A key reads as absent until another field has it, or no longer does.",
        each_field(changed("complete_with", "partner", fields.partner_of)),
    ),
    _breaking(
        "survivor-changed",
        "A reset clears what it spared, or spares what it cleared.",
        each_field(fields.changed_survivors),
    ),
    _breaking(
        "recompute-changed",
        "What is rebuilt under pressure is rebuilt from something else, or not at all.",
        each_field(fields.changed_recomputes),
    ),
    _breaking(
        "invalidation-changed",
        "A value is cleared with another, or goes stale beside it.",
        each_field(fields.changed_invalidations),
    ),
    _breaking("model-removed", "Its module is gone.", models.removed_models),
    _breaking(
        "model-renamed",
        "Its module has another name.",
        each_model(models.renamed_models),
    ),
    _noted("model-added", "Nobody depends on it yet.", models.added_models),
    _breaking(
        "class-renamed",
        "Imports of the old name fail.",
        each_model(models.renamed_classes),
    ),
    _breaking(
        "scope-changed",
        "State lives for another time, and tables speak of something else.",
        each_model(models.changed_scopes),
    ),
    _breaking(
        "param-removed",
        "A caller that gives it gets TypeError.",
        each_model(models.removed("params", "param", lambda schema: schema.params)),
    ),
    _breaking(
        "param-required",
        "A caller that does not give it gets TypeError.",
        each_model(models.required_params),
    ),
    _breaking(
        "param-type-changed",
        "A caller gives values of the old type.",
        each_model(models.changed_param_types),
    ),
    _breaking(
        "param-default-changed",
        "A caller that leaves it out gets another session.",
        each_model(models.changed_param_defaults),
    ),
    _breaking(
        "param-narrowed",
        "A value that was taken is refused.",
        each_model(models.narrowed_params),
    ),
    _noted(
        "param-widened",
        "A value that was refused is taken.",
        each_model(models.widened_params),
    ),
    _noted("param-added", "A caller may leave it out.", each_model(models.added_params)),
    _breaking(
        "dim-removed",
        "A caller that gives it to `declared_nbytes` gets TypeError.",
        each_model(models.removed("dims", "dim", lambda schema: schema.dims)),
    ),
    _noted(
        "dim-added",
        "`declared_nbytes` has a value for it.",
        each_model(models.added("dim", lambda schema: schema.dims)),
    ),
    _noted(
        "config-changed",
        "Tables quote bytes at another config; `bytes-grown` says where that matters.",
        each_model(models.changed_configs),
    ),
    _breaking(
        "axis-changed",
        "A key that was written raises UnknownKey.",
        each_model(models.changed_axes),
    ),
    _noted("axis-extended", "Every key is still one.", each_model(models.extended_axes)),
    _breaking(
        "reset-removed",
        "Its method is gone, and so is the event.",
        each_model(models.removed("resets", "reset", lambda schema: schema.resets)),
    ),
    _noted(
        "reset-added",
        "Nobody calls it yet.",
        each_model(models.added("reset", lambda schema: schema.resets)),
    ),
    _breaking(
        "reset-rule-changed",
        "Sessions are reset at other times.",
        each_model(models.changed_rules),
    ),
    _breaking(
        "reset-argument-changed",
        "Calls of `reset_reason` fail.",
        each_model(models.changed_arguments),
    ),
    _breaking(
        "group-removed",
        "Its method is gone.",
        each_model(models.removed("groups", "group", lambda schema: schema.groups)),
    ),
    _breaking(
        "group-changed",
        "Its method clears something else.",
        each_model(models.changed_groups),
    ),
    _noted(
        "group-added",
        "Nobody calls it yet.",
        each_model(models.added("group", lambda schema: schema.groups)),
    ),
    _breaking(
        "handoff-removed",
        "Its method is gone.",
        each_model(models.removed("handoff", "handoff", lambda schema: schema.handoffs)),
    ),
    _breaking(
        "handoff-changed",
        "The borrower gets something else.",
        each_model(models.changed_handoffs),
    ),
    _noted(
        "handoff-added",
        "Nobody calls it yet.",
        each_model(models.added("handoff", lambda schema: schema.handoffs)),
    ),
    _breaking(
        "record-removed",
        "Imports of its class fail.",
        each_model(models.removed("records", "record", records.records)),
    ),
    _noted(
        "record-added",
        "Nobody depends on it yet.",
        each_model(models.added("record", records.records)),
    ),
    _breaking(
        "member-removed",
        "Reading it raises AttributeError, and giving it TypeError.",
        each_model(records.removed_members),
    ),
    _breaking(
        "member-added",
        "Whoever makes the record without it gets TypeError.",
        each_model(records.added_members),
    ),
    _breaking(
        "lifetime-changed",
        "What another component keeps ends with another event.",
        each_model(models.changed_lifetimes),
    ),
    _noted(
        "elsewhere-changed",
        "The table says something else of what others keep.",
        each_model(models.changed_owners),
    ),
    _noted(
        "reason-edited",
        "A reviewer reads the new reason; nothing runs otherwise.",
        _all(each_field(fields.edited_reasons), each_model(models.edited_reasons)),
    ),
    _noted(
        "notes-edited",
        "Docs and notes say something else; nothing runs otherwise.",
        _all(each_field(fields.edited_notes), each_model(models.edited_docs)),
    ),
)
