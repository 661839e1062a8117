"""From a schema to findings and text: the generator, which knows no torch."""
