"""The three closed grammars of a schema: sizes, conditions and types."""
